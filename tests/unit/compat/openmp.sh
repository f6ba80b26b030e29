#!/usr/bin/env bash
# tach run --openmp, with gcc's runtime and with LLVM's: each parallel region has the sum of its team and the values of its
# threads, by function and line; barriers and tasks have rows; teams that change their size, teams in teams, and code that
# is unloaded before the report are right; the program's exit status and output stay as they are.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
! grep -q -e -fsanitize "$B/flags" || { echo "skip openmp: AddressSanitizer would have to be loaded first"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset "${!TACH_@}" "${!OMP_@}" 2>/dev/null
failed=0
say() { if [ "$2" = 0 ]; then echo "ok openmp_$1"; else tail -n 30 "$work/said" | sed 's/^/# /'; echo "not ok openmp_$1"; failed=1; fi; }

cat >"$work/program.c" <<'SOURCE'
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <unistd.h>
static long sum;
static void add(long n) { __atomic_add_fetch(&sum, n, __ATOMIC_RELAXED); }
static void teams(void)
{
	for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(4) /* line 10 */
		{
			for (volatile int i = 0; i < 20000; i++)
				;
#pragma omp barrier
#pragma omp for
			for (int i = 0; i < 8; i++)
				add(1);
		}
	}
}
static void sizes(void)
{
	for (int n = 1; n <= 3; n++) {
		omp_set_num_threads(n);
#pragma omp parallel for schedule(dynamic) /* line 25 */
		for (int i = 0; i < 8; i++)
			add(1);
	}
}
static void tasks(void)
{
#pragma omp parallel num_threads(3) /* line 32 */
#pragma omp single nowait
	for (int i = 0; i < 20; i++) {
#pragma omp task firstprivate(i) /* line 35 */
		add(i);
	}
}
static void sections(void)
{
#pragma omp parallel sections num_threads(2) /* line 41 */
	{
#pragma omp section
		add(1);
#pragma omp section
		add(2);
	}
}
static void nested(void)
{
	omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2) /* line 52 */
	{
#pragma omp parallel num_threads(2) /* line 54 */
		add(1);
	}
}
static void loops(void)
{
#pragma omp parallel num_threads(3)
#pragma omp single
#pragma omp taskloop num_tasks(7) reduction(+ : sum) /* line 62 */
	for (int i = 0; i < 70; i++)
		sum += i;
#pragma omp parallel num_threads(3)
#pragma omp single
	{
		unsigned long long n = 90;
		long local = 1;

#pragma omp taskloop num_tasks(9) firstprivate(local) /* line 71 */
		for (unsigned long long i = 0; i < n; i++)
			add((long)i + local);
	}
}
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		void *object = dlopen(argv[i], RTLD_NOW);
		void (*work)(void);

		if (!object)
			return puts(dlerror()), 1;
		*(void **)&work = dlsym(object, "loaded");
		work();
		dlclose(object);
	}
	teams(), sizes(), tasks(), sections(), nested(), loops();
	printf("%ld\n", sum);
	fflush(stdout);
	return 7;
}
SOURCE
cat >"$work/loaded.c" <<'SOURCE'
void loaded(void);
void loaded(void)
{
#pragma omp parallel num_threads(2)
	__asm__ volatile("");
}
SOURCE
# Tasks whose data the runtime itself reads or writes, and work that ends early.
cat >"$work/kinds.c" <<'SOURCE'
#include <omp.h>
#include <stdio.h>
int main(void)
{
	int x = 0, found = 0;
	long sum = 0;

#pragma omp parallel num_threads(3)
#pragma omp single
	{
		for (int i = 0; i < 50; i++) {
			omp_event_handle_t event;
#pragma omp task detach(event) firstprivate(i) shared(x)
			{
#pragma omp atomic
				x += i;
				omp_fulfill_event(event);
			}
#pragma omp task if (0) shared(x)
			{
#pragma omp atomic
				x++;
			}
#pragma omp task final(1) depend(inout : x) priority(3)
			{
#pragma omp atomic
				x++;
			}
		}
#pragma omp taskwait
	}
#pragma omp parallel for reduction(task, + : sum) num_threads(3)
	for (int i = 0; i < 100; i++) {
#pragma omp task in_reduction(+ : sum)
		sum += i;
	}
#pragma omp parallel num_threads(3)
#pragma omp single
#pragma omp taskloop reduction(+ : sum) grainsize(7)
	for (int i = 0; i < 100; i++)
		sum += i;
#pragma omp parallel num_threads(3)
	{
#pragma omp for ordered schedule(guided)
		for (int i = 0; i < 20; i++) {
#pragma omp ordered
			x += x % 2 + i;
		}
#pragma omp for
		for (int i = 0; i < 1000; i++) {
#pragma omp atomic write
			found = 1;
#pragma omp cancel for
		}
	}
	printf("%d %ld %d\n", x, sum, found);
	return 0;
}
SOURCE
cat >"$work/judge.py" <<'END'
import json, sys
rows = {}
for r in json.load(open(sys.argv[1]))["regions"]:
    rows.setdefault(r["name"], r)
