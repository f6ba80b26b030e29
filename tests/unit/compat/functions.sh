#!/usr/bin/env bash
# tach run --functions, with gcc and clang. Each function has its calls and its place in the tree. Recursion, exceptions,
# longjmp, signals, coroutines, threads that end inside, and unloaded code are right or have a flag. Globs select. The
# program's exit status, output and errno do not change.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
! grep -q -e -fsanitize "$B/flags" || { echo "skip functions: AddressSanitizer would have to be loaded first"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset "${!TACH_@}" 2>/dev/null
failed=0
say() { if [ "$2" = 0 ]; then echo "ok functions_$1"; else tail -n 30 "$work/said" | sed 's/^/# /'; echo "not ok functions_$1"; failed=1; fi; }

cat >"$work/program.c" <<'SOURCE'
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
static volatile int n;
static sigjmp_buf back;
static jmp_buf landing;
static ucontext_t own, other;
static char room[65536], alternate[65536];
static int deep(int k) { return k ? deep(k - 1) + 1 + n - n : 0; }
static int even(int k);
static int odd(int k) { return k ? even(k - 1) : 0; }
static int even(int k) { return k ? odd(k - 1) : 1; }
static void leaf(void) { n++; }
static void handler(int s) { (void)s; leaf(); }
static void jumping(int s) { (void)s; siglongjmp(back, 1); }
static __attribute__((noinline)) void flies(int k) { if (!k) longjmp(landing, 1); flies(k - 1); n++; }
static void lands(void) { if (!setjmp(landing)) flies(4); leaf(); }
static void coroutine(void) { for (;;) { leaf(); swapcontext(&other, &own); } }
static void resume(void) { swapcontext(&own, &other); }
static inline __attribute__((always_inline)) void inlined(void) { leaf(); n++; }
static void outer(void) { inlined(); inlined(); leaf(); }
static void in_child(void) { n++; }
static void ends(void) { pthread_exit(NULL); }
static void *thread(void *arg) { ends(); return arg; }
static void unloaded(const char *name, int k)
{
	void *object = dlopen(name, RTLD_NOW);
	void (*work)(void) = NULL;

	if (!object)
		exit(9);
	*(void **)&work = dlsym(object, "loaded");
	while (k--)
		work();
	dlclose(object);
}
static void last(void) { exit(7); }
int main(int argc, char **argv)
{
	struct sigaction act = {.sa_handler = handler};
	stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
	pthread_t t[3];
	int status;

	errno = 77;
	leaf();
	if (errno != 77 || dlerror())
		return 99;
	sigaction(SIGUSR1, &act, NULL);
	raise(SIGUSR1);
	sigaltstack(&stack, NULL);
	act.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &act, NULL);
	raise(SIGUSR1);
	act.sa_handler = jumping;
	sigaction(SIGUSR2, &act, NULL);
	for (int i = 0; i < 5; i++)
		if (!sigsetjmp(back, 1))
			raise(SIGUSR2);
	getcontext(&other);
	other.uc_stack.ss_sp = room;
	other.uc_stack.ss_size = sizeof room;
	makecontext(&other, coroutine, 0);
	for (int i = 0; i < 4; i++)
		resume();
	for (int i = 0; i < 3; i++)
		lands();
	outer();
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, thread, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	if (argc == 3)
		unloaded(argv[1], 2), unloaded(argv[2], 3), unloaded(argv[1], 5);
	printf("%d %d\n", deep(40000), even(10));
	fflush(stdout);
	if (fork() == 0) {
		in_child();
		_exit(5);
	}
	wait(&status);
	printf("%d\n", WEXITSTATUS(status));
	last();
}
SOURCE
for i in 1 2; do echo 'void loaded(void); static void __attribute__((noinline)) inside'$i'(void) { __asm__ volatile(""); } void loaded(void) { inside'$i'(); }' >"$work/loaded$i.c"; done
cat >"$work/program.cc" <<'SOURCE'
#include <cstdio>
#include <stdexcept>
#include <string>
static volatile int n;
namespace geo {
struct Shape {
	Shape(int v) { n += v; }
	~Shape() { n--; }
	int area(int k) const { return k + n; }
	template <class T> void add(const T &, std::string) { n++; }
};
}
static void thrower(int k) { geo::Shape s(k); if (k == 0) throw std::runtime_error("thrown"); thrower(k - 1); n++; }
static void catcher() { try { thrower(3); } catch (std::exception &e) { n += e.what()[0] == 't'; } }
static void after() { n++; }
int main()
{
	geo::Shape s(1);
	for (int i = 0; i < 5; i++) s.area(i);
	s.add<int>(3, "x"); s.add<double>(3, "y");
	for (int i = 0; i < 5; i++) { catcher(); after(); }
	printf("%d\n", n);
}
SOURCE
cat >"$work/judge.py" <<'END'
import json, sys
regions = json.load(open(sys.argv[1]))["regions"]
sums = [r for r in regions if r.get("repeats")]
def short(r):
    return r["name"] if r["name"][0] == "(" else r["name"].split(" (")[0].split("(")[0]
