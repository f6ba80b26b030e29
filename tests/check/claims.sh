#!/usr/bin/env bash
# The numbers of README and CONTRIBUTING.md match the tree: tables, files and lines are counted. The cost of an entry
# is in bench/budgets.tsv, which tests/check/budgets.sh measures.
set -u
cd "$(dirname "$0")/../.."
failed=0
budget() { awk -F'\t' -v op="$1" '$1 == op { print $2 }' bench/budgets.tsv; }
claim() { # NAME SENTENCE FILE
	if tr -s '\n ' ' ' <"${3:-README.md}" | grep -qF -- "$2"; then echo "ok claim $1"; return; fi
	echo "# ${3:-README.md} does not say: $2"
	echo "not ok claim $1"
	failed=1
}
tables=(arch/*/events/*.tsv)
claim tables "${#tables[@]} tables of PMUs in plain text"
claim off "an entry of a region costs $(budget region-off) instructions"
trace="$(($(budget trace4) - $(budget region4))) instructions"
claim trace "$trace an entry more (4 counters: $(budget trace4))" docs/performance.md
claim trace_manual "costs $trace more (4 counters: $(budget trace4))" man/tach-output.7
if B=${B:-build} tools/house/numbers --check | sed 's/^/# /' && [ "${PIPESTATUS[0]}" = 0 ]; then echo "ok claim house"; else echo "not ok claim house"; failed=1; fi
exit $failed
