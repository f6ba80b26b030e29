/* SPDX-License-Identifier: MIT */
/* Draws the live view of `tach top`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/utf8.h"
#include "tools/tach/top_live.h"

enum { WORST_ROWS = 20 }; /* below this height there is no room for worst entries */

/* The table shows the interval, or the first look before there is an interval. */
static const struct tach_snapshot *shown(const struct live *v)
{
	return v->look->between ? v->look->between : v->look->last;
}

/* ---- the selected region ---- */

void live_choose(struct live *v)
{
	struct tach_region_info info = {.size = sizeof info};

	tach_snapshot_region(shown(v), v->lines[v->selected].region, &info);
	snprintf(v->chosen.name, sizeof v->chosen.name, "%s", info.name);
	v->chosen.line = info.line;
}

static int is_chosen(const struct live *v, const struct tach_snapshot *s, int region)
{
	struct tach_region_info info = {.size = sizeof info};
	char name[sizeof v->chosen.name];

	tach_snapshot_region(s, region, &info);
	snprintf(name, sizeof name, "%s", info.name);
	return info.line == v->chosen.line && strcmp(name, v->chosen.name) == 0;
}

static void find_chosen(struct live *v)
{
	int at = 0;

	while (at < v->n && *v->chosen.name && !is_chosen(v, shown(v), v->lines[at].region))
		at++;
	v->selected = at < v->n && *v->chosen.name ? at : 0;
}

void live_select(struct live *v, int key)
{
	int page = v->screen.rows - 5, at = v->selected;

	switch (key) {
	case SCREEN_UP:
		at--;
		break;
	case SCREEN_DOWN:
		at++;
		break;
	case SCREEN_PAGE_UP:
		at -= page;
		break;
	case SCREEN_PAGE_DOWN:
		at += page;
		break;
	case SCREEN_HOME:
		at = 0;
		break;
	case SCREEN_END:
		at = v->n - 1;
		break;
	default:
		return;
	}
	at = at >= v->n ? v->n - 1 : at;
	v->selected = at < 0 ? 0 : at;
	if (v->n)
		live_choose(v);
}

/* ---- lines around the table ---- */

static void draw_title(const struct live *v)
{
	char title[512];
	size_t n;

	if (v->look->between)
		top_title(title, sizeof title, v->t, v->look, v->n);
	else
		snprintf(title, sizeof title, "%.30s (%d)  measuring", v->t->command,
			 v->t->process);
	n = strlen(title);
	snprintf(title + n, sizeof title - n, "%s%s%s", *v->typed ? "  filter " : "", v->typed,
		 v->paused ? "  PAUSED" : "");
	screen_put(&v->screen, 0, 0, v->screen.columns, SCREEN_TITLE, title);
}

/* Draws the last error or the process's note; returns the number of rows. */
static int draw_note(const struct live *v)
{
	const char *note =
		*v->look->error ? v->look->error : tach_snapshot_missing(v->look->last);

	if (!*note || v->screen.rows < 8)
		return 0;
	screen_put(&v->screen, 1, 0, v->screen.columns, SCREEN_WARNING, note);
	return 1;
}

/* Draws a key and its action; returns the column after it. */
static int draw_key(const struct live *v, int at, const char *key, const char *does)
{
	int row = v->screen.rows - 1, wide = tach__utf8_width(key);

	screen_put(&v->screen, row, at, wide, SCREEN_TITLE, key);
	screen_put(&v->screen, row, at + wide, 1 + tach__utf8_width(does), SCREEN_HEAD, does);
	return at + wide + 1 + tach__utf8_width(does);
}

static void draw_keys(const struct live *v)
{
	int row = v->screen.rows - 1, at = 0;
	char text[256];

	screen_put(&v->screen, row, 0, v->screen.columns, SCREEN_HEAD, "");
	if (v->mode == LIVE_FILTER) {
		snprintf(text, sizeof text, "filter: %s", v->typed);
		screen_put(&v->screen, row, 0, v->screen.columns, SCREEN_PLAIN, text);
		return;
	}
	if (v->mode != LIVE_TABLE) {
		at = draw_key(v, at, "q", " back");
		at = draw_key(v, at, "arrows", " scroll");
		draw_key(v, at, "space", v->paused ? " go on" : " pause");
		return;
	}
	at = draw_key(v, at, "q", " quit");
	at = draw_key(v, at, "h", " help");
	snprintf(text, sizeof text, " sort:%.20s%s", v->t->sort, v->t->reverse ? " up" : "");
	at = draw_key(v, at, "s", text);
	at = draw_key(v, at, "r", " reverse");
	at = draw_key(v, at, "f", " filter");
	at = draw_key(v, at, "space", v->paused ? " go on" : " pause");
	at = draw_key(v, at, "p", " details");
	if (v->layout.more || v->first)
		draw_key(v, at, "<>", " columns");
}

/* ---- the table ---- */

static void draw_head(const struct live *v, int row)
{
	const struct tach_snapshot *s = shown(v);
	const struct top_layout *l = &v->layout;
	int sorted = top_column(s, v->t->sort);

	screen_put(&v->screen, row, 0, v->screen.columns, SCREEN_HEAD, "");
	for (int i = -1; i < l->n; i++) {
		int c = i < 0 ? TOP_REGION : l->cell[i].column;
		int width = i < 0 ? l->name : l->cell[i].width, wide;
		char text[256];

		top_heading(text, sizeof text, s, c, width);
		wide = tach__utf8_width(text);
		screen_put(&v->screen, row, i < 0 ? 0 : l->cell[i].at + width - wide, wide,
			   c == sorted ? SCREEN_SORTED : SCREEN_HEAD, text);
	}
}

