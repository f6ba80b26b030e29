#!/usr/bin/env bash
# PAPI's ctests, from Debian's source package, built with our headers: each test has the same outcome in the x86 guest
# with our libpfm.so.4 as with Debian's. The test boots twice, about ten minutes each on an idle machine.
# tests/run: memory=1800
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
[ "$(uname -m)" = x86_64 ] || { echo "skip papi_ctests: Debian's library has no tables of x86 on this architecture"; exit 77; }
tests/guest/ready x86 || exit 77
tools/need libpfm4 g++ >/dev/null || { echo "skip papi_ctests: packages cannot be installed"; exit 77; }
src=$(tools/source papi) || { echo "skip papi_ctests: the source of papi cannot be fetched"; exit 77; }
case $B in /*) ours=$B/libpfm4;; *) ours=$PWD/$B/libpfm4;; esac
theirs=$(ldconfig -p | sed -n 's/.*libpfm\.so\.4 (.*x86-64.*=> //p' | head -n 1)
headers=$PWD/compat/libpfm4/include
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
result() { if [ "$2" = 0 ]; then echo "ok papi_ctests/$1"; else echo "not ok papi_ctests/$1"; failed=1; fi; }

# ---- they compile with our headers, and link with a libpfm.so.4 that the dynamic linker chooses at start ----

# The guest has its libraries in /bin, including the loader. PAPI would unpack its own archive of libpfm into
# libpapi.a.
cp -r "$src/src" "$work/papi"
export NO_MPI_TESTS=yes
(cd "$work/papi" && ./configure --with-pfm-incdir="$headers" --with-pfm-libdir="$ours" --with-tests=ctests &&
	make -j2 PFM_OBJS= CFLAGS='-w -DPAPI_NUM_COMP=3' \
		LDFLAGS="-L$ours -lpfm -Wl,-dynamic-linker,/bin/ld-linux-x86-64.so.2 -Wl,-rpath,/bin" libpapi.a ctests) >"$work/said" 2>&1
# run_tests_exclude.txt lists helpers and tests that take hours. shlib needs a libpapi.so.
mkdir "$work/bin"
for f in "$work"/papi/ctests/*; do
	case $f in *.[cho]|*/shlib) continue;; esac
	[ -f "$f" ] && [ -x "$f" ] && strip -o "$work/bin/${f##*/}" "$f" 2>/dev/null
done
mapfile -t programs < <(cd "$work/bin" && printf '%s\n' * |
	grep -vxFf <(sed -n 's|^ctests/||p' "$work/papi/run_tests_exclude.txt"))
rc=0
[ ${#programs[@]} -ge 90 ] || { tail -n 5 "$work/said" | sed 's/^/# /'; rc=1; }
result compiled $rc
[ $rc = 0 ] || exit 1
mapfile -t libraries < <({ ldd "$work"/bin/*; echo "=> $(g++ -print-file-name=libgcc_s.so.1) "; } |
	grep -o '=> /[^ ]*' | cut -c4- | grep -v libpfm | sort -u)
loader=$(ldd "$(command -v env)" | grep -o '/[^ ]*ld-linux[^ ]*')

# ---- and they have the same outcome as with Debian's library ----

# Prints each test with its outcome: PASSED, with a warning or without, FAILED, SKIPPED, or its exit status.
outcomes() { # LIBRARY PROGRAM...
	local commands=() p
	for p in "${@:2}"; do commands+=(-x "$p TESTS_QUIET"); done
	tests/guest/boot x86 -m 1500 -e sysctl.kernel.perf_event_paranoid=2 "${commands[@]}" \
		"$1" "$work"/bin/* "${libraries[@]}" "$loader" 2>&1 | awk '
		/^@@ run / { program = $3; outcome = ""; next }
		/^@@ exit / { print program, outcome == "" ? "status:" $3 : outcome; next }
		match($0, /PASSED|FAILED|SKIPPED/) { outcome = substr($0, RSTART, RLENGTH) }'
}
# Some tests depend on time and fail by chance: tests that differ run again with both libraries, up to ten times in
# all. A program differs if the outcomes with the two libraries never had a value in common.
differ=("${programs[@]}")
for _ in {1..10}; do
	[ ${#differ[@]} -gt 0 ] || break
	outcomes "$theirs" "${differ[@]}" >>"$work/theirs"
	outcomes "$ours/libpfm.so.4" "${differ[@]}" >>"$work/ours"
	mapfile -t differ < <(comm -23 <(printf '%s\n' "${programs[@]}" | sort) \
		<(comm -12 <(sort -u "$work/ours") <(sort -u "$work/theirs") | cut -d' ' -f1 | sort -u))
	[ ${#differ[@]} = 0 ] || echo "# differ: ${differ[*]}"
done
rc=0
for p in ${differ[@]+"${differ[@]}"}; do
	rc=1
	grep "^$p " "$work/theirs" | sed "s/^/# Debian's: /"
	grep "^$p " "$work/ours" | sed 's/^/# ours: /'
done
count() { grep -c " $1" "$work/ours"; }
echo "# $(count PASSED) passed, $(count FAILED) failed, $(count SKIPPED) skipped, $(count status) without a word"
[ "$(count PASSED)" -ge 80 ] || rc=1
result outcomes $rc
exit $failed
