#!/usr/bin/env bash
# Every instruction of the ia64 header assembles, and the header reads a PMD register and the clock. Debian has no
# ia64 compiler, so the operands are given registers here.
set -u
cd "$(dirname "$0")/../.."
command -v ia64-linux-gnu-as >/dev/null || { echo "skip ia64: binutils-ia64-linux-gnu cannot be installed: Debian 13 has none"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
echo 'void fence(void) { TACH_FENCE(); }' | cat include/tach/arch/ia64.h - |
	gcc -E -P -U__x86_64__ -D__ia64__ -DTACH_ARCH_H -x c - >"$work/header"
# The template of an asm statement: its first string literals, up to the colon.
tr '\n' ' ' <"$work/header" | grep -oE '__asm__ *(volatile)? *\(("([^"\\]|\\.)*" *)+' |
	sed 's/^[^"]*"//; s/" *$//; s/" *"//g; s/%0/r8/g; s/%1/r9/g; s/%2/r10/g' |
	while IFS= read -r template; do printf '%b\n\t;;\n' "$template"; done >"$work/all.s"
[ -s "$work/all.s" ] || { echo "skip ia64: the header has no instruction yet"; exit 77; }
failed=0
ia64-linux-gnu-as -x -o "$work/all.o" "$work/all.s" || failed=1
[ $failed = 1 ] || ia64-linux-gnu-objdump -d "$work/all.o" >"$work/code"
for instruction in 'mov r8=pmd\[r9\]' 'mov(\.m)? r8=ar\.itc' '\bmf\b' 'srlz\.d'; do
	[ $failed = 1 ] || grep -qE "$instruction" "$work/code" || { echo "# no $instruction in what was assembled"; failed=1; }
done
[ $failed = 0 ] || sed 's/^/# /' "$work/all.s"
if [ $failed = 0 ]; then echo "ok ia64"; else echo "not ok ia64"; fi
exit $failed
