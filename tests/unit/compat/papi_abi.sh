#!/usr/bin/env bash
# A compiled program gets the same size of each struct, offset of each field and value of each constant from our
# header as from PAPI's. Our library also has all functions of PAPI's library.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
say() { if [ "$2" = 0 ]; then echo "ok papi_abi/$1"; else head -20 "$work/said" | sed 's/^/# /'; echo "not ok papi_abi/$1"; failed=1; fi; }

for flags in '-std=c11 -pedantic' '-std=gnu99'; do
	echo '#include <papi.h>' >"$work/one.c"
	# shellcheck disable=SC2086
	"${CC:-gcc}" $flags -Wall -Wextra -Werror -Icompat/papi/include -fsyntax-only "$work/one.c" 2>"$work/said" ||
		{ say compiles 1; exit 1; }
done
cp "$work/one.c" "$work/one.cc"
"${CXX:-g++}" -Wall -Wextra -Werror -Icompat/papi/include -fsyntax-only "$work/one.cc" 2>"$work/said"
say compiles $?

theirs=/usr/include/papi.h
if ! grep -q 'PAPI_VERSION_NUMBER(7,0,0,0)' "$theirs" 2>/dev/null; then
	echo "skip papi_abi/same: libpapi-dev 7.0.0 is not installed"
	exit $failed
fi

# Fields of each struct, taken from our header: "type field". Constants are the macros of PAPI's header that are
# numbers.
fields() {
	sed 's|/\*.*\*/||' compat/papi/include/papi_structs.h | awk '
		/^typedef (struct|union)/ { n = 0; inside = 1; next }
		inside && /^}/ { gsub(/[};]/, ""); for (i = 0; i < n; i++) print $1, field[i]; print $1, "-"; inside = 0; next }
		inside { line = line $0 }
		inside && /;/ { gsub(/\[[^]]*\]/, "", line); if (line ~ /:/) { line = ""; next }
			sub(/;.*/, "", line); k = split(line, part, ",")
			for (i = 1; i <= k; i++) { m = split(part[i], word, /[ \t*]+/); field[n++] = word[m] }
			line = "" }'
}
program() {
	echo '#include <papi.h>'
	echo '#include <stdio.h>'
	echo '#include <stddef.h>'
	echo 'int main(void) {'
	fields | while read -r type field; do
		if [ "$field" = - ]; then echo "printf(\"$type %zu\\n\", sizeof($type));"
		else echo "printf(\"$type.$field %zu %zu\\n\", offsetof($type, $field), sizeof(((${type} *)0)->$field));"; fi
	done
	sed -nE 's/^[ \t]*#define[ \t]+(PAPIF?_[A-Za-z0-9_]+)[ \t]+[^ \t(].*/\1/p; s/^[ \t]*#define[ \t]+(PAPI_[A-Za-z0-9_]+)[ \t]+\(.*/\1/p' \
		"$theirs" /usr/include/papiStdEventDefs.h | grep -vxE 'PAPI_(COMPONENT_INDEX|descr_error)' | sort -u |
		sed 's/.*/printf("& %lld\\n", (long long)(&));/'
	grep -oE 'PAPI_(DEV_ATTR|DEV_TYPE|ENUM|PRESET_ENUM|NTV_ENUM|LOCATION|DATATYPE|VALUETYPE|TIMESCOPE|UPDATETYPE)_[A-Z0-9_]+\b' "$theirs" |
		grep -vE '_$|_MASK$|PAPI_ENUM_ALL' | sort -u | sed 's/.*/printf("& %d\\n", (int)&);/'
	echo 'PAPI_component_info_t c = {.inherit = 1, .cpu = 1, .fast_counter_read = 1, .hardware_intr = 1};'
	echo 'const unsigned char *b = (const unsigned char *)&c;'
	echo 'for (size_t i = 0; i < sizeof c; i++) if (b[i]) printf("bit %zu %d\n", i, b[i]);'
	echo 'return 0; }'
}
program >"$work/abi.c"
"${CC:-gcc}" -w -o "$work/their" "$work/abi.c" 2>"$work/said" && "${CC:-gcc}" -w -Icompat/papi/include -o "$work/our" "$work/abi.c" 2>"$work/said" &&
	"$work/their" >"$work/their.out" && "$work/our" >"$work/our.out" && [ "$(grep -c . "$work/our.out")" -gt 500 ] &&
	diff "$work/their.out" "$work/our.out" >"$work/said"
say same $?

library=$(ldconfig -p | sed -n 's/.*libpapi\.so\.7\.0 (.*=> //p' | head -n 1)
functions() { nm -D --defined-only "$1" | sed -nE 's/.* T (PAPI_[A-Za-z0-9_]+)$/\1/p' | sort -u; }
if [ -z "$library" ]; then
	echo "skip papi_abi/functions: libpapi7.0 is not installed"
else
	# Two more: PAPI 7 has these functions with names that it does not export.
	diff <(functions "$library") <(functions "$B/papi/libpapi.so.7.0" | grep -vxE 'PAPI_hl_(set_events|print_output)') >"$work/said" &&
		[ "$(functions "$library" | wc -l)" = 89 ]
	say functions $?
	# Names for Fortran, each in four forms.
	fortran() { nm -D --defined-only "$1" | sed -nE 's/.* T ((papif|PAPIF)_[A-Za-z0-9_]+)$/\1/p' | sort -u; }
	diff <(fortran "$library") <(fortran "$B/papi/libpapi.so.7.0") >"$work/said" && [ "$(fortran "$library" | wc -l)" = 292 ]
	say fortran $?
fi
# A program of PAPI 7.1 requests this soname and version; a program of 7.2 would expect other structs.
cat >"$work/newer.c" <<'SOURCE'
#include <papi.h>
int main(void)
{
	int wrong = PAPI_VERSION_NUMBER(7, 2, 0, 0), right = PAPI_VERSION_NUMBER(7, 1, 0, 0);

	return PAPI_library_init(wrong) != PAPI_EINVAL || PAPI_library_init(right) != right ||
	       PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT;
}
SOURCE
# shellcheck disable=SC2046
"${CC:-gcc}" $(grep -o -e '-fsanitize=[^ ]*' "$B/flags" | sort -u) -Icompat/papi/include -o "$work/newer" "$work/newer.c" "$B/papi/libpapi.so.7.1" \
	-Wl,-rpath,"$(realpath "$B/papi")" >"$work/said" 2>&1 && "$work/newer" >"$work/said" 2>&1
say newer $?
exit $failed
