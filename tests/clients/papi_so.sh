#!/usr/bin/env bash
# PAPI's ctests, ftests and utilities, from Debian's source package, compiled with our papi.h and fpapi.h: in the x86 and the arm64 guest.
# Each has the same outcome with our libpapi.so.7.0 as with Debian's. papi_so.list has the
# differences, each with its reason, and the programs that do not run. Each program runs with Debian's library, then
# with ours, and the test prints its outcome at once. A guest runs 40 programs, then the next guest boots. Some
# programs fail because the emulated PMU does not count their event. Then the list gives the reason as "uncounted CODE
# NAME", and the test counts that event in the guest without a library. The cases of these programs are skipped.
#
# SOURCE: the folder of another version of PAPI's source. GUESTS='x86 arm64'. ONLY='first f_second papi_avail': these
# programs only. Loops have a tenth of PAPI's length, because a guest is slow; FULL=1: PAPI's length. A program ends when
# it has printed nothing for LIMIT seconds of the processor (120).
# tests/run: memory=3000
set -u
cd "$(dirname "$0")/../.." || exit 1
given=${B:-build} B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B;; esac
list=$PWD/tests/clients/papi_so.list
LIMIT=${LIMIT:-120}
[ "$(uname -m)" = x86_64 ] || { echo "skip papi_so: Debian's library has no tables of x86 on this architecture"; exit 77; }
src=${SOURCE:-$(tools/source papi)} || { echo "skip papi_so: the source of papi cannot be fetched"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
result() { if [ "$2" = 0 ]; then echo "ok papi_so/$1"; else echo "not ok papi_so/$1"; failed=1; fi; }

# A program that the list excludes has "-" as outcome.
left_out() { awk -v p="$1" -v guest="$2" '$2 == p && ($1 == guest || $1 == "*") && $3 == "-" { found = 1 } END { exit !found }' "$list"; }
# CODE NAME: events that the guest's PMU does not count, according to the list.
uncounted() { awk -v p="$1" -v guest="$2" '$1 == guest && $2 == p && $5 == "uncounted" { print $6, $7 }' "$list"; }
# Programs that other programs execute.
helpers='attach_target child_overflow'
named() {
	local p f
	for f in "$src"/src/ctests/*.c; do p=${f##*/}; echo "${p%.c}"; done
	for f in "$src"/src/ftests/*.F; do p=${f##*/}; echo "f_${p%.F}"; done
	for f in "$src"/src/utils/papi_*.c; do p=${f##*/}; echo "${p%.c}"; done
}

cp -r "$src/src" "$work/papi"
chmod -R u+w "$work/papi"
rm -f "$work"/papi/{papi,papiStdEventDefs,fpapi,f77papi,f90papi}.h
[ -n "${FULL:-}" ] || sed -i -E 's/(define[[:space:]]+(NUM_FLOPS|NUM_MISSES|NUM_READS|NUM_ITERS|THRESHOLD) +[0-9]+)0$/\1/; s/(NUM_LOOPS[[:space:]]+1638)4$/\1/' \
	"$work"/papi/testlib/{do_loops,fpapi_test}.h "$work/papi/ctests/destroy.c"
cat >"$work/with.c" <<'END'
#include <stdlib.h>
#include <unistd.h>
/* with LIBRARY PROGRAM ARGUMENT...: the library is there before the program looks for one of its name. The folder has the helpers. */
int main(int argc, char **argv)
{
	setenv("LD_PRELOAD", argv[1], 1);
	return argc > 2 && chdir("/bin") == 0 ? execv(argv[2], argv + 2) : 2;
}
END
cat >"$work/counts.c" <<'END'
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
enum { TIMES = 1000000, LINE = 64 / sizeof(float), MEMORY = 1 << 21 };
static volatile float memory[MEMORY];
/* counts CODE: what the PMU counts of a raw event, while floats are multiplied and added a million times, each from another line. */
int main(int argc, char **argv)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_RAW, .size = sizeof attr, .exclude_kernel = 1};
	volatile float sum = 1;
	long long n = -1;
	int fd;

	attr.config = argc > 1 ? strtoull(argv[1], NULL, 0) : 0;
	for (long i = 0; i < MEMORY; i++)
		memory[i] = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	for (long i = 0; i < TIMES; i++)
		sum = sum * 0.5f + memory[i * LINE % MEMORY];
	if (read(fd, &n, sizeof n) != sizeof n)
		return 1;
	printf("counted %s %lld\n", argv[1], n);
	return 0;
}
END

