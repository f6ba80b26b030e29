#!/usr/bin/env bash
# The manual's pages in section 3 match the headers: every public function has its own page, whose synopsis declares
# it as its header does and whose examples call it. The examples of a page are programs: the text between .Bd -literal
# -offset and .Ed. Each #include at the top of a display begins the next program. Each program compiles without a
# warning as C11, links, and exits with 0 on any machine.
set -u
cd "$(dirname "$0")/../.."
B=${B:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset "${!TACH_@}" 2>/dev/null
failed=0 bad=0
say() { if [ $bad = 0 ]; then echo "ok examples_$1"; else echo "not ok examples_$1"; failed=1; fi; bad=0; }
# If the library was built with sanitizers, its programs need them too.
sanitize=$(grep -o -e '-fsanitize=[^ ]*' "$B/flags" | sort -u) include=$PWD/include
case $B in /*) library=$B/libtach.a;; *) library=$PWD/$B/libtach.a;; esac
flags="-std=c11 -Wall -Wextra -Werror $sanitize"

# Writes page.1.c, page.2.c, ..., with the text as man prints it.
programs() { # PAGE
	awk -v base="$work/${1##*/}" '/^\.Ed/ { on = 0 }
		on && first && (/^#include/ || !n) { n++ }
		on { gsub(/\\&/, ""); gsub(/\\e/, "\\"); print >(base "." n ".c"); first = 0 }
		/^\.Bd -literal -offset/ { on = first = 1 }' "$1"
}
# A page's functions, as C: "Ft TYPE", then "Fn NAME ARGUMENTS" or "Fo NAME", "Fa ARGUMENT"... and "Fc".
synopsis() { # PAGE
	sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/p' "$1" | awk '
		/^\.In / { print "#include <" $2 ">" }
		/^\.Ft / { type = substr($0, 5); gsub(/"/, "", type) }
		/^\.Fn tach_/ { line = $0; sub(/^\.Fn [a-z_0-9]* */, "", line); gsub(/" "/, ", ", line); gsub(/"/, "", line)
			print type " " $2 "(" line ");" }
		/^\.Fo / { call = type " " $2 "("; comma = "" }
		/^\.Fa / { line = substr($0, 5); gsub(/"/, "", line); call = call comma line; comma = ", " }
		/^\.Fc/ { print call ");" }'
}
# Functions and macros that the source calls, without comments and strings.
calls() { # FILE...
	gcc -fpreprocessed -E -P "$@" | sed 's/"\([^"\\]\|\\.\)*"//g' | grep -oE '\b(tach|TACH)_\w+ *\(' | tr -d ' ('
}
# Compile and link in two steps, with a relative name: if the check compiles by ccache, its cache can answer.
build() { # COMPILER SOURCE OUT FLAG...
	local from=${2%/*} name=${2##*/}
	(cd "$from" && "$1" "${@:4}" -MMD -I"$include" -c -o "$3.o" "$name" && "$1" $sanitize -o "$3" "$3.o" "$library" -lm -lpthread -ldl)
}
# Checks one page; writes faults to page.bad.
check() { # PAGE
	local page=$1 p=$work/${1##*/} program name
	[ "$page" != man/tach.hpp.3 ] || return # in C++: hpp.sh
	programs "$page"
	for program in "$p".*.c; do
		[ -e "$program" ] || { echo "# $page has no example"; return; }
		awk -v page="$page" 'length > 69 { print "# " page ": more than 80 columns with its indent: " $0 }' "$program"
		if build gcc "$program" "$program.out" $flags; then
			mkdir "$program.run"
			(cd "$program.run" && exec "$program.out") >"$program.said" 2>&1 <"$page" ||
				{ echo "# an example of $page ends with $?"; tail -n 3 "$program.said" | sed 's/^/#    /'; }
			[ -s "$program.said" ] || echo "# an example of $page prints nothing"
		else
			echo "# an example of $page does not compile"
		fi
	done 2>&1
	calls "$p".*.c | sort -u >"$p.calls"
	for name in $(sed -n '/^\.Sh NAME/,/^\.Nd/s/^\.Nm //p' "$page" | tr -d ,); do
		# Some pages are named after a struct or the library.
		grep -qx "$name" "$work/declared" "$work/macros" || continue
		echo "$name" >>"$p.names"
		grep -qx "$name" "$p.calls" || echo "# no example of $page calls $name"
	done
	synopsis "$page" >"$p.synopsis.c"
	[ -e "$p.names" ] || return # only programs
	gcc $flags -I"$include" -fsyntax-only "$p.synopsis.c" 2>&1 || echo "# $page declares something else than the header"
	for name in $(grep -x 'tach_.*' "$p.names"); do
		grep -q "[ *]$name(" "$p.synopsis.c" || echo "# the synopsis of $page lacks $name"
	done
}

sed -n 's/^\t\(tach_[a-z]\w*\);$/\1/p' core/libtach.map | grep -v '^tach__' | sort >"$work/declared"
sed -nE 's/^#define (TACH_[A-Z_]+)\(.*/\1/p' include/tach/region.h include/tach/task.h include/tach/bench.h | sort -u >"$work/macros"
for page in man/*.3; do check "$page" >"$work/${page##*/}.bad" 2>&1 & done
wait
for page in man/*.3; do
	[ ! -s "$work/${page##*/}.bad" ] || { cat "$work/${page##*/}.bad"; bad=1; }
	n=$((${n:-0} + $(ls "$work/${page##*/}".*.c.out 2>/dev/null | wc -l)))
done
[ "$n" -ge 16 ] || { echo "# $n examples were found, not 16"; bad=1; }
say pages
# Programs of examples/ that need no arguments; one of them is a benchmark.
for program in examples/*.c; do
	[ $program != examples/bench.c ] || continue
	out=$work/$(basename $program .c)
	build gcc $program "$out" -O1 $flags && "$out" >"$out.said" 2>&1 && [ -s "$out.said" ] ||
		{ echo "# $program does not compile, fails, or prints nothing"; bad=1; }
done
for program in examples/*.cpp; do
	out=$work/$(basename $program .cpp)
	build g++ $program "$out" -O1 ${flags/-std=c11/-std=c++20} -Wno-free-nonheap-object && "$out" >"$out.said" 2>&1 && [ -s "$out.said" ] ||
		{ echo "# $program does not compile, fails, or prints nothing"; bad=1; }
done
# A server's requests cross three threads: each request is one call of the task, and of each region in it.
TACH_OUTPUT=$work/server.csv "$work/server" >/dev/null 2>&1
for region in request parse compute respond; do
	grep -qE "^\"$region\",[^,]*,[^,]*,50,50,inclusive,\"time_ns\"" "$work/server.csv" || { echo "# not 50 calls of $region in examples/server"; bad=1; }
done
say programs
cat "$work"/*.names | sort >"$work/documented"
for name in $(comm -23 "$work/declared" "$work/documented"); do echo "# no page of section 3 has the name $name"; bad=1; done
for name in $(uniq -d "$work/documented"); do echo "# $name is explained in two pages"; bad=1; done
say complete
exit $failed