def row(kind, function, line, source="program.c"):
    found = [r for n, r in rows.items() if n.startswith(kind + " ") and n.endswith("(%s:%d)" % (source, line))]
    assert len(found) == 1 and found[0]["line"] == line and found[0]["file"].endswith("/" + source), (kind, line, sorted(rows))
    assert function in found[0]["name"] or "omp" in found[0]["name"], found[0]["name"]
    return found[0]
team = row("parallel", "teams", 10)
assert team["calls"] == 12 and team["threads"] == 4, team
spread = [rows[team["name"] + " [%s]" % word] for word in ("least", "median", "most")]
assert [r["calls"] for r in spread] == [3, 3, 3], spread
time = [r["inclusive"]["time"]["value"] for r in spread]
assert 0 < time[0] <= time[1] <= time[2] < team["inclusive"]["time"]["value"], time
assert team["inclusive"]["imbalance"]["value"] >= 1, team
wait = row("barrier", "teams", team["line"])
assert wait["calls"] == 12 + int(sys.argv[2]) + 3, wait
assert row("parallel", "sizes", 25)["calls"] == 6
# gcc names the statement; LLVM's runtime tells for the tasks of loops an address of its own.
task = [(n, r["calls"]) for n, r in rows.items() if n.startswith("task ")]
assert [c for n, c in task if "program.c:35)" in n or "program.c:36)" in n] == [20], task
if any("libomp" in n for n, c in task):
    assert sum(c for n, c in task) == 20 + 7 + 9, task
else:
    assert row("task", "loops", 62)["calls"] == 7
    assert row("task", "loops", 71)["calls"] == 9
    assert len(task) == 3, task
