#!/usr/bin/env bash
# headers.sh [COMPILER...]: every public header compiles alone, as C11 or as C++, without a warning
# (those of tach/arch are included by tach/arch.h only, which chooses one). Without arguments: with
# gcc, clang, g++ and clang++.
set -u
cd "$(dirname "$0")/../.."
failed=0
for compiler in "${@:-gcc clang g++ clang++}"; do for c in $compiler; do
	command -v "$c" >/dev/null || { echo "skip headers $c: $c is not installed"; continue; }
	case $c in
	*++) language=c++ hpp=include/tach.hpp standards='c++11 c++20' flags='-Wall -Wextra -Wpedantic -Wundef -Wshadow -Wconversion -Werror';;
	*) language=c hpp= standards=c11 flags='-Wall -Wextra -Wpedantic -Wundef -Wshadow -Wconversion -Wstrict-prototypes -Werror';;
	esac
	bad=0
	for standard in $standards; do for h in include/*.h include/tach/*.h $hpp; do
		# The declaration: a header of macros alone would make an empty translation unit.
		# shellcheck disable=SC2086
		printf '#include <%s>\nextern int unit;\n' "${h#include/}" |
			$c -x $language -std=$standard $flags -Iinclude -fsyntax-only - && continue
		echo "# $h does not compile alone with $c -std=$standard"
		bad=1
	done; done
	if [ $bad = 0 ]; then echo "ok headers $c"; else echo "not ok headers $c"; failed=1; fi
done; done
exit $failed
