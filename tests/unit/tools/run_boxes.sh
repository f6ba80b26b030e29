#!/usr/bin/env bash
# tach run --outside with events of boxes: one box, the sum of all boxes, in metrics and with a program's own events;
# and the messages if they cannot be counted. Kernel and sysfs are simulated.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. tests/unsanitized run "a sanitizer's library would have to be preloaded first"
gcc -std=gnu11 -O1 -shared -fPIC -o "$work/kernel.so" -D_GNU_SOURCE tests/unit/tools/boxes/kernel.c -ldl || exit 1
for i in 0 1; do
	mkdir -p "$work/sysfs/uncore_imc_$i/format"
	echo $((20 + i)) >"$work/sysfs/uncore_imc_$i/type"
	echo 0,28 >"$work/sysfs/uncore_imc_$i/cpumask"
	echo config:0-7 >"$work/sysfs/uncore_imc_$i/format/event"
done

. tests/cases run_boxes
run() { SYSFS=$work/sysfs LD_PRELOAD=$work/kernel.so ends "$1" "$B/tach" run "${@:2}"; } # STATUS ARGUMENT...

run 0 --outside -e 'rd=uncore_imc_0/event=4/' true
says '^region .* rd'; says '^\(whole program\) +1 .* 2000( |$)|^\(whole program\) .* 2\.000 k'
says 'rd: of the whole machine, all programs together'
result one

run 0 --outside -e 'rd=uncore_imc_*/event=4/, faults=page-faults' -m 'bytes = rd * 64; each = rd / faults' -o "$work/r.json" true
for value in '"rd":{"value":4000,' '"bytes":{"value":256000,' '"faults":{"value":[1-9]' '"each":{"value":[1-9]'; do
	tr -d ' \n' <"$work/r.json" | grep -q -- "$value" || { echo "# no $value"; rc=1; }
done
result sum

# These are refused before the program runs.
REFUSE=13 run 125 --outside -e 'task-clock,rd=uncore_imc_0/event=4/' touch "$work/ran"
says 'rd: '; says '^ {18}\^$'; [ ! -e "$work/ran" ] || rc=1
REFUSE=24 run 125 --outside -e 'uncore_imc_0/event=4/' true; says 'ulimit -n'
run 125 --outside -e 'uncore_qpi_*/event=4/' true; says 'no boxes are called uncore_qpi_\*'
run 125 --outside -e 'uncore_imc_*/bogus=4/' true; says "no term 'bogus'"
run 125 --outside -e 'rd=uncore_imc_*/event=4/' -m 'x = rd + nosuch' true; says "nosuch"
run 125 -e 'uncore_imc_*/event=4/' true; says '--ambient counts them'
result refusals

# --ambient: a row for the whole machine next to a program's regions, which do not contain it.
rd='rd=uncore_imc_*/event=4/; pace = rd / elapsed_ns'
run 0 --ambient "$rd" true
says '^region .* rd .*pace'; says '^\(whole machine\) .* 4000 .*shared'; says '^\(all threads\) .* - .*(exact|clock)'
says 'rd: of the whole machine, all programs together'
run 0 --ambient "$rd" -o "$work/a.json" true
python3 - "$work/a.json" >"$work/err" 2>&1 <<'END' || rc=1
import json, sys
rows = {r["name"]: r["inclusive"] for r in json.load(open(sys.argv[1]))["regions"]}
assert set(rows) == {"(whole machine)", "(all threads)"}, rows.keys()
whole, threads = rows["(whole machine)"], rows["(all threads)"]
assert whole["rd"]["value"] == 4000 and whole["rd"]["flags"] == ["syscall", "shared"], whole
assert abs(whole["pace"]["value"] * whole["time"]["value"] - 4000) < 1 and "shared" in whole["pace"]["flags"], whole
assert threads["rd"]["value"] == 0 and threads["rd"]["flags"] == ["lost"], threads
END
run 0 --ambient "$rd" -o "$work/a.html" true
grep -q '<span class="badge">shared</span>' "$work/a.html" || { echo "# no badge"; rc=1; }
# Together with counters from outside, and with rows of other kinds.
run 0 --outside -e page-faults --ambient "$rd" true; says '^\(whole program\) .* - '; says '^\(whole machine\) .* 4000 '
run 0 --per-thread --ambient "$rd" true; says '^\(whole machine\) .* 4000 '
result ambient

