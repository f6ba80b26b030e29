#!/usr/bin/env bash
# tach run: threads and processes with all ways to start and end; exit statuses; and the messages if there is nothing
# to measure.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
tach=$B/tach
. tests/own_folder
. tests/unsanitized run "a sanitizer's library would have to be preloaded first"
gcc -O1 -Iinclude -o "$work/target" tests/unit/tools/run/target.c -L"$B" -ltach -lpthread \
	-Wl,-rpath,"$PWD/$B" || exit 1

. tests/cases run
before=()
run() { ends "$1" "${before[@]}" "$tach" run "${@:2}"; } # STATUS ARGUMENT...
calls() { # REGION CALLS
	grep -qE "^$1 +$2 " "$work/err" || { echo "# not $2 calls of $1"; rc=1; }
}
# At the end, tach run waits at most 2 s for remaining threads. A thread that gets no processor may take longer. So a
# test that took 2 s and failed is repeated.
in_time() { # COMMAND
	local was=$rc began
	for _ in {1..50}; do
		rc=0 began=$(ms)
		"$@"
		[ $rc = 1 ] && [ $(($(ms) - began)) -ge 2000 ] || break
	done
	[ $was = 0 ] || rc=1
}
ms() { local up; read -r up _ </proc/uptime; echo "${up/./}0"; }
target=$work/target

run 0 -- "$target" once
calls '\(all threads\)' 1; calls work 1; says ' s elapsed, '
[ ! -s "$work/out" ] || rc=1
run 0 -e page-faults -m 'twice = 2 * page-faults' -- "$target" once
says '^region .* page-faults '; says '^region .* twice( |$)'
result one_thread

run 33 "$target" status
run 5 "$target" _exit
calls '\(all threads\)' 1; calls work 1
run 125; run 125 --bogus; run 125 --format odd true
run 125 -e bogus true; says "no event 'bogus'"
run 125 -o "$work/no/file" "$target" once; grep -q elapsed "$work/err" && rc=1
run 127 "$work/none"; says 'none: No such file'
run 126 "$work"
result statuses

# The first two cases need no counters; the message is the same without counters.
run 125 --topdown=7 true; says 'level from 1 to 6'
run 125 --topdown=1 --topdown=2 true; says 'two levels'
TACH_PMU=core run 125 --topdown "$target" once; says 'no events for its issue slots'; grep -q elapsed "$work/err" && rc=1
TACH_PMU=skl run 0 --topdown=1 -m topdown:1 --outside "$target" once
says 'topdown_retiring .*work was completed'; says '^What to look at next: in \(whole program\), '
result topdown

# Fatal signals: the counts up to then are in the report, and the signal has its normal effect.
for n in 1 2 3 6 13 14 15; do
	run $((128 + n)) "$target" ended-by $n
	says "ended by signal $n "; calls '\(all threads\)' 1; calls work 1
done
grep -q 'is lost' "$work/err" && rc=1
run 139 "$target" ended-by fault; calls work 1
run 139 "$target" ended-by overflow; calls work 1
run 129 "$target" ended-by again; calls work 1
crowd() { run 143 "$target" crowd; calls work 1; calls '\(all threads\)' 6; }
in_time crowd
run 0 "$target" ended-by child; calls work 2
run 137 "$target" ended-by 9
says 'ended by signal 9 \(.*\); its counts are lost'
result signals

# The terminal's interrupt reaches the program; signals to tach run are forwarded.
before=(setsid --wait)
run 130 "$target" ended-by group; calls work 1
before=()
run 7 "$target" ended-by parent; calls work 1
run 0 "$target" ended-by stopped; calls work 1
(trap '' HUP; run 0 "$target" ended-by 1; calls work 1; exit $rc) || rc=1
result handed_on

# The main thread, and five threads made by pthread_create and thrd_create, one of which lives to the end and blocks
# all signals.
threads() { run 0 "$target" threads; calls '\(all threads\)' 6; calls work 1; }
each_thread() {
	local n
	run 0 --per-thread "$target" threads
	calls '\(main thread\)' 1
	for n in 2 3 4 5 6; do calls "\\(thread $n\\)" 1; done
}
without_regions() {
	TACH_REGIONS='nothing*' run 0 "$target" threads
	calls '\(all threads\)' 6; grep -q '^work' "$work/err" && rc=1
	return 0
}
in_time threads; in_time each_thread; in_time without_regions
result threads
# A thread that itself blocks all signals.
run 0 "$target" hidden; calls work 1; calls '\(all threads\)' 2
result hidden

