#!/usr/bin/env bash
# For common mistakes the compiler's message uses the words of the API: a second TACH_START of a name in a block, a
# TACH_START that is the whole body of an if, a TACH_STOP without a START, a jump over a START, a name in quotes,
# benchmark settings before the benchmark, NULL for an object, a dropped result. Unusual but correct code compiles
# without a warning.
set -u
cd "$(dirname "$0")/../.."
. tests/check/kept include
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# Expected compiler messages for a function's body: none, or lines with each of the WORDS. case NAME LANGUAGE (c, c++,
# or both) BODY WORDS...
cases() {
	body twice both 'TACH_START(parse); work(); TACH_STOP(parse); TACH_START(parse); work(); TACH_STOP(parse);' \
		'(redeclaration|redefinition) .*TACH_START_of_parse_in_this_block'
	body behind_if c 'if (work()) TACH_START(parse); work(); TACH_STOP(parse);' \
		TACH_START_needs_braces_around_it
	body behind_if c++ 'if (work()) TACH_START(parse); work(); TACH_STOP(parse);' \
		'TACH_START_of_parse_needs_braces_around_it'
	body behind_else c 'if (work()) work(); else TACH_SCOPE(parse);' TACH_START_needs_braces_around_it
	body behind_else c++ 'if (work()) work(); else TACH_SCOPE(parse);' TACH_START_of_parse_needs_braces_around_it
	body stop_alone both 'work(); TACH_STOP(parse);' 'TACH_START_of_parse_in_this_block.* (undeclared|not declared)|undeclared .*TACH_START_of_parse_in_this_block'
	body stop_outside both '{ TACH_START(parse); work(); } TACH_STOP(parse);' 'TACH_START_of_parse_in_this_block'
	body jump both 'switch (work()) { case 1: work(); TACH_START(parse); break; case 2: work(); }' \
		'TACH_START_of_parse_needs_a_block_of_its_own|cannot jump from switch'
	body named_behind_if c 'if (work()) TACH_START_NAMED("x"); work(); TACH_STOP_NAMED();' TACH_START_needs_braces_around_it
	body named_twice both 'TACH_START_NAMED("x"); TACH_START_NAMED("y"); work();' '(redeclaration|redefinition) .*TACH_START_of_NAMED_in_this_block'
	body named_stop both '{ TACH_START_NAMED("x"); work(); } TACH_STOP_NAMED();' 'TACH_START_of_NAMED_in_this_block'
	body named both 'TACH_SCOPE_NAMED("x"); { TACH_START_NAMED("y"); work(); TACH_STOP_NAMED(); } { TACH_SCOPE_NAMED("z"); }'
	body quoted both 'TACH_START("parse"); work();' 'TACH_START_takes_a_name_without_quotes_'
	body stop_quoted both 'TACH_START(parse); work(); TACH_STOP("parse");' 'TACH_STOP_takes_a_name_without_quotes_'
	body bench_setup both '} TACH_BENCH_SETUP(sort) { work(); } TACH_BENCH(sort) { work();' \
		'TACH_BENCH_of_sort_comes_first.* (undeclared|not declared)|undeclared .*TACH_BENCH_of_sort_comes_first'
	body null both 'printf("%d", tach_set_count(NULL));' '[Ww]nonnull'
	body dropped both 'struct tach_set *set; tach_set_create(NULL, &set, NULL);' '[Ww]unused-result'
	body keep both 'struct { unsigned three : 3; double d; } s = {1, 2}; TACH_KEEP(s.three); TACH_KEEP(s.d); TACH_KEEP(s); TACH_KEEP(5); TACH_KEEP(&s);'
	body disabled both 'const char *name = work() ? "a" : "b"; TACH_START_NAMED(name); TACH_START(parse); TACH_STOP(parse); TACH_STOP_NAMED();' '' -DTACH_DISABLE
	body disabled_scope both '} void of(const char *name, int n); void of(const char *name, int n) { TACH_SCOPE_NAMED(name); TACH_SCOPE_NAMED(n ? "a" : "b");' '' -DTACH_DISABLE
	body no_stop both 'TACH_START(parse); work();'
	body stop_twice both 'TACH_START(parse); work(); TACH_STOP(parse); TACH_STOP(parse);'
	body nested both 'TACH_START(parse); { TACH_START(lex); work(); TACH_STOP(lex); } TACH_STOP(parse); { TACH_START(parse); }'
	body braces both 'if (work()) { TACH_START(parse); work(); TACH_STOP(parse); } else { TACH_SCOPE(parse); }'
}
body() { # NAME LANGUAGE BODY [PATTERN [FLAG]]
	local language=c
	case $compiler in *++) language=c++;; esac
	[ "$2" = both ] || [ "$2" = $language ] || return
	printf '#include <stdio.h>\n#include <tach.h>\n#include <tach/bench.h>\nint work(void);\nvoid body(void);\nvoid body(void)\n{\n%s\n}\n' "${3//; /;$'\n'}" |
		"$compiler" -x $language ${5:-} -Wall -Wextra -Iinclude -O1 -c -o /dev/null - >"$work/$compiler.out" 2>&1
	if [ -z "${4:-}" ]; then
		[ ! -s "$work/$compiler.out" ] || { echo "# $compiler, $1: not without a word"; sed 's/^/#    /' "$work/$compiler.out"; bad=1; }
	# Users look at the first line that contains one of tach's names or a warning's option.
	elif ! grep -m1 -E 'TACH_(START|STOP|BENCH)_(of|needs|takes)|cannot jump|\[-W' "$work/$compiler.out" | grep -qE "$4"; then
		echo "# $compiler, $1: does not say $4"
		head -n 5 "$work/$compiler.out" | sed 's/^/#    /'
		bad=1
	fi
}
failed=0
for compiler in gcc g++ clang clang++; do
	command -v $compiler >/dev/null || { echo "skip misuse $compiler: $compiler is not installed"; continue; }
	bad=0
	cases
	if [ $bad = 0 ]; then echo "ok misuse $compiler"; else echo "not ok misuse $compiler"; failed=1; fi
done
exit $failed
