/* SPDX-License-Identifier: MIT */
/* Reports: chooses the format and the destination. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "core/report/deliver.h"
#include "core/base/error.h"
#include "core/base/sized.h"
#include "core/report/report.h"

static const struct {
	const char *suffix;
	void (*write)(struct tach__out *, const struct tach_snapshot *,
		      const struct tach_report_options *);
} formats[] = {
	[TACH_FORMAT_TEXT] = {".txt", tach__report_text},
	[TACH_FORMAT_JSON] = {".json", tach__report_json},
	[TACH_FORMAT_CSV] = {".csv", tach__report_csv},
	[TACH_FORMAT_PROMETHEUS] = {".prom", tach__report_prometheus},
	[TACH_FORMAT_HTML] = {".html", tach__report_html},
};
enum { NFORMATS = sizeof formats / sizeof *formats };

uint32_t tach__report_flags(const struct tach_snapshot *s)
{
	struct tach_value v;
	uint32_t flags = 0;

	for (int r = 0; r < tach_snapshot_nregions(s); r++)
		for (int q = 0; q < tach_snapshot_nquantities(s); q++) {
			tach_snapshot_value(s, r, q, TACH_PART_INCLUSIVE, &v);
			flags |= v.flags;
		}
	return flags;
}

void tach__report_line(struct tach__out *out, const char *text, int ascii)
{
	char line[1024];

	tach_printable(text, line, sizeof line);
	for (char *c = line; *c && ascii; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	tach__out_text(out, line);
}

enum tach_format tach_report_format(const char *file)
{
	size_t length = file ? strlen(file) : 0;

	for (int f = 0; f < NFORMATS; f++) {
		size_t n = strlen(formats[f].suffix);

		if (length >= n && strcmp(file + length - n, formats[f].suffix) == 0)
			return (enum tach_format)f;
	}
	return TACH_FORMAT_TEXT;
}

int tach_report_write(const struct tach_snapshot *s, const struct tach_report_options *given,
		      tach_sink sink, void *context, struct tach_error *err)
{
	static const struct tach_report_options defaults = {.size = sizeof defaults};
	struct tach_report_options ours;
	const struct tach_report_options *opt = &defaults;
	struct tach__out out;
	int code;

	if (given)
		opt = tach__sized_in(given, &ours, TACH__STRUCT(tach_report_options), err);
	if (!opt)
		return TACH_ERR_INVAL;
	if (!s || !sink || (unsigned)opt->format >= NFORMATS)
		return tach__error(err, TACH_ERR_INVAL, 0, 0,
				   "no snapshot, no sink, or no such format");
	tach__out_open(&out, sink, context);
	formats[opt->format].write(&out, s, opt);
	code = tach__out_flush(&out);
	if (!code && out.lacking)
		code = TACH_ERR_NOMEM;
	if (code)
		return tach__error(err, code, 0, 0, "the report could not be written: %s",
				   tach_strerror(code));
	return 0;
}

static int sink_fd(void *context, const char *text, size_t length)
{
	int fd = *(const int *)context, saved = errno;

	while (length) {
		ssize_t n = write(fd, text, length);
		int code = n < 0 ? -errno : 0;

		errno = saved;
		if (code == -EINTR)
			continue;
		if (code)
			return code;
		text += n;
		length -= (size_t)n;
	}
	return 0;
}

static const char *environment(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value ? value : NULL;
}

/* Returns 1 if the locale names another character set; UTF-8 is the default. */
static int ascii_terminal(void)
{
	const char *locale = environment("LC_ALL");

	locale = locale ? locale : environment("LC_CTYPE");
	locale = locale ? locale : environment("LANG");
	return locale && !strcasestr(locale, "utf-8") && !strcasestr(locale, "utf8");
}

void tach__report_terminal(struct tach_report_options *opt, int fd)
{
	const char *term = environment("TERM"), *columns = environment("COLUMNS");
	int saved = errno, terminal = isatty(fd);
	struct winsize size;

	errno = saved;
	if (!terminal)
		return;
	opt->color = !environment("NO_COLOR") && !(term && strcmp(term, "dumb") == 0);
	opt->ascii = ascii_terminal();
	if (columns && atoi(columns) > 0)
		opt->width = atoi(columns);
	else if (ioctl(fd, TIOCGWINSZ, &size) == 0)
		opt->width = size.ws_col;
	errno = saved;
}

int tach_report_fd(const struct tach_snapshot *s, const struct tach_report_options *given,
		   int fd, struct tach_error *err)
{
	struct tach_report_options opt = {0};

	if (!given)
		tach__report_terminal(&opt, fd);
	return tach_report_write(s, given ? given : &opt, sink_fd, &fd, err);
}

int tach_report_file(const struct tach_snapshot *s, const struct tach_report_options *given,
		     const char *file, struct tach_error *err)
{
	struct tach_report_options opt = {0};
	struct tach__buffer text = {0};
	int code;

	if (!file)
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "no file");
	opt.format = tach_report_format(file);
	code = tach_report_write(s, given ? given : &opt, tach__buffer_sink, &text, err);
	if (!code) {
		code = tach__deliver_file(file, 0, &text);
		if (code)
			tach__error(err, code, 0, 0, "%s: %s", file, tach_strerror(code));
	}
	tach__buffer_free(&text);
	return code;
}

static uint32_t quantity_flags(const struct tach_snapshot *s, int region)
{
	struct tach_region_info info = {0};
	struct tach_value v;
	uint32_t flags = 0;

	tach_snapshot_region(s, region, &info);
	for (int q = 1; info.calls && q < tach_snapshot_nquantities(s); q++)
		if (tach_snapshot_value(s, region, q, TACH_PART_INCLUSIVE, &v) == 0)
			flags |= v.flags;
	return flags;
}

const char *tach__report_kind(const struct tach_snapshot *s, int region, int i)
{
	uint32_t flags = quantity_flags(s, region);
	struct tach_region_info info = {.size = sizeof info};

	tach_snapshot_region(s, region, &info);
	if (info.overlapping && i-- == 0)
		return "overlapping";
	if (flags & TACH_FLAG_EMULATED && i-- == 0)
		return "emulated";
	return flags & TACH_FLAG_SHARED && i == 0 ? "shared" : NULL;
}

uint64_t tach__report_calls(const struct tach_region_info *info)
{
	return info->calls ? info->calls + info->skipped : 0;
}

int tach__report_other_entries(char to[TACH__BESIDE_MAX], const struct tach_region_info *info,
			       int i)
{
	const struct {
		uint64_t n;
		const char *words;
	} kind[] = {{info->skipped && info->calls ? info->calls : 0, "sampled"},
		    {info->calls ? 0 : info->skipped, "passed over"},
		    {info->excluded, "in warm-up"},
		    {info->lost, "never stopped"}};

	for (size_t k = 0; k < sizeof kind / sizeof *kind; k++)
		if (kind[k].n && i-- == 0)
			return snprintf(to, TACH__BESIDE_MAX, "%llu %s",
					(unsigned long long)kind[k].n, kind[k].words);
	return 0;
}
