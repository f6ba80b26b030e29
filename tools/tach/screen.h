/* SPDX-License-Identifier: MIT */
/*
 * A full-screen terminal for `tach top`: ECMA-48 sequences that xterm, tmux, screen and the
 * Linux console share, and termios. It does not use ncurses: tach depends only on libc, and the
 * static program must run without terminfo.
 */
#ifndef TOOLS_TACH_SCREEN_H
#define TOOLS_TACH_SCREEN_H

#include <signal.h>
#include <stddef.h>

struct screen {
	int rows, columns;
	int color, ascii; /* color: colours are allowed; ascii: the locale is not UTF-8 */
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

/* A key is a byte of input, or one of these. */
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
	SCREEN_TIME,	/* time is up */
	SCREEN_RESIZED, /* the size changed, or the process continued after a stop: draw again
			 */
	SCREEN_READY,	/* the descriptor is readable */
	SCREEN_OVER,	/* a signal ends the command, or the terminal is gone */
};

/* ---- screen.c ---- */

/* Returns 0 unless standard input and output are terminals that support drawing. */
int screen_possible(void);
/* Takes over the terminal. screen_close, exit and fatal signals restore it. */
int screen_open(struct screen *s);
void screen_close(void);
/* Call it after SCREEN_OVER and screen_close: raises the signal again, if there was one. */
void screen_die(void);

/* Starts a frame: collects text, and screen_end writes all of it at once. */
void screen_begin(void);
/*
 * Writes text at that place, padded or cut to `columns` columns. Rows and columns count from 0.
 */
void screen_put(const struct screen *s, int row, int column, int columns,
		enum screen_style style, const char *text);
/* Shows the cursor at that place; column -1 hides it. */
void screen_end(int row, int column);

/* ---- screen_input.c ---- */

/* Waits for the next key or event. fd -1: no descriptor. seconds < 0: no time limit. */
int screen_wait(struct screen *s, int fd, double seconds);

/* Functions that both files use. */
int screen_take(struct screen *s); /* starts drawing on the terminal */
/* restores the terminal, stops the process, and takes the terminal over again */
void screen_stop(struct screen *s);
void screen_measure(struct screen *s);
void screen_mask(sigset_t *mask); /* the signal mask during the wait */
int screen_signal(void);	  /* the pending signal; 0: none is pending */

/* ---- fit.c ---- */

/* Printable text in exactly `columns` columns, padded, or cut with an ellipsis. */
void fit_text(char *to, size_t size, const char *text, int columns, int ascii);

#endif
