#!/usr/bin/env bash
# Dispatching four events costs few instructions on every PMU; the most expensive PMU decides. Lower a budget when the
# code gets better (gcc 12 -O2, callgrind).
cd "$(dirname "$0")/../../.." || exit 1
B=${B:-build}
skip() { echo "skip dispatch_cost: $1"; exit 77; }
[ "$(uname -m)" = x86_64 ] || skip "the budgets are those of x86-64"
command -v valgrind >/dev/null || skip "valgrind is not installed ('make bench' brings it)"
echo '#include <valgrind/callgrind.h>' | ${CC:-gcc} -E -x c - >/dev/null 2>&1 ||
	skip "valgrind/callgrind.h is not installed ('make bench' brings it)"
make -s B="$B" "$B/bench/dispatch" >/dev/null || { echo "not ok dispatch_cost: bench/dispatch does not build"; exit 1; }
strings -a "$B/bench/dispatch" | grep -q 'GCC: .* 12\.' || skip "the budgets are those of gcc 12"

profile=$(mktemp) || exit 1
trap 'rm -f "$profile"' EXIT
valgrind --tool=callgrind --collect-atstart=no --combine-dumps=yes --callgrind-out-file="$profile" \
	"$B/bench/dispatch" callgrind >/dev/null 2>&1 || { echo "not ok dispatch_cost: callgrind failed"; exit 1; }
# KIND INSTRUCTIONS: kinds as in bench/dispatch.c.
awk '
	BEGIN { budget["rows"] = 5620; budget["encoded"] = 5060; budget["named"] = 8630 }
	sub(/^desc: Trigger: Client Request: /, "") { kind = $1; pmu = $2 }
	kind && /^(totals|summary): / {
		n[kind]++
		if ($2 > worst[kind]) { worst[kind] = $2; whose[kind] = pmu }
		kind = ""
	}
	END {
		for (k in budget) {
			bad = !n[k] || worst[k] > budget[k] * 1.02
			printf "# %s: %d instructions at most on %d PMUs (%s)\n", k, worst[k], n[k], whose[k]
			if (worst[k] < budget[k] * 0.95) printf "# lower the budget of %d\n", budget[k]
			printf "%s dispatch_cost_%s\n", bad ? "not ok" : "ok", k
			failed += bad
		}
		exit failed != 0
	}' "$profile"
