#!/usr/bin/env bash
# The record that tests/hw/silicon writes is JSON with all fields that docs/silicon/README.md lists, on every machine;
# docs/silicon/table makes a row of it; and the table in that README has the records in that folder.
set -u
cd "$(dirname "$0")/../.."
B=${B:-build} failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
is() { if [ "$1" = 0 ]; then echo "ok silicon_$2"; else echo "not ok silicon_$2"; failed=1; fi; }

"$B/tests/hw/silicon" "$work/record.json" >"$work/out" 2>&1 && python3 - "$work/record.json" <<'END'
import json, sys
record = json.load(open(sys.argv[1]))
assert record["verdict"] in ("right", "no counters"), record["verdict"]
assert bool(record["why"]) == (record["verdict"] == "no counters")
assert record["machine"]["kernel"] and record["machine"]["processors"] > 0
for key in ("smallest_exact", "interrupts_per_million", "skid_median", "topdown_sum", "permission_toggles", "migrations", "beyond_32_bits"):
    assert record[key] is None or record[key] >= 0, key
for edge in record["edges"].values():
    assert edge["ns"] >= 0
END
is $? record
docs/silicon/table "$work/record.json" >"$work/table"
[ "$(wc -l <"$work/table")" = 3 ] && [ "$(tail -n 1 "$work/table" | tr -dc '|' | wc -c)" = 9 ]
is $? row
docs/silicon/table >"$work/table" && diff <(sed -n '/^| processor/,$p' docs/silicon/README.md) "$work/table"
is $? table
exit $failed
