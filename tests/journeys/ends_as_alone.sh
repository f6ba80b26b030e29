#!/usr/bin/env bash
# Programs under `tach run` end as without it: a matrix of blocking calls, ways to end and states; Debian's programs;
# debuggers and tracers see no additional stop, signal or interrupted call.
set -u
. "$(dirname "$0")/lib.sh"
ulimit -c 0
export HOME=$work LC_ALL=C
HANG=600 # seconds, far more than any takes: the one clock here

# ---- the matrix: 50 calls, 11 ways to end, 3 states ----
build_matrix() { gcc -O1 -o "$work/matrix" tests/unit/tools/run/matrix.c -lpthread -lrt; }
check matrix_builds build_matrix
matrix_is_same() {
	(cd "$work" && ./matrix >alone.txt && tach run -e '' -o report.txt -- ./matrix >run.txt) || return 1
	[ "$(wc -l <"$work/alone.txt")" -ge 1500 ] && diff "$work/alone.txt" "$work/run.txt"
}
check matrix matrix_is_same

# ---- programs ---- same NAME COMMAND: a shell line that must have the same status, output and errors with and
# without tach run. The line runs in its own folder, so that it can be repeated. Programs that are not installed are
# reported and skipped.
same() {
	local name=$1 program=$2 command=$3 way status
	for p in $program; do
		command -v "$p" >/dev/null || { echo "# $name: $p is not installed, left out"; return; }
	done
	for way in alone run; do
		rm -rf "$work/here"; mkdir "$work/here"
		if [ $way = alone ]; then
			(cd "$work/here" && timeout $HANG bash -c "$command" >"$work/$way.out" 2>"$work/$way.err")
		else
			(cd "$work/here" && timeout $HANG tach run -e '' -o "$work/report.txt" -- bash -c "$command" >"$work/$way.out" 2>"$work/$way.all")
		fi
		status=$?
		echo "status $status" >>"$work/$way.out"
	done
	# Messages of tach run come after the program's own.
	grep -vE '^tach run: |s elapsed, | page faults, ' "$work/run.all" >"$work/run.err"
	as_alone() { diff "$work/alone.out" "$work/run.out" && diff "$work/alone.err" "$work/run.err"; }
	check "$name" as_alone
}
tools/need bash make git python3 perl gcc xz-utils nodejs default-jre-headless redis-server nginx-light postgresql sqlite3 gdb strace >"$work/needed" 2>&1 ||
	sed 's/^/# /' "$work/needed"
