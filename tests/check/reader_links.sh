#!/usr/bin/env bash
# A program with inline reads builds without a warning at every optimisation level, links to the shared library and to
# the archive with both linkers, and runs.
set -u
cd "$(dirname "$0")/../.."
B=${B:-build} failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

cat >"$work/use.c" <<'CODE'
#include <stdio.h>
#include <tach/reader.h>
int main(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_reader *reader;
	struct tach_set *set;
	struct tach_mark mark;
	uint64_t delta[TACH_COUNTERS_MAX];
	opt.events = "task-clock page-faults";
	if (tach_set_create(&opt, &set, &err) || tach_reader_open(set, &reader, &err)) {
		puts(err.text);
		return 77;
	}
	tach_reader_begin(reader, &mark);
	if (tach_reader_end(reader, &mark, delta) != TACH_FLAG_SYSCALL || delta[0] == 0)
		return 1;
	tach_reader_begin_fenced_n(reader, &mark, 2);
	if (tach_reader_end_fenced_n(reader, &mark, delta, 2) != TACH_FLAG_SYSCALL || delta[0] == 0)
		return 1;
	if (tach_reader_read(reader, delta) != TACH_FLAG_SYSCALL || tach_reader_read_one(reader, 1, delta) != TACH_FLAG_SYSCALL)
		return 1;
	tach_reader_close(reader);
	tach_set_free(set);
	return 0;
}
CODE
cp "$work/use.c" "$work/use.cc"
try() { # COMPILER SOURCE FLAG...
	local cc=$1 source=$2; shift 2
	command -v "$cc" >/dev/null || return
	for library in "-L$B -ltach -Wl,-rpath,$PWD/$B" "$B/libtach.a -lurcu-bp -lm -lpthread"; do
		# shellcheck disable=SC2086
		"$cc" "$@" -Wall -Wextra -Werror -Iinclude -o "$work/use" "$work/$source" $library 2>"$work/log" && "$work/use" >>"$work/log"
		case $? in
		0) ;;
		77) echo "skip reader links: $(cat "$work/log")"; exit 77;;
		*) sed 's/^/# /' "$work/log"; echo "not ok reader links $cc $* ($library)"; failed=1;;
		esac
	done
}
for level in -O0 -O1 -Os -O3; do try gcc use.c $level; done
try clang use.c -O1
try clang use.c -O2 -fuse-ld=lld
try gcc use.c -O2 -flto -fuse-ld=bfd
try g++ use.cc -O2 -std=c++17
try clang++ use.cc -O2 -std=c++17 -no-pie
[ $failed = 1 ] || echo "ok reader links"
exit $failed
