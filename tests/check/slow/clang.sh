#!/usr/bin/env bash
# tests/run: memory=2000
# Everything compiles and links with clang as well, with the same warnings as errors.
set -u
cd "$(dirname "$0")/../../.."
make -s -j2 CC=clang B="${B:-build}/clang" unit_tests && echo "ok clang" || { echo "not ok clang"; exit 1; }
