/* SPDX-License-Identifier: MIT */
/* What runs took, by region and quantity; and the file that keeps it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tools/tach/gate.h"

static void out_of_memory(void)
{
	fprintf(stderr, "tach: out of memory\n");
	exit(2);
}

static void *larger(void *old, size_t size)
{
	void *p = realloc(old, size);

	if (!p)
		out_of_memory();
	return p;
}

static struct gate_series *find(const struct gate_samples *s, const char *region,
				const char *quantity)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->list[i].region, region) == 0 &&
		    strcmp(s->list[i].quantity, quantity) == 0)
			return &s->list[i];
	return NULL;
}

const struct gate_series *gate_find(const struct gate_samples *s, const char *region,
				    const char *quantity)
{
	return find(s, region, quantity);
}

void gate_add(struct gate_samples *s, const char *region, const char *quantity, double value)
{
	struct gate_series *at = find(s, region, quantity);

	if (!at) {
		s->list = larger(s->list, (s->n + 1) * sizeof *s->list);
		at = &s->list[s->n++];
		*at = (struct gate_series){strdup(region), strdup(quantity), NULL, 0};
		if (!at->region || !at->quantity)
			out_of_memory();
	}
	at->value = larger(at->value, (at->n + 1) * sizeof *at->value);
	at->value[at->n++] = value;
}

static int by_name(const void *a, const void *b)
{
	const struct gate_series *x = a, *y = b;
	int order = strcmp(x->region, y->region);

	return order ? order : strcmp(x->quantity, y->quantity);
}

void gate_sort(struct gate_samples *s)
{
	if (s->n)
		qsort(s->list, s->n, sizeof *s->list, by_name);
}

void gate_free(struct gate_samples *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->list[i].region);
		free(s->list[i].quantity);
		free(s->list[i].value);
	}
	free(s->list);
	*s = (struct gate_samples){0};
}

/* ---- the file: a line for a series, columns between tabs; %XX for what would break that ----
 */

static const char head[] = "# tach gate 1: ";

static void put_name(FILE *to, const char *name)
{
	for (; *name; name++)
		if ((unsigned char)*name < ' ' || *name == '%' || *name == 127)
			fprintf(to, "%%%02X", (unsigned char)*name);
		else
			putc(*name, to);
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* In place; -1: a % that nothing follows. */
static int take_name(char *name)
{
	char *to = name;

	for (; *name; name++) {
		if (*name != '%') {
			*to++ = *name;
			continue;
		}
		if (hex(name[1]) < 0 || hex(name[2]) < 0)
			return -1;
		*to++ = (char)(hex(name[1]) << 4 | hex(name[2]));
		name += 2;
	}
	*to = '\0';
	return 0;
}

/* Beside it and renamed: there is the old file or the new one. */
int gate_save(const struct gate_samples *s, const char *file)
{
	char *beside;
	FILE *to;
	int bad;

	if (asprintf(&beside, "%s.%d.tmp", file, (int)getpid()) < 0)
		out_of_memory();
	to = fopen(beside, "we");
	if (to) {
		fprintf(to, "%s%s\n", head, s->how);
		for (size_t i = 0; i < s->n; i++) {
			put_name(to, s->list[i].region);
			putc('\t', to);
			put_name(to, s->list[i].quantity);
			for (size_t v = 0; v < s->list[i].n; v++)
				fprintf(to, "%c%.17g", v ? ' ' : '\t', s->list[i].value[v]);
			putc('\n', to);
		}
	}
	bad = !to || ferror(to);
	if (to && fclose(to) != 0)
		bad = 1;
	if (!bad && rename(beside, file) != 0)
		bad = 1;
	if (bad) {
		fprintf(stderr, "tach gate: %s: %s\n", file, strerror(errno));
		unlink(beside);
	}
	free(beside);
	return -bad;
}

static int take_line(struct gate_samples *s, char *line)
{
	char *quantity = strchr(line, '\t'), *values, *end;
	size_t before = s->n;

	if (!quantity || !(values = strchr(quantity + 1, '\t')))
		return -1;
	*quantity++ = '\0';
	*values++ = '\0';
	if (take_name(line) != 0 || take_name(quantity) != 0 || find(s, line, quantity))
		return -1;
	while (*values) {
		double value = strtod(values, &end);

		if (end == values || (*end != ' ' && *end != '\0'))
			return -1;
		gate_add(s, line, quantity, value);
		values = end + (*end == ' ');
	}
	return s->n > before ? 0 : -1;
}

int gate_load(struct gate_samples *s, const char *file)
{
	FILE *from = fopen(file, "re");
	char *line = NULL;
	size_t room = 0, number = 0;
	ssize_t n;
	int bad = 0;

	if (!from) {
		fprintf(stderr, "tach gate: %s: %s; --save makes one\n", file, strerror(errno));
		return -1;
	}
	while (!bad && (n = getline(&line, &room, from)) > 0) {
		if (line[n - 1] == '\n')
			line[n - 1] = '\0';
		if (number++ == 0) {
			bad = strncmp(line, head, strlen(head)) != 0;
			if (!bad)
				snprintf(s->how, sizeof s->how, "%s", line + strlen(head));
		} else {
			bad = take_line(s, line);
		}
	}
	bad = bad || ferror(from) || number == 0;
	if (bad)
		fprintf(stderr,
			"tach gate: %s:%zu: this is no line of a baseline of tach gate\n", file,
			number ? number : 1);
	free(line);
	fclose(from);
	return bad ? -1 : 0;
}
