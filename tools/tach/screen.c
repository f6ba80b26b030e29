/* SPDX-License-Identifier: MIT */
/* The terminal for `tach top`: takes it over and restores it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include "core/report/report.h"
#include "tools/tach/screen.h"

/* The alternate screen, without a cursor and without line wrap. */
static const char enter[] = "\033[?1049h\033[?25l\033[?7l\033[H\033[2J";
static const char leave[] = "\033[0m\033[?7h\033[?25h\033[?1049l";

static volatile sig_atomic_t is_open, pending;
static int ended_by; /* a signal */
static struct termios saved;
static FILE *frame;
static char *frame_text;
static size_t frame_length;

/* These signals are handled between frames; all before SIGTSTP end `tach top`. */
static const int polite[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH};
static const int deadly[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS};
enum {
	NPOLITE = sizeof polite / sizeof *polite,
	NDEADLY = sizeof deadly / sizeof *deadly,
};

void screen_mask(sigset_t *mask)
{
	sigprocmask(SIG_SETMASK, NULL, mask);
	for (int i = 0; i < NPOLITE; i++)
		sigdelset(mask, polite[i]);
}

static int ends_process(int number)
{
	return number != SIGTSTP && number != SIGCONT && number != SIGWINCH;
}

int screen_signal(void)
{
	int number = pending;

	pending = 0;
	if (number && ends_process(number))
		ended_by = number;
	return number;
}

/* A signal that ends the command is not overwritten by a later one. */
static void note_signal(int number)
{
	if (pending == 0 || !ends_process(pending))
		pending = number;
}

static void write_all(const char *text, size_t length)
{
	while (length) {
		ssize_t n = write(STDOUT_FILENO, text, length);

		if (n < 0 && errno != EINTR)
			return;
		if (n > 0) {
			text += n;
			length -= (size_t)n;
		}
	}
}

/* In a handler too. */
static void restore_terminal(int when)
{
	if (!is_open)
		return;
	is_open = 0;
	write_all(leave, sizeof leave - 1);
	tcsetattr(STDIN_FILENO, when, &saved);
}

static void raise_default(int number)
{
	signal(number, SIG_DFL);
	raise(number);
}

static void on_crash(int number)
{
	restore_terminal(TCSANOW);
	raise_default(number);
}

/* An ignored signal stays ignored, as under nohup and in background jobs. */
static void set_handler(int number, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, was;

	sigemptyset(&action.sa_mask);
	if (sigaction(number, NULL, &was) == 0 && was.sa_handler != SIG_IGN)
		sigaction(number, &action, NULL);
}

int screen_possible(void)
{
	const char *term = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term &&
	       strcmp(term, "dumb") != 0;
}

void screen_measure(struct screen *s)
{
	struct winsize size;

	s->rows = 24;
	s->columns = 80;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col) {
		s->rows = size.ws_row;
		s->columns = size.ws_col;
	}
}

int screen_take(struct screen *s)
{
	struct termios raw = saved;

	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw) != 0)
		return -1;
	is_open = 1;
	write_all(enter, sizeof enter - 1);
	screen_measure(s);
	return 0;
}

int screen_open(struct screen *s)
{
	struct tach_report_options look = {0};
	sigset_t held;

	tach__report_terminal(&look, STDOUT_FILENO);
	s->color = look.color;
	s->ascii = look.ascii;
	if (tcgetattr(STDIN_FILENO, &saved) != 0)
		return -1;
	/* The signals are delivered only while screen_wait sleeps, never inside a frame. */
	sigemptyset(&held);
	for (int i = 0; i < NPOLITE; i++) {
		sigaddset(&held, polite[i]);
		set_handler(polite[i], note_signal, 0);
	}
	sigprocmask(SIG_BLOCK, &held, NULL);
	for (int i = 0; i < NDEADLY; i++)
		set_handler(deadly[i], on_crash, (int)SA_RESETHAND);
	atexit(screen_close);
	return screen_take(s);
}

void screen_close(void)
{
	restore_terminal(TCSAFLUSH);
}

void screen_die(void)
{
	sigset_t none;

	if (!ended_by)
		return;
	fflush(NULL);
	signal(ended_by, SIG_DFL);
	raise(ended_by);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

void screen_stop(struct screen *s)
{
	sigset_t stop, was;

	screen_close();
	signal(SIGTSTP, SIG_DFL);
	raise(SIGTSTP);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, &was);
	/* The process stops here, and later continues. */
	sigprocmask(SIG_SETMASK, &was, NULL);
	set_handler(SIGTSTP, note_signal, 0);
	tcgetattr(STDIN_FILENO, &saved);
	screen_take(s);
}

/* ---- frames ---- */

static void put_style(const struct screen *s, enum screen_style style)
{
	static const struct {
		const char *color, *plain;
	} sgr[] = {
		[SCREEN_PLAIN] = {"0", "0"},	    [SCREEN_TITLE] = {"0;1", "0;1"},
		[SCREEN_HEAD] = {"0;30;42", "0;7"}, [SCREEN_SORTED] = {"0;30;46", "0;1;4"},
		[SCREEN_SELECTED] = {"0;7", "0;7"}, [SCREEN_IDLE] = {"0;2", "0;2"},
		[SCREEN_WARNING] = {"0;35", "0;1"},
	};

	fprintf(frame, "\033[%sm", s->color ? sgr[style].color : sgr[style].plain);
}

void screen_begin(void)
{
	frame = open_memstream(&frame_text, &frame_length);
	if (frame)
		fputs("\033[0m\033[H", frame);
}

/*
 * Each piece is positioned separately. If a terminal disagrees about a character's width, only
 * that piece is wrong.
 */
void screen_put(const struct screen *s, int row, int column, int columns,
		enum screen_style style, const char *text)
{
	char fitted[4096];

	if (!frame || row < 0 || row >= s->rows || column >= s->columns)
		return;
	if (columns > s->columns - column)
		columns = s->columns - column;
	fit_text(fitted, sizeof fitted, text, columns, s->ascii);
	fprintf(frame, "\033[%d;%dH", row + 1, column + 1);
	if (column == 0)
		fputs("\033[0m\033[K", frame);
	put_style(s, style);
	fputs(fitted, frame);
}

void screen_end(int row, int column)
{
	if (!frame)
		return;
	fputs("\033[0m", frame);
	if (column >= 0)
		fprintf(frame, "\033[%d;%dH\033[?25h", row + 1, column + 1);
	else
		fputs("\033[?25l", frame);
	if (fclose(frame) == 0)
		write_all(frame_text, frame_length);
	free(frame_text);
	frame = NULL;
	frame_text = NULL;
}
