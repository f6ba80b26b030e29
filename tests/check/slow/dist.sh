#!/usr/bin/env bash
# tests/run: memory=1500 seconds=300
# The archive that `make dist` makes builds without git and passes the quick tests. It catches a file that is here but
# not in the archive (never added, or left out by export-ignore) and that the library, a test program, a table or a test
# needs; and code that uses git or a path above the tree.
#
# The library and the command are built from nothing. Programs of tests and examples are not compiled again if they
# cannot differ: their sources in the archive are the same as here, the flags are the same, and the library is the same,
# byte for byte except debugging information. make decides this itself: it gets the build from here, with the lists of
# headers of each object. Programs that name no file of the tree would print the same there: they are not run again if
# they passed. Checks with the same inputs, byte for byte (tests/check/kept), are not run again either: their stored
# results are copied.
set -u
cd "$(dirname "$0")/../../.."
git rev-parse --git-dir >/dev/null 2>&1 || { echo "skip dist: this is no git checkout"; exit 77; }
B=${B:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
say() { if [ "$1" = 0 ]; then echo "ok dist $2"; else echo "not ok dist $2"; failed=1; fi; }

here=$PWD
archive=$(make -s B="$B" dist) && tar -C "$work" -xf "$archive"; say $? "is made"
mkdir "$work/alone" && cp "${archive%/*}/tach-mini.h" "$work/alone/" && cp examples/mini/loop.c "$work/alone/" && (
	version=${archive##*/tach-} && cd "$work/alone" && grep -qF "tach-mini.h ${version%.tar.xz}:" tach-mini.h &&
		gcc -O2 -Wall -Wextra -Werror -o loop loop.c && ./loop | grep -qE '(a turn|disturbed\))$')
say $? "has tach-mini.h beside it"
cd "$work"/tach-* || exit 1
# git must not find a repository above this folder.
export GIT_CEILING_DIRECTORIES=$work
make -s -j2 lib tools >"$work/log" 2>&1 && build/tach version | grep -q "${PWD##*tach-}"
rc=$?; [ $rc = 0 ] || tail -5 "$work/log"; say $rc "builds"

stripped() { objcopy --strip-all --remove-section=.note.gnu.build-id "$1" "$2" 2>/dev/null; }
same_library() {
	[ "$B" = build ] && cmp -s "$here/build/flags" build/flags && stripped "$here/build/libtach.so.0" "$work/a" &&
		stripped build/libtach.so.0 "$work/b" && cmp -s "$work/a" "$work/b"
}
# A test's program that was taken, and has passed since it was built. Its sources name the files that it opens at run time.
passed() { # PROGRAM SOURCE...
	local t=${1#build/}.c log status
	log=$here/build/log/${t//\//-}
	read -r status _ 2>/dev/null <"$log.status" && [ "$status" = 0 ] && [ "$log.log" -nt "$here/$1" ] && [ ! "$log.log" -nt "$log.status" ] || return
	shift
	! grep -hvE '^#include|^\s*/?\*' "$@" | grep -qE "$names" || return
	cp "$log.log" "$work/said/"
}
# A string with a folder of the tree or a path above it, or the path of the build.
names="\"[^\"]*\\b($(find . -mindepth 1 -maxdepth 1 -type d -printf '%f|')\\.\\.)/|getenv\\(\"B\"\)"
# Takes the programs that are newer than the library, and whose source and every header are in the archive as they are here.
take() {
	local program differs sources
	find . -path ./build -prune -o -type f -print | sed 's|^\./||' | sort >"$work/files"
	# Equal sums, equal files: two processes in place of one for each file.
	diff <(xargs -d '\n' sha256sum -- <"$work/files") <(cd "$here" && xargs -d '\n' sha256sum -- <"$work/files" 2>/dev/null) |
		sed -n 's/^< [^ ]*  //p' >"$work/differ"
	while IFS='|' read -r program differs sources; do
		[ -x "$here/$program" ] && [ ! "$here/build/libtach.a" -nt "$here/$program" ] && [ ! -e "$program" ] || continue
		[ -z "$differs" ] || { echo "# $program is built: $differs differs"; continue; }
		mkdir -p "${program%/*}" && cp "$here/$program" "$here/$program.d" "${program%/*}/" && echo "$program" >>"$work/taken" || continue
		# shellcheck disable=SC2086 # names of files, without blanks
		[ -z "$sources" ] || passed "$program" $sources
	done < <(cd "$here" && find build/tests build/examples -name '*.d' -print0 | xargs -0 awk -v files="$work/files" -v differ="$work/differ" '
		BEGIN {
			while ((getline f <files) > 0) there[f] = 1
			while ((getline f <differ) > 0) delete there[f]
		}
		function finish() { if (program != "") print program "|" differs "|" sources }
		FNR == 1 { finish(); program = FILENAME; sub(/\.d$/, "", program); differs = sources = ""; sub(/^[^ ]*: /, "") }
		/:$/ { next }
		{
			sub(/\\$/, "")
			for (i = 1; i <= NF; i++) {
				if ($i ~ /^\// || $i ~ /^build\/.*\.a$/ || $i ~ /^build\/gen\//) continue
				if (!($i in there)) differs = $i
				if ($i ~ /^tests\//) sources = sources " " $i
			}
		}
		END { finish() }')
}
: >"$work/taken"
mkdir "$work/said"
if same_library; then take; else echo "# all is built: the flags or the library are others"; fi
echo "# programs that cannot differ: $(wc -l <"$work/taken")"
[ "$B" != build ] || ! [ -d "$here/build/kept" ] || cp -r "$here/build/kept" build/
unset B TEST_WHOLE TEST_KEPT # what a user types
TEST_SAID=$work/said make check-quick >"$work/log" 2>&1
rc=$?; [ $rc = 0 ] || tail -n 40 "$work/log" | sed 's/^/# /'; say $rc "passes the quick tests"
echo "# of these, not run again: $(find "$work/said" -type f | wc -l)"
echo "# checks that cannot differ: $(grep -ls '^# as on .*: nothing that it depends on has changed' build/log/*.log | wc -l)"
exit $failed
