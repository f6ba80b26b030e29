#!/usr/bin/env bash
# Debian's libpapi.so.7.0 and our library give the same answers: random sequences of valid and invalid calls on the
# kernel's software events. Both see a processor that Debian's library also knows through our libpfm.so.4, and a
# kernel that opens every event. PAPI's tables of this processor have no unknown event: such an event changes PAPI's answer
# to the first unknown name. COUNT: number of sequences (300), starting with number FIRST (1); ONCE=1: run all
# sequences after one initialisation, 10 times as fast.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B;; esac
[ "$(uname -m)" = x86_64 ] || { echo "skip papi: Debian's library has no tables of x86 on this architecture, so it does not run here"; exit 77; }
tools/need libpapi-dev >/dev/null || { echo "skip papi: packages cannot be installed"; exit 77; }
make -s B="$B" "$B/bench/fakeperf.so" >/dev/null 2>&1 || { echo "not ok papi_calls (fakeperf.so does not build)"; exit 1; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
COUNT=${COUNT:-300}

"${CC:-gcc}" -O1 -Wall -Wextra -Werror -Icompat/papi/include -o "$work/calls" tests/check/slow/papi/calls.c -L"$B/papi" -lpapi ||
	{ echo "not ok papi_calls (does not compile)"; exit 1; }
run() { # FOLDER-OF-LIBRARIES
	TACH_PMU=icl LD_PRELOAD=$B/bench/fakeperf.so LD_LIBRARY_PATH=$1 "$work/calls" "${FIRST:-1}" "$COUNT" ${ONCE:+once} 2>/dev/null
}
run "$B/papi" >"$work/ours" &
run "$B/libpfm4" >"$work/theirs"
wait
# A sequence in which Debian's library crashes is compared up to that point. Our library must not crash.
awk '
	FNR == 1 { file++ }
	/^== [0-9]+$/ { seq = $2; line = 0; next }
	file == 1 { line++; theirs[seq, line] = $0; theirs[seq] = line; if (/== status/) died[seq] = line; next }
	{ line++; if (line == 1) n++
	  if (/== status/) { print "# ours died in sequence " seq; bad++; next }
	  if (seq in died && line >= died[seq]) next
	  compared++
	  if ($0 != theirs[seq, line]) { if (!(seq in told)) { bad++
		print "# sequence " seq ", call " line ": " $0; print "# Debian: " theirs[seq, line] } told[seq] = 1 } }
	END { print "# " n " sequences, " compared " calls compared, " bad + 0 " sequences differ"; exit bad > 0 || n < '"$COUNT"' || compared < 20 * n }
' "$work/theirs" "$work/ours" >"$work/said"
rc=$?
head -20 "$work/said"
tail -n 1 "$work/said" | grep -q differ || rc=1
if [ $rc = 0 ]; then echo "ok papi_calls"; else echo "not ok papi_calls"; fi

# The calls of Caliper and TAU, with the answers of each library.
"${CC:-gcc}" -O1 -Wall -Wextra -Werror -Icompat/papi/include -o "$work/clients" tests/check/slow/papi/clients.c -L"$B/papi" -lpapi -pthread ||
	{ echo "not ok papi_clients (does not compile)"; exit 1; }
for who in caliper multiplexed tau; do
	for library in libpfm4 papi; do
		(cd "$work" && FAKEPERF_SOFTWARE=1 TACH_PMU=icl LD_PRELOAD=$B/bench/fakeperf.so LD_LIBRARY_PATH=$B/$library ./clients $who) >"$work/$library" 2>"$work/said" ||
			echo "status $?" >>"$work/$library"
	done
	if diff "$work/libpfm4" "$work/papi" >"$work/said" && [ "$(wc -l <"$work/papi")" -gt 40 ]; then echo "ok papi_$who"
	else sed 's/^/# /' "$work/said" | head -20; echo "not ok papi_$who"; rc=1; fi
done
exit $rc
