#!/usr/bin/env bash
# tests/run: memory=2000 seconds=500
# Unit tests with threads run under ThreadSanitizer. It cannot see the other process that snapshot/remote reads, and
# makes reading it twenty times slower, so that test runs without it.
set -u
cd "${0%/*}/../../.." || exit
mapfile -t threaded < <(grep -lE 'pthread_create|thrd_create' tests/unit/*/*.c | grep -vx tests/unit/snapshot/remote.c)
. tests/sanitized thread thread "${threaded[@]}"
