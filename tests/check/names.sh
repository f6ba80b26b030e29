#!/usr/bin/env bash
# A name that many files define cannot be looked up: a static function of core/, arch/ and compat/ has its name in
# three files of its room at most, and in five of all.
set -u
cd "$(dirname "$0")/../.."
defined=$(for f in core/*/*.c arch/*/*.c compat/*/*.c; do
	sed -nE '/^static [^=;(]*\<[a-z][a-z0-9_]*\(/{s/__attribute__ *\(\([^)]*\)\) *//;s/^static [^=;(]*\<([a-z][a-z0-9_]*)\(.*/\1/p}' "$f" |
		sort -u | sed "s|\$| ${f%/*} $f|"
done)
[ "$(wc -l <<<"$defined")" -gt 500 ] || { echo "not ok static_names: only $(wc -l <<<"$defined") found"; exit 1; }
crowded=$(awk '{ room[$1 " in " $2]++; all[$1 " in all"]++ }
	END { for (n in room) if (room[n] > 3) print "# " n ": " room[n] " files define it"
	      for (n in all) if (all[n] > 5) print "# " n ": " all[n] " files define it" }' <<<"$defined" | sort)
[ -z "$crowded" ] && echo "ok static_names" || { echo "$crowded"; echo "not ok static_names"; exit 1; }
