#!/usr/bin/env bash
# tests/run: memory=2000 seconds=250
# Everything compiles with clang as well, with the same warnings as errors. The library, the command, the examples and
# the fuzz targets are linked too; `make fuzz` runs the targets, and no other goal builds them.
set -u
cd "$(dirname "$0")/../../.."
failed=0
for what in "clang CC=clang OPT=-O1 B=${B:-build}/clang unit_syntax" "fuzz_targets CC=clang OPT=-O1 B=${B:-build}/clang FUZZED=${B:-build}/clang/libtach.a fuzz_programs"; do
	set -- $what
	make -s -j2 "${@:2}" && echo "ok $1" || { echo "not ok $1"; failed=1; }
done
exit $failed
