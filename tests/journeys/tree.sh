#!/usr/bin/env bash
# Nested regions in a text report: each is indented below its enclosing region, with file and line on request, in a
# program's own report, a saved one, a sum of several, and of a running process; TACH_NOTES=1 adds notes.
set -u
. "$(dirname "$0")/lib.sh"
cat >"$work/program.c" <<'C'
#include <pthread.h>
#include <stdio.h>
#include <tach.h>
static void shared(void) { TACH_START(shared); TACH_STOP(shared); }
static void *other(void *x)
{
	TACH_START(other);
	shared();
	TACH_STOP(other);
	return x;
}
int main(int argc, char **argv)
{
	pthread_t thread;
	(void)argv;
	for (int i = 0; i < 100; i++) {
		TACH_START(request);
		TACH_START(parse);
		TACH_START(token);
		TACH_STOP(token);
		TACH_STOP(parse);
		TACH_START(reply);
		TACH_STOP(reply);
		shared();
		TACH_STOP(request);
	}
	pthread_create(&thread, NULL, other, NULL);
	pthread_join(thread, NULL);
	if (argc > 1) {
		puts("ready");
		fflush(stdout);
		getchar();
	}
	return 0;
}
C
check compiles build "$work/program" "$work/program.c" -pthread
saved() { TACH_OUTPUT=$work/one.json "$work/program" && TACH_OUTPUT=$work/two.json "$work/program"; }
check saved saved
# Prints names with their indentation, in the order of the table.
names() { awk '/^region/ { on = 1; next } /^$/ { exit } on { match($0, /^ *[a-z]+( [a-z.]+:[0-9]+)?/); print substr($0, 1, RLENGTH) }' "$work/out"; }
nested() { # COMMAND...: the table shows what is nested in what
	"$@" >"$work/out" 2>&1 || return 1
	names >"$work/names"
	grep -A 1 '^request' "$work/names" | grep -q '^  ' && [ "$(grep -c '^  [a-z]' "$work/names")" = 2 ] &&
		grep -A 1 '^  parse' "$work/names" | grep -q '^    token' && grep -q '^  reply' "$work/names" &&
		grep -q '^other' "$work/names" && grep -q '^shared' "$work/names"
}
check report nested tach report --tree "$work/one.json"
check added_up nested tach report --tree "$work/one.json" "$work/two.json"
check own_report nested env TACH_OUTPUT=- TACH_OPTIONS=tree=1 "$work/program"
flat() { tach report "$work/one.json" && ! names | grep -q '^ '; }
check flat_unasked flat
places() { tach report --tree --places "$work/one.json" && names | grep -q '^    token program.c:19$' && names | grep -q '^shared program.c:4$'; }
check places places

# The page shows the nesting, and the program's name.
page() {
	tach report -o "$work/page.html" "$work/one.json" && grep -q '<title>program ' "$work/page.html" &&
		grep -q 'Command</dt><dd>[^<]*program</dd>' "$work/page.html" && grep -q 'Date</dt><dd>20[0-9-]* [0-9:]* UTC' "$work/page.html" &&
		[ "$(grep -o '<i style="--c:[^>]*top:52px' "$work/page.html" | wc -l)" -ge 1 ]
}
check page page

# A report is readable even if its regions are nested in each other in a circle, or its numbers belong to no region.
circle() {
	sed -E 's/"parent": [0-9]+/"parent": 1/' "$work/one.json" >"$work/circle.json"
	sed -E 's/"parent": [0-9]+/"parent": 4000000000/' "$work/one.json" >"$work/beyond.json"
	tach report --tree "$work/circle.json" && [ "$(names | wc -l)" = 6 ] &&
		tach report --tree "$work/beyond.json" && [ "$(names | wc -l)" = 6 ]
}
check circle circle

mkfifo "$work/stdin"
exec 7<>"$work/stdin"
TACH_ENABLE=1 "$work/program" wait <"$work/stdin" >"$work/ready" &
pid=$!
for _ in {1..200}; do [ -s "$work/ready" ] && break; sleep 0.1; done
check running nested tach report --tree -p $pid
echo >&7
wait $pid

# By default at most one note; TACH_NOTES=1 prints the rest.
few() { TACH_OUTPUT=- "$work/program" && awk '/^$/ { n++ } END { exit n > 1 }' "$work/out" && ! says 'cost of measuring is subtracted'; }
check notes_few few
more() { TACH_NOTES=1 TACH_OUTPUT=- "$work/program" && tr '\n' ' ' <"$work/out" >"$work/line" && says 'cost of measuring is subtracted' "$work/line" && says 'Time is wall time' "$work/line" && [ "$(wc -L <"$work/out")" -le 100 ]; }
check notes_all more
exit $rc
