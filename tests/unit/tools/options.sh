#!/usr/bin/env bash
# --help, the manual page and bash completion have the same options, and the command accepts them all.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
tach=$PWD/$B/tach
failed=0 rc=0
result() { if [ $rc = 0 ]; then echo "ok options_$1"; else echo "not ok options_$1"; failed=1; fi; rc=0; }

commands=$("$tach" --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
# Options of another command that a help text names do not count.
in_help() { "$tach" "$1" --help | sed 's/tach [a-z]* --[a-z]*//g' | grep -oE -- '(^|[ ,[(|])--?[a-zA-Z][a-zA-Z0-9-]*' | tr -d ' ,[(|' | sort -u; }
# Options with an entry, ".It Fl p , -pmu Ar name", and all options that the page names.
words() { sed 's/ Ns [^F]*/ /g; s/ Fl / /g; s/Ar [^ ]*//g' | tr -s ' ,' '\n' | sed -n 's/^-\{0,1\}[a-zA-Z]/-&/p' | sort -u; }
entries() { sed -n 's/^\.It Fl//p' "man/tach-$1.1" | words; }
named() { sed -n 's/^\.\(It \|Op \|\)Fl//p' "man/tach-$1.1" | words; }
for c in $commands; do
	[ "$c" = version ] && continue
	for o in $(comm -23 <(in_help "$c") <(named "$c")); do echo "# man/tach-$c.1 lacks $o"; rc=1; done
	for o in $(comm -13 <(in_help "$c") <(entries "$c")); do echo "# tach $c --help lacks $o"; rc=1; done
	cmp -s <("$tach" "$c" --help) <("$tach" help "$c") || { echo "# tach help $c"; rc=1; }
	"$tach" "$c" --no-such-option >/dev/null 2>&1 </dev/null; [ $? -ge 2 ] || { echo "# tach $c takes anything"; rc=1; }
done
cmp -s <("$tach" version) <("$tach" --version) || rc=1
result documented

for arguments in help 'help run' --help version 'encode --help'; do
	"$tach" $arguments >/dev/full 2>/dev/null && { echo "# tach $arguments: status 0 though nothing was printed"; rc=1; }
done
result printed

# shellcheck disable=SC1091
source tools/completion/tach.bash
complete_() { # WORD... -> COMPREPLY
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	_tach "$1" "${@: -1}" "${@: -2:1}"
}
wants() { # COUNT-OR-WORD, for the words before it
	local want=$1; shift
	complete_ "$tach" "$@"
	printf '%s\n' ${COMPREPLY[@]+"${COMPREPLY[@]}"} | grep -qxF -- "$want" || { echo "# no $want after: $*; but: ${COMPREPLY[*]:0:9}"; rc=1; }
}
for c in $commands help; do wants "$c" ''; done
for c in $commands; do
	[ "$c" = version ] && continue
	for o in $(in_help "$c" | grep -- '^--'); do wants "$o" "$c" "${o:0:4}"; done
done
wants run r
wants json run --format j
# Bash makes three words of --format=csv.
wants csv run --format = c
wants csv report --format =
wants true run --format = csv tru
wants skl encode -p sk
wants $$ report -p ''
wants $$ run -p ''
wants true run -I 1 tru
wants $$ top ''
wants --sort top --so
wants eval derived e
wants page history p
TACH_PMU=skl wants INST_RETIRED encode INST_
TACH_PMU=skl wants cycles,INST_RETIRED run -e cycles,INST_
wants true run tru
complete_ "$tach" run -e cycles grep --per; [ ${#COMPREPLY[@]} = 0 ] || { echo "# a program's options are its own"; rc=1; }
result completed
exit $failed
