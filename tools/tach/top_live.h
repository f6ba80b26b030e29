/* SPDX-License-Identifier: MIT */
/* The state of the live view of `tach top`. */
#ifndef TOOLS_TACH_TOP_LIVE_H
#define TOOLS_TACH_TOP_LIVE_H

#include "tools/tach/screen.h"
#include "tools/tach/top.h"

enum live_mode { LIVE_TABLE, LIVE_FILTER, LIVE_HELP, LIVE_DETAILS };

/* Identifies a region across looks, because its number changes. */
struct live_region {
	char name[256];
	unsigned line;
};

struct live {
	struct top *t;
	struct top_look *look;
	struct screen screen;
	double look_at; /* time of the last attempt */
	enum live_mode mode;
	int paused;
	struct top_line *lines; /* as shown last */
	int n;
	struct live_region chosen; /* name "": the first region */
	int selected, top; /* indexes of the selected line and of the first visible line */
	struct top_layout layout;
	int first; /* number of columns that are scrolled away */
	/* number of text lines that are scrolled away */
	int scroll;
	char sort[256], typed[128], typed_before[128], filter[160];
};

/* ---- top_draw.c ---- */

void live_draw(struct live *v);
/* Makes the region of the marked line the chosen one. */
void live_choose(struct live *v);
/* Handles a key that moves the selection; ignores other keys. */
void live_select(struct live *v, int key);

#endif
