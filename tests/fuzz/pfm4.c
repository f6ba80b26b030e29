/* SPDX-License-Identifier: MIT */
/*
 * libpfm-4's interface: sizes of arguments, sizes and contents of perf_event_attr, NULL
 * pointers, every entry point. Bytes 0-7 choose the call; the rest is the string. A refused
 * call does not change its arguments.
 */
#include <perfmon/pfmlib_perf_event.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
	if (!condition)
		abort();
}

static void raw(const char *string, int plm, const uint8_t *choice)
{
	/*
	 * The argument ends at the end of its memory, and its length is exactly its size.
	 */
	size_t length = choice[1], room = length > sizeof(pfm_pmu_encode_arg_t)
						  ? length
						  : sizeof(pfm_pmu_encode_arg_t);
	pfm_pmu_encode_arg_t *arg = malloc(room), before;
	uint64_t codes[4] = {1, 2, 3, 4};
	char *name = (char *)codes;
	pfm_err_t rc;

	memset(arg, 0, room);
	if (room > sizeof *arg)
		((uint8_t *)arg)[sizeof *arg + choice[2] % (room - sizeof *arg)] =
			choice[3] & 1;
	arg->size = length;
	arg->count = (int)(choice[3] >> 1 & 7) - 2;
	arg->codes = choice[3] & 0x20 ? codes : NULL;
	arg->fstr = choice[3] & 0x40 ? &name : NULL;
	before = *arg;
	rc = pfm_get_os_event_encoding(string, plm, PFM_OS_NONE, arg);
	if (rc == PFM_SUCCESS) {
		require(arg->count > 0 && arg->codes && arg->idx >= 0);
		if (arg->codes != codes)
			free(arg->codes);
		if (name != (char *)codes)
			free(name);
	} else {
		require(memcmp(arg, &before, sizeof before) == 0 && name == (char *)codes);
		require(codes[0] == 1 && codes[1] == 2);
	}
	require(pfm_find_event(string) >= 0 || rc != PFM_SUCCESS);
	free(arg);
}

static void perf(const char *string, int plm, pfm_os_t os, const uint8_t *choice)
{
	static const uint32_t sizes[] = {0, 64, 72, 80, 96, 104, 112, 120, 128, 136, 4096, 7};
	uint32_t length = sizes[choice[1] % (sizeof sizes / sizeof *sizes)];
	struct perf_event_attr *attr = malloc(sizeof *attr), before;
	union {
		pfm_perf_encode_arg_t arg;
		uint8_t room[256]; /* for any size that fits into a byte */
	} u;
	char *name = NULL;
	int idx;

	memset(&u, 0, sizeof u);
	u.arg.size = choice[2] & 1 ? sizeof u.arg : choice[2];
	memset(attr, choice[3], sizeof *attr);
	attr->size = length;
	attr->freq = choice[2] >> 1 & 1;
	before = *attr;
	u.arg.attr = choice[2] & 4 ? NULL : attr;
	u.arg.fstr = choice[2] & 8 ? &name : NULL;
	if (pfm_get_os_event_encoding(string, plm, os, &u) != PFM_SUCCESS)
		require(memcmp(attr, &before, sizeof before) == 0 && !name);
	require(attr->size == before.size && attr->read_format == before.read_format &&
		attr->inherit == before.inherit && attr->wakeup_events == before.wakeup_events);
	free(name);
	name = NULL;
	if (pfm_get_perf_event_encoding(string, plm, attr, &name, &idx) == PFM_SUCCESS)
		free(name);
	free(attr);
}

static void show(const uint8_t *choice)
{
	union {
		pfm_pmu_info_t pmu;
		pfm_event_info_t event;
		pfm_event_attr_info_t attr;
		uint8_t room[256]; /* for any size that fits into a byte */
	} info;
	int idx = (int)((unsigned)choice[1] << 21 | (unsigned)choice[2] << 4 | choice[3]);

	memset(&info, 0, sizeof info);
	info.pmu.size = choice[4];
	pfm_get_pmu_info((pfm_pmu_t)((int)choice[1] * 4 + choice[2] % 4), &info.pmu);
	memset(&info, 0, sizeof info);
	if (pfm_get_event_info(idx, (pfm_os_t)(choice[4] % 4), &info.event) == PFM_SUCCESS) {
		int n = info.event.nattrs;

		memset(&info, 0, sizeof info);
		for (int i = -1; i <= n; i++)
			require((pfm_get_event_attr_info(idx, i, (pfm_os_t)(choice[4] % 4),
							 &info.attr) == PFM_SUCCESS) ==
				(i >= 0 && i < n));
	}
	require(pfm_get_event_next(idx) == -1 || pfm_get_event_next(idx) == idx + 1);
	require(pfm_strerror((int)choice[1] - 128) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *string;

	if (size < 8)
		return 0;
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	setenv("TACH_PMU", "skl", 1);
	require(pfm_initialize() == PFM_SUCCESS);
	string = malloc(size - 7);
	memcpy(string, data + 8, size - 8);
	string[size - 8] = 0;
	switch (data[0] % 4) {
	case 0:
		raw(string, data[5], data);
		break;
	case 1:
	case 2:
		perf(string, data[5], (pfm_os_t)(data[0] % 4), data);
		break;
	case 3:
		show(data);
		break;
	}
	free(string);
	return 0;
}