# Two children by fork, one by system (the shell has no region), and the program itself.
run 0 "$target" children
calls work 3; calls '\(all threads\)' 4
run 0 --per-thread "$target" children
says '^\(process [0-9]+ main thread\) +1 '
result children

run 0 --interrupts -e page-faults "$target" once
says interrupts
run 125 --outside --correct "$target" once
says 'counts no interrupts'; result interrupts

# Rows for processes and programs; children of a shell, with and without an exec.
run 0 --per-process "$target" children
[ "$(grep -cE '^\(process [0-9]+ target\) +1 ' "$work/err")" = 3 ] || rc=1
run 0 --per-program "$target" children
calls '\(target\)' 3; calls '\(sh\)' 1; calls work 3
# More processes than memory has room for.
run 0 --per-program -- bash -c 'for i in $(seq 300); do (:); done; exit 0'
calls '\(bash\)' 302
result rows

# Counters from outside: for every way in which a program ends; the program's regions are not in the report.
run 0 --outside -e page-faults -m 'twice = 2 * page-faults' "$target" once
calls '\(whole program\)' 1; says 'page-faults +twice '; grep -q '^work' "$work/err" && rc=1
awk '/^.whole/ && $9 > 0 && $10 == 2 * $9 { found = 1 } END { exit !found }' "$work/err" || rc=1
# Formulas may have any length.
hundred="($(printf 'f + %.0s' {1..99})f)"
run 0 --outside -e f=page-faults -m "many = ($(printf "$hundred + %.0s" {1..6})f) / f" "$target" once
says '^\(whole program\) .* 601(\.0*)? '
run 137 --outside -e page-faults "$target" ended-by 9
calls '\(whole program\)' 1; grep -q 'is lost' "$work/err" && rc=1
run 125 --outside -e bogus "$target" once
run 125 --outside --per-thread "$target" once; says 'outside has one row'
run 127 --outside "$work/none"
result outside

# Counts before exec (a failed exec in between changes nothing), and after it.
run 0 "$target" exec
calls work 3; calls '\(all threads\)' 2
run 0 env PATH="/nonexistent:/tmp:/none:$PATH" sh -c 'exec true'; calls '\(all threads\)' 3
result exec

run 0 "$target" configure
calls work 2
result command_line_decides

run 0 -o "$work/r.json" -- "$target" once
[ -s "$work/out" ] && rc=1
$tach report "$work/r.json" 2>&1 | grep -q '^work' || rc=1
run 0 --format csv "$target" once
says '^"work",'
# A write error is reported.
run 125 -o /dev/full "$target" once; calls work 1; says 'No space left on device'
result formats

if gcc -O1 -static -DTACH_DISABLE -Iinclude -o "$work/static" tests/unit/tools/run/target.c "$B/libtach.a" \
	-lurcu-bp -lurcu-common -lm -lpthread -ldl 2>/dev/null; then
	run 0 "$work/static" once
	says 'static is statically linked: nothing can be preloaded'
	calls '\(whole program\)' 1
	gcc -O1 -static -Iinclude -o "$work/static" tests/unit/tools/run/target.c "$B/libtach.a" \
		-lurcu-bp -lurcu-common -lm -lpthread -ldl
	run 0 "$work/static" once
	calls work 1
	result static
else
	echo "skip run_static: no static libraries here"
fi

# An error in a list is shown with its position, and no program runs.
place() { # OPTION STRING SENTENCE CARET-COLUMN
	run 125 "$1" "$2" -- touch "$work/ran"
	says "^tach run: $3"
	[ "$(sed -n 2p "$work/err")" = "    $2" ] && [ "$(sed -n 3p "$work/err")" = "$(printf '    %*s' "$4" '^')" ] || { echo "# no caret"; rc=1; }
}
place -e 'page-faults,instrutions' "no event 'instrutions'; did you mean" 13
place -m 'x = page-faults / cycels' "unknown name 'cycels'" 19
place -m 'page-faults;ipcc' "no event 'ipcc'" 13
place -e 'größe' "no event 'größe'" 1
[ ! -e "$work/ran" ] || rc=1
result places

