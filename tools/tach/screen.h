/* SPDX-License-Identifier: MIT */
/*
 * A full-screen terminal, for `tach top`: ECMA-48 sequences that xterm, tmux, screen and the
 * Linux console share, and termios. It does without ncurses because tach depends on libc alone,
 * and the static program must run where no terminfo is installed.
 */
#ifndef TOOLS_TACH_SCREEN_H
#define TOOLS_TACH_SCREEN_H

#include <signal.h>
#include <stddef.h>

struct screen {
	int rows, columns;
	int color, ascii; /* colours may be used; the locale is not UTF-8 */
};

enum screen_style {
	SCREEN_PLAIN,
	SCREEN_TITLE,
	SCREEN_HEAD,
	SCREEN_SORTED,
	SCREEN_SELECTED,
	SCREEN_IDLE,
	SCREEN_WARNING,
};

/* Keys are bytes of input, or one of these. */
enum screen_key {
	SCREEN_ESCAPE = 27,
	SCREEN_UP = 256,
	SCREEN_DOWN,
	SCREEN_LEFT,
	SCREEN_RIGHT,
	SCREEN_PAGE_UP,
	SCREEN_PAGE_DOWN,
	SCREEN_HOME,
	SCREEN_END,
	SCREEN_UNKNOWN,
	/* Events that are not keys. */
	SCREEN_TIME,	/* the time is over */
	SCREEN_RESIZED, /* or continued: draw again */
	SCREEN_READY,	/* the descriptor is readable */
	SCREEN_OVER,	/* a signal asks to end, or the terminal is gone */
};

/* ---- screen.c ---- */

/* Returns 0 if standard input or output is not a terminal that can be drawn on. */
int screen_possible(void);
/* Takes the terminal over. It is given back by screen_close, by exit and by deadly signals. */
int screen_open(struct screen *s);
void screen_close(void);
/* After SCREEN_OVER and screen_close: dies of the signal, if there was one. */
void screen_die(void);

/* A frame: text at places, and then all of it is written at once. */
void screen_begin(void);
/* `columns` columns from that place on, padded or cut. Rows and columns count from 0. */
void screen_put(const struct screen *s, int row, int column, int columns,
		enum screen_style style, const char *text);
/* The cursor is shown there; column -1: not at all. */
void screen_end(int row, int column);

/* ---- screen_input.c ---- */

/* The next key or event; fd -1: none. seconds < 0: without end. */
int screen_wait(struct screen *s, int fd, double seconds);

/* Shared by the two files. */
int screen_take(struct screen *s);  /* draws on the terminal from now on */
void screen_stop(struct screen *s); /* gives it back, stops, and takes it again */
void screen_measure(struct screen *s);
void screen_mask(sigset_t *mask); /* lets the signals come that are held otherwise */
int screen_signal(void);	  /* that came, is not handled yet; 0: none */

/* ---- fit.c ---- */

/* Printable text in exactly `columns` columns, cut with an ellipsis or padded. */
void fit_text(char *to, size_t size, const char *text, int columns, int ascii);

#endif
