/* SPDX-License-Identifier: MIT */
/* Sources of definitions: files, the user's own places, and the names that CPUs have there. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <tach/pmu.h>
#include "core/derived/files.h"
#include "core/base/error.h"
#include "core/derived/parse.h"
#include "core/derived/presets.h"
#include "core/tables/tables.h"

static int read_all(int fd, char **text, size_t *length)
{
	size_t capacity = 0;
	ssize_t n = 1;

	*text = NULL;
	for (*length = 0; n; *length += (size_t)n) {
		if (*length == capacity) {
			char *larger;

			if (capacity > TACH__D_FILE_MAX)
				return -EFBIG;
			larger = realloc(*text, capacity += capacity + 65536);
			if (!larger)
				return TACH_ERR_NOMEM;
			*text = larger;
		}
		do
			n = read(fd, *text + *length, capacity - *length);
		while (n < 0 && errno == EINTR);
		if (n < 0)
			return -errno;
	}
	return 0;
}

int tach__derived_too_large(const char *name, struct tach_error *err)
{
	return tach__error(err, -EFBIG, 0, 0,
			   "%s has more than %u MB, the limit for definitions; divide it", name,
			   TACH__D_FILE_MAX >> 20);
}

int tach__derived_slurp(const char *path, char **text, size_t *length, struct tach_error *err)
{
	int saved = errno, fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0) {
		rc = -errno;
	} else {
		rc = read_all(fd, text, length);
		close(fd);
		if (rc)
			free(*text);
	}
	errno = saved;
	if (!rc)
		return 0;
	if (rc == -EFBIG)
		return tach__derived_too_large(path, err);
	return tach__error(err, rc, 0, 0, "cannot read %s: %s", path, tach_strerror(rc));
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_derived(const struct dirent *entry)
{
	static const char ending[] = ".derived";
	size_t n = strlen(entry->d_name);

	return n > strlen(ending) && !strcmp(entry->d_name + n - strlen(ending), ending);
}

/* Returns 0 or TACH_ERR_NOMEM; other errors are reported. */
static int load_file(struct tach_derived *d, const char *path)
{
	struct tach_error err = TACH_ERROR_INIT;
	int rc = tach_derived_load(d, path, &err);

	if (rc == TACH_ERR_NOMEM)
		return rc;
	if (rc < 0)
		tach__derived_complain(d, path, err.text);
	return 0;
}

static int load_folder(struct tach_derived *d, const char *folder)
{
	int saved = errno, rc = 0, n;
	struct dirent **names;
	char path[PATH_MAX];

	n = scandir(folder, &names, is_derived, by_name);
	if (n < 0 && errno == ENOMEM)
		rc = TACH_ERR_NOMEM;
	errno = saved;
	for (int i = 0; i < n; i++) {
		if (!rc && snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name) <
				   (int)sizeof path)
			rc = load_file(d, path);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return rc;
}

/* Loads the files of a list with ':' between them. */
static int load_list(struct tach_derived *d, const char *list)
{
	char path[PATH_MAX];
	int rc = 0;

	for (; list && *list && !rc; list += *list == ':') {
		size_t length = strcspn(list, ":");

		if (length && length < sizeof path) {
			memcpy(path, list, length);
			path[length] = 0;
			rc = load_file(d, path);
		}
		list += length;
	}
	return rc;
}

static int load_config(struct tach_derived *d)
{
	const char *config = secure_getenv("XDG_CONFIG_HOME"), *home = secure_getenv("HOME");
	char path[PATH_MAX];
	int n = -1;

	if (config && *config == '/')
		n = snprintf(path, sizeof path, "%s/tach", config);
	else if (home && *home)
		n = snprintf(path, sizeof path, "%s/.config/tach", home);
	return n > 0 && n < (int)sizeof path ? load_folder(d, path) : 0;
}

static int load_named(struct tach_derived *d, const char *variable)
{
	const char *path = secure_getenv(variable);

	return path && *path ? load_file(d, path) : 0;
}

int tach__derived_user_files(struct tach_derived *d)
{
	int rc = load_named(d, "PAPI_CSV_EVENT_FILE");

	if (!rc)
		rc = load_config(d);
	if (!rc)
		rc = load_named(d, "PAPI_USER_EVENTS_FILE");
	return rc ? rc : load_list(d, secure_getenv("TACH_DERIVED"));
}

/* Compares with a PMU's name, or the name of the PMU whose strings it takes. '-' equals '_'. */
static bool is_named(const char *have, const char *name, size_t length)
{
	if (!*have || strlen(have) != length)
		return false;
	for (size_t i = 0; i < length; i++)
		if (tach__fold(name[i] == '-' ? '_' : name[i]) != tach__fold(have[i]))
			return false;
	return true;
}

int tach__derived_cpu(const char *name, size_t length, int *pmus, int max)
{
	const char *by_cpu_name;
	int n = 0;

	for (int i = 0; i < tach__npmus() && n < max; i++) {
		const struct tach__pmu *pmu = tach__pmu_at(i);

		if (is_named(tach__str(pmu->name), name, length) ||
		    is_named(tach__str(pmu->alias), name, length))
			pmus[n++] = i;
	}
	for (size_t i = 0; n < max && (by_cpu_name = tach__preset_cpu(name, length, i)); i++)
		pmus[n++] = tach_pmu_find(by_cpu_name);
	return n;
}
