#!/usr/bin/env bash
# Prometheus's own parser reads the report and finds its content; promtool reports nothing.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
tools/need prometheus python3-prometheus-client >/dev/null 2>&1 || { echo "skip prometheus: prometheus and python3-prometheus-client cannot be installed"; exit 77; }
for report in sample odd; do
	"$B/tach" report --format prometheus tests/unit/report/report/$report.json | promtool check metrics 2>&1 | sed 's/^/# /'
	[ "${PIPESTATUS[*]:0:2}" = '0 0' ] || { echo "not ok prometheus"; exit 1; }
done
"$B/tach" report --format prometheus tests/unit/report/report/sample.json | /usr/bin/python3 -c '
import math, sys
from prometheus_client.parser import text_string_to_metric_families as parse
families = {f.name: f for f in parse(sys.stdin.read())}
def value(family, sample, **labels):
    found = [s.value for s in families[family].samples
             if s.name == sample and labels.items() <= s.labels.items()]
    assert len(found) == 1, (sample, labels, found)
    return found[0]
assert {"tach_threads_missing", "tach_processes_missing"} <= families.keys() and len(families) == 16, sorted(families)
assert families["tach_region_events"].type == "counter"
assert value("tach_region_seconds", "tach_region_seconds_total", region="parse", part="self") == 0.001
assert families["tach_region_call_seconds"].type == "histogram"
assert value("tach_region_call_seconds", "tach_region_call_seconds_bucket", region="parse", le="1e-06") == 600
assert value("tach_region_call_seconds", "tach_region_call_seconds_bucket", region="parse", le="+Inf") == 1000
assert value("tach_region_call_seconds", "tach_region_call_seconds_count", region="parse") == 1000
assert value("tach_region_events", "tach_region_events_total", part="inclusive", event="cycles",
             region="a \"quoted\" \\ name,\n\u00e9\U0001f600</script>") == 0
assert math.isnan(value("tach_region_metric", "tach_region_metric", line="0", metric="ipc"))
' || { echo "not ok prometheus"; exit 1; }
echo "ok prometheus"
