/* SPDX-License-Identifier: MIT */
/* Reads the machine's vendor, processors and caches from /proc/cpuinfo and sysfs. */
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "compat/papi/state.h"

#define CPU0 "/sys/devices/system/cpu/cpu0/"

static PAPI_hw_info_t hardware;

/* Returns the rest of the first line of cpuinfo with that name, or "". */
static const char *cpuinfo_field(const char *text, const char *name, char *to, size_t size)
{
	size_t length = strlen(name);

	to[0] = '\0';
	for (const char *line = text; line;
	     line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		const char *colon = strchr(line, ':');

		if (strncmp(line, name, length) != 0 || !colon ||
		    isalnum((unsigned char)line[length]))
			continue;
		colon += 1 + strspn(colon + 1, " \t");
		snprintf(to, size, "%.*s", (int)strcspn(colon, "\n"), colon);
		break;
	}
	return to;
}

static int read_text(const char *path, char *to, size_t size)
{
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(to, 1, size - 1, f) : 0;

	to[n] = '\0';
	if (f)
		fclose(f);
	return n > 0;
}

static int read_number(const char *path)
{
	char text[64];

	return read_text(path, text, sizeof text) ? atoi(text) : 0;
}

/* Counts the bits that are set in a mask in sysfs. */
static int count_siblings(const char *path)
{
	char text[4096];
	int n = 0;

	if (!read_text(path, text, sizeof text))
		return 0;
	for (const char *at = text; *at; at++)
		if (isxdigit((unsigned char)*at))
			n += __builtin_popcount((unsigned)strtoul((char[]){*at, 0}, NULL, 16));
	return n;
}

static int count_folders(const char *format)
{
	char path[PAPI_MAX_STR_LEN];
	int n = 0;

	do
		snprintf(path, sizeof path, format, n);
	while (access(path, F_OK) == 0 && ++n);
	return n;
}

static void read_topology(PAPI_hw_info_t *h)
{
	h->totalcpus = count_folders("/sys/devices/system/cpu/cpu%d");
	h->nnodes = count_folders("/sys/devices/system/node/node%d");
	h->threads = count_siblings(CPU0 "topology/thread_siblings");
	if (h->threads > 0)
		h->cores = count_siblings(CPU0 "topology/core_siblings") / h->threads;
	h->ncpu = h->nnodes > 1 ? h->totalcpus / h->nnodes : h->totalcpus;
	if (h->cores > 0)
		h->sockets = h->totalcpus / h->cores / h->threads;
}

static void read_vendor(PAPI_hw_info_t *h, const char *text)
{
	static const struct {
		const char *name;
		int number;
	} makers[] = {
		{"GenuineIntel", PAPI_VENDOR_INTEL},
		{"AuthenticAMD", PAPI_VENDOR_AMD},
		{"ARM_ARM", PAPI_VENDOR_ARM_ARM},
		{"ARM_BROADCOM", PAPI_VENDOR_ARM_BROADCOM},
		{"ARM_CAVIUM", PAPI_VENDOR_ARM_CAVIUM},
		{"ARM_FUJITSU", PAPI_VENDOR_ARM_FUJITSU},
		{"ARM_HISILICON", PAPI_VENDOR_ARM_HISILICON},
		{"ARM_APM", PAPI_VENDOR_ARM_APM},
		{"ARM_QUALCOMM", PAPI_VENDOR_ARM_QUALCOMM},
	};
	enum { MAKERS = sizeof makers / sizeof *makers };
	int implementer = (int)strtol(cpuinfo_field(text, "CPU implementer", h->vendor_string,
						    sizeof h->vendor_string),
				      NULL, 16);

	h->vendor = PAPI_VENDOR_UNKNOWN;
	h->vendor_string[0] = '\0';
	for (int i = 0; implementer && i < MAKERS; i++)
		if (makers[i].number == implementer)
			snprintf(h->vendor_string, sizeof h->vendor_string, "%s",
				 makers[i].name);
	if (!implementer)
		cpuinfo_field(text, "vendor_id", h->vendor_string, sizeof h->vendor_string);
	for (int i = 0; i < MAKERS; i++)
		if (strcmp(makers[i].name, h->vendor_string) == 0)
			h->vendor = makers[i].number;
}

static void read_model(PAPI_hw_info_t *h, const char *text)
{
	char word[PAPI_MAX_STR_LEN];

	cpuinfo_field(text, "model name", h->model_string, sizeof h->model_string);
	if (h->vendor >= PAPI_VENDOR_ARM_ARM) {
		h->cpuid_family =
			atoi(cpuinfo_field(text, "CPU architecture", word, sizeof word));
		h->cpuid_model = (int)strtol(cpuinfo_field(text, "CPU part", word, sizeof word),
					     NULL, 16);
		h->cpuid_stepping =
			atoi(cpuinfo_field(text, "CPU revision", word, sizeof word));
	} else {
		h->cpuid_family = atoi(cpuinfo_field(text, "cpu family", word, sizeof word));
		h->cpuid_model = atoi(cpuinfo_field(text, "model", word, sizeof word));
		h->cpuid_stepping = atoi(cpuinfo_field(text, "stepping", word, sizeof word));
	}
	h->model = h->cpuid_model;
	h->revision = (float)h->cpuid_stepping;
}

static void clock_rate(PAPI_hw_info_t *h, const char *text)
{
	char word[PAPI_MAX_STR_LEN];
	int mhz = (int)strtod(cpuinfo_field(text, "cpu MHz", word, sizeof word), NULL);

	if (mhz < 1 && h->totalcpus)
		mhz = (int)strtod(cpuinfo_field(text, "BogoMIPS", word, sizeof word), NULL) /
		      h->totalcpus;
	h->cpu_max_mhz = read_number(CPU0 "cpufreq/cpuinfo_max_freq") / 1000;
	h->cpu_min_mhz = read_number(CPU0 "cpufreq/cpuinfo_min_freq") / 1000;
	if (h->cpu_max_mhz < 1)
		h->cpu_max_mhz = h->cpu_min_mhz = mhz > 0 ? mhz : 1;
	h->mhz = (float)h->cpu_max_mhz;
	h->clock_mhz = h->cpu_max_mhz;
}

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

/* A hypervisor sets CPUID.1:ECX[31], and leaf 0x40000000 has its name. */
static void virtual_machine(PAPI_hw_info_t *h)
{
	unsigned a, b, c, d, name[3];

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & 1u << 31))
		return;
	h->virtualized = 1;
	__cpuid(0x40000000, a, name[0], name[1], name[2]);
	memcpy(h->virtual_vendor_string, name, sizeof name);
}
#else
static void virtual_machine(PAPI_hw_info_t *h)
{
	(void)h;
}
#endif

static void look_at_machine(void)
{
	enum { SIZE = 1 << 16 };
	char *text = malloc(SIZE);

	if (!text || !read_text("/proc/cpuinfo", text, SIZE))
		strcpy(text ? text : (char[1]){0}, "");
	read_topology(&hardware);
	if (text) {
		read_vendor(&hardware, text);
		read_model(&hardware, text);
		clock_rate(&hardware, text);
	}
	if (hardware.cpu_max_mhz < 1)
		hardware.cpu_max_mhz = 1;
	virtual_machine(&hardware);
	pp_hierarchy(&hardware.mem_hierarchy);
	free(text);
}

PAPI_hw_info_t *pp_hardware(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, look_at_machine);
	return &hardware;
}
