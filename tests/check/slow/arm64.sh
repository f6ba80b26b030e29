#!/usr/bin/env bash
# tests/run: seconds=150
# Everything compiles for arm64 with a cross compiler, and the headers compile alone. Programs for guests are linked
# too.
set -u
cd "$(dirname "$0")/../../.."
tools/need gcc-aarch64-linux-gnu libc6-dev-arm64-cross || exit 1
failed=0
make -s -j2 CC=aarch64-linux-gnu-gcc B="${B:-build}/arm64" unit_syntax guest_programs && echo "ok arm64" ||
	{ echo "not ok arm64"; failed=1; }
tests/check/headers.sh aarch64-linux-gnu-gcc || failed=1
exit $failed