def above(r):
    return short(regions[r["parent"]]) if "parent" in r else ""
def rows(name, caller=""):
    return [r for r in regions if not r.get("repeats") and short(r) == name and caller in ("", above(r))]
bad = 0
# The row of all callers is the sum of the rows of each caller.
for s in sums:
    each = [r for r in regions if r not in sums and (r["name"] + " ").startswith(s["name"].replace("[all callers]", ""))]
    for what in (lambda r: r["calls"], lambda r: r["inclusive"]["time"]["value"], lambda r: r["self"]["time"]["value"]):
        if abs(what(s) - sum(map(what, each))) > 1 or "parent" in s:
            print(s["name"], what(s), "not", list(map(what, each))); bad = 1
if len({r["name"] for r in regions}) < len(regions):
    print("two rows have one name"); bad = 1
for want in sys.argv[2:]: # NAME[@CALLER]=CALLS[/LOST][<PARENT]
    name, rest = want.split("=")
    calls, parent = (rest.split("<") + [None])[:2]
    lost = calls.partition("/")[2] or "0"
    found = rows(*name.split("@"))
    got = (sum(r["calls"] for r in found), sum(r["lost"] for r in found))
    if got != (int(calls.split("/")[0]), int(lost)):
        print(name, got, "not", calls); bad = 1
    for r in found:
        if parent is not None and above(r) != parent:
            print(name, "below", above(r), "not", parent); bad = 1
        if r["calls"] and not (0 <= r["self"]["time"]["value"] <= r["inclusive"]["time"]["value"] + r["inclusive"]["time"]["error"]):
            print(name, r); bad = 1
sys.exit(bad)
END
judge() { python3 "$work/judge.py" "$@" >>"$work/said" 2>&1; }
run() { "$B/tach" run --functions"${globs-}" -e '' "$@" >"$work/out" 2>"$work/said"; }

