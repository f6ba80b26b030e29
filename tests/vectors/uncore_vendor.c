/* SPDX-License-Identifier: MIT */
/*
 * The vendors' lists of uncore events (tests/vectors/uncore-vendor-words.tsv): each event, by
 * its name in the tables and by the vendor's name, gives the word that the vendor's fields
 * make.
 */
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include "tests/check.h"
#include "tests/vectors.h"

static long strings, names, second, refused;

/* The interrupt and enable bits of client boxes, which perf sets itself. */
#define CLIENT_BITS 0x500000ull

static int encode(const char *string, struct tach_event *e, struct tach_error *err)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;

	opt.os = TACH_OS_NONE;
	opt.host = "";
	opt.sysfs = opt.tracefs = "/nonexistent";
	memset(e, 0, sizeof *e);
	return tach_event_encode(string, &opt, e, err);
}

static void one(char *line)
{
	char *string = strsep(&line, "\t"), *code = strsep(&line, "\t"), *vendor = line;
	struct tach_error err = TACH_ERROR_INIT;
	unsigned long long word;
	char by_name[512];
	struct tach_event e;

	CHECK(string && code && vendor, "%s", string);
	if (!vendor)
		return;
	word = strtoull(code, NULL, 16);
	vendor[strcspn(vendor, "\n")] = 0;
	strings++;
	/* The first memory controller's list also has events that only the second counts. */
	if (strstr(string, "imc_free0::") && strstr(string, "MC1")) {
		*strchr(string, ':') = 0;
		string[strlen(string) - 1] = '1';
		string[strlen(string)] = ':';
		second++;
	}
	/* Counters beyond those that the kernel has are in the vendor's lists alone. */
	if (strstr(string, "_unc_iio_free") && strstr(string, "::UNC_IIO_BANDWIDTH_OUT") &&
	    (strncmp(string, "icx", 3) == 0 || strncmp(string, "snr", 3) == 0)) {
		CHECK(encode(string, &e, &err) == TACH_ERR_NOTFOUND, "%s", string);
		refused++;
		return;
	}
	CHECK(encode(string, &e, &err) == 0, "%s: %s", string, err.text);
	CHECK((e.codes[0] & ~CLIENT_BITS) == (word & ~CLIENT_BITS), "%s: %#llx, want %#llx",
	      string, (unsigned long long)e.codes[0], word);
	if (strchr(vendor, ':'))
		return;
	snprintf(by_name, sizeof by_name, "%.*s::%s", (int)strcspn(string, ":"), string,
		 vendor);
	names++;
	CHECK(encode(by_name, &e, &err) == 0, "%s: %s", by_name, err.text);
	CHECK(((e.codes[0] ^ word) & ~CLIENT_BITS) == 0, "%s: %#llx, want %#llx", by_name,
	      (unsigned long long)e.codes[0], word);
}

static void all(void)
{
	FILE *f = vectors_open("uncore-vendor-words.tsv");
	static char line[1024];

	CHECK(f != NULL, "uncore-vendor-words.tsv");
	while (f && fgets(line, sizeof line, f))
		one(line);
	if (f)
		fclose(f);
	CHECK(strings == 19920, "%ld strings", strings);
	CHECK(names == 19904 && second == 17 && refused == 16,
	      "%ld names, %ld of the second, %ld refused", names, second, refused);
}

int main(void)
{
	CASE(all);
	return check_done();
}