# Events of the program together with those of boxes, in the list, in a metric, or by TACH_AMBIENT: each counts its
# own scope.
mixed='rd=uncore_imc_*/event=4/, faults=page-faults; each = rd / faults'
run 0 --ambient "$mixed" -o "$work/m.json" true
TACH_AMBIENT=$mixed run 0 -o "$work/e.json" true
python3 - "$work/m.json" "$work/e.json" >"$work/err" 2>&1 <<'END' || rc=1
import json, sys
for name in sys.argv[1:]:
    report = json.load(open(name))
    row = {r["name"]: r["inclusive"] for r in report["regions"]}["(machine and program)"]
    assert row["rd"]["value"] == 4000 and "shared" in row["rd"]["flags"], row
    assert row["faults"]["value"] > 0 and "shared" not in row["faults"]["flags"], row
    assert abs(row["each"]["value"] * row["faults"]["value"] - 4000) < 1 and "shared" in row["each"]["flags"], row
    assert "faults: of the program alone; rd: of the whole machine" in json.dumps(report), report
END
run 0 --ambient 'rd=uncore_imc_*/event=4/; x = rd / page-faults' true; says '^\(machine and program\) '; says 'page-faults: of the program alone'
run 125 --ambient 'rd=imc/event=4/, nosuch; x = rd' true; says nosuch; says '^ {21}\^$'
result ambient_mixed

# A metric over boxes, by its name, in -m and in an ambient list: the sum of all boxes, in its unit.
cat >"$work/mine.derived" <<'END'
EVENT,bandwidth,DERIVED_INFIX,N0 * 64 / 1000000 / (elapsed_ns / 1000000000),uncore_imc_*/event=4/,UNIT,MB/s
END
export TACH_DERIVED=$work/mine.derived
run 0 --outside -m bandwidth -o "$work/b.json" true
run 0 --ambient bandwidth -o "$work/c.json" true
TACH_AMBIENT=bandwidth run 0 -o "$work/d.json" true
python3 - "$work/b.json" "$work/c.json" "$work/d.json" >"$work/err" 2>&1 <<'END' || rc=1
import json, sys
for name in sys.argv[1:]:
    rows = {r["name"]: r["inclusive"] for r in json.load(open(name))["regions"]}
    row = rows.get("(whole machine)") or rows["(whole program)"]
    boxes = [v for k, v in row.items() if "imc" in k]
    assert boxes and boxes[0]["value"] == 4000, row
    mb = 4000 * 64 / 1e6 / (row["time"]["value"] / 1e9)
    assert abs(row["bandwidth"]["value"] - mb) < mb / 1000 and "shared" in row["bandwidth"]["flags"], (row, mb)
END
unset TACH_DERIVED
# Metrics of boxes that this machine lacks, or may not open: one message with the cure.
export TACH_PMU=spr
run 125 --outside -m memory_bandwidth_read true; says 'this machine has no box spr_unc_imc\*; load the kernel'
run 125 --ambient memory_bandwidth_read true; says 'this machine has no box spr_unc_imc\*; load the kernel'
export TACH_PMU=skl
run 125 --outside -m no_such_metric true; says 'no_such_metric'
unset TACH_PMU
result named_metrics

REFUSE=13 run 125 --ambient "$rd" touch "$work/ran"; says 'rd: '; [ ! -e "$work/ran" ] || rc=1
run 125 --ambient '' true; says 'names no events'
run 125 --ambient ' ; x = 1' true; says 'names no events'
run 125 --ambient page-faults true; says 'page-faults'
run 125 --ambient 'rd=uncore_imc_*/event=4/; x = rd / nosuch' true; says nosuch
run 125 --ambient "$rd" --ambient 'uncore_imc_0/event=4/' true; says 'ambient is given twice'
result ambient_refusals
exit $failed
