#!/usr/bin/env bash
# The tree works anywhere: no file names a place that only one machine has, or a package registry
# (packages come from the mirror that the machine is set up with).
set -u
cd "$(dirname "$0")/../.."
git rev-parse --git-dir >/dev/null 2>&1 || { echo "skip words: this is no git checkout"; exit 77; }
words='(^|[^[:alnum:]_.$}/-])/(work|root|home/[a-z]+)/|deb\.debian\.org|snapshot\.debian\.org|pypi\.org|registry\.npmjs|proxy\.golang|crates\.io|rubygems\.org'
hits=$(git grep -nIE "$words" -- ':!tests/check/words.sh')
[ -z "$hits" ] && { echo "ok words"; exit 0; }
echo "$hits" | cut -c1-160 | sed 's/^/# /'
echo "not ok words"
exit 1
