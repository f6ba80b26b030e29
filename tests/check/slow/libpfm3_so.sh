#!/usr/bin/env bash
# libpfm.so.3 answers all questions of the vectors as tach dispatch does, not only a sample.
cd "$(dirname "$0")/../../.." || exit 1
B=${B:-build}
export B LIBPFM3_ROWS=all
exec "$B/tests/vectors/libpfm3_so"
