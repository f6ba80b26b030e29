#!/usr/bin/env bash
# tests/run: memory=2000
# Everything compiles and links with clang as well, with the same warnings as errors; and so do the fuzz
# targets with its fuzzer, which `make fuzz` runs and nothing else builds.
set -u
cd "$(dirname "$0")/../../.."
failed=0
for what in "clang CC=clang OPT=-O1 B=${B:-build}/clang unit_tests" "fuzz_targets B=${B:-build} fuzz_programs"; do
	set -- $what
	make -s -j2 "${@:2}" && echo "ok $1" || { echo "not ok $1"; failed=1; }
done
exit $failed
