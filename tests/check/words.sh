#!/usr/bin/env bash
# Rules for the text of all files. No file names a path of one machine, or a package registry: packages come from the
# mirror that the machine is configured for. Comments, documents, manual and messages are plain: tests/check/plain
# counts sentences that are hard to read, and each room may have 5 per 100. tests/check/plain.bounds lists rooms with
# a higher bound, which may only fall; WORDS_RECORD=1 tests/check/words.sh lowers them.
set -u
cd "$(dirname "$0")/../.."
words='(^|[^[:alnum:]_.$}/-])/(work|root|home/[a-z]+)/|deb\.debian\.org|snapshot\.debian\.org|pypi\.org|registry\.npmjs|proxy\.golang|crates\.io|rubygems\.org'
# Comments and manual name threads, processes and users, not unnamed persons. Tests of the permissions of the user
# nobody may use that name.
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

command -v python3 >/dev/null || { echo "skip words: python3 is not installed"; exit $rc; }
# ROOM<TAB>FILE for each file with prose in it. A test belongs to the room of the code that it tests.
rooms() {
	tests/check/files | grep -vE '^(\.ci/|tests/(fuzz/corpus|vectors/|check/mini/)|.*\.(tsv|derived|json|png|svg)$)' | awk -F/ '
		{ room = NF == 1 ? "documents" : $1 }
		/^(core|tools)\/.*\// || /^tests\/[^\/]*\// { room = $1 "/" $2 }
		/^tests\/unit\/.*\// { room = "tests/unit/" $3 }
		/^docs\// || /^[A-Z]*\.md$/ { room = "documents" }
		/^man\// { room = "manual" }
		{ print room "\t" $0 }
		/^(core|tools|include)\/.*\.[ch]$/ { print "messages of " $1 "\t" $0 }'
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
bounds=tests/check/plain.bounds least=5
rooms | tests/check/plain -r >"$work/rates"
if [ -n "${WORDS_RECORD:-}" ]; then
	# A bound is the present rate, rounded up, but never higher than the old bound.
	awk -F'\t' -v least=$least 'FNR == NR { if (/^#/) print; else old[$1] = $2; next }
		{ now = int($2 + 1); if ($1 in old && old[$1] < now) now = old[$1]; if (now > least) print $1 "\t" now }' \
		"$bounds" "$work/rates" >"$work/bounds" && mv "$work/bounds" "$bounds"
fi
verdict plain "$(awk -F'\t' -v least=$least 'FNR == NR { if (!/^#/) bound[$1] = $2; next }
	{ b = $1 in bound ? bound[$1] : least; seen[$1] = 1 }
	$2 > b { print $1 ": " $2 " suspicious sentences of 100, " b " are allowed; tests/check/plain -l FILE lists them" }
	END { for (r in bound) if (!(r in seen)) print "there is no room " r ", which plain.bounds names" }' "$bounds" "$work/rates")"
exit $rc