each() { # NAME C-COMPILER C++-COMPILER OPTION
	local plain built="-g $4 -w -finstrument-functions"
	# shellcheck disable=SC2086
	{ $2 $built -o "$work/$1" "$work/program.c" -ldl -pthread && $3 $built -o "$work/$1.cc" "$work/program.cc" &&
		for i in 1 2; do $2 $built -shared -fPIC -o "$work/$1.$i.so" "$work/loaded$i.c" || return; done; } >"$work/said" 2>&1 ||
		{ say "$1_compiles" 1; return; }
	plain=$("$work/$1" "$work/$1.1.so" "$work/$1.2.so")
	run -o "$work/$1.json" -- "$work/$1" "$work/$1.1.so" "$work/$1.2.so"
	[ $? = 7 ] && [ "$(cat "$work/out")" = "$plain" ]
	say "$1_same" $?
	judge "$work/$1.json" 'main=1<(all threads)' 'deep=40001<main' 'even=6<main' 'odd=5<even' in_child=1 'last=1<main' thread=3 'ends=3<thread' \
		'outer=1<main' 'inlined=2<outer' 'lands=3<main' 'flies=15<lands' leaf=13 leaf@main=1 leaf@handler=2 leaf@resume=3 leaf@lands=3 leaf@inlined=2 leaf@outer=1 'handler=2<main' jumping=0/5 'resume=4<main' coroutine=0/1 \
		'loaded=10<unloaded' 'inside1=7<loaded' 'inside2=3<loaded'
	say "$1_rows" $?
	plain=$("$work/$1.cc")
	run -o "$work/$1.cc.json" -- "$work/$1.cc" && [ "$(cat "$work/out")" = "$plain" ] &&
		judge "$work/$1.cc.json" main=1 'thrower=20<catcher' 'catcher=5<main' 'after=5<main' 'geo::Shape::area=5<main' geo::Shape::Shape=21 geo::Shape::Shape@main=1 geo::Shape::Shape@thrower=20 geo::Shape::~Shape=21
	say "$1_exceptions" $?
	globs='=geo::*,!*area,after'
	run -o "$work/$1.globs.json" -- "$work/$1.cc" && judge "$work/$1.globs.json" main=0 catcher=0 after=5 geo::Shape::area=0 geo::Shape::Shape=21 &&
		[ "$(grep -o '"name": "void geo::Shape::add' "$work/$1.globs.json" | wc -l)" -ge 2 ]
	say "$1_globs" $?
	globs=
	strip -o "$work/$1.bare" "$work/$1"
	run --format csv -- "$work/$1.bare"
	grep -qE "^\"function $1.bare\+0x[0-9a-f]+\",.*,40001,40001,inclusive,\"time_ns\"" "$work/said"
	say "$1_stripped" $?
}
each gcc gcc g++ -O2
if tools/need clang >/dev/null 2>&1 && echo 'int main() {}' | clang++ -x c++ -o "$work/probe" - 2>/dev/null; then
	each clang clang clang++ -O1
else
	echo "skip functions_clang: clang is not installed"
fi

# More pairs of caller and function than fit: the rest is in a row that says so, and no call is lost.
{
	echo 'static volatile int n;'
	for i in $(seq 150); do echo "static void g$i(void) { n++; }"; done
	echo 'static void (*const all[])(void) = {'; for i in $(seq 150); do echo "g$i,"; done; echo '};'
	for i in $(seq 150); do echo "static void f$i(void) { for (int i = 0; i < 150; i++) all[i](); }"; done
	echo 'int main(void) { for (int i = 0; i < 2; i++) {'; for i in $(seq 150); do echo "f$i();"; done; echo '} }'
} >"$work/pairs.c"
gcc -g -O1 -finstrument-functions -o "$work/pairs" "$work/pairs.c" >"$work/said" 2>&1 && run -o "$work/pairs.json" -- "$work/pairs" &&
	python3 - "$work/pairs.json" >>"$work/said" 2>&1 <<'END'
import json, sys
rows = json.load(open(sys.argv[1]))["regions"]
rows = [r for r in rows if not r.get("repeats") and r["name"][0] in "fg"]
rest = [r for r in rows if r["name"].endswith(" < (other callers)")]
calls = [sum(r["calls"] for r in rows if r["name"][0] == of) for of in "fg"]
print(len(rows), len(rest), calls)
sys.exit(not (len(rows) - len(rest) == 20000 and calls == [300, 45000] and len([r for r in rest if r["name"][0] == "g"]) == 150))
END
say pairs $?
# More functions than fit: those with the most self time, and a sentence. A function that costs less than its measurement is in parentheses.
{
	echo 'static volatile long n; static void cheap(void) { __asm__ volatile(""); }'
	for i in $(seq 40); do echo "static void f$i(void) { for (int i = 0; i < $((i * i * 2000)); i++) n++; }"; done
	echo 'int main(void) {'; for i in $(seq 40); do echo "f$i();"; done; echo 'for (int i = 0; i < 1000; i++) cheap(); }'
} >"$work/many.c"
gcc -O1 -finstrument-functions -o "$work/many" "$work/many.c" >"$work/said" 2>&1 && run -- "$work/many" &&
	[ "$(grep -cE '^ +f[0-9]+ \(.*clock' "$work/said")" -le 20 ] && [ "$(grep -cE '^f[0-9]+ \(.* \[all callers\] .*clock' "$work/said")" -ge 18 ] && grep -qE '^ +f40 ' "$work/said" && grep -q 'the 20 of 42 functions' "$work/said"
say top $?
# Some of the calls: all are in the row, and it says how many were measured.
TACH_SPARSE=16 run -o "$work/many.json" -- "$work/many" &&
	python3 -c 'import json, sys; r = [r for r in json.load(open(sys.argv[1]))["regions"] if r["name"].startswith("cheap ") and not r.get("repeats")][0]; sys.exit(not (r["entries"] == 1000 == r["calls"] + r["skipped"] and 0 < r["calls"] < 500))' \
		"$work/many.json" >>"$work/said" 2>&1
say sparse $?
globs='=*' run -- "$work/many" && [ "$(grep -cE '^ +f[0-9]+ \(.*(clock|%)' "$work/said")" -ge 40 ]
say all $?
# A program without hooks, options that exclude it, and two of it.
run -- true && grep -q '^tach run: no function called the hooks: build with -finstrument-functions' "$work/said" &&
	globs='=nosuch' run -- "$work/many" && grep -q 'or the list selects none' "$work/said"
say none $?
"$B/tach" run --functions --outside -- true >"$work/out" 2>"$work/said"
[ $? = 125 ] && grep -q -e '--functions counts in the program' "$work/said"
say refused $?
"$B/tach" run --functions --per-thread -e '' -- "$work/gcc" >"$work/out" 2>"$work/said"
[ "$(grep -c '^ *ends (program.c:[0-9]*) \[thread ' "$work/said")" -ge 3 ]
say threads $?
exit $failed
