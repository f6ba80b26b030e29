#!/usr/bin/env bash
# Debian's redis and nginx under load, with regions preloaded around their read and write calls: tach top inspects
# them, every report (one per second) is complete, and SIGTERM leaves a last report. The test prints the ratio of
# throughput with and without regions, measured in turns. SERVICES_SECONDS: duration of a round (10).
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
. tests/unsanitized services "a sanitizer's library would have to be preloaded first"
tools/need redis-server redis-tools nginx-light apache2-utils >/dev/null 2>&1 || { echo "skip services: redis-server, nginx-light and apache2-utils cannot be installed"; exit 77; }
work=$(mktemp -d) || exit 1
pid=
trap 'kill -KILL $pid 2>/dev/null; rm -rf "$work"' EXIT
chmod 755 "$work"
tach=$PWD/$B/tach
gcc -O2 -fPIC -shared -D_GNU_SOURCE -Iinclude -o "$work/calls.so" tests/clients/services/calls.c -L"$B" -ltach -ldl -Wl,-rpath,"$PWD/$B" || exit 1
failed=0 rc=0
result() { if [ $rc = 0 ]; then echo "ok services_$1"; else echo "not ok services_$1"; failed=1; fi; rc=0; }
no() { echo "# $*"; rc=1; }

socket=$work/socket
printf 'hello\n' >"$work/index.html"
cat >"$work/nginx.conf" <<END
daemon off; worker_processes 1; pid $work/nginx.pid; error_log $work/error;
$([ "$(id -u)" != 0 ] || echo 'user root;')
events { worker_connections 256; }
http {
	access_log off; keepalive_requests 1000000;
	client_body_temp_path $work/t; proxy_temp_path $work/t; fastcgi_temp_path $work/t; uwsgi_temp_path $work/t; scgi_temp_path $work/t;
	server { listen 127.0.0.1:PORT; root $work; }
}
END
redis_server() { exec redis-server --port 0 --unixsocket "$socket" --save '' --appendonly no --dir "$work"; }
redis_load() { redis-benchmark -s "$socket" -q -c 8 -n "$1" -t get | tr '\r' '\n' | sed -n 's/^GET: \([0-9.]*\) requests.*/\1/p'; }
redis_ready() { redis-cli -s "$socket" ping 2>/dev/null | grep -q PONG; }
nginx_server() { sed "s/PORT/$port/" "$work/nginx.conf" >"$work/nginx.$port"; exec nginx -p "$work" -c "$work/nginx.$port"; }
nginx_load() { ab -q -k -c 8 -n "$1" "http://127.0.0.1:$port/" 2>/dev/null | sed -n 's/^Requests per second: *\([0-9.]*\).*/\1/p'; }
nginx_ready() { ab -q -n 1 "http://127.0.0.1:$port/" >/dev/null 2>&1; }

begin() { # SERVER VARIABLE...: until it answers, on a port that nothing has now
	for _ in {1..20}; do
		port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
		(for v in "${@:2}"; do export "${v?}"; done; "$1_server") >"$work/log" 2>&1 &
		pid=$!
		until "$1_ready"; do kill -0 $pid 2>/dev/null || break; sleep 0.05; done
		kill -0 $pid 2>/dev/null && return
		grep -qs 'Address already in use' "$work/log" "$work/error" || break
	done
	sed 's/^/# /' "$work/log"
	return 1
}
finish() { # as an init would
	kill -TERM $pid; wait $pid; local status=$?
	pid=
	[ $status = 0 ] || no "it ended with status $status"
}
median() { printf '%s\n' "$@" | sort -g | sed -n "$((($# + 1) / 2))p"; }

show() { # SERVER REGION REQUESTS
	local report i with=() without=() looked= busy
	on=("LD_PRELOAD=$work/calls.so" "TACH_OUTPUT=$work/$1.%p.json" TACH_INTERVAL=1)
	begin "$1" "${on[@]}" || { no "$1 did not start"; result "$1"; return; }
	# Finds the process that does the work: nginx's worker.
	busy=$(pgrep -P $pid | head -n 1); busy=${busy:-$pid}
	report=$work/$1.$busy.json
	: >"$work/rounds"
	(while "$1_load" 5000 >/dev/null; do echo >>"$work/rounds"; done) & loading=$!
	# A report is written every second, also during hundreds of rounds.
	until [ -s "$report" ] || [ "$(wc -l <"$work/rounds")" -gt 500 ] || ! kill -0 $pid; do sleep 0.05; done
	# There may be no activity between two rounds.
	for _ in {1..100}; do
		"$tach" top --once -i 1 "$busy" >"$work/top" 2>&1 || { no "tach top"; break; }
		looked=$(awk -v region="$2" '$1 == region && $2 != 0 { print $2 " calls/s, " $3 " % of the time in " $1 }' "$work/top")
		[ -z "$looked" ] || break
	done
	[ -n "$looked" ] || { no 'tach top does not show it'; sed 's/^/#   /' "$work/top" | head; }
	echo "# tach top: $looked"
	python3 tests/clients/services/watch.py "$report" "${SERVICES_SECONDS:-10}" "$2" || rc=1
	kill $loading; wait $loading 2>/dev/null
	before=$("$tach" report -p "$busy" --format csv 2>/dev/null | sed -n "s/^\"$2\",[^,]*,[^,]*,\([0-9]*\),.*/\1/p" | head -n 1)
	finish
	after=$("$tach" report --format csv "$report" | sed -n "s/^\"$2\",[^,]*,[^,]*,\([0-9]*\),.*/\1/p" | head -n 1)
	[ "${after:-0}" -ge "${before:-1}" ] || no "the last report has $after calls of $2, before the end there were $before"
	[ -z "$(find "$work" -name ".$1.*")" ] || no 'a temporary file is left'
	result "$1"
	for i in 1 2 3 4 5; do
		begin "$1" && without+=("$("$1_load" "$3")") && finish
		begin "$1" "${on[@]}" && with+=("$("$1_load" "$3")") && finish
	done
	echo "# $1: $(median "${with[@]}") requests/s with, $(median "${without[@]}") without: ratio $(awk -v a="$(median "${with[@]}")" -v b="$(median "${without[@]}")" 'BEGIN { printf "%.3f", a / b }')"
	[ ${#with[@]} = 5 ] && [ ${#without[@]} = 5 ] || no "some runs failed"
	result "$1_ratio"
}
show redis read 20000
show nginx recv 20000
exit $failed
