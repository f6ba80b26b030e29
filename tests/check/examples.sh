#!/usr/bin/env bash
# The examples of the manual's pages in section 3 compile as they stand, in C11 and as a function's
# body where they are statements.
set -u
cd "$(dirname "$0")/../.."
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
for page in man/*.3; do
	# Not what is in other languages: definition files have an Ed without -offset.
	sed -n '/^\.Bd -literal -offset/,/^\.Ed/p' "$page" | grep -v '^\.[BE]d' |
		sed 's/\\en/\\n/g; s/\\e/\\/g; s/^\t\.\.\.$/\t(void)in;/' >"$work/example"
	[ -s "$work/example" ] || continue
	{
		printf '#include <stdio.h>\n#include <tach.h>\n'
		printf 'struct input;\nvoid work(void);\nvoid other(struct input *in);\n'
		grep '^#include' "$work/example"
		grep -v '^#include' "$work/example" >"$work/body"
		if grep -qE '^(TACH_BENCH|void )' "$work/body"; then
			sed 's/^void parse/void parse(struct input *in);\n&/' "$work/body"
		else
			# What it speaks of and does not say: its surroundings.
			printf 'void parse(struct input *in);\nvoid example(struct tach_reader *reader, struct input *input);\n'
			printf 'void example(struct tach_reader *reader, struct input *input)\n{\n(void)reader, (void)input;\n'
			cat "$work/body"
			printf '}\n'
		fi
	} >"$work/${page##*/}.c"
	gcc -std=gnu11 -Wall -Wextra -Werror -Iinclude -fsyntax-only "$work/${page##*/}.c" ||
		{ echo "# the example of $page does not compile"; failed=1; }
	n=$((${n:-0} + 1))
done
[ "${n:-0}" -ge 7 ] || { echo "# ${n:-0} examples were found, not 7"; failed=1; }
if [ $failed = 0 ]; then echo "ok examples"; else echo "not ok examples"; fi
exit $failed