compile() { # GUEST CC FORTRAN OUR-FOLDER LOADER PROGRAM...
	local guest=$1 cc=$2 fortran=$3 ours=$4 loader=$5 lib=$work/$1.lib bin=$work/$1 p f
	shift 5
	mkdir "$lib" "$bin"
	cd "$work/papi" || exit 1
	local flags=(-w -O1 -g0 -Itestlib -Ivalidation_tests -Ictests -Iutils -I. "-I$OLDPWD/compat/papi/include" "-I$B/gen/papi")
	local link=("-L$ours/papi" -l:libpapi.so.7.0 -lpthread -lm -ldl "-Wl,-dynamic-linker,/bin/$loader" "-Wl,-rpath,/bin" "-Wl,--disable-new-dtags")
	for f in testlib/{test_utils,do_loops,clockcore} ctests/prof_utils utils/{cost_utils,print_header} \
		validation_tests/{branches_testcode,flops_testcode,instructions_testcode,display_error,matrix_multiply,cache_helper,busy_work}; do
		[ ! -e "$f.c" ] || "$cc" "${flags[@]}" -c -o "$lib/${f##*/}.o" "$f.c"
	done
	"$cc" -x c -c -o "$lib/dummy.o" - <<<'void dummy(void *p) { (void)p; } void dummy_(void *p) { (void)p; } int papi_tests_dummy;'
	[ -z "$fortran" ] || "$fortran" -cpp "${flags[@]}" -std=legacy -ffixed-line-length-132 -Iftests -c -o "$lib/ftests_util.o" testlib/ftests_util.F
	ar cr "$lib/lib.a" "$lib"/*.o
	for p; do
		case $p in
		f_*) "$fortran" -cpp "${flags[@]}" -std=legacy -ffixed-line-length-132 -Iftests -o "$bin/$p" "ftests/${p#f_}.F" "$lib/lib.a" "${link[@]}" &;;
		papi_*) "$cc" "${flags[@]}" -o "$bin/$p" "utils/$p.c" "$lib/lib.a" "${link[@]}" &;;
		*) "$cc" "${flags[@]}" -o "$bin/$p" "ctests/$p.c" "$lib/lib.a" "${link[@]}" &;;
		esac
		[ "$(jobs -r | wc -l)" -lt 4 ] || wait -n
	done
	wait
	for f in with counts; do "$cc" -O1 -static -o "$bin/$f" "$work/$f.c"; done
	cd "$OLDPWD" || exit 1
}

arguments() { # PROGRAM
	case $1 in
	papi_command_line) echo PAPI_TOT_INS;;
	papi_event_chooser) echo PRESET PAPI_TOT_INS;;
	papi_*) ;;
	*) echo TESTS_QUIET;;
	esac
}

# Its last word: PASSED, FAILED, SKIPPED, or its exit status.
words='
	/^@@ run / { library = $4; program = $5; sub(".*/", "", library); sub(".*/", "", program); outcome = ""; next }
	/^counted / { print; next }
	program != "" && sub(/.*@@ exit /, "") { if (outcome == "") outcome = "status:" $1 + 0; print program, library == "theirs.so" ? "theirs" : "ours", outcome; fflush(); next }
	match($0, /PASSED|FAILED|SKIPPED/) { outcome = substr($0, RSTART, RLENGTH) }'

boot_some() { # GUEST LIBPFM PROGRAM...; of the caller: libraries
	local guest=$1 pfm=$2 commands=() some=() p f boot=$work/$1.boot said shown=
	shift 2
	for p; do
		[ -e "$work/$guest/$p" ] && [ "$p" != attach_target ] || continue
		some+=("$work/$guest/$p")
		for f in theirs ours; do commands+=(-x "with /bin/$f.so /bin/$p $(arguments "$p")"); done
		f=$(uncounted "$p" "$guest")
		[ -z "$f" ] || commands+=(-x "counts ${f% *}")
	done
	[ ${#some[@]} -gt 0 ] || return
	rm -rf "$boot"
	mkdir "$boot"
	for p in $helpers; do some+=("$work/$guest/$p"); done
	TMPDIR=$boot tests/guest/boot "$guest" -m 1000 -l "$LIMIT" -e sysctl.kernel.perf_event_paranoid=-1 -e PATH=/bin "${commands[@]}" \
		"$work/theirs.so" "$work/ours.so" "$pfm" "${libraries[@]}" "$work/$guest"/{with,counts} "${some[@]}" >"$work/$guest.all" 2>&1 &
	f=$!
	while kill -0 $f 2>/dev/null; do
		sleep 2
		said=$(cat "$boot"/*/out 2>/dev/null | tr -d '\r' | awk "$words")
		[ "$said" = "$shown" ] || echo "${said#"$shown"}" | sed "/^$/d; s/^/# $guest /"
		shown=$said
	done
	wait $f || grep '^boot:' "$work/$guest.all" | sed 's/^/# /'
	awk "$words" "$work/$guest.all" >>"$work/$guest.outcomes"
}

try() { # GUEST CC FORTRAN OUR-FOLDER LOADER THEIR-LIBRARY LIBPFM
	local guest=$1 cc=$2 theirs=$6 pfm=$7 programs=() p libraries=() rc=0 f n their our
	for p in ${ONLY:-$(named)}; do left_out "$p" "$guest" || programs+=("$p"); done
	compile "${@:1:5}" $(printf '%s\n' $helpers "${programs[@]}" | sort -u) >"$work/said" 2>&1
	for p in "${programs[@]}"; do [ -e "$work/$guest/$p" ] || { echo "# $guest $p does not compile"; rc=1; }; done
	[ $rc = 0 ] || grep -m 5 -i -E 'error|undefined' "$work/said" | sed 's/^/# /'
	result "$guest-compiled" $rc
	for f in libc.so.6 libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1 libgcc_s.so.1 libgfortran.so.5 libquadmath.so.0 "$5"; do
		f=$("$cc" -print-file-name="$f")
		[ "${f#/}" = "$f" ] || libraries+=("$f")
	done
	cp -L "$theirs" "$work/theirs.so"
	cp -L "$4/papi/libpapi.so.7.0" "$work/ours.so"
	: >"$work/$guest.outcomes"
	for ((p = 0; p < ${#programs[@]}; p += 40)); do boot_some "$guest" "$pfm" "${programs[@]:p:40}"; done
	[ -z "${KEEP:-}" ] || cp "$work/$guest.outcomes" "$KEEP"
	# The list: GUEST PROGRAM DEBIAN'S OURS REASON.
	rc=0
	for p in "${programs[@]}"; do
		[ -e "$work/$guest/$p" ] && [ "$p" != attach_target ] || continue
		their=$(awk -v p="$p" '$1 == p && $2 == "theirs" { print $3 }' "$work/$guest.outcomes")
		our=$(awk -v p="$p" '$1 == p && $2 == "ours" { print $3 }' "$work/$guest.outcomes")
		if [ -z "$their" ] || [ -z "$our" ]; then echo "# $guest $p: did not run"; rc=1
		elif [ "$their" != "$our" ] && ! grep -qE "^($guest|\*) +$p +$their +$our +[^ ]" "$list"; then
			echo "# $guest $p: $their with Debian's library, $our with ours"; rc=1
		elif [ "$their" != "$our" ]; then
			f=$(uncounted "$p" "$guest")
			n=$(awk -v code="${f% *}" '$1 == "counted" && $2 == code { print $3 }' "$work/$guest.outcomes" | tail -n 1)
			if [ -z "$f" ]; then continue
			elif [ "${n:--1}" -ge 0 ] && [ "$n" -lt 1000000 ]; then echo "skip papi_so/$guest-$p: the guest's PMU counts $n of 1000000 ${f#* }"
			else echo "# $guest $p: the guest's PMU counts ${n:-no} ${f#* }"; rc=1; fi
		fi
	done
	echo "# $guest: $(awk '$2 == "ours" { sub(/:.*/, "", $3); n[$3]++ } END { for (w in n) printf "%d %s ", n[w], w }' "$work/$guest.outcomes")with our library, of ${#programs[@]}"
	result "$guest-outcomes" $rc
}

for guest in ${GUESTS:-x86 arm64}; do
	tests/guest/ready "$guest" || { echo "skip papi_so/$guest: the guest is not there"; continue; }
	case $guest in
	x86)
		tools/need libpapi-dev gfortran >/dev/null || { echo "skip papi_so/x86: packages cannot be installed"; continue; }
		here=$(ldconfig -p | sed -n 's/.*lib\(papi.so.7.0\|pfm.so.4\) (.*x86-64.*=> //p')
		try x86 gcc gfortran "$B" ld-linux-x86-64.so.2 "$(grep -m 1 papi <<<"$here")" "$(grep -m 1 pfm <<<"$here")";;
	arm64)
		tools/need gfortran-aarch64-linux-gnu >/dev/null && tests/guest/fetch arm64 "$work/debs" libpapi7.0 libpfm4 >"$work/said" 2>&1 ||
			{ echo "skip papi_so/arm64: packages cannot be installed"; continue; }
		for deb in "$work"/debs/*.deb; do dpkg-deb -x "$deb" "$work/debs"; done
		make -s CC=aarch64-linux-gnu-gcc B="$given/arm64" "$given/arm64/papi/libpapi.so.7.0" || exit 1
		folder=$work/debs/usr/lib/aarch64-linux-gnu
		try arm64 aarch64-linux-gnu-gcc aarch64-linux-gnu-gfortran "$B/arm64" ld-linux-aarch64.so.1 "$folder/libpapi.so.7.0" "$folder/libpfm.so.4";;
	esac
done
exit $failed
