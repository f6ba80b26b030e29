#!/usr/bin/env bash
# The code of inline reads, by compiler: instructions on the fast path, bytes including all data of the site, and the
# functions that it can call, which are the slow paths. The fast path has no loop, so its instructions are counted in
# the listing, without the return. arm64 adds the 3 instructions of a stub per counter; 3 of its own are the frame of
# a leaf.
set -u
cd "$(dirname "$0")/../.."
failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

cat >"$work/code.c" <<'CODE'
#include <tach/reader.h>
void begin1(struct tach_reader *r, struct tach_mark *m) { tach_reader_begin_n(r, m, 1); }
void begin4(struct tach_reader *r, struct tach_mark *m) { tach_reader_begin_n(r, m, 4); }
uint32_t end1(struct tach_reader *r, struct tach_mark *m, uint64_t *d) { return tach_reader_end_n(r, m, d, 1); }
uint32_t end4(struct tach_reader *r, struct tach_mark *m, uint64_t *d) { return tach_reader_end_n(r, m, d, 4); }
uint32_t read1(struct tach_reader *r, uint64_t *v) { return tach_reader_read_n(r, v, 1); }
uint32_t read4(struct tach_reader *r, uint64_t *v) { return tach_reader_read_n(r, v, 4); }
CODE

# end: 3 instructions per counter are the difference, the mask and the store; read: 3 per counter are the sign
# extension on x86.
budgets() { cat <<'LIST'
gcc                   begin1 13 begin4 49 end1 16 end4 58 read1 16 read4 55
clang                 begin1 13 begin4 49 end1 16 end4 58 read1 16 read4 55
aarch64-linux-gnu-gcc begin1 19 begin4 64 end1 21 end4 73 read1 19 read4 64
LIST
}

check() { # COMPILER FUNCTION BUDGET
	local dump=objdump stub=0 n bytes calls
	case $1 in aarch64*) dump=aarch64-linux-gnu-objdump stub=3;; esac
	"$dump" -dr --no-show-raw-insn "$work/code.o" >"$work/list"
	read -r n calls < <(awk -v f="<$2>:" -v g="<$2.cold>:" -v stub=$stub '
		/^[0-9a-f]+ </ { on = $2 == f || $2 == g; main = $2 == f }
		on && /^ / && !done && main { if ($2 ~ /^ret/) done = 1; else if ($2 != "nop") n += 1 + ($2 == "blr" ? stub : 0) }
		on && /R_(X86_64_PLT32|X86_64_PC32|AARCH64_CALL26|AARCH64_JUMP26)/ { if ($3 !~ /^(tach__[a-z]+_slow|\.text)/) calls = calls " " $3 }
		on && /^ / && ($2 ~ /^call/ && $3 !~ /</) { calls = calls " " $3 }
		END { print n, calls }' "$work/list")
	bytes=$("${dump%objdump}size" -A "$work/code.o" | awk -v a=".text.$2" -v b=".text.unlikely.$2" '$1 == a || $1 == b { n += $2 } END { print n }')
	echo "# $1 $2: $n instructions, $bytes bytes"
	[ "$n" -le "$3" ] || { echo "# $1 $2: $n instructions, budget $3"; bad=1; }
	[ -z "$calls" ] || { echo "# $1 $2 calls$calls"; bad=1; }
	[ "$bytes" -le 320 ] || { echo "# $1 $2: $bytes bytes, budget 320"; bad=1; }
}

while read -r compiler rest; do
	command -v "$compiler" >/dev/null || { echo "skip reader code $compiler: not installed"; continue; }
	bad=0
	case $compiler:$(gcc -dumpmachine) in
	gcc:x86_64*|clang:x86_64*|aarch64*) ;;
	*) echo "skip reader code $compiler: the budgets are for x86-64 and a cross compiler"; continue;;
	esac
	# gcc 14 (Debian 13) uses one instruction more for 4 counters at the end.
	[ "$compiler" != gcc ] || [ "$(gcc -dumpversion)" -lt 14 ] || rest=${rest/end4 58/end4 59}
	"$compiler" -std=c11 -O2 -ffunction-sections -Iinclude -c -o "$work/code.o" "$work/code.c" || bad=1
	set -- $rest
	while [ $# -gt 0 ] ; do check "$compiler" "$1" "$2"; shift 2; done
	if [ $bad = 0 ]; then echo "ok reader code $compiler"; else echo "not ok reader code $compiler"; failed=1; fi
done < <(budgets)
exit $failed
