#!/usr/bin/env bash
# The built files are hardened: the command and every library are position-independent, with full RELRO and immediate
# binding, no executable stack, stack protector, and FORTIFY if there is something to check. On x86 all object code is
# marked for shadow stacks. (The linker sets that mark only if the system's start-up objects have it, and Debian 12's
# do not. So the objects are checked always, and the files only if the start-up objects are marked.)
#
# Branch targets are not marked: no object asks for IBT, or for BTI on arm64. Linux supports IBT only in the kernel
# (Documentation/arch/x86/shstk.rst), and arm64's kernel guards no page of a file without such a note
# (arch/arm64/kernel/process.c, arch_elf_adjust_prot). The cost would be a landing pad for each function that is
# called through a pointer, four per entry. This check counts that cost in the listing for users who set
# -fcf-protection=full or -mbranch-protection=bti in CFLAGS: README.md states it.
set -u
cd "$(dirname "$0")/../.."
B=${B:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
if grep -q -e '-fsanitize' "$B/flags" || ! grep -q -e -fstack-protector "$B/flags"; then
	echo "skip hardening: $B was built with other flags"; exit 77
fi
failed=0
# features FILE [READELF]: prints the features in its property note; for an archive, the features that every member
# with code has.
features() {
	"${2:-readelf}" -nW "$1" 2>/dev/null | sed -n 's/.* feature: //p' | tr ',' '\n' | tr -d ' ' | sort -u | xargs
}
# A linked file has a feature if all of the compiler's start-up objects for a shared object have it.
for object in crti.o crtbeginS.o crtendS.o crtn.o; do features "$(gcc -print-file-name=$object)"; done >"$work/startup"
shadow=$(grep -cw SHSTK "$work/startup")
for f in "$B/tach" "$B/libtach.so.0" "$B/libtach-run.so" "$B/libpfm3/libpfm.so.3" "$B/libpfm4/libpfm.so.4" "$B/likwid/liblikwid.so.5.2" "$B/papi/libpapi.so.7.0" "$B/libtach-kokkos.so" "$B/libtach-openmp.so" "$B/libtach-functions.so"; do
	bad=0
	is() { eval "$2" || { echo "# $f: $1"; bad=1; }; }
	segments=$(readelf -lW "$f") dynamic=$(readelf -dW "$f") symbols=$(nm -D --undefined-only "$f")
	is 'not position-independent' 'readelf -hW "$f" | grep -q "Type: *DYN"'
	is 'no RELRO' 'grep -q GNU_RELRO <<<"$segments"'
	is 'binds lazily: RELRO is not full' 'grep -qE "FLAGS_1.*\bNOW\b" <<<"$dynamic"'
	is 'the stack may be executed' 'grep -qE "GNU_STACK.* RW +0x" <<<"$segments"'
	is 'a segment is written and executed' '! grep -qE "LOAD.* RWE " <<<"$segments"'
	is 'text relocations' '! grep -q TEXTREL <<<"$dynamic"'
	is 'no stack protector' 'grep -q __stack_chk_fail <<<"$symbols"'
	is 'no FORTIFY' 'grep -qE "__[a-z]+_chk(@|$)" <<<"$symbols"'
	[ "$shadow" != 4 ] || is 'not marked for shadow stacks, though all start-up objects are' 'features "$f" | grep -qw SHSTK'
	if [ $bad = 0 ]; then echo "ok hardening ${f##*/}"; else echo "not ok hardening ${f##*/}"; failed=1; fi
done
if readelf -hW "$B/libtach.so.0" | grep -q X86-64; then
	unmarked=$(readelf -nW "$B/libtach.a" | awk '/^File:/ { name = $2; n++ } /SHSTK/ { seen[name] = 1 } { all[name] = 1 }
		END { for (f in all) if (f && !(f in seen)) print f }')
	if [ -z "$unmarked" ]; then echo "ok hardening shadow stacks"
	else echo "$unmarked" | sed 's/^/# not marked: /'; echo "not ok hardening shadow stacks"; failed=1; fi
fi

# Counts landing pads on the path of an entry into a region of 4 counters, from the program's call to its return.
way='tach__begin_here begin_plain_4 open_plain_4 end_plain_4'
pads() { # CODE FUNCTION: instructions that are landing pads, and others
	cat "$work/$1"-*.list | awk -v f="<$2>:" '/^[0-9a-f]+ </ { on = $2 == f }
		on && /^ +[0-9a-f]+:/ && $2 != "nop" && $2 != "nopw" { if ($2 ~ /^(endbr64|bti)$/) pads++; else others++ } END { print pads + 0, others + 0 }'
}
price() { # NAME COMPILER WITHOUT WITH INCLUDE
	local flags="$5 -std=c11 -O2 -fPIC -ffunction-sections -fvisibility=hidden -ftls-model=initial-exec -fno-math-errno" f a b bad=0
	flags="$flags -fstack-protector --param=ssp-buffer-size=4 -D_FORTIFY_SOURCE=2 -D_GNU_SOURCE -DTACH_BUILD -Iinclude -I. -I$B/gen"
	objdump=${2%gcc}objdump
	# shellcheck disable=SC2086
	for f in start stop; do
		"$2" $flags "$3" -c -o "$work/without-$f.o" core/region/$f.c && "$2" $flags "$4" -c -o "$work/with-$f.o" core/region/$f.c || bad=1
	done
	for f in "$work"/with*.o; do "$objdump" -d --no-show-raw-insn "$f" >"${f%.o}.list"; done
	for f in $way; do
		a=$(pads without $f) b=$(pads with $f)
		echo "# $1 $f: landing pads and other instructions $a, with $4 $b"
		[ "${a% *}" = 0 ] && [ "${b% *}" = 1 ] && [ "${a#* }" = "${b#* }" ] && [ "${a#* }" != 0 ] || bad=1
	done
	if [ $bad = 0 ]; then echo "ok hardening price of $1"; else echo "not ok hardening price of $1"; failed=1; fi
}
case $(gcc -dumpmachine) in x86_64*) price IBT gcc -fcf-protection=return -fcf-protection=full "";; esac
sysroot=${TACH_CACHE:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/tach}/arm64/sysroot
if command -v aarch64-linux-gnu-gcc >/dev/null && [ -d "$sysroot" ]; then
	price BTI aarch64-linux-gnu-gcc -mbranch-protection=none -mbranch-protection=bti "-isystem$sysroot/include"
else
	echo "skip hardening price of BTI: its compiler or liburcu is not installed, or cannot be prepared"
fi
exit $failed
