/* SPDX-License-Identifier: MIT */
/* tach list as text: aligned columns; on a terminal, descriptions are wrapped. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "tools/tach/list.h"

enum { NAME_MOST = 44, TEXT_LEAST = 24 };

struct layout {
	int name, counters; /* widths */
	int screen;	    /* 0: no wrapping */
};

static int screen_width(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO))
		return 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	return 80;
}

/* Prints text from column `indent` on and wraps it below. */
static void print_wrapped(const char *text, int indent, int screen)
{
	int room = screen - indent;

	if (screen == 0 || room < TEXT_LEAST)
		room = 1 << 20;
	for (;;) {
		int n = (int)strlen(text);

		if (n > room) {
			n = room;
			while (n > 0 && text[n] != ' ')
				n--;
			if (n == 0)
				n = room;
		}
		printf("%.*s\n", n, text);
		text += n;
		while (*text == ' ')
			text++;
		if (*text == 0)
			return;
		printf("%*s", indent, "");
	}
}

/* Appends a and b to *text, each after "; ", unless they are empty. */
static void append_both(char *text, size_t size, const char *a, const char *b)
{
	size_t used = strlen(text);

	if (*a)
		snprintf(text + used, size - used, "%s%s%s", used ? "; " : "", a, b);
}

static void print_row(const struct list_row *row, const struct layout *l)
{
	char text[1400];
	int column = l->name + l->counters + 4, used;

	text[0] = 0;
	append_both(text, sizeof text, row->description, "");
	if (row->alias_of)
		append_both(text, sizeof text, "same as ", row->alias_of);
	if (row->deprecated)
		append_both(text, sizeof text, "deprecated", "");
	used = printf("%*s%s%s", row->is_umask ? 4 : 2, "", row->name,
		      row->is_default ? " *" : "");
	/* A long name shifts only its own line. */
	printf("%*s%s", used > l->name ? 2 : l->name - used + 2, "", row->counters);
	if (*text) {
		printf("%*s", l->counters - (int)strlen(row->counters) + 2, "");
		print_wrapped(text, column, l->screen);
	} else {
		putchar('\n');
	}
	if (row->vendor_code) {
		printf("%*s", column, "");
		snprintf(text, sizeof text, "code %s as in libpfm-4; the vendor's file says %s",
			 row->words, row->vendor_code);
		print_wrapped(text, column, l->screen);
	}
	if (row->libpfm4_code) {
		printf("%*s", column, "");
		snprintf(text, sizeof text, "code %s as in the vendor's file; libpfm-4 has %s",
			 row->words, row->libpfm4_code);
		print_wrapped(text, column, l->screen);
	}
}

static void layout_of(const struct list_pmu *pmu, struct layout *l)
{
	struct list_row row;

	for (size_t i = 0; i < pmu->nlines; i++) {
		int name, n;

		list_row(pmu, &pmu->lines[i], &row);
		name = (row.is_umask ? 4 : 2) + (int)strlen(row.name) + 2 * row.is_default;
		n = (int)strlen(row.counters);
		if (name > l->name && name <= NAME_MOST)
			l->name = name;
		if (n > l->counters)
			l->counters = n;
	}
}

/* Text such as "8+4 counters of 48 bits": general and fixed counters; "" if unknown. */
static const char *counters_of(const struct tach_pmu_info *info, char *out, size_t size)
{
	int fixed = __builtin_popcount(info->fixed);

	out[0] = 0;
	if (info->general && fixed)
		snprintf(out, size, "%d+%d counters of %d bits", info->general, fixed,
			 info->general_width);
	else if (info->general)
		snprintf(out, size, "%d counters of %d bits", info->general,
			 info->general_width);
	return out;
}

static void print_heading(const struct list_pmu *pmu)
{
	char counters[64];

	counters_of(&pmu->info, counters, sizeof counters);
	printf("%s%s%s (%s%s): %d events%s%s\n", pmu->info.name,
	       *pmu->info.description ? ", " : "", pmu->info.description, pmu->info.arch,
	       pmu->info.present ? ", this machine's" : "", pmu->info.nevents,
	       *counters ? ", " : "", counters);
}

/* Prints names of PMUs, one per line. */
static void print_names(const struct list_pmu *pmus, size_t n)
{
	int name = 0, counters = 0, screen = screen_width(), used;
	char text[64];

	for (size_t i = 0; i < n; i++) {
		const struct tach_pmu_info *info = &pmus[i].info;

		used = (int)strlen(info->name);
		name = used > name ? used : name;
		used = (int)strlen(counters_of(info, text, sizeof text));
		counters = used > counters ? used : counters;
	}
	for (size_t i = 0; i < n; i++) {
		const struct tach_pmu_info *info = &pmus[i].info;

		used = printf("%c %-*s  %-5s  %4d events  %-*s  ", info->present ? '*' : ' ',
			      name, info->name, info->arch, info->nevents, counters,
			      counters_of(info, text, sizeof text));
		print_wrapped(info->description, used, screen);
	}
	printf("* this machine has it\n");
}

/* Prints names for tach run -m, and where they are defined. */
static void print_derived(const struct list_pmu *pmu, int screen)
{
	int name = 0;

	for (size_t i = 0; i < pmu->nderived; i++)
		if ((int)strlen(pmu->derived[i].name) > name)
			name = (int)strlen(pmu->derived[i].name);
	printf("%s%s: presets and derived events (tach run -m NAME; tach derived show NAME)\n",
	       pmu->nlines ? "\n" : "", pmu->info.name);
	for (size_t i = 0; i < pmu->nderived; i++) {
		const struct tach_derived_info *d = &pmu->derived[i];
		char text[1400];

		snprintf(text, sizeof text, "%s%s%s:%d", d->short_description,
			 *d->short_description ? "; " : "", d->file, d->line);
		print_wrapped(text, printf("  %-*s  ", name, d->name), screen);
	}
}

void list_text(const struct list_pmu *pmus, size_t n)
{
	size_t lines = 0;

	for (size_t i = 0; i < n; i++)
		lines += pmus[i].nlines + pmus[i].nderived;
	if (n > 0 && lines == 0) {
		print_names(pmus, n);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		struct layout layout = {0, 0, screen_width()};
		struct list_row row;

		if (i)
			putchar('\n');
		if (pmus[i].nlines)
			print_heading(&pmus[i]);
		layout_of(&pmus[i], &layout);
		for (size_t k = 0; k < pmus[i].nlines; k++) {
			list_row(&pmus[i], &pmus[i].lines[k], &row);
			print_row(&row, &layout);
		}
		if (pmus[i].nderived)
			print_derived(&pmus[i], layout.screen);
	}
}
