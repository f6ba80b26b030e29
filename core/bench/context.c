/* SPDX-License-Identifier: MIT */
/* The conditions of a benchmark: the present state of the machine. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "core/base/json_out.h"
#include "core/bench/context.h"
#include "core/os/kernel_files.h"

/* At this load, other programs take time from the measurement. */
#define BUSY 0.5

static int cpu_line(void *context, const char *text)
{
	struct tach__machine *m = context;
	const char *model = tach__cpuinfo_value(text, "model name");
	const char *mhz = tach__cpuinfo_value(text, "cpu MHz");

	if (model)
		snprintf(m->model, sizeof m->model, "%s", model);
	if (mhz)
		m->mhz = strtod(mhz, NULL);
	return m->model[0] && m->mhz > 0;
}

/* Reads a file with one number; returns -1 if it does not exist. */
static double number_in(const char *root, const char *path)
{
	char text[64];

	return tach__file_line(root, path, text, sizeof text) > 0 ? strtod(text, NULL) : -1;
}

static void look_at_frequency(struct tach__machine *m, const char *root)
{
	static const char cpufreq[] = "/sys/devices/system/cpu/cpu0/cpufreq/";
	char path[128];
	double least, most;

	snprintf(path, sizeof path, "%sscaling_governor", cpufreq);
	tach__file_line(root, path, m->governor, sizeof m->governor);
	snprintf(path, sizeof path, "%sscaling_min_freq", cpufreq);
	least = number_in(root,
			  path); /* kHz: Linux's Documentation/admin-guide/pm/cpufreq.rst */
	snprintf(path, sizeof path, "%sscaling_max_freq", cpufreq);
	most = number_in(root, path);
	m->least_mhz = least > 0 ? least / 1000 : 0;
	m->most_mhz = most > 0 ? most / 1000 : 0;
	m->turbo = number_in(root, "/sys/devices/system/cpu/cpufreq/boost") == 1 ||
		   number_in(root, "/sys/devices/system/cpu/intel_pstate/no_turbo") == 0;
}

void tach__machine_look(struct tach__machine *m, const char *root)
{
	char load[64];
	int saved = errno;

	memset(m, 0, sizeof *m);
	m->processors = sysconf(_SC_NPROCESSORS_ONLN);
	errno = saved;
	tach__file_lines(root, "/proc/cpuinfo", cpu_line, m);
	if (tach__file_line(root, "/proc/loadavg", load, sizeof load) > 0)
		m->load = strtod(load, NULL);
	look_at_frequency(m, root);
}

static int is_scaled(const struct tach__machine *m)
{
	return m->governor[0] && strcmp(m->governor, "performance") != 0;
}

void tach__machine_text(struct tach__out *out, const struct tach__machine *m)
{
	char model[sizeof m->model];

	tach_printable(m->model[0] ? m->model : "processor", model, sizeof model);
	tach__out(out, "%ld x %s", m->processors, model);
	if (m->mhz > 0)
		tach__out(out, ", %.0f MHz", m->mhz);
	tach__out(out, ", load %.2f\n", m->load);
	if (is_scaled(m) && m->least_mhz < m->most_mhz)
		tach__out(out,
			  "warning: the frequency is scaled (governor %s, %.0f to %.0f MHz): "
			  "times vary with it\n",
			  m->governor, m->least_mhz, m->most_mhz);
	else if (is_scaled(m))
		tach__out(
			out,
			"warning: the frequency is scaled (governor %s): times vary with it\n",
			m->governor);
	if (m->turbo)
		tach__out_text(out,
			       "warning: turbo is on: the frequency depends on heat and on "
			       "what other processors do\n");
	if (m->load > BUSY * (double)m->processors)
		tach__out(out,
			  "warning: the machine is busy (load %.2f, %ld processors): other "
			  "programs change the times\n",
			  m->load, m->processors);
}

static void date_and_host(char *date, size_t date_size, char *host, size_t host_size)
{
	time_t now = time(NULL);
	int saved = errno; /* gmtime_r reads the file of the time zone */
	struct tm tm;

	*date = '\0';
	memset(host, 0, host_size);
	gethostname(host, host_size - 1);
	if (gmtime_r(&now, &tm))
		strftime(date, date_size, "%Y-%m-%dT%H:%M:%S+00:00", &tm);
	errno = saved;
}

void tach__machine_name(char *date, size_t date_size, char *host, size_t host_size,
			char *machine, size_t machine_size)
{
	struct tach__machine m;

	tach__machine_look(&m, "");
	date_and_host(date, date_size, host, host_size);
	snprintf(machine, machine_size, "%ld x %s", m.processors,
		 m.model[0] ? m.model : "processor");
}

void tach__machine_google(struct tach__out *out, const struct tach__machine *m)
{
	struct tach__json_out json;
	char host[256], date[64];

	date_and_host(date, sizeof date, host, sizeof host);
	tach__json_begin(&json, out, TACH__JSON_SPACED);
	tach__json_object(&json, NULL);
	tach__json_string(&json, "date", date);
	tach__json_string(&json, "host_name", host);
	tach__json_string(&json, "executable", "");
	tach__json_int(&json, "num_cpus", (int)m->processors);
	tach__json_int(&json, "mhz_per_cpu", (int)m->mhz);
	tach__json_bool(&json, "cpu_scaling_enabled", is_scaled(m));
	tach__json_array(&json, "caches");
	tach__json_end(&json);
	tach__json_array(&json, "load_avg");
	tach__json_number(&json, NULL, m->load);
	tach__json_end(&json);
	tach__json_string(&json, "library_build_type", "release");
	tach__json_int(&json, "json_schema_version", 1);
	tach__json_end(&json);
}
