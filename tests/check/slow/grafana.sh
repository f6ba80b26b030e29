#!/usr/bin/env bash
# Debian's Prometheus scrapes a running program's reports, and answers every query of the Grafana dashboard, including
# variables, with data of the program's regions.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
tools/need prometheus >/dev/null 2>&1 || { echo "skip grafana: prometheus cannot be installed"; exit 77; }
work=$(mktemp -d) || exit 1
pids=()
trap 'kill -KILL ${pids[@]+"${pids[@]}"} 2>/dev/null; wait 2>/dev/null; rm -rf "$work"' EXIT
cat >"$work/service.c" <<'C'
#include <tach.h>
#include <time.h>

int main(void)
{
	volatile double sum = 0;

	for (;;) {
		TACH_START(request);
		TACH_START(parse);
		for (int i = 1; i < 20000; i++)
			sum += 1.0 / i;
		TACH_STOP(parse);
		TACH_STOP(request);
		nanosleep(&(struct timespec){0, 10000000}, 0);
	}
}
C
gcc -O1 -Iinclude -o "$work/service" "$work/service.c" -L"$B" -ltach -Wl,-rpath,"$PWD/$B" || exit 1
TACH_OUTPUT=$work/service.prom TACH_INTERVAL=0.5 TACH_HISTOGRAMS=1 TACH_EVENTS=page-faults TACH_METRICS='twice = 2 * page-faults' "$work/service" &
pids+=($!)
# The file is served as by the node exporter's textfile collector, or by a sidecar.
cat >"$work/serve.py" <<'P'
import http.server, sys
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        text = open(sys.argv[1], "rb").read()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        self.end_headers()
        self.wfile.write(text)
    def log_message(self, *a): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Page)
open(sys.argv[2], "w").write(str(server.server_port))
server.serve_forever()
P
python3 "$work/serve.py" "$work/service.prom" "$work/port" &
pids+=($!)
until [ -s "$work/port" ] && [ -s "$work/service.prom" ]; do
	for p in "${pids[@]}"; do kill -0 "$p" 2>/dev/null || { echo "not ok grafana_began"; exit 1; }; done
	sleep 0.1
done
cat >"$work/prometheus.yml" <<END
global: {scrape_interval: 1s}
scrape_configs:
  - job_name: service
    static_configs: [{targets: ["127.0.0.1:$(cat "$work/port")"]}]
END
# Finds a free port; if another program takes it first, tries another one.
for _ in {1..20}; do
	own=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/data" --web.listen-address="127.0.0.1:$own" >"$work/log" 2>&1 &
	server=$!
	until grep -q 'Server is ready' "$work/log" || ! kill -0 $server 2>/dev/null; do sleep 0.1; done
	kill -0 $server 2>/dev/null && break
	grep -q 'address already in use' "$work/log" || break
done
pids+=("$server")
cat >"$work/ask.py" <<'P'
import json, os, re, sys, time, urllib.parse, urllib.request
base, server = "http://127.0.0.1:%s/api/v1/" % sys.argv[1], int(sys.argv[2])
def get(path, **query):
    try:
        with urllib.request.urlopen(base + path + "?" + urllib.parse.urlencode(query)) as f:
            return json.load(f)["data"]
    except urllib.error.HTTPError as e:
        return print("# %s" % e.read().decode()) or {"result": []}
    except OSError:
        os.kill(server, 0)  # it is there, and has not begun to listen
        return None
at = None
def vector(expr):
    d = get("query", query=expr, time=at)
    return d["result"] if d else []
# A rate needs two scrapes. A busy machine may miss scrapes, and a scrape may time out: each query uses a moment when
# all needed data exist. Of 300 scrapes, some are in time.
while True:
    at = time.time()
    moved = vector("rate(tach_region_call_seconds_count[5s]) > 0")
    if {r["metric"]["region"] for r in moved} == {"parse", "request"} and vector("tach_info"):
        break
    assert not vector("count_over_time(up[1h]) > 300"), get("targets")
    time.sleep(0.2)
board = json.load(open("docs/grafana/tach.json"))
values, asked = {"__rate_interval": "5s", "__all": ".*", "datasource": "x"}, 0
for v in board["templating"]["list"]:
    if v["type"] != "query":
        continue
    m = re.fullmatch(r"label_values\((.*), (\w+)\)", v["query"])
    series = re.sub(r"\$(\w+)", lambda k: values[k.group(1)], m.group(1))
    found = get("label/%s/values" % m.group(2), **{"match[]": series})
    assert found, v["query"]
    assert v["name"] != "region" or set(found) == {"parse", "request"}, found
    # Grafana writes several values in this form.
    values[v["name"]] = "(%s)" % "|".join(found)
    asked += 1
bad = 0
for p in board["panels"]:
    for t in p["targets"]:
        expr = re.sub(r"\$(\w+)", lambda k: values[k.group(1)], t["expr"])
        rows = vector(expr)
        numbers = [float(r["value"][1]) for r in rows]
        asked += 1
        names = set(re.findall(r"\{\{(\w+)\}\}", t["legendFormat"])) - {"instance"}
        lacking = [r["metric"] for r in rows if not names <= set(r["metric"])]
        if not rows or any(n != n for n in numbers) or lacking:
            bad += 1
            print("# %s: %s: %d rows, %s %s" % (p["title"], expr, len(rows), numbers[:4], lacking[:1]))
print("# %d queries" % asked)
# The values match the program: it has one thread, which is inside a region part of the time. If reports are late, the
# seconds may exceed the interval between two scrapes, but a value in nanoseconds would be far larger.
inside = {r["metric"]["region"]: float(r["value"][1]) for r in vector('sum by (region) (rate(tach_region_seconds_total{part="inclusive"}[5s]))')}
assert 0 < inside["parse"] <= inside["request"] * 1.01 and inside["request"] < 1000, inside
sys.exit(bad > 0 or asked < 16)
P
rc=0
python3 "$work/ask.py" "$own" "$server" || { rc=1; tail -n 5 "$work/log" | sed 's/^/# /'; }
[ $rc = 0 ] || { echo "not ok grafana"; exit 1; }
echo "ok grafana"
