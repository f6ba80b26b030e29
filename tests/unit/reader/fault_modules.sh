#!/usr/bin/env bash
# Faults of counter instructions in several shared libraries: each library has its own records (section tach_ex), the
# handlers know the records that existed when they were installed, and unloading a library removes only its own
# records.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

for name in one two three; do
	cat >"$work/$name.c" <<CODE
#include <tach/reader.h>
__attribute__((visibility("default"))) uint32_t read_$name(struct tach_reader *r, uint64_t *v) { return tach_reader_read_n(r, v, 2); }
CODE
	"${CC:-gcc}" -O2 -fPIC -shared -Iinclude -o "$work/$name.so" "$work/$name.c" || exit 1
done
cat >"$work/main.c" <<'CODE'
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tach/fault.h>
#include "tests/check.h"
#include "tests/unit/reader/liar.h"

typedef uint32_t (*read_of)(struct tach_reader *, uint64_t *);
static struct tach_reader *reader;
static void *library[3];

static read_of load(int i)
{
	static const char *const name[] = {"one", "two", "three"};
	char text[4096];

	snprintf(text, sizeof text, "%s/%s.so", getenv("WORK"), name[i]);
	library[i] = dlopen(text, RTLD_NOW | RTLD_LOCAL);
	snprintf(text, sizeof text, "read_%s", name[i]);
	return library[i] ? (read_of)dlsym(library[i], text) : NULL;
}

/* How reading ends: flags, or 128 + the signal. */
static int ends(read_of f)
{
	uint64_t value[2];
	int status;
	pid_t child = fork();

	if (child == 0) {
		reader = open_liar();
		_exit(reader ? (int)f(reader, value) : 77);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void modules(void)
{
	read_of f[3] = {load(0), load(1), NULL};
	int fatal, covered;

	if (!f[0] || !f[1]) {
		CHECK(0, "%s", dlerror());
		return;
	}
	fatal = ends(f[0]);
	if (fatal == 77)
		SKIP(err.text);
	if (fatal < 128)
		SKIP("this machine lets every program read counters");
	covered = tach_fault_install(&err);
	CHECK(covered >= 4, "%d", covered);
	CHECK(ends(f[0]) == TACH_FLAG_SYSCALL && ends(f[1]) == TACH_FLAG_SYSCALL);
	/* What comes later is not known until one installs again. */
	f[2] = load(2);
	CHECK(ends(f[2]) == fatal, "%d", ends(f[2]));
	CHECK(tach_fault_install(&err) == covered + 2);
	CHECK(ends(f[2]) == TACH_FLAG_SYSCALL, "%d", ends(f[2]));
	/* One goes: the others stay covered, the place where it was is no module's. */
	CHECK(dlclose(library[0]) == 0);
	CHECK(ends(f[1]) == TACH_FLAG_SYSCALL && ends(f[2]) == TACH_FLAG_SYSCALL);
	CHECK(ends(f[0]) == 128 + SIGSEGV, "%d", ends(f[0]));
	CHECK(tach_fault_install(&err) == covered);
	CHECK(ends(f[1]) == TACH_FLAG_SYSCALL && ends(f[2]) == TACH_FLAG_SYSCALL);
	tach_fault_remove();
	CHECK(ends(f[1]) == fatal);
}

int main(void)
{
	CASE(modules);
	return check_done();
}
CODE
"${CC:-gcc}" -O1 -Wall -rdynamic -Iinclude -I. -D_GNU_SOURCE -DTACH_BUILD -o "$work/main" "$work/main.c" \
	-Wl,--whole-archive "$B/libtach.a" -Wl,--no-whole-archive -lurcu-bp -lm -lpthread -ldl || exit 1
WORK=$work "$work/main"
