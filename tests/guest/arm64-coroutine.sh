#!/usr/bin/env bash
# Regions that follow their coroutines count exactly on arm64.
set -u
cd "$(dirname "$0")/../.."
B=${B:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
missing=$(tests/guest/ready arm64 sid) || { echo "skip arm64-coroutine: $missing"; exit 77; }
aarch64-linux-gnu-g++ -std=c++20 -O2 -static -Iinclude -o "$work/coroutine_exact" tests/guest/src/coroutine_exact.cpp \
	"$B/arm64/libtach.a" -lpthread -lm || exit 1
tests/guest/boot arm64 -k sid -c neoverse-n1 -i 3 "$work/coroutine_exact" >"$work/out" 2>&1
sed -n '/^#/p' "$work/out"
grep -q '^ok coroutine_exact' "$work/out" && echo 'ok arm64-coroutine' && exit
tail -n 20 "$work/out" | sed 's/^/# /'
echo 'not ok arm64-coroutine'
exit 1
