#!/usr/bin/env bash
# The tutorials' programs and commands run as a reader would run them after make install. The recipes' programs compile
# without a warning. Links within docs/ lead somewhere.
set -u
cd "$(dirname "$0")/../.."
B=${B:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0 bad=0
say() { if [ $bad = 0 ]; then echo "ok docs_$1"; else echo "not ok docs_$1"; failed=1; fi; bad=0; }
unset "${!TACH_@}" 2>/dev/null

# Writes each ```c block into the file that its first line names.
programs() { # DOCUMENT FOLDER
	awk -v folder="$2" '/^```c$/ { on = 1; file = ""; next } /^```$/ { on = 0 }
		on && !file { if (!match($0, /[a-z_]+\.c/)) exit 1; file = folder "/" substr($0, RSTART, RLENGTH) } on { print >file }' "$1"
}

make -s install B="$B" PREFIX="$work/usr" >/dev/null || exit 1
export PATH=$work/usr/bin:$PATH PKG_CONFIG_PATH=$work/usr/lib/pkgconfig
# Runs a tutorial in its own folder: its programs, then its commands, one after the other.
tutorial() { # NAME
	local folder=$work/$1 line n=0
	mkdir "$folder"
	programs "docs/$1.md" "$folder" || { bad=1; echo "# a program has no name in its first line"; }
	while IFS= read -r line <&3; do
		n=$((n + 1))
		# A writer into a pipe that head has closed ends by SIGPIPE.
		(cd "$folder" && set -o pipefail && eval "$line") >"$work/out" 2>&1 || [ "$? ${line##*| }" = '141 head -n 5' ] || { bad=1; echo "# failed: $line"; tail -n 5 "$work/out" | sed 's/^/#    /'; }
		case $1:$line in
		tutorial-loop:*TACH_OUTPUT=-*) grep -q '^by_column ' "$work/out";;
		tutorial-service:*TACH_OUTPUT=-*) grep -q '^answer ' "$work/out" && grep -q '^request ' "$work/out";;
		tutorial-service:head*) grep -q '^# ' "$work/out";;
		tutorial-bench:./sums) grep -q '^product ' "$work/out" && grep -q '^sum ' "$work/out";;
		tutorial-bench:./slower*) grep -q '^product .*%' "$work/out";;
		esac || { bad=1; echo "# '$line' prints something else:"; head -n 5 "$work/out" | sed 's/^/#    /'; }
	done 3< <(awk '/^```console$/ { on = 1; next } /^```$/ { on = 0 } on && sub(/^\$ /, "")' "docs/$1.md")
	[ "$n" -ge 5 ] || { bad=1; echo "# only $n commands were found"; }
}
for t in docs/tutorial-*.md; do tutorial "$(basename "$t" .md)"; done
for f in loop/before.json loop/after.json loop/report.html bench/before.json service/service.html service/service.json service/service.prom; do
	[ -s "$work/tutorial-$f" ] || { bad=1; echo "# $f was not written"; }
done
say tutorials

n=0
for d in docs/recipes/*.md; do
	mkdir "$work/recipe" && programs "$d" "$work/recipe" || { bad=1; echo "# a program of $d has no name in its first line"; }
	for c in "$work"/recipe/*.c; do
		[ -e "$c" ] || continue
		n=$((n + 1))
		gcc -std=gnu11 -O2 -Wall -Wextra -Werror -Iinclude -c -o /dev/null "$c" || { bad=1; echo "# of $d"; }
	done
	rm -rf "$work/recipe"
done
[ "$n" -ge 2 ] || { bad=1; echo "# only $n programs were found"; }
say recipes

# Runs the printed example of another language: it shows a region, and a count or the reason why there is no count.
if command -v python3 >/dev/null && ! grep -q -e -fsanitize "$B/flags"; then
	awk '/^```python$/ { on = 1; next } /^```$/ { on = 0 } on' docs/recipes/other-languages.md >"$work/counts.py"
	LD_LIBRARY_PATH=$work/usr/lib TACH_OUTPUT=- python3 "$work/counts.py" >"$work/out" 2>&1 || bad=1
	grep -qE '^sum +1 ' "$work/out" && grep -qE '^([0-9]+ ns, flags|nothing can be counted here: [a-z])' "$work/out" || bad=1
	[ $bad = 0 ] || sed 's/^/# /' "$work/out"
	say binding
else
	echo "skip docs_binding: python3 is not installed, or AddressSanitizer would have to be loaded first"
fi

for d in docs/*.md docs/recipes/*.md; do
	for link in $(grep -o '](\([^):]*\))' "$d" | sed 's/](\(.*\))/\1/; s/#.*//'); do
		[ -e "$(dirname "$d")/$link" ] || { bad=1; echo "# $d: $link does not exist"; }
	done
	[ "$d" = docs/README.md ] || grep -qF "(${d#docs/})" docs/README.md || { bad=1; echo "# docs/README.md does not list $d"; }
done
say links
exit $failed
