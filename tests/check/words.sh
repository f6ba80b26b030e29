#!/usr/bin/env bash
# The tree works anywhere: no file names a place that only one machine has, or a package registry
# (packages come from the mirror that the machine is set up with).
set -u
cd "$(dirname "$0")/../.."
words='(^|[^[:alnum:]_.$}/-])/(work|root|home/[a-z]+)/|deb\.debian\.org|snapshot\.debian\.org|pypi\.org|registry\.npmjs|proxy\.golang|crates\.io|rubygems\.org'
hits=$(tests/check/files | grep -vx tests/check/words.sh | xargs grep -nIE -- "$words")
[ -z "$hits" ] && { echo "ok words"; exit 0; }
echo "$hits" | cut -c1-160 | sed 's/^/# /'
echo "not ok words"
exit 1