# Contradictory options are refused with a message.
refused() { # SENTENCE ARGUMENT...
	local sentence=$1; shift
	run 125 "$@" touch "$work/ran"
	[ "$(head -1 "$work/err")" = "tach run: $sentence" ] || { echo "# not '$sentence'"; rc=1; }
}
refused '--interrupts or --correct, not both: the second does the first' --interrupts --correct
refused 'give only one of --per-thread, --per-process and --per-program' --per-thread --per-process
refused 'two lists of events; make one, with commas between them' -e page-faults -e cycles
refused 'two lists of formulas; make one, with semicolons between them' -m 'a = 1' -m 'b = 2'
refused 'two files for one report' -o a.json -o b.json
refused 'two formats for one report' --format json --format csv
refused '--outside has one row' --outside --per-thread
refused "no format has the suffix '.jsn' (.txt .json .csv .prom .html); --format names one" -o "$work/x.jsn"
[ ! -e "$work/ran" ] && [ ! -e "$work/x.jsn" ] || rc=1
run 0 --per-thread --per-thread -o "$work/report" "$target" once
run 0 --format json -o "$work/x.jsn" "$target" once
result refusals

clock_alone() { # VARIABLE... ARGUMENT...
	env "$@" -o "$work/clock.json" "$target" once 2>"$work/err" || rc=1
	python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); sys.exit(len(r["quantities"]) != 1)' "$work/clock.json" || { echo "# more than the clock: $*"; rc=1; }
}
clock_alone TACH_EVENTS=page-faults "$tach" run -e ''
clock_alone TACH_EVENTS=page-faults "$tach" run --outside -e ''
clock_alone TACH_EVENTS= "$tach" run
clock_alone TACH_EVENTS= "$tach" run --outside
result empty_events

# A derived event's name alone is a metric.
echo 'EVENT,twice,DERIVED_INFIX,2 * N0,page-faults' >"$work/my.derived"
export TACH_DERIVED=$work/my.derived
run 0 -m 'twice; four = 2 * twice; twice' --format csv -- "$target" once
says '^"work",.*"four",'
[ "$(grep -c '^"work",.*inclusive,"twice",' "$work/err")" = 1 ] || rc=1
env TACH_METRICS=twice "$tach" run "$target" once >"$work/out" 2>"$work/err"
says '^region .* twice( |$)'
unset TACH_DERIVED
# A list names an event that a derived event already counts.
run 0 -m page-faults "$target" once
says '^region .* page-faults '
result metrics_by_name

# Processes that end without destructors.
gcc -O1 -Iinclude -o "$work/ends" tests/unit/tools/run/ends.c -L"$B" -ltach -lpthread -Wl,-rpath,"$PWD/$B" || exit 1
run 6 "$work/ends" quick_exit; calls work 1; calls '\(all threads\)' 1
run 0 "$work/ends" pthread_exit; calls work 1; calls '\(all threads\)' 2
run 0 "$work/ends" close; calls work 1
grep -q 'left no report' "$work/err" && rc=1
result ends

