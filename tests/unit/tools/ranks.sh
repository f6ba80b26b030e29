#!/usr/bin/env bash
# Ranks of a parallel job, found by launchers' environment variables: the last rank writes one report of all, with
# rows of each rank and the imbalance; if TACH_OUTPUT names a file, each rank writes one; and errors.
# tests/check/slow/openmpi.sh uses a real launcher.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
tach=$B/tach
. tests/own_folder
. tests/unsanitized ranks "a sanitizer's library would have to be preloaded first"
gcc -O1 -Iinclude -o "$work/ranks" tests/unit/tools/ranks/ranks.c -L"$B" -ltach -Wl,-rpath,"$PWD/$B" || exit 1
for v in $(env | grep -oE '^(OMPI|PMIX|PMI|MV2|SLURM)[A-Z0-9_]*'); do unset "$v"; done
. tests/cases ranks
job() { # RANKS COMMAND...: all at once, as a launcher of one machine has them
	local n=$1 r pids=(); shift
	rm -f "$work"/err*
	for ((r = 0; r < n; r++)); do
		OMPI_COMM_WORLD_RANK=$r OMPI_COMM_WORLD_SIZE=$n OMPI_COMM_WORLD_LOCAL_SIZE=${HERE:-$n} PMIX_NAMESPACE=job/$n "$@" >"$work/out$r" 2>"$work/err$r" &
		pids+=($!)
	done
	status=()
	for r in "${pids[@]}"; do wait "$r"; status+=($?); done
}
# The joined report of the program: calls of each rank, the sum, and the imbalance of the ranks' times.
joined() { # FILE RANKS
	python3 - "$@" <<'P' || { echo "# $*"; rc=1; }
import json, sys
report, n = json.load(open(sys.argv[1])), int(sys.argv[2])
assert report["reports"] == n and "rank" not in report, report["reports"]
rows = {r["name"]: r for r in report["regions"]}
time = lambda r: r["inclusive"]["time"]["value"]
for name, has in ("solve", range(n)), ("last", [2]):
    if n < 3 and name == "last":
        continue
    each = [rows["%s [rank %d]" % (name, k)] for k in has]
    whole = rows[name]
    assert whole["calls"] == sum(r["calls"] for r in each)
    assert abs(time(whole) - sum(map(time, each))) <= 1e-6 * time(whole)
    want = max(map(time, each)) / (sum(map(time, each)) / n)
    got = whole["inclusive"]["imbalance"]["value"]
    assert abs(got - want) < 1e-6 * want, (name, got, want)
    assert all(r["inclusive"]["imbalance"]["value"] is None for r in each)
assert [rows["solve [rank %d]" % k]["calls"] for k in range(n)] == [k + 1 for k in range(n)]
names = [r["name"] for r in report["regions"]]
at = names.index("solve")
assert names[at:at + n + 1] == ["solve"] + ["solve [rank %d]" % k for k in range(n)], names
P
}

job 4 "$tach" run -o "$work/r.json" -- "$work/ranks"
[ "${status[*]}" = '0 0 0 0' ] && [ -z "$(ls -d "$work"/r.json.* 2>/dev/null)" ] || rc=1
joined "$work/r.json" 4
# Without a file, the last rank prints the report as text.
job 2 "$tach" run -- "$work/ranks"
[ "$(cat "$work"/err? | grep -c '^region .* imbalance ')" = 1 ] || { echo '# not one table'; rc=1; }
[ "$(cat "$work"/err? | grep -cE '^solve \[rank [01]\] ')" = 2 ] || rc=1
# More ranks than memory holds at once, written again into the same file.
job 12 "$tach" run -o "$work/r.json" -- "$work/ranks"; joined "$work/r.json" 12
# From outside, too.
job 2 "$tach" run --outside -e page-faults -o "$work/r.csv" -- "$work/ranks"
[ "$(grep -cE '^"\(whole program\)( \[rank [01]\])?",.*,inclusive,"page-faults",' "$work/r.csv")" = 3 ] || { echo '# outside'; rc=1; }
# A rank's part is kept in any case; a rank without a report does not delay the others.
job 4 "$tach" run -o "$work/r.json" -- "$work/ranks" 15
[ "${status[*]}" = '143 143 143 143' ] || { echo "# ${status[*]}"; rc=1; }
joined "$work/r.json" 4
rm "$work/r.json"
job 2 "$tach" run -o "$work/r.json" -- "$work/ranks" 9
[ "${status[*]}" = '137 137' ] || { echo "# ${status[*]}"; rc=1; }
[ -z "$(ls "$work"/r.json* 2>/dev/null)" ] || { echo '# parts are left'; rc=1; }
result one_report

