#!/usr/bin/env bash
# tests/run: seconds=90
# spin searches every state of each model in tests/models (Promela). It finds no error in the protocols under any
# memory model, and finds an error for each weakening that a model names. A line "weakening n: text" names one; spin
# searches it under the weakest memory model, which includes the behaviour of the others. It prints the number of
# states.
set -u
cd "$(dirname "$0")/../.."
command -v spin >/dev/null || { echo "skip models: spin is not installed"; exit 77; }
# shellcheck disable=SC1091
. tests/check/kept tests/models
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# search NAME MEMORY WEAKENING: prints the numbers of errors, states and transitions
search() {
	local at=$work/$1-$2-$3
	mkdir "$at" && cd "$at" || return
	if spin -a -D"$2" -DM="$3" "$models/$1.pml" >out 2>&1 && gcc -O0 -w -DSAFETY -DNOREDUCE -o pan pan.c >>out 2>&1; then
		./pan -m100000 "$([ "$3" = 0 ] && printf -- -n || printf -- -E)" >>out 2>&1
	fi
	sed -nE 's/.*errors: ([0-9]+)$/errors \1/p; s/^ *([0-9]+) states, stored$/stored \1/p; s/.*(max search depth too small|error: .*|out of memory).*/wrong \1/p' out |
		awk '{ v[$1] = $2 } END { if (v["errors"] == "" || v["wrong"] != "") print "bad 0"; else print v["errors"], v["stored"] }'
}
models=$PWD/tests/models

for model in "$models"/*.pml; do
	name=$(basename "$model" .pml) bad=0 said=
	while read -r n memories; do
		found=
		for memory in $memories; do
			read -r errors states < <(search "$name" "$memory" "$n")
			case $errors in
			bad) echo "# $name, $memory, weakening $n: no search"; tail -5 "$work/$name-$memory-$n/out" | sed 's/^/# /'; bad=1;;
			0) [ "$n" != 0 ] || said="$said, $states states ($memory)";;
			*) found="$found $memory";;
			esac
		done
		text=$(sed -nE "s/.*weakening $n: (.*) \*\/.*/\1/p" "$model")
		case $n in
		0) [ -z "$found" ] || { echo "# $name: the protocol itself fails in$found"; bad=1; };;
		*) if [ -n "$found" ]; then echo "# $name: found: $text"; else echo "# $name: not found: $text"; bad=1; fi;;
		esac
	done < <(echo 0 SC TSO WEAK; sed -nE 's/.*weakening ([0-9]+):.*/\1 WEAK/p' "$model")
	if [ $bad = 0 ]; then echo "ok model_$name: whole${said#,}"; else echo "not ok model_$name"; failed=1; fi
done
exit $failed