idle = rows["(idle)"]
assert idle["calls"] >= 3 and idle["threads"] >= 3 and idle["self"]["time"]["value"] > 0, idle
assert row("parallel", "tasks", 32)["calls"] >= 3
assert row("parallel", "sections", 41)["calls"] == 2
assert row("parallel", "nested", 52)["calls"] == 2
inner = 54 if any(n.endswith("(program.c:54)") for n in rows) else 55
assert row("parallel", "nested", inner)["calls"] == 4
assert row("parallel", "loaded", 4, "loaded.c")["calls"] == 2
assert sum(r.get("lost", 0) for r in rows.values()) == 0
END
# Regions around teams, with the library that the program links, and code with n teams.
cat >"$work/around.c" <<'SOURCE'
#include <stdlib.h>
#include <tach.h>
static void work(void)
{
	for (volatile int i = 0; i < 1000; i++)
		;
}
int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 3;

	TACH_SCOPE(around);
	for (int i = 0; i < rounds; i++) {
		TACH_SCOPE(step);
#pragma omp parallel num_threads(4)
		work();
	}
	{
		TACH_SCOPE(nest);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
		work();
	}
	return 0;
}
SOURCE
cat >"$work/judge_around.py" <<'END'
import json, sys
rows = {r["name"]: r for r in json.load(open(sys.argv[1]))["regions"]}
def time(name): return rows[name]["inclusive"]["time"]["value"]
# The first thread of a team has the region open itself.
assert [rows[n]["calls"] for n in ("around", "step", "nest")] == [1, 3, 1]
assert rows["step [helpers]"]["calls"] == 9, rows["step [helpers]"]
assert rows["step [helpers]"]["threads"] == 3
assert rows["nest [helpers]"]["calls"] == 3, rows["nest [helpers]"]
assert rows["around [helpers]"]["calls"] == 12
for name in ("around", "step", "nest"):
    both = rows[name + " [with team]"]
    assert both["repeats"] and both["calls"] == rows[name]["calls"] + rows[name + " [helpers]"]["calls"], both
    assert abs(time(name + " [with team]") - time(name) - time(name + " [helpers]")) < 1e-6 * time(name), name
