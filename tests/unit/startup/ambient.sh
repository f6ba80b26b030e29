#!/usr/bin/env bash
# TACH_AMBIENT: counts of boxes as a row of a program's own report, for every way in which the program ends; the
# message if they cannot be counted; and tach run uses it for its --ambient. Kernel and sysfs are simulated.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
. tests/unsanitized ambient "a sanitizer's library would have to be preloaded first"
work=$(mktemp -d) || exit 1
pid=
trap 'kill -KILL $pid 2>/dev/null; rm -rf "$work"' EXIT
program=$work/program
gcc -O1 -Iinclude -o "$program" tests/unit/startup/services/program.c -L"$B" -ltach -Wl,-rpath,"$PWD/$B" -lpthread &&
	gcc -std=gnu11 -O1 -shared -fPIC -o "$work/kernel.so" -D_GNU_SOURCE tests/unit/tools/boxes/kernel.c -ldl || exit 1
for i in 0 1; do
	mkdir -p "$work/sysfs/uncore_imc_$i/format"
	echo $((20 + i)) >"$work/sysfs/uncore_imc_$i/type"
	echo 0,28 >"$work/sysfs/uncore_imc_$i/cpumask"
	echo config:0-7 >"$work/sysfs/uncore_imc_$i/format/event"
done
export SYSFS=$work/sysfs

. tests/cases ambient
measured() { LD_PRELOAD=$work/kernel.so TACH_OUTPUT=$work/r.json "$@" >"$work/out" 2>"$work/err"; }
says() { grep -qE -- "$1" "$work/err" || no "it does not say '$1': $(head -2 "$work/err")"; }
quiet() { [ ! -s "$work/err" ] || no "it says $(head -1 "$work/err")"; }
cat >"$work/look.py" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
rows = {r["name"]: r["inclusive"] for r in report["regions"]}
whole, work = rows["(whole machine)"], rows["work"]
assert whole["rd"] == {"value": 4000, "raw": 4000, "overhead": 0, "error": 0, "flags": ["syscall", "shared"]}, whole
assert abs(whole["pace"]["value"] * whole["time"]["value"] - 4000) < 1 and "shared" in whole["pace"]["flags"], whole
assert whole["twice"]["value"] == 8000
assert work["rd"]["value"] == 0 and work["rd"]["flags"] == ["lost"], work
assert whole["time"]["value"] > 0 and work["time"]["raw"] >= 0 # a clock may stand still for 10 ns
times = [r["inclusive"]["time"]["value"] for r in report["regions"]]
assert times == sorted(times, reverse=True)
if len(sys.argv) > 2:
    assert work["faults"]["flags"] == ["syscall"] and "lost" in whole["faults"]["flags"], rows
    assert work["both"]["value"] == 2 * work["faults"]["value"], work
assert "rd: of the whole machine, all programs together" in report["note"], report["note"]
END
look() { python3 "$work/look.py" "$work/r.json" "$@" >"$work/err" 2>&1 || no "$(tail -n 2 "$work/err")"; }

export TACH_AMBIENT='rd=uncore_imc_*/event=4/; pace = rd / elapsed_ns; twice = rd + rd'
measured "$program" end; quiet; look
TACH_EVENTS='faults=page-faults' TACH_METRICS='both = faults + faults' measured "$program" end; quiet; look and_set
# With histograms, with worst entries, and in another format, which this test does not read.
TACH_HISTOGRAMS=1 TACH_WORST=3 measured "$program" end; look
TACH_OUTPUT=$work/r.html LD_PRELOAD=$work/kernel.so "$program" end
grep -q '<span class="badge">shared</span>' "$work/r.html" || no "no badge"
# Quantities with the same name are merged.
TACH_EVENTS='rd=page-faults' measured "$program" end; quiet
"$B/tach" report "$work/r.json" >"$work/table" 2>&1
[ "$(grep -ow rd "$work/table" | wc -l)" -ge 1 ] && [ "$(head -1 "$work/table" | grep -ow rd | wc -l)" = 1 ] || no "$(head -1 "$work/table")"
result row

