#!/usr/bin/env bash
# Every command shown in README, CONTRIBUTING, docs and bench runs here as printed, with small programs in place of
# the reader's. If another test runs a command, this journey names that test. Commands added to the documents later
# are found and run too.
set -u
. "$(dirname "$0")/lib.sh"
need pkg-config git
. tests/emulator commands

# Prints "DOCUMENT<tab>COMMAND" from indented text and from consoles; a backslash continues a line.
commands() {
	local d
	for d in README.md CONTRIBUTING.md bench/README.md docs/*.md docs/recipes/*.md; do
		awk -v d="$d" '
			/^```/ { fence = fence ? "" : $0; next }
			fence && fence != "```console" { next }
			!fence && !/^    / { next }
			{ sub(/^    /, ""); sub(/^ +/, "") }
			fence && !sub(/^\$ /, "") { next }
			{ sub(/^\$ /, "") }
			sub(/\\$/, "") { held = held $0; next }
			{ print d "\t" held $0; held = "" }' "$d"
	done | grep -E $'\t''([A-Z_]+=[^ ]+ |"[^"]*" )*(make|sudo|tach|cc|head|curl|kill|mkdir|for|mpirun|srun|python3|pip|redis-server|papi_[a-z_]+|prometheus-[a-z-]+|systemd-run|NAME|(tests|tools)/[a-z/]+|[.~]/?[a-z/.-]+)( |$)' |
		sed 's/  *# .*//'
}

# Names the test that runs the command, or the reason why no test does; status 1: it runs here.
elsewhere() {
	case $1 in
	README.md$'\t'make\ run | docs/tutorial-loop.md$'\t'make) echo tests/journeys/guest.sh;;
	README.md$'\t'make\ check-quick | CONTRIBUTING.md$'\t'make\ check*) echo .ci/run;;
	*make\ install | *sudo\ *) echo tests/check/slow/install.sh;;
	CONTRIBUTING.md$'\t'tests/run*) echo tests/check/slow/runner.sh;;
	CONTRIBUTING.md$'\t'*mutate*) echo tests/check/slow/mutate.sh;;
	CONTRIBUTING.md$'\t'*soak*) echo tests/unit/tools/soak.sh;;
	README.md$'\t'tach\ top*) echo tests/journeys/top.sh;;
	docs/tutorial-*) echo tests/check/docs.sh;;
	docs/recipes/ci.md$'\t'tools/ci/*) echo tests/check/slow/action.sh;;
	docs/recipes/grafana.md*) echo tests/journeys/textfile.sh;;
	docs/recipes/mpi.md*) echo tests/check/slow/openmpi.sh;;
	docs/recipes/kokkos.md*) echo tests/check/slow/kokkos.sh;;
	docs/recipes/openmp.md*) echo tests/unit/compat/openmp.sh;;
	docs/recipes/functions.md*) echo tests/unit/compat/functions.sh;;
	docs/recipes/other-builds.md*) echo tests/journeys/musl.sh;;
	docs/recipes/other-languages.md*) echo tests/check/docs.sh;;
	docs/recipes/python.md*) echo tests/journeys/python.sh;;
	docs/recipes/rust.md*) echo tests/journeys/rust.sh;;
	docs/recipes/services.md*) echo tests/clients/services.sh;;
	docs/compatibility.md*papi_native_avail) echo tests/check/slow/papi.sh;;
	docs/recipes/systemd.md*) echo 'it takes systemd as the first process';;
	*) return 1;;
	esac
}

# The reader's programs: a program that measures a region, one that does not, benchmarks, and the programs printed in
# the documents.
mkdir "$work/user" && cd "$work/user" || exit
documented() { # DOCUMENT: each ```c block goes to the file that its first line names; README's is sum.c
	awk '/^```c$/ { on = 1; file = ""; next } /^```$/ { on = 0 }
		on && !file { file = match($0, /[a-z_]+\.c/) ? substr($0, RSTART, RLENGTH) : "sum.c"; if (seen[file]++) on = 0 } on { print >file }' "$top/$1"
}
programs() {
	documented README.md && documented docs/recipes/compare.md &&
		printf 'int main(void) { return 0; }\n' >program.c &&
		printf '#include <tach/bench_main.h>\nstatic int n = 7;\nTACH_BENCH(one) { TACH_KEEP(n); }\n' >bench.c &&
		build program sum.c && build bench bench.c && build benchmarks bench.c &&
		for p in program-old program-new server benchmark; do ln -s program $p; done &&
		git init -q . && git add program.c && git -c user.name=a -c user.email=a@b commit -qm 'Begin'
}
check programs programs
[ $rc = 0 ] || exit $rc

# A comparison of two runs, and tach doctor on a machine without counters, exit with 1 or 3.
run() { # COMMAND
	local line=${1//\/usr\/local/$product} status
	line=${line//\/var\/lib\/node_exporter/.}
	bash -c "set -o pipefail; $line" </dev/null
	status=$?
	case $line:$status in *:0 | *diff*:[13] | *--against*:[13] | *doctor*:1 | 'tach gate --baseline'*:[13]) return 0;; esac
	echo "status $status"
	return 1
}
ran=0 named=0
while IFS= read -r line <&3; do
	if where=$(elsewhere "$line"); then
		named=$((named + 1))
		case $where in it\ *) continue;; esac
		[ -x "$top/$where" ] && continue
		echo "${line#*$'\t'}: there is no $where" >"$work/out"
		verdict "${line%%$'\t'*}" 1
		continue
	fi
	ran=$((ran + 1))
	run "${line#*$'\t'}" >"$work/out" 2>&1
	status=$?
	echo "the command: ${line#*$'\t'}" >>"$work/out"
	[ $status = 0 ] || verdict "${line%%$'\t'*}" 1
done 3< <(cd "$top" && commands)
found() { echo "$ran ran, $named are named"; [ $ran -ge 25 ] && [ $named -ge 40 ]; }
check commands found
results() { for f in report.html report.json old.json new.json server.prom baseline.tsv gate.xml history.html; do [ -s "$f" ] || { echo "$f was not written"; return 1; }; done; }
check results results
exit $rc