PATH=$PATH:/usr/sbin:$(echo /usr/lib/postgresql/*/bin)

same bash bash 'trap "echo trapped" TERM EXIT; for i in 1 2 3; do (exit $i); echo $?; done; kill $$; sleep 0 & wait; echo a | tr a b; exit 5'
same make make 'printf "all: a b c d\na b c d:\n\t@sleep 0; echo \$@ >\$@.out\nbad:\n\t@exit 3\n" >Makefile; make -s -j2; cat *.out; make -s bad'
same git git 'git init -q . 2>/dev/null; git config user.name n; git config user.email e; for i in 1 2 3; do echo $i >f; git add f; git commit -qm $i --date "2020-01-01 00:00"; done; git gc -q; git fsck; git log --format=%s'
same python3 python3 '/usr/bin/python3 -c "
import threading, time, subprocess, signal, sys, os
print(signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT))
t = [threading.Thread(target=time.sleep, args=(1000,), daemon=True) for _ in range(8)]
[x.start() for x in t]
print(subprocess.run([sys.executable, \"-c\", \"import os; os.abort()\"]).returncode)
print(subprocess.run([\"sh\", \"-c\", \"kill -9 \$\$\"]).returncode)
sys.exit(7)"'
same perl perl 'perl -e "\$SIG{TERM} = sub { print qq(term\n); exit 4 }; print defined \$SIG{INT} ? 1 : 0, qq(\n); print system(qq(exit 3)) >> 8, qq(\n); kill TERM => \$\$; sleep 1000"; exit $?'
same gcc gcc 'printf "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 9; }\n" >a.c; gcc -O2 -pipe -o a a.c; ./a; echo $?; gcc -c none.c 2>/dev/null; exit $?'
same xz xz 'seq 200000 | xz -T2 -1 | xz -dc | cksum; echo broken | xz -dc; exit $?'
same sqlite sqlite3 'sqlite3 a.db "create table t(a); insert into t values (1), (2); select sum(a) from t; select nothing;"; exit $?'
same node node 'node -e "const {Worker} = require(\"worker_threads\"); const w = new Worker(\"setInterval(() => {}, 1000)\", {eval: true}); w.on(\"online\", () => { console.log(\"online\"); process.exit(6); })"'
cat >"$work/T.java" <<'E'
public class T { public static void main(String[] a) throws Exception {
  for (int i = 0; i < 8; i++) { Thread t = new Thread(() -> { try { Thread.sleep(1000000); } catch (Exception e) { System.out.println(e); } }); t.setDaemon(i % 2 == 0); t.start(); }
  Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook")));
  String s = null; try { s.length(); } catch (NullPointerException e) { System.out.println("null"); }
  System.exit(8); } }
E
same java "java javac" "cp '$work/T.java' .; javac T.java && java -cp . T"
same redis redis-server 'redis-server --port 0 --unixsocket ./s --save "" --logfile log --daemonize no & until redis-cli -s ./s ping >/dev/null 2>&1; do sleep 0.1; done; redis-cli -s ./s set a 1; redis-cli -s ./s get a; redis-cli -s ./s shutdown nosave; wait $!; echo $?'
same nginx nginx 'printf "pid n.pid; error_log stderr crit; worker_processes 2; events {} http { access_log off; client_body_temp_path t; proxy_temp_path t; fastcgi_temp_path t; uwsgi_temp_path t; scgi_temp_path t; server { listen unix:./s; location / { return 200 yes; } } }" >n.conf; nginx -e stderr -p . -c n.conf -g "daemon off;" & p=$!; for i in $(seq 600); do [ -S s ] && [ -s n.pid ] && break; sleep 0.1; done; curl -s --unix-socket s http://x/; echo; kill -QUIT $p; wait $p; echo $?'
same postgres "postgres initdb" 'run() { if [ $(id -u) = 0 ]; then chown -R 65534 . && setpriv --reuid=65534 --clear-groups "$@"; else "$@"; fi; }; chmod 755 "$HOME"; run initdb -D d -A trust -U u >/dev/null 2>&1; echo $?; run postgres --single -D d postgres <<<"select 1+1 as two;" 2>/dev/null | grep two; echo ${PIPESTATUS[0]}'
same chromium chromium 'echo "<p id=x>here</p><script>document.title = 6 * 7</script>" >a.html; chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync --user-data-dir=p --dump-dom file://$PWD/a.html 2>/dev/null; echo $?'
if command -v go >/dev/null; then
	cat >"$work/cgo.go" <<'E'
package main
/*
#include <pthread.h>
#include <unistd.h>
static void *f(void *a) { for (;;) pause(); return a; }
static void g(void) { pthread_t t; pthread_create(&t, 0, f, 0); }
*/
import "C"
import ("fmt"; "os"; "time")
func main() { C.g(); go func() { time.Sleep(time.Hour) }(); defer func() { fmt.Println(recover() != nil); os.Exit(7) }(); var p *int; *p = 1 }
E
	same go_cgo go "cp '$work/cgo.go' main.go; HOME=$work GOFLAGS=-mod=mod CGO_ENABLED=1 go build -o a main.go && ./a"
else
	echo '# go_cgo: go is not installed, left out'
fi

# ---- debuggers and tracers ----
build_blocked() {
	cat >"$work/blocked.c" <<'E'
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
static void *f(void *a) { struct timespec t = {1000, 0}; nanosleep(&t, 0); return a; }
int main(int c, char **v) { pthread_t t; pthread_create(&t, 0, f, 0); if (c > 1 && !strcmp(v[1], "abort")) raise(SIGABRT); return 3; }
E
	gcc -g -O1 -o "$work/blocked" "$work/blocked.c" -lpthread
}
check blocked_builds build_blocked
# gdb prints the end of a process with threads differently in each run; its stops are equal.
stops() { grep -c 'received signal' "$1"; }
gdb_sees_same() { # ARGUMENT
	gdb -nx -batch -ex run -ex continue --args "$work/blocked" "$@" >"$work/alone.gdb" 2>&1
	tach run -e '' -o "$work/report.txt" -- gdb -nx -batch -ex run -ex continue --args "$work/blocked" "$@" >"$work/run.gdb" 2>&1
	! grep -E 'SIG(3[0-9]|[4-6][0-9])' "$work/run.gdb" && [ "$(stops "$work/alone.gdb")" = "$(stops "$work/run.gdb")" ]
}
if gdb -nx -batch -ex run --args true 2>&1 | grep -q 'exited normally'; then
	check gdb gdb_sees_same
	check gdb_abort gdb_sees_same abort
else
	echo '# gdb cannot run a program here, left out'
fi
strace_sees_same() {
	local way
	for way in '' "tach run -e '' -o $work/report.txt --"; do
		eval "$way strace -f -o '$work/trace${way:+.run}' '$work/blocked' $1"
	done
	signals() { grep -oE '(--- SIG[A-Z0-9_]+|EINTR|ERESTART[A-Z_]+|\+\+\+ (exited|killed)[^+]*)' "$1" | grep -v 'SIGCHLD' | sort; }
	diff <(signals "$work/trace") <(signals "$work/trace.run")
}
if strace -o /dev/null true 2>/dev/null; then
	check strace strace_sees_same ''
	check strace_abort strace_sees_same abort
else
	echo '# strace cannot trace here, left out'
fi
exit $rc