# A process gives up rights, descriptors and folders: its report needs none of them.
delivered() { # KIND [THREADS [CALLS-OF-WORK]]
	run 0 "$work/ends" child "$1"; calls work "${3:-1}"; calls work_of_child 1; calls '\(all threads\)' "${2:-2}"
	grep -q 'left no report' "$work/err" && rc=1
	! grep -q 'cannot\|Permission' "$work/err" || rc=1
}
for kind in close _exit exit_group; do delivered $kind; done
result ends_without_descriptors
# A fork that runs no hook: the child has a report in addition to its parent's.
delivered bare; calls bare 1
delivered ask; calls asked 1; grep -q 'seccomp filter' "$work/err" && rc=1
result ends_beside
delivered daemon 3; calls of_daemon 1
delivered replace 3 2
run 0 env -u TACH_RUN "$target" once; calls work 1
grep -q 'left no report' "$work/err" && rc=1
result ends_in_between
if [ "$(id -u)" = 0 ] && chroot / true 2>/dev/null; then
	for kind in nobody chroot; do delivered $kind; done
	delivered family 3; calls work_of_grandchild 1
	# Other users may have no access to the build folder.
	mkdir "$work/readable" && cp "$B/tach" "$B/libtach-run.so" "$work/readable" && chmod 755 "$work" "$work"/readable/*
	tach=$work/readable/tach
	run 0 setpriv --reuid=65534 --clear-groups true; calls '\(all threads\)' 2
	! grep 'cannot' "$work/err" || rc=1
	tach=$B/tach
	result ends_without_rights
else
	echo "skip run_ends_without_rights: takes root"
fi
for kind in instruction kill; do
	run 0 "$work/ends" child $kind; calls work 1
	says '1 of 2 processes and programs left no report: 1 ended in a way'
	says '1 processes missing in this report'
done
result ends_unseen
# A filter that kills: the program's status and data are the same as without tach.
run 8 "$work/ends" filter; calls work 1; grep -qx data "$work/out" || rc=1
says '1 of 1 processes and programs installed a seccomp filter and were counted until then'
run 137 "$work/ends" seccomp; calls work 1
# A filter that applies to tach run itself.
"$work/ends" forbidden "$tach" run "$target" status 2>"$work/err"; [ $? = 33 ] || rc=1
says 'a seccomp filter kills processes that call perf_event_open'; says ' s elapsed'
grep -q 'left no report' "$work/err" && rc=1
result ends_confined

# Programs that have no free descriptor, and many programs at once.
run 0 bash -c 'exec 3<&-; for ((i = 3; i < 2000; i++)); do eval "exec $i>&-"; done; "$1" once' - "$target"; calls work 1
grep -q 'left no report' "$work/err" && rc=1
run 0 bash -c 'for ((i = 0; i < 100; i++)); do "$1" once & done; wait' - "$target"; calls work 100
# RLIMIT_FSIZE: only the areas that fit exist, possibly none, and the program is not affected.
(ulimit -f 40000; run 0 "$target" children; calls work 3; exit $rc) || rc=1
(ulimit -f 0; "$tach" run "$target" once 2>&1) | cat >"$work/err"; [ "${PIPESTATUS[0]}" = 0 ] || rc=1
says 'no memory to share with the program: File too large; counting from outside'; calls '\(whole program\)' 1
# The program finds one more open descriptor than without tach run, at a high number: 1000, or half of its limit.
ls /proc/self/fd >"$work/without"
for files in "$(ulimit -Sn)" 1024; do
	up=1000
	[ "$files" = unlimited ] || [ "$files" -ge 2000 ] || up=$((files / 2))
	(ulimit -Sn "$files"; run 0 ls /proc/self/fd; exit $rc) || rc=1
	[ "$(diff "$work/without" "$work/out" | grep '^[<>]' | tr '\n' ' ')" = "> $up " ] || { echo "# other descriptors of $files"; diff "$work/without" "$work/out"; rc=1; }
done
(TMPDIR=/nonexistent; run 0 "$target" once; calls work 1; exit $rc) || rc=1
result results

# The additional work for a process with only the clock: system calls, and instructions if they can be counted. No
# file is made; the default events are tried once for all processes.
echo 'int main(void) { return 0; }' | gcc -O1 -x c -o "$work/nothing" - || exit 1
calls_of() { # OPTION...
	env -u TACH_EVENTS -u TACH_METRICS strace -f -o "$work/trace" "$tach" run "$@" "$work/nothing" 2>"$work/err" || rc=1
	awk '!process && /execve\("[^"]*nothing"/ { process = $1 } $1 == process && process' "$work/trace" >"$work/calls"
}
if strace -o /dev/null true 2>/dev/null; then
	calls_of
	# /proc/self/status shows if there is a debugger, and cmdline gives the program's name for the report.
	if grep -q 'No hardware counters' "$work/err"; then ! grep -vE '"/proc/self/(status|cmdline)"' "$work/calls" | grep -E 'perf_event_open|/sys/|/proc/' || rc=1; fi
	calls_of -e ''
	calls=$(wc -l <"$work/calls")
	echo "# $calls system calls, $(grep -c rt_sigprocmask "$work/calls") of them rt_sigprocmask"
	[ "$calls" -gt 100 ] && [ "$calls" -le 200 ] || rc=1
	! grep -E 'O_CREAT|rename|unlink' "$work/calls" || rc=1
	result calls
else
	echo "skip run_calls: strace cannot trace here"
fi
# Instructions, including the loader's; the program alone takes about 130,000 with glibc 2.36. Observed were 465,000
# to 504,000 more: the loader's hashes and the length of names vary.
if valgrind --tool=callgrind --callgrind-out-file=/dev/null "$work/nothing" 2>"$work/alone.txt"; then
	env -u TACH_EVENTS -u TACH_METRICS valgrind --tool=callgrind --callgrind-out-file=/dev/null --trace-children=yes \
		--log-file="$work/valgrind.%p" "$tach" run -e '' "$work/nothing" 2>"$work/err" || rc=1
	instructions() { awk '/Collected :/ { print $NF }' "$@"; }
	mapfile -t logs < <(grep -l "Command: $work/nothing" "$work"/valgrind.*)
	more=$(($(instructions "${logs[0]}") - $(instructions "$work/alone.txt")))
	echo "# $more instructions"
	[ "$more" -gt 100000 ] && [ "$more" -le 600000 ] || rc=1
	result instructions
else
	echo "skip run_instructions: valgrind is not installed"
fi

# Programs started with an empty environment run unmeasured, and the table and the report say so.
cat >"$work/cleared.c" <<'END'
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	(void)argc;
	if (argv[1][0] == 'e')
		execle("/bin/true", "true", (char *)0, (char *[]){"A=1", 0});
	clearenv();
	return system("exit 5") != 5 << 8;
}
END
gcc -O1 -o "$work/cleared" "$work/cleared.c" || exit 1
run 0 -o "$work/cleared.json" -- sh -c "env -i true; $work/cleared exec"
says 'ran unmeasured: 2, true first \(started with a cleared environment\)'
grep -q '2 programs ran unmeasured, true first: started with a cleared environment' "$work/cleared.json" || rc=1
run 0 "$work/cleared" system
says 'ran unmeasured: 1, sh first \(started with a cleared environment\)'
run 0 sh -c 'true; /bin/true'
grep -q 'ran unmeasured' "$work/err" && rc=1
result cleared_environment

# A process that cannot map more memory at its end is not reported as killed by SIGKILL.
gcc -O1 -x c -o "$work/limited" - <<'END' || exit 1
#include <sys/resource.h>
int main(void)
{
	struct rlimit none = {1, 1};

	return setrlimit(RLIMIT_AS, &none) == 0 ? 7 : 1;
}
END
run 7 "$work/limited"
says '1 of 1 processes and programs left no report: 1 lacked memory for it \(RLIMIT_AS\); try'
grep -q SIGKILL "$work/err" && rc=1
result no_memory

# The folder's name contains separators of LD_PRELOAD.
mkdir "$work/a b:c"
cp "$B/tach" "$B/libtach-run.so" "$B/libtach.so.0" "$work/a b:c"
gcc -O1 -DTACH_DISABLE -Iinclude -o "$work/plain" tests/unit/tools/run/ends.c -lpthread || exit 1
tach="$work/a b:c/tach"
"$tach" run "$work/plain" 2>"$work/err" || rc=1
calls '\(all threads\)' 1
tach=$B/tach
result folder_of_separators

if musl-gcc -O1 -DTACH_DISABLE -idirafter /usr/include -x c -o "$work/musl" - 2>/dev/null <<<'int main(void) { return 3; }'; then
	tach="$work/a b:c/tach" # without the object for musl, which make musl builds
	run 3 "$work/musl"
	tach=$B/tach
	says 'musl is of another C library'; calls '\(whole program\)' 1
	result musl
else
	echo "skip run_musl: no musl-gcc (Debian: musl-tools)"
fi

cp "$tach" "$work/alone"
"$work/alone" run true 2>"$work/err"; [ $? = 125 ] || rc=1
says 'libtach-run.so is neither in the folder of this program nor in ../lib/tach'
result missing_object
exit $failed
