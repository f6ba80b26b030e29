#!/usr/bin/env bash
# tests/run: memory=2000 seconds=1000
# Every unit test runs under AddressSanitizer with UndefinedBehaviorSanitizer.
set -u
cd "${0%/*}/../../.." || exit
. tests/sanitized address address,undefined tests/unit/*/*.c
