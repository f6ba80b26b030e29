#!/usr/bin/env bash
# Manual pages: man's formatter and mandoc's checks print no warning; references within this project exist; whatis
# finds an installed page by every name that it explains; both formatters print a synopsis with the whole command.
set -u
cd "$(dirname "$0")/../.."
. tests/check/kept man GNUmakefile
tools/need man-db mandoc || { echo "skip man: man-db and mandoc are not installed"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LC_ALL=C.UTF-8 MANWIDTH=80 MANROFFSEQ='' PAGER=cat MANPAGER=cat
failed=0 bad=0
say() { if [ $bad = 0 ]; then echo "ok man $1"; else echo "not ok man $1"; failed=1; fi; bad=0; }

# Formats all pages in one run; pages are formatted one by one only to name a faulty page. Ignores references to our
# pages that are not installed on this machine: a later check tests that they exist.
pages=(man/*.[1-8])
# Since version 1.23 groff warns about lines that it cannot adjust.
formatted() { man --warnings -E UTF-8 -l -Tutf8 -Z "$@" 2>&1 >/dev/null | grep -v 'cannot adjust line$'; }
[ -z "$(formatted "${pages[@]}")" ] || for page in "${pages[@]}"; do formatted "$page" | sed "s|^|# $page: |"; bad=1; done
! mandoc -T lint "${pages[@]}" 2>/dev/null | grep -v 'referenced manual not found' | sed 's/^/# /' | grep . || bad=1
say warnings

make -s install DESTDIR="$work" PREFIX=/usr LIBDIR=/usr/lib B="${B:-build}" >/dev/null || { echo "not ok man install"; exit 1; }
installed=$work/usr/share/man
for reference in $(sed -nE 's/^\.Xr ((lib)?tach[^ ]*|TACH[^ ]*) ([1-8]).*/\1.\3/p' man/* | sort -u); do
	[ -e "$installed/man${reference##*.}/$reference" ] || { echo "# a page refers to $reference, which does not exist"; bad=1; }
done
say references

mandb -q -c "$installed" || bad=1
for section in $(printf '%s\n' "${pages[@]##*.}" | sort -u); do
	for page in man/*."$section"; do sed -n '/^\.Sh NAME/,/^\.Nd/s/^\.Nm //p' "$page"; done | tr -s ', ' '\n' | sort -u >"$work/names"
	# shellcheck disable=SC2046
	whatis -M "$installed" -s "$section" -- $(cat "$work/names") 2>/dev/null | sed -n "s/ ($section) *- ..*//p" | sort -u >"$work/known"
	for name in $(comm -23 "$work/names" "$work/known"); do echo "# whatis knows no $name($section)"; bad=1; done
done
say whatis

for page in man/tach-*.1; do
	command=$(basename "${page#man/tach-}" .1) # a page about one use of a command is called tach-COMMAND-USE
	command="tach ${command%%-*}"
	for formatter in 'man -l' mandoc; do
		$formatter "$page" 2>/dev/null | col -b | sed -n '/^SYNOPSIS/,/^DESCRIPTION/p' >"$work/synopsis"
		grep -q "^ *$command" "$work/synopsis" && ! grep '^     tach' "$work/synopsis" | grep -qv "$command" ||
			{ echo "# the synopsis of $page by $formatter does not say '$command'"; bad=1; }
	done
done
say synopsis
exit $failed
