#!/usr/bin/env bash
# Code that uses the macros compiles without a warning in every standard, C and C++, with both compilers.
set -u
cd "$(dirname "$0")/../../.."
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cat >"$work/use.c" <<'USE'
#include <tach.h>
#include <tach/bench.h>
#ifdef __cplusplus
#include <tach.hpp>
#endif
TACH_BENCH(plain) { TACH_CLOBBER(); }
TACH_BENCH_ARGS(sizes, 1, 2) { TACH_KEEP(tach_arg); }
TACH_BENCH_SETUP(sizes) { }
TACH_BENCH_TEARDOWN(sizes) { }
TACH_BENCH_UNITS(sizes, "byte", tach_arg);
void use(void);
void use(void)
{
	TACH_SCOPE(whole);
	TACH_SCOPE_FENCED(fenced);
	TACH_START(part);
	TACH_STOP(part);
	TACH_START_FENCED(other);
	TACH_STOP(other);
#ifdef __cplusplus
	TACH_GUARD(guard);
#endif
}
USE
failed=0
for compiler in gcc clang g++ clang++; do
	command -v $compiler >/dev/null || { echo "skip standards $compiler: it is not installed"; continue; }
	case $compiler in *++) language=c++ standards='c++11 c++14 c++17 c++20';; *) language=c standards='c11 c17 c2x';; esac
	bad=0
	for standard in $standards; do for disable in '' -DTACH_DISABLE; do
		# shellcheck disable=SC2086
		$compiler -x $language -std=$standard -Wall -Wextra -pedantic -Werror $disable -Iinclude -fsyntax-only "$work/use.c" ||
			{ echo "# $compiler -std=$standard $disable"; bad=1; }
	done; done
	if [ $bad = 0 ]; then echo "ok standards $compiler"; else echo "not ok standards $compiler"; failed=1; fi
done
exit $failed
