/* SPDX-License-Identifier: MIT */
/*
 * Event strings. Byte 0: form and flags; byte 1: privilege levels; the rest is the string. A
 * refusal writes nothing and gives the reason; the full name of an encoding encodes to the same
 * value again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tach.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
	if (!condition)
		abort();
}

static void again(const struct tach_event *first, const struct tach_encode_options *opt)
{
	struct tach_event second = {.size = sizeof second};

	require(tach_event_encode(first->name, opt, &second, NULL) == 0);
	require(second.ncodes == first->ncodes);
	require(memcmp(second.codes, first->codes, first->ncodes * sizeof *first->codes) == 0);
	require(second.type == first->type && second.config == first->config &&
		second.config1 == first->config1 && second.config2 == first->config2 &&
		second.period == first->period && second.precise == first->precise &&
		second.pinned == first->pinned && second.exclusive == first->exclusive &&
		second.exclude_user == first->exclude_user &&
		second.exclude_kernel == first->exclude_kernel &&
		second.exclude_hv == first->exclude_hv &&
		second.exclude_host == first->exclude_host &&
		second.exclude_guest == first->exclude_guest && second.cpu == first->cpu);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;
	struct tach_event event, before;
	struct tach_error err = TACH_ERROR_INIT;
	char *string;
	int rc;

	if (size < 2)
		return 0;
	opt.os = (enum tach_os)(data[0] % 3);
	opt.flags = data[0] >> 2 & (TACH_ENCODE_LIBPFM4 | TACH_ENCODE_NO_NAME);
	opt.any_pmu = !(data[0] & 0x80);
	/* Privilege levels 1 and 2 have no modifiers, so full names cannot contain them. */
	opt.privilege = data[1] & 0x19;
	opt.pmu = data[1] & 0x80 ? tach_pmu_find("snb") : -1;
	opt.host = data[1] & 0x40 ? "amd64_fam19h_zen3" : "skl";
	opt.sysfs = opt.tracefs = "/nonexistent";
	/* A copy of the exact length, so that a read of one byte too many is noticed. */
	string = malloc(size - 1);
	memcpy(string, data + 2, size - 2);
	string[size - 2] = 0;
	memset(&event, 0x5a, sizeof event);
	event.size = sizeof event;
	before = event;
	rc = tach_event_encode(string, &opt, &event, &err);
	if (rc) {
		require(memcmp(&event, &before, sizeof event) == 0);
		require(err.code == rc && *err.text && err.column >= 0 &&
			(size_t)err.column <= size);
	} else if (!opt.flags && !(event.has & TACH_EVENT_HAS_CUT_NAME)) {
		again(&event, &opt);
	}
	free(string);
	return 0;
}
