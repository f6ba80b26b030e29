/* SPDX-License-Identifier: MIT */
/* `tach top` on a terminal: the view, and the actions of the keys. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tools/tach/commands.h"
#include "tools/tach/top_live.h"

/* ---- keys of the table ---- */

static void sort_by(struct live *v, int step)
{
	const struct tach_snapshot *s = v->look->last;
	int n = top_ncolumns(s), c = top_column(s, v->t->sort);

	do
		c = (c + step + n) % n;
	while (c == TOP_P99 && !v->t->histograms);
	snprintf(v->sort, sizeof v->sort, "%s", top_column_name(s, c));
	v->t->sort = v->sort;
}

static void scroll_columns(struct live *v, int step)
{
	if (step < 0 && v->first > 0)
		v->first--;
	if (step > 0 && v->layout.more > 0)
		v->first++;
}

static void show_text(struct live *v, enum live_mode mode)
{
	v->mode = mode;
	v->scroll = 0;
}

static void ask_filter(struct live *v)
{
	v->mode = LIVE_FILTER;
	snprintf(v->typed_before, sizeof v->typed_before, "%s", v->typed);
}

static int table_key(struct live *v, int key)
{
	switch (key) {
	case 'q':
		return 0;
	case 'h':
	case '?':
		show_text(v, LIVE_HELP);
		break;
	case 's':
		sort_by(v, 1);
		break;
	case 'S':
		sort_by(v, -1);
		break;
	case 'r':
		v->t->reverse = !v->t->reverse;
		break;
	case 'f':
	case '/':
		ask_filter(v);
		break;
	case ' ':
		v->paused = !v->paused;
		break;
	case 'p':
	case '\r':
	case '\n':
		if (v->n) {
			live_choose(v);
			show_text(v, LIVE_DETAILS);
		}
		break;
	case SCREEN_LEFT:
		scroll_columns(v, -1);
		break;
	case SCREEN_RIGHT:
		scroll_columns(v, 1);
		break;
	default:
		live_select(v, key);
	}
	return 1;
}

/* ---- keys while the filter is edited ---- */

/* Plain letters match anywhere in a name; a pattern is a glob. */
static void apply_filter(struct live *v)
{
	int glob = strpbrk(v->typed, "*?[") != NULL;

	snprintf(v->filter, sizeof v->filter, glob ? "%s" : "*%s*", v->typed);
	v->t->filter = *v->typed ? v->filter : NULL;
}

static void erase_character(char *text)
{
	size_t n = strlen(text);

	while (n && ((unsigned char)text[n - 1] & 0xc0) == 0x80)
		n--;
	text[n ? n - 1 : 0] = '\0';
}

static void filter_key(struct live *v, int key)
{
	size_t n = strlen(v->typed);

	if (key == '\r' || key == '\n')
		v->mode = LIVE_TABLE;
	else if (key == SCREEN_ESCAPE) {
		snprintf(v->typed, sizeof v->typed, "%s", v->typed_before);
		v->mode = LIVE_TABLE;
	} else if (key == 127 || key == '\b')
		erase_character(v->typed);
	else if (key >= ' ' && key < 256 && n + 1 < sizeof v->typed) {
		v->typed[n] = (char)key;
		v->typed[n + 1] = '\0';
	}
	apply_filter(v);
}

/* ---- keys of help and details ---- */

static void text_key(struct live *v, int key)
{
	int page = v->screen.rows - 2;

	switch (key) {
	case 'q':
	case 'h':
	case 'p':
	case SCREEN_ESCAPE:
		v->mode = LIVE_TABLE;
		break;
	case ' ':
		v->paused = !v->paused;
		break;
	case SCREEN_UP:
		v->scroll--;
		break;
	case SCREEN_DOWN:
		v->scroll++;
		break;
	case SCREEN_PAGE_UP:
		v->scroll -= page;
		break;
	case SCREEN_PAGE_DOWN:
		v->scroll += page;
		break;
	case SCREEN_HOME:
		v->scroll = 0;
		break;
	default:
		break;
	}
}

/* 0: leave. */
static int live_key(struct live *v, int key)
{
	if (v->mode == LIVE_TABLE)
		return table_key(v, key);
	if (v->mode == LIVE_FILTER)
		filter_key(v, key);
	else
		text_key(v, key);
	return 1;
}

/* ---- the loop ---- */

/* Seconds until the next look; -1: waits for an event. The first interval is short. */
static double time_left(const struct live *v)
{
	double interval = v->t->interval, left;

	if (v->paused)
		return -1;
	if (!v->look->between && interval > 0.5)
		interval = 0.5;
	left = v->look_at + interval - clock_seconds(CLOCK_MONOTONIC);
	return left > 0 ? left : 0;
}

static int look_again(struct live *v)
{
	int status = top_look_next(v->t, v->look);

	v->look_at = clock_seconds(CLOCK_MONOTONIC);
	return status == TOP_ENDED;
}

static int run_view(struct live *v, int fd)
{
	for (;;) {
		int event;

		live_draw(v);
		event = screen_wait(&v->screen, fd, time_left(v));
		if (event == SCREEN_OVER)
			return EXIT_DONE;
		if (event == SCREEN_READY)
			return TOP_ENDED;
		if (event == SCREEN_TIME) {
			if (look_again(v))
				return TOP_ENDED;
		} else if (event != SCREEN_RESIZED && !live_key(v, event))
			return EXIT_DONE;
	}
}

int top_live(struct top *t, int fd, struct top_look *look)
{
	struct live v = {.t = t, .look = look, .look_at = look->when};
	int status;

	t->idle = 1;
	if (t->filter)
		snprintf(v.typed, sizeof v.typed, "%s", t->filter);
	if (screen_open(&v.screen) != 0) {
		fputs("tach top: the terminal cannot be set up\n", stderr);
		return EXIT_NO;
	}
	status = run_view(&v, fd);
	screen_close();
	free(v.lines);
	*look->error = '\0';
	/* Keeps the last interval on the screen. */
	t->idle = 0;
	if (status == TOP_ENDED && look->between) {
		t->once = 1;
		top_table(t, look);
	}
	return status;
}
