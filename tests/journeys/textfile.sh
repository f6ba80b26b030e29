#!/usr/bin/env bash
# A service, node_exporter's textfile collector and a scrape, by the commands of docs/recipes/grafana.md: the counts arrive,
# and grow as the service works.
set -u
. "$(dirname "$0")/lib.sh"
tools/need prometheus-node-exporter curl >"$work/out" 2>&1 || { echo "prometheus-node-exporter cannot be installed"; exit 77; }
cat >"$work/service.c" <<'C'
#include <time.h>
#include <tach.h>
int main(void)
{
	for (;;) {
		TACH_START(request);
		nanosleep(&(struct timespec){0, 1000000}, 0);
		TACH_STOP(request);
	}
}
C
build "$work/service" "$work/service.c" || exit 1
cd "$work" && mkdir metrics || exit

mapfile -t commands < <(awk '/^```console$/ { on = 1; next } /^```$/ { on = 0 } on && sub(/^\$ /, "")' "$top/docs/recipes/grafana.md")
[ ${#commands[@]} = 3 ] || { echo "not ok the recipe has ${#commands[@]} commands"; exit 1; }
# Another program may use its port.
port=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
started=()
start() { bash -c "exec env ${1%&}" >>"$work/said" 2>&1 & started+=($!); }
start "${commands[0]}"
start "$(sed "s/9100/$port/" <<<"${commands[1]}")"
trap 'kill "${started[@]}" 2>/dev/null; close_terminal; rm -rf "$work"' EXIT

calls() { bash -c "${commands[2]/9100/$port}" | awk '/region="request"/ { print int($2) }'; }
more_than() { local n; n=$(calls) && [ "${n:-0}" -gt "$1" ]; }
check arrives wait_until more_than 0
first=$(calls)
check grows wait_until more_than "${first:-0}"
info() { curl -s "http://127.0.0.1:$port/metrics" >"$work/scraped" && says '^tach_info\{.*version="[0-9.]+"' "$work/scraped" && says '^node_textfile_scrape_error 0' "$work/scraped"; }
check no_error info
exit $rc
