#!/usr/bin/env bash
# The example under google-benchmark builds, runs, and reports every benchmark.
set -u
cd "$(dirname "$0")/../../.."
out=$(make -s google-benchmark 2>/dev/null) && grep -q '^divide ' <<<"$out" && grep -q '^unpredictable ' <<<"$out" &&
	{ echo "ok google-benchmark"; exit 0; }
echo "not ok google-benchmark"
exit 1
