#!/usr/bin/env bash
# The tutorial's commands run, one after the other, with its programs, as a reader would who follows it
# after make install; the recipes' programs compile without a warning; links within docs/ lead somewhere.
set -u
cd "$(dirname "$0")/../.."
B=${B:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0 bad=0
say() { if [ $bad = 0 ]; then echo "ok docs_$1"; else echo "not ok docs_$1"; failed=1; fi; bad=0; }
unset "${!TACH_@}" 2>/dev/null

# ```c blocks, whose first line is /* FILE */, into files of a folder.
programs() { # DOCUMENT FOLDER
	awk -v folder="$2" '/^```c$/ { on = 1; file = ""; next } /^```$/ { on = 0 }
		on && !file { if (!match($0, /[a-z_]+\.c/)) exit 1; file = folder "/" substr($0, RSTART, RLENGTH) } on { print >file }' "$1"
}

make -s install B="$B" PREFIX="$work/usr" >/dev/null || exit 1
export PATH=$work/usr/bin:$PATH PKG_CONFIG_PATH=$work/usr/lib/pkgconfig
mkdir "$work/tutorial"
programs docs/tutorial.md "$work/tutorial" || { bad=1; echo "# a program has no name in its first line"; }
n=0
while IFS= read -r line <&3; do
	n=$((n + 1))
	# Who writes into a pipe that head has closed ends by SIGPIPE.
	(cd "$work/tutorial" && set -o pipefail && eval "$line") >"$work/out" 2>&1 || [ "$? ${line##*| }" = '141 head -n 5' ] || { bad=1; echo "# failed: $line"; tail -n 5 "$work/out" | sed 's/^/#    /'; }
	case $line in *TACH_OUTPUT=-*) grep -q '^by_column ' "$work/out" || { bad=1; echo "# no region in what '$line' prints"; };; esac
done 3< <(awk '/^```console$/ { on = 1; next } /^```$/ { on = 0 } on && sub(/^\$ /, "")' docs/tutorial.md)
[ "$n" -ge 8 ] || { bad=1; echo "# only $n commands were found"; }
for f in before.json after.json report.html; do [ -s "$work/tutorial/$f" ] || { bad=1; echo "# $f was not written"; }; done
say tutorial

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

# The binding without a compiler, as it stands there: a region in the report, and a count or the reason why there is none.
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
