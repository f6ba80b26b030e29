#!/usr/bin/env bash
# LIKWID's headers and library in typical use: in C and C++, macros on and off, tables as text and CSV that another
# reader accepts. The library exports only the interface's names, and make install puts it into a folder that no
# program searches by default.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
say() { if [ "$2" = 0 ]; then echo "ok likwid_$1"; else sed 's/^/# /' "$work/said" | head -20; echo "not ok likwid_$1"; failed=1; fi; }
unset "${!TACH_@}" "${!LIKWID_@}" 2>/dev/null
san=$(grep -o -e '-fsanitize=[^ ]*' "$B/flags" | sort -u)

nm -D --defined-only "$B/likwid/liblikwid.so.5.2" | sed -n 's/.* [A-Za-z] \([^@]*\).*/\1/p' | sort >"$work/has"
{ sed -n 's/^\t\([A-Za-z_]*\);$/\1/p' compat/likwid/likwid.map | sort | diff - "$work/has" &&
	grep -o '\(likwid_\|perfmon_\|tach_likwid\)[A-Za-z]*(' compat/likwid/include/likwid.h | tr -d '(' | sort -u | diff - "$work/has"; } >"$work/said"
say names $?

cat >"$work/client.c" <<'SOURCE'
#include <pthread.h>
#include <stdio.h>
#include <likwid-marker.h>
static inline void both(const char *tag)
{
	LIKWID_MARKER_START(tag);
	LIKWID_MARKER_STOP(tag);
}
static void *thread(void *unused)
{
	char tag[] = "a, \"b\"";

	LIKWID_MARKER_THREADINIT;
	LIKWID_MARKER_REGISTER("outer");
	LIKWID_MARKER_START("outer");
	for (int i = 0; i < 3; i++) {
		LIKWID_MARKER_START(tag);
		LIKWID_MARKER_STOP(tag);
		both("one");
		both("two");
	}
	LIKWID_MARKER_STOP("outer");
	return unused;
}
int main(void)
{
	pthread_t other;
	int n = 0, calls = 0;
	double time = 0;

	LIKWID_MARKER_INIT;
	thread(NULL);
	pthread_create(&other, NULL, thread, NULL);
	pthread_join(other, NULL);
	LIKWID_MARKER_SWITCH;
	thread(NULL);
	LIKWID_MARKER_GET("outer", &n, NULL, &time, &calls);
	LIKWID_MARKER_RESET("never");
	LIKWID_MARKER_CLOSE;
	LIKWID_NVMARKER_INIT;
	LIKWID_NVMARKER_CLOSE;
	/* With one group, SWITCH stays in it. */
	return calls != EXPECTED && calls != 2 * EXPECTED;
}
SOURCE
cp "$work/client.c" "$work/client.cc"
rc=0 n=0
for compiler in "gcc -std=gnu99" "gcc -std=c11 -pedantic -O0" "g++ -std=c++11" "g++ -std=c++20 -pedantic" "clang -std=gnu11" "clang++ -std=c++17"; do
	command -v "${compiler%% *}" >/dev/null || continue
	case $compiler in *++*) source=$work/client.cc;; *) source=$work/client.c;; esac
	for way in '-DLIKWID_PERFMON -DEXPECTED=1' -DEXPECTED=0; do
		n=$((n + 1))
		lib="-L$B/likwid -llikwid"; [ "$way" != -DEXPECTED=0 ] || lib='-Wno-unused -Wno-unused-parameter'
		# shellcheck disable=SC2086 # lists of words
		$compiler -O2 -Wall -Wextra -Werror $san -Icompat/likwid/include $way -o "$work/client" "$source" $lib -pthread 2>"$work/said" &&
			LIKWID_EVENTS='page-faults|CLOCK' LIKWID_FILEPATH=$work/out.csv LD_LIBRARY_PATH=$B/likwid "$work/client" 2>>"$work/said" || { rc=1; echo "$compiler $way" >>"$work/said"; break 2; }
	done
