#!/usr/bin/env bash
# The command `tach doctor`: exit status, JSON that parses, settings below another root.
set -u
cd "$(dirname "$0")/../../.."
tach=${B:-build}/tach
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
say() { if [ "$1" = 0 ]; then echo "ok doctor $2"; else echo "not ok doctor $2"; failed=1; fi; }

"$tach" doctor --help >"$work/out"; s=$?
[ $s = 0 ] && grep -q '^usage: tach doctor' "$work/out"; say $? "--help"
"$tach" doctor --nonsense >/dev/null 2>"$work/err"; s=$?
[ $s = 2 ] && grep -q "cannot use '--nonsense'" "$work/err"; say $? "bad usage"
"$tach" doctor --root >/dev/null 2>&1; [ $? = 2 ]; say $? "--root without a folder"

"$tach" doctor >"$work/text"; s=$?
verdict=$(sed -n 's/^verdict: //p' "$work/text")
case $verdict in
'counters are read in user space'*) [ $s = 0 ];;
?*) [ $s = 1 ];;
*) false;;
esac; say $? "the verdict decides the exit status"
[ "$(wc -L <"$work/text")" -le 80 ]; say $? "80 columns where the width is not known"

mkdir -p "$work/root/proc/sys/kernel" "$work/root/sys/devices/system/clocksource/clocksource0"
echo '"hpet\' >"$work/root/sys/devices/system/clocksource/clocksource0/current_clocksource"
printf 'model name\t: Quoted "CPU"\nflags\t\t: constant_tsc nonstop_tsc\n' >"$work/root/proc/cpuinfo"
"$tach" doctor --json --root "$work/root" >"$work/json"
if command -v python3 >/dev/null; then
	python3 - "$work/json" <<'CHECK'; say $? "--json"
import json, sys
x = json.load(open(sys.argv[1]))
assert x["schema"] == "tach-doctor-1" and x["verdict"] in ("fast", "slow", "clock")
causes = [f["cause"] for f in x["findings"]]
assert "clock-distrusted" in causes, causes
assert any('Quoted "CPU"' in f["text"] for f in x["findings"])
assert all(f["severity"] in ("ok", "note", "warn", "fail") for f in x["findings"])
CHECK
else
	echo "skip doctor --json: python3 is not installed"
fi
exit $failed
