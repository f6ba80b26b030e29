#!/bin/sh
# Reports about a program that dies by a signal in a guest: its status, and the kernel's messages, which arm64 prints
# only on request. boot also reports a guest that ends during its programs.
cd "$(dirname "$0")/../.." || exit
tests/guest/ready arm64 || exit 77
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
holds() { # NAME CONDITION...
	name=$1; shift
	if "$@"; then echo "ok $name"; else echo "not ok $name"; failed=1; fi
}

cat >"$work/dies.c" <<'END'
int main(void)
{
	__asm__ volatile("udf #0");
	return 0;
}
END
cat >"$work/resets.c" <<'END'
#include <sys/reboot.h>
int main(void)
{
	return reboot(RB_AUTOBOOT);
}
END
for p in dies resets; do
	aarch64-linux-gnu-gcc -O1 -static -o "$work/$p" "$work/$p.c" || exit 1
done
tests/guest/boot arm64 "$work/dies" "$work/resets" >"$work/out" 2>"$work/err"
status=$?
sed 's/^/# /' "$work/out" "$work/err"
holds "its status is the signal's" grep -qx '@@ exit 132' "$work/out"
holds "the kernel says what it died of" grep -q '^# kernel: dies.*undefined instruction' "$work/out"
holds "and where" grep -q '^# kernel: pc : ' "$work/out"
holds "a guest that ends amid them has a status of its own" [ "$status" = 125 ]
holds "and says so" grep -q '^boot: the guest ended without running everything' "$work/err"
exit $failed