# Several machines with separate temporary folders, and a name for each.
HERE=1 job 2 "$tach" run -- "$work/ranks"
for r in 0 1; do says "rank $r: the job has several machines: -o FILE" "$work/err$r"; says '^solve ' "$work/err$r"; done
job 2 "$tach" run -o "$work/each.%r.json" -- "$work/ranks"
$tach report --ranks -o "$work/two.json" "$work/each.0.json" "$work/each.1.json" || rc=1
joined "$work/two.json" 2
result apart

# With TACH_OUTPUT, without tach run.
TACH_OUTPUT=$work/o.json job 4 "$work/ranks"
[ "$(ls "$work"/o.*)" = "$(printf "$work/o.%d.json\n" 0 1 2 3)" ] || { ls "$work"; rc=1; }
$tach report --ranks -o "$work/o.json" "$work"/o.?.json || rc=1
joined "$work/o.json" 4
# Prometheus has the rank as a label, from one rank's file and from a joined report that was saved and loaded.
$tach report --format prometheus "$work/o.json" >"$work/prom"
for r in 0 1 2 3; do grep -qE "^tach_region_calls_total\{region=\"solve\",rank=\"$r\",.*\} $((r + 1))\$" "$work/prom" || { echo "# no label of rank $r"; rc=1; }; done
[ -z "$(grep -v '^#' "$work/prom" | sed 's/ [^ ]*$//' | sort | uniq -d)" ] || { echo '# series that are there twice'; rc=1; }
$tach report --format prometheus "$work/o.2.json" >"$work/prom"
grep -v '^#' "$work/prom" | grep -v 'rank="2"' && { echo '# without its rank'; rc=1; }
TACH_OUTPUT=$work/q%r job 2 "$work/ranks"; [ -s "$work/q0" ] && [ -s "$work/q1" ] || rc=1
TACH_OUTPUT=/dev/null job 2 "$work/ranks"; [ -e /dev/null.0 ] && rc=1
TACH_OUTPUT=$work/p%p.json job 2 "$work/ranks"; [ "$(ls "$work"/p*.json | grep -c '/p[0-9]*\.json')" = 2 ] || rc=1
TACH_OUTPUT=$work/one.json job 1 "$work/ranks"; [ -s "$work/one.json" ] || rc=1
# Other launchers' words.
for words in 'SLURM_PROCID=7 SLURM_STEP_NUM_TASKS=9' 'PMI_RANK=7 PMI_SIZE=9' 'PMIX_RANK=7' 'MV2_COMM_WORLD_RANK=7 MV2_COMM_WORLD_SIZE=8'; do
	# shellcheck disable=SC2086
	env $words TACH_OUTPUT="$work/w%r.json" "$work/ranks"
	grep -q '"rank": *7' "$work/w7.json" || { echo "# $words"; rc=1; }
	rm -f "$work"/w*.json
done
for odd in '' -1 x 1x 999999999999; do
	SLURM_PROCID=$odd TACH_OUTPUT="$work/odd.json" "$work/ranks"
	grep -q '"rank"' "$work/odd.json" && { echo "# a rank: $odd"; rc=1; }
done
result files

$tach report --ranks "$work/o.0.json" "$work/odd.json" >"$work/out" 2>"$work/err"; [ $? = 1 ] || rc=1
says 'odd.json: a report without a rank' "$work/err"
$tach report --ranks --diff "$work/o.0.json" "$work/o.1.json" >"$work/out" 2>"$work/err"; [ $? = 2 ] || rc=1
# Another file has the folder's name, or the folder cannot be created.
echo >"$work/f.json.ranks-job_2"
job 2 "$tach" run -o "$work/f.json" -- "$work/ranks"
[ "${status[*]}" = '125 125' ] || rc=1
says 'rank 0: .*f.json.ranks-job_2: ' "$work/err0"; says '"name": "solve"' "$work/err0"
# A write error is reported.
ln -s /dev/full "$work/full.json"
job 2 "$tach" run -o "$work/full.json" -- "$work/ranks"
[ "$(cat "$work"/err? | grep -c '"name": "solve \[rank')" = 2 ] && [ "$(printf '%s\n' "${status[@]}" | sort | tr '\n' ' ')" = '0 125 ' ] || { echo "# ${status[*]}"; rc=1; }
result refusals
exit $failed
