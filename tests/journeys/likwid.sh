#!/usr/bin/env bash
# A program with mistakes in LIKWID's macros: a stop without a start, and a second start, are reported on standard
# error, once for each region, in LIKWID's words.
set -u
. "$(dirname "$0")/lib.sh"
cat >"$work/marker.c" <<'C'
#include <likwid-marker.h>
int main(void)
{
	LIKWID_MARKER_INIT;
	for (int i = 0; i < 3; i++) {
		LIKWID_MARKER_STOP("unstarted");
		LIKWID_MARKER_START("twice");
		LIKWID_MARKER_START("twice");
		LIKWID_MARKER_STOP("twice");
		LIKWID_MARKER_START("right");
		LIKWID_MARKER_STOP("right");
	}
	LIKWID_MARKER_CLOSE;
	return 0;
}
C
cc -DLIKWID_PERFMON -I"$product/include/tach/likwid" -o "$work/marker" "$work/marker.c" -L"$product/lib/tach" -llikwid -Wl,-rpath,"$product/lib/tach" || exit 1
for events in '' page-faults:PMC0; do
	warns() {
		LIKWID_EVENTS=$events LIKWID_FILEPATH=$work/out.csv "$work/marker" && [ "$(grep -c WARN "$work/out")" = 2 ] &&
			says '^WARN: region unstarted is stopped, and was not started$' && says '^WARN: region twice is started again before its stop' &&
			grep -q 'Region right' "$work/out.csv"
	}
	check "warns${events:+_with_a_counter}" warns
done
exit $rc
