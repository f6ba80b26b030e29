#!/usr/bin/env bash
# What is ours compiles at -O3 as well, where gcc looks further and warns of more; warnings are errors.
set -u
cd "$(dirname "$0")/../../.."
make -s -j2 OPT=-O3 B="${B:-build}/optimised" lib tools && echo "ok optimised" || { echo "not ok optimised"; exit 1; }
