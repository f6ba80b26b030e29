#!/usr/bin/env bash
# The benchmarks run with the commands of bench/README.md and the shortest settings: they end, and the table, the plot
# and the JSON contain every peer.
set -u
. "$(dirname "$0")/lib.sh"
tools/need libpapi-dev libpfm4-dev likwid valgrind libbenchmark-dev papi-tools >"$work/out" 2>&1 ||
	{ echo "the peers cannot be installed"; exit 77; }
[ "$(uname -m)" = x86_64 ] || { echo "callgrind's numbers are checked on x86-64"; exit 77; }

command=$(sed -n "s/^\`\(make bench BENCH='--here --only .*\)\` takes seconds.*/\1/p" bench/README.md)
shown() {
	bash -c "$command B='$B'" && says '^read 1 counter +[0-9.]+ ' && says '^named region, 4 counters +[0-9.]+ ' && says '^seconds a round: TACH_BENCH'
}
check table shown
has_peers() {
	"$python" -c 'import json, sys, xml.dom.minidom
found = json.load(open(sys.argv[1] + "/bench.json"))
cells = found["results"]["callgrind"]
assert set(cells["read1"]) >= {"tach", "floor", "papi", "read"}, cells
assert "marker" in cells["region4"], cells
text = xml.dom.minidom.parse(sys.argv[1] + "/bench.svg").toxml()
for peer in {p for op in cells.values() for p, c in op.items() if c.get("value", 0) > 0}:
    assert found["peers"][peer] in text, peer' "$B/bench"
}
check every_peer_is_drawn has_peers
refuse unknown_operation bench/run --here --only read1,nosuch

# The others: The `make bench-X` commands of bench/README.md.
for target in $(grep -o '`make bench-[a-z]*`' bench/README.md | tr -d '`' | cut -d' ' -f2 | sort -u); do
	case $target in bench-harness) continue;; esac # the first command ran it
	check "${target#bench-}" make --no-print-directory B="$B" "$target"
done
exit $rc