# A team inside a team works for the outer one too, by its name.
outer = [n for n in rows if n.startswith("parallel main ") and n.endswith(") [helpers]")]
assert len(outer) == 1 and rows[outer[0]]["calls"] == 2, sorted(rows)
assert rows[outer[0].replace("helpers", "with team")]["repeats"]
assert sum(r.get("lost", 0) for r in rows.values()) == 0
END
# Rows that other rows have too have no share, and other rows have one. The last column is imbalance.
has_shares() { # TEXT
	awk '/ share / { on = 1; next }
		on && NF { repeats = /\[(least|median|most|with team)\]/ || /…/; n[repeats]++; if (($(NF - 1) == "-") != repeats) { print; bad = 1 } }
		END { exit bad || !n[0] || !n[1] }' "$1"
}
# By name, without the runtime's own waits.
calls_of() { # PROGRAM TEAMS
	OMP_WAIT_POLICY=passive OMP_MAX_ACTIVE_LEVELS=2 strace -f -c -U name,calls -o "$work/calls" "$B/tach" run --openmp -e '' -o "$work/strace.json" -- "$1" "$2" >>"$work/said" 2>&1 &&
		awk '$2 ~ /^[0-9]+$/ && $1 !~ /^(futex|sched_yield|total|restart_syscall)$/ { n += $2 } END { print n }' "$work/calls"
}
each() { # NAME COMPILER BARRIERS-OF-LOOPS
	local plain
	$2 -g -O1 -w -fopenmp -rdynamic -o "$work/$1" "$work/program.c" -ldl >"$work/said" 2>&1 &&
		$2 -g -O1 -w -fopenmp -shared -fPIC -o "$work/$1.so" "$work/loaded.c" >>"$work/said" 2>&1 || { say "$1_compiles" 1; return; }
	plain=$("$work/$1" "$work/$1.so")
	"$B/tach" run --openmp -e '' -o "$work/$1.json" -- "$work/$1" "$work/$1.so" >"$work/out" 2>"$work/said"
	[ $? = 7 ] && [ "$(cat "$work/out")" = "$plain" ]
	say "$1_same" $?
	$2 -g -O1 -w -fopenmp -o "$work/$1.kinds" "$work/kinds.c" >"$work/said" 2>&1 &&
		plain=$(OMP_CANCELLATION=true "$work/$1.kinds") &&
		OMP_CANCELLATION=true "$B/tach" run --openmp -e '' -o "$work/$1.kinds.json" -- "$work/$1.kinds" >"$work/out" 2>"$work/said" &&
		[ "$(cat "$work/out")" = "$plain" ]
	say "$1_kinds_of_work" $?
	python3 "$work/judge.py" "$work/$1.json" "$3" >"$work/said" 2>&1
	say "$1_rows" $?
	$2 -g -O1 -w -fopenmp -Iinclude -o "$work/$1.around" "$work/around.c" -L"$B" -ltach >"$work/said" 2>&1 &&
		OMP_MAX_ACTIVE_LEVELS=2 LD_LIBRARY_PATH=$B "$B/tach" run --openmp -e '' -o "$work/$1.around.json" -- "$work/$1.around" >>"$work/said" 2>&1 &&
		python3 "$work/judge_around.py" "$work/$1.around.json" >>"$work/said" 2>&1
	say "$1_regions_around" $?
	"$B/tach" report "$work/$1.around.json" >"$work/said" 2>&1 && has_shares "$work/said"
	say "$1_saved" $?
	OMP_MAX_ACTIVE_LEVELS=2 LD_LIBRARY_PATH=$B "$B/tach" run --openmp -e '' -o "$work/$1.html" -- "$work/$1.around" >"$work/said" 2>&1 &&
		python3 - "$work/$1.html" "$work/$1.around.json" >>"$work/said" 2>&1 <<'END'
import html, json, re, sys
page = html.unescape(open(sys.argv[1]).read())
names = [r["name"] for r in json.load(open(sys.argv[2]))["regions"]]
assert "(idle)" in names and "imbalance" in page
assert sum("[median]" in n for n in names) >= 2 and sum("[with team]" in n for n in names) >= 3, names
for name in names:
    assert name in page, name
END
	say "$1_html" $?
	if strace -o /dev/null true 2>/dev/null; then
		export LD_LIBRARY_PATH=$B
		few=$(calls_of "$work/$1.around" 10) && many=$(calls_of "$work/$1.around" 2000) && echo "$few and $many calls" >>"$work/said" &&
			[ "$few" -gt 100 ] && [ "$((many - few))" -lt 200 ]
		say "$1_no_system_calls" $?
		unset LD_LIBRARY_PATH
	else
		echo "skip openmp_$1_no_system_calls: strace cannot trace here"
	fi
	# Exported functions keep their names; no other function may be reported under such a name.
	strip -o "$work/$1.bare" "$work/$1"
	"$B/tach" run --openmp --per-thread -e '' --format csv -- "$work/$1.bare" >"$work/out" 2>"$work/said"
	# One place has four threads with three parts each.
	grep -oE "^\"parallel $1.bare\+0x[0-9a-f]+ \[thread [^]]*\]\",.*,3,3,inclusive,\"time_ns\"" "$work/said" | cut -d' ' -f2 | sort | uniq -c | grep -q '^ *4 '
	say "$1_stripped" $?
}
each gcc gcc 0
# A program without teams.
"$B/tach" run --openmp -e '' -- true >"$work/out" 2>"$work/said" && grep -q '^tach run: no parallel region of OpenMP began' "$work/said"
say none $?
"$B/tach" run --openmp --outside -- true >"$work/out" 2>"$work/said"
[ $? = 125 ] && grep -q -e '--openmp counts in the program' "$work/said"
say refused $?
# LLVM's runtime, preloaded and as a tool that the runtime loads.
if tools/need clang libomp-dev >/dev/null 2>&1 && echo 'int main(void){return 0;}' | clang -x c -fopenmp -o "$work/probe" - 2>/dev/null; then
	each clang clang 12
	case $B in /*) lib=$B/libtach-openmp.so;; *) lib=$PWD/$B/libtach-openmp.so;; esac
	OMP_TOOL_LIBRARIES=$lib TACH_ENABLE=1 TACH_EVENTS='' TACH_OUTPUT=$work/tool.csv "$work/clang" >"$work/said" 2>&1
	grep -qE '^"parallel clang\+0x[0-9a-f]+",.*,12,12,inclusive,"time_ns"' "$work/tool.csv"
	say clang_tool $?
else
	echo "skip openmp_clang: clang or libomp-dev is not installed"
fi
exit $failed