# Each event has its scope: boxes count the machine, other events the program's threads; a metric uses both.
cat >"$work/mixed.py" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
row = {r["name"]: r["inclusive"] for r in report["regions"]}["(machine and program)"]
assert row["rd"]["value"] == 4000 and row["rd"]["flags"] == ["syscall", "shared"], row
if "refused" in sys.argv:
    assert row["pf"]["flags"] == ["lost"] and "lost" in row["per"]["flags"], row
    assert "pf: of the program alone; pf cannot be counted: " in report["note"], report["note"]
else:
    assert 0 < row["pf"]["value"] < 4000 and row["pf"]["flags"] == ["syscall"], row
    assert abs(row["per"]["value"] * row["pf"]["value"] - 4000) < 1, row
    assert report["note"].endswith("pf: of the program alone; rd: of the whole machine, all programs together"), report["note"]
END
mixed() { python3 "$work/mixed.py" "$work/r.json" "$@" >"$work/err" 2>&1 || no "$(tail -n 2 "$work/err")"; }
TACH_AMBIENT='rd=uncore_imc_*/event=4/, pf=page-faults; per = rd / pf' measured "$program" end; quiet; mixed
TACH_AMBIENT='rd=uncore_imc_*/event=4/; per = rd / page-faults' measured "$program" end; quiet
grep -q '"page-faults"' "$work/r.json" || no "a metric's event of the program is not counted"
TACH_AMBIENT='rd=uncore_imc_*/event=4/, pf=page-faults; per = rd / pf' REFUSE_PROGRAM=19 measured "$program" end; quiet; mixed refused
result mixed

mkfifo "$work/ready"
LD_PRELOAD=$work/kernel.so TACH_SIGNAL=end TACH_OUTPUT=$work/r.json "$program" live >"$work/ready" & pid=$!
read -r _ <"$work/ready"
rm -f "$work/r.json"
kill -TERM $pid; wait $pid 2>/dev/null; status=$?
pid=
[ $status = 143 ] || no "status $status"
look
result deadly_signal

REFUSE=13 measured "$program" end; says '^tach: TACH_AMBIENT cannot be used: rd: '
[ "$(grep -c . "$work/err")" = 1 ] || no "$(cat "$work/err")"
grep -q 'TACH_AMBIENT cannot be used: rd: ' "$work/r.json" || no "the report does not say it"
for odd in 'page-faults|page-faults' 'uncore_qpi_*/event=4/|no boxes are called uncore_qpi_\*' ' ; x = 1|names no events' \
	'rd=uncore_imc_*/event=4/; x = rd / nosuch|nosuch.*\(column 36\)' 'rd=uncore_imc_*/bogus=4/|no term .bogus'; do
	TACH_AMBIENT=${odd%|*} measured "$program" end; says "^tach: TACH_AMBIENT cannot be used: .*${odd#*|}"
	"$B/tach" report "$work/r.json" 2>&1 | grep -q '^work *1 ' || no "its regions are lost"
done
TACH_AMBIENT='' measured "$program" end; quiet
TACH_OUTPUT='' TACH_ENABLE=1 LD_PRELOAD=$work/kernel.so "$program" end 2>"$work/err"; says 'TACH_AMBIENT has no effect without TACH_OUTPUT'
TACH_AMBIANT=x TACH_AMBIENT='' measured "$program" end; says 'TACH_AMBIANT is not looked at; did you mean TACH_AMBIENT'
result refusals

# The command counts boxes; programs that it runs do not.
LD_PRELOAD=$work/kernel.so "$B/tach" run -o "$work/r.json" -- "$program" end >"$work/out" 2>"$work/err" || no "status $?"
look
TACH_AMBIENT=page-faults LD_PRELOAD=$work/kernel.so "$B/tach" run --ambient 'other=uncore_imc_0/event=4/' -- "$program" end >"$work/out" 2>"$work/err"
says '^region .* other'
! grep -q TACH_AMBIENT "$work/err" || no "the program looks at the variable: $(grep TACH_AMBIENT "$work/err")"
result tach_run
exit $failed
