#!/usr/bin/env bash
# The tree works anywhere: no file names a place that only one machine has, or a package registry
# (packages come from the mirror that the machine is set up with).
set -u
cd "$(dirname "$0")/../.."
words='(^|[^[:alnum:]_.$}/-])/(work|root|home/[a-z]+)/|deb\.debian\.org|snapshot\.debian\.org|pypi\.org|registry\.npmjs|proxy\.golang|crates\.io|rubygems\.org'
# Comments and manual speak of threads, processes and users, not of persons without a name. The user of that
# name is called so in tests of what it may do.
persons='\<(nobody|somebody|someone|everybody|anybody|whoever|his|him)\>|slip of the pen|good fortune|see DESIGN'
persons_hits() {
	tests/check/files '*.c' '*.h' '*.hpp' '*.sh' '*.md' '*.mk' '*.[1-8]' tests/run tools/cache tools/need GNUmakefile |
		grep -vx tests/check/words.sh | xargs grep -nIiE -- "$persons" |
		grep -vE 'NOBODY|become_nobody|"nobody"|for kind in nobody|user nobody'
}
hits=$(tests/check/files | grep -vx tests/check/words.sh | xargs grep -nIE -- "$words")
rc=0
verdict() { # NAME HITS
	[ -z "$2" ] && { echo "ok $1"; return; }
	echo "$2" | cut -c1-160 | sed 's/^/# /'
	echo "not ok $1"
	rc=1
}
verdict words "$hits"
verdict persons "$(persons_hits)"
exit $rc