static void draw_region(const struct live *v, int row, int line)
{
	struct tach_region_info info = {.size = sizeof info};
	const struct top_layout *l = &v->layout;
	int r = v->lines[line].region;
	enum screen_style style;
	char text[64], cell[64];

	tach_snapshot_region(shown(v), r, &info);
	style = line == v->selected ? SCREEN_SELECTED
		: info.entries	    ? SCREEN_PLAIN
				    : SCREEN_IDLE;
	screen_put(&v->screen, row, 0, l->name, style, info.name);
	for (int i = 0; i < l->n; i++) {
		cell[0] = '\0';
		if (v->look->between)
			top_cell_text(cell, sizeof cell, v->look->between, r, l->cell[i].column,
				      v->look->seconds);
		snprintf(text, sizeof text, " %*s", l->cell[i].width, cell);
		screen_put(&v->screen, row, l->cell[i].at - 1, l->cell[i].width + 1, style,
			   text);
	}
}

/* Draws from the bottom up; returns the number of rows. */
static int draw_worst(const struct live *v)
{
	char text[TOP_WORST + 1][512];
	int first = v->screen.rows - 1 - (TOP_WORST + 1), shown_now;

	if (v->screen.rows < WORST_ROWS || !v->look->between ||
	    tach_snapshot_worst_by(v->look->between) < 0)
		return 0;
	shown_now = top_worst(v->look->between, v->lines, v->n, text);
	for (int i = 0; i <= TOP_WORST; i++)
		screen_put(&v->screen, first + i, 0, v->screen.columns,
			   i ? SCREEN_PLAIN : SCREEN_TITLE, i <= shown_now ? text[i] : "");
	return TOP_WORST + 1;
}

static void draw_table(struct live *v)
{
	int row = 1 + draw_note(v), end, room;

	free(v->lines);
	v->lines = top_pick(v->t, shown(v), v->look->seconds, &v->n);
	if (!v->lines)
		v->n = 0;
	find_chosen(v);
	top_layout(v->t, shown(v), v->screen.columns, v->first, &v->layout);
	draw_title(v);
	draw_head(v, row++);
	end = v->screen.rows - 1 - draw_worst(v);
	room = end - row > 0 ? end - row : 1;
	if (v->top > v->selected)
		v->top = v->selected;
	if (v->top < v->selected - room + 1)
		v->top = v->selected - room + 1;
	if (v->top > v->n - room)
		v->top = v->n > room ? v->n - room : 0;
	for (int line = v->top; row < end; row++, line++) {
		if (line < v->n)
			draw_region(v, row, line);
		else
			screen_put(&v->screen, row, 0, v->screen.columns, SCREEN_IDLE,
				   v->n == 0 && line == 0 ? "no region of such a name" : "");
	}
}

/* ---- texts ---- */

static void write_text(const struct live *v, FILE *to)
{
	const struct tach_snapshot *s = v->look->last;
	int r = 0;

	if (v->mode == LIVE_HELP) {
		top_help(to, v->look);
		return;
	}
	while (r < tach_snapshot_nregions(s) && !is_chosen(v, s, r))
		r++;
	if (r < tach_snapshot_nregions(s))
		top_details(to, v->look, r, v->screen.ascii);
}

/* NULL: no memory. */
static char *make_text(const struct live *v)
{
	char *raw = NULL, *text = NULL;
	size_t length;
	FILE *to = open_memstream(&raw, &length), *wrapped;

	if (!to)
		return NULL;
	write_text(v, to);
	fclose(to);
	wrapped = raw ? open_memstream(&text, &length) : NULL;
	if (wrapped) {
		top_wrap(wrapped, raw, v->screen.columns);
		fclose(wrapped);
	}
	free(raw);
	return text;
}

static int count_lines(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void draw_lines(struct live *v, char *text)
{
	int room = v->screen.rows - 2, most = count_lines(text) - room;
	char *line = text;

	if (v->scroll > most)
		v->scroll = most;
	if (v->scroll < 0)
		v->scroll = 0;
	for (int i = 0; i < v->scroll; i++)
		line = strchr(line, '\n') + 1;
	for (int row = 1; row <= room; row++) {
		char *end = strchr(line, '\n');

		if (end)
			*end = '\0';
		screen_put(&v->screen, row, 0, v->screen.columns, SCREEN_PLAIN, line);
		line = end ? end + 1 : line + strlen(line);
	}
}

static void draw_text(struct live *v)
{
	char *text = make_text(v);

	draw_title(v);
	if (text)
		draw_lines(v, text);
	free(text);
}

void live_draw(struct live *v)
{
	int typing = v->mode == LIVE_FILTER;

	screen_begin();
	if (v->mode == LIVE_HELP || v->mode == LIVE_DETAILS)
		draw_text(v);
	else
		draw_table(v);
	draw_keys(v);
	screen_end(v->screen.rows - 1, typing ? 8 + tach__utf8_width(v->typed) : -1);
}
