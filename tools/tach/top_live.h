/* SPDX-License-Identifier: MIT */
/* The live view of `tach top`: its state. */
#ifndef TOOLS_TACH_TOP_LIVE_H
#define TOOLS_TACH_TOP_LIVE_H

#include "tools/tach/screen.h"
#include "tools/tach/top.h"

enum live_mode { LIVE_TABLE, LIVE_FILTER, LIVE_HELP, LIVE_DETAILS };

/* A region over several looks, in which its number changes. */
struct live_region {
	char name[256];
	unsigned line;
};

struct live {
	struct top *t;
	struct top_look *look;
	struct screen screen;
	double look_at; /* when the last look was tried */
	enum live_mode mode;
	int paused;
	struct top_line *lines; /* as shown last */
	int n;
	struct live_region chosen; /* its name "": the first */
	int selected, top;	   /* lines: the chosen one; the first on the screen */
	struct top_layout layout;
	int first;  /* columns that are scrolled away */
	int scroll; /* lines of a text that are */
	char sort[256], typed[128], typed_before[128], filter[160];
};

/* ---- top_draw.c ---- */

void live_draw(struct live *v);
/* The region of the line that is marked is the chosen one from now on. */
void live_choose(struct live *v);
/* A key that moves the choice; others do nothing. */
void live_select(struct live *v, int key);

#endif