done
[ $n -ge 4 ] || rc=1
say compilers $rc

# shellcheck disable=SC2086
gcc -O2 $san -Icompat/likwid/include -DLIKWID_PERFMON -DEXPECTED=1 -o "$work/client" "$work/client.c" -pthread -L"$B/likwid" -llikwid
run() { LD_LIBRARY_PATH=$B/likwid "$@"; }
LIKWID_EVENTS='page-faults:PMC0|CLOCK' LIKWID_FILEPATH=$work/out.csv run "$work/client" >"$work/said" 2>&1 &&
	python3 - "$work/out.csv" >>"$work/said" 2>&1 <<'READER'
import csv, sys
tables, width = {}, set()
block, rows = [], list(csv.reader(open(sys.argv[1], newline="")))
for row in rows:
    if row[0] == "STRUCT":
        assert row[1:3] == ["Info", "3"], row
        width.clear()
    width.add(len(row))
    assert len(width) == 1, row
    if row[0] == "TABLE":
        block = tables.setdefault(tuple(row[1:3]), [])
    else:
        block.append(row)
regions = {k[0] for k in tables}
assert regions == {"Region outer", 'Region a, "b"', "Region one", "Region two"}, regions
for region in regions:
    raw = tables[region, "Group 1 Raw"]
    calls = next(r for r in raw if r[0] == "call count")
    assert calls[1:3] == (["1", "1"] if region == "Region outer" else ["3", "3"]), calls
    assert any(r[:2] == ["page-faults", "PMC0"] and r[2].isdigit() for r in raw), raw
    stat = tables[region, "Group 1 Raw STAT"]
    assert stat[0][:6] == ["Event", "Counter", "Sum", "Min", "Max", "Avg"], stat
assert ("Region one", "Group 2 Metric") in tables
READER
say csv $?
{ LIKWID_EVENTS=page-faults:PMC0 run "$work/client" 2>"$work/said" >"$work/silent" && [ ! -s "$work/silent" ] && [ "$(grep -c 'Group 1: Custom$' "$work/said")" = 4 ] &&
	grep -q '^| *call count *|.* 3 |$' "$work/said" && grep -q '^| *page-faults STAT *| *PMC0 *|' "$work/said"; }
say text $?
# Files that cannot be written are reported, and the program continues.
LIKWID_EVENTS=page-faults LIKWID_FILEPATH=/dev/full run "$work/client" >"$work/said" 2>&1 && grep -q 'No space left' "$work/said" &&
	LIKWID_EVENTS=page-faults LIKWID_FILEPATH=$work/none/x run "$work/client" >"$work/said" 2>&1 && grep -q 'No such file' "$work/said"
say "unwritable" $?
# Invalid settings cause an error message, not a crash.
rc=0
for events in '|||' ':' ',,,' 'X:Y:Z' "$(printf 'A%.0s' {1..9000})" 'page-faults:PMC0:THRESHOLD=0x1:NONSENSE' "$(printf 'page-faults,%.0s' {1..40})" "$(printf 'CLOCK|%.0s' {1..40})" '%n%s' 'NO:PMC1'; do
	LIKWID_EVENTS=$events run "$work/client" >"$work/said" 2>&1 || { rc=1; break; }
done
say hostile $rc
make -s install B="$B" DESTDIR="$work" PREFIX=/usr LIBDIR=/usr/lib >"$work/said" 2>&1 && cmp "$B/likwid/liblikwid.so.5.2" "$work/usr/lib/tach/liblikwid.so.5.2" >>"$work/said" 2>&1 &&
	[ "$(readlink "$work/usr/lib/tach/liblikwid.so")" = liblikwid.so.5.2 ] && [ -e "$work/usr/include/tach/likwid/likwid-marker.h" ] && [ ! -e "$work/usr/include/likwid.h" ]
say installed $?
exit $failed
