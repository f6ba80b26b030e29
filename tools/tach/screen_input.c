/* SPDX-License-Identifier: MIT */
/* Waits for keys and events of `tach top`. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "tools/tach/commands.h"
#include "tools/tach/screen.h"

#define SEQUENCE_SECONDS 0.05 /* bytes that follow ESC within this time belong to its key */

static unsigned char input[64];
static int ninput;

static int is_open_sequence(void)
{
	int last = input[ninput - 1];

	if (ninput == (int)sizeof input)
		return 0;
	if (ninput == 1)
		return input[0] == SCREEN_ESCAPE;
	if (input[0] != SCREEN_ESCAPE || (input[1] != '[' && input[1] != 'O'))
		return 0;
	return ninput == 2 || (input[1] == '[' && (last < 0x40 || last > 0x7e));
}

static void drop_input(int n)
{
	ninput -= n;
	memmove(input, input + n, (size_t)ninput);
}

/* "[A", "OA", "[5~", "[1;5C": parses the bytes after ESC; *length: their number. */
static int sequence_key(int *length)
{
	static const struct {
		const char *end;
		int key;
	} keys[] = {
		{"A", SCREEN_UP},    {"B", SCREEN_DOWN},     {"C", SCREEN_RIGHT},
		{"D", SCREEN_LEFT},  {"H", SCREEN_HOME},     {"F", SCREEN_END},
		{"1~", SCREEN_HOME}, {"7~", SCREEN_HOME},    {"4~", SCREEN_END},
		{"8~", SCREEN_END},  {"5~", SCREEN_PAGE_UP}, {"6~", SCREEN_PAGE_DOWN},
	};
	int n = 2;

	while (input[1] == '[' && n < ninput && (input[n] < 0x40 || input[n] > 0x7e))
		n++;
	*length = n < ninput ? n : ninput - 1;
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		int size = (int)strlen(keys[i].end);

		if (n + 1 - size >= 2 && n < ninput &&
		    memcmp(input + n + 1 - size, keys[i].end, (size_t)size) == 0 &&
		    (size == 1 || n == 3))
			return keys[i].key;
	}
	return SCREEN_UNKNOWN;
}

static int take_key(void)
{
	int key = input[0], length = 0;

	if (key == SCREEN_ESCAPE && ninput > 1 && (input[1] == '[' || input[1] == 'O'))
		key = sequence_key(&length);
	drop_input(1 + length);
	return key;
}

/* Returns a key or event, or 0 to continue waiting. */
static int look_at_signals(struct screen *s)
{
	switch (screen_signal()) {
	case 0:
		return 0;
	case SIGTSTP:
		screen_stop(s);
		return SCREEN_RESIZED;
	case SIGCONT:
		screen_take(s);
		return SCREEN_RESIZED;
	case SIGWINCH:
		screen_measure(s);
		return SCREEN_RESIZED;
	default:
		return SCREEN_OVER;
	}
}

static int read_input(void)
{
	ssize_t n = read(STDIN_FILENO, input + ninput, sizeof input - (size_t)ninput);

	if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
		return SCREEN_OVER;
	ninput += n > 0 ? (int)n : 0;
	return 0;
}

/*
 * Sleeps until an event, input or the time limit. Returns an event, SCREEN_TIME, or 0 to look
 * at the input.
 */
static int sleep_until(struct screen *s, int fd, double seconds)
{
	struct pollfd on[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
			       {.fd = fd, .events = POLLIN}};
	struct timespec time = {(time_t)seconds,
				(long)((seconds - (double)(time_t)seconds) * 1e9)};
	sigset_t mask;
	int n, event;

	screen_mask(&mask);
	n = ppoll(on, 2, seconds < 0 ? NULL : &time, &mask);
	event = look_at_signals(s);
	if (event || n < 0)
		return event;
	if (n == 0)
		return SCREEN_TIME;
	if (on[0].revents)
		return read_input();
	return SCREEN_READY;
}

int screen_wait(struct screen *s, int fd, double seconds)
{
	double end = clock_seconds(CLOCK_MONOTONIC) + seconds;
	int event = look_at_signals(s);

	while (!event) {
		double left = end - clock_seconds(CLOCK_MONOTONIC);

		if (ninput && !is_open_sequence())
			return take_key();
		if (ninput) {
			event = sleep_until(s, -1, SEQUENCE_SECONDS);
			if (event == SCREEN_TIME)
				return take_key();
			continue;
		}
		event = sleep_until(s, fd, seconds < 0 ? -1 : left > 0 ? left : 0);
	}
	return event;
}
