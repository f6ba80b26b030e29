#!/usr/bin/env bash
# libpfm.a: a program links it without and with libtach.a, dynamically and statically, and it exports only libpfm-4's
# names; make install has it.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
say() { if [ "$2" = 0 ]; then echo "ok libpfm_a_$1"; else sed 's/^/# /' "$work/said" | head -20; echo "not ok libpfm_a_$1"; failed=1; fi; }

nm -g --defined-only "$B/libpfm4/libpfm.a" | sed -n 's/.* [A-Za-z] //p' | sort >"$work/has"
sed -n 's/^\t\(pfm_[a-z_]*\);$/\1/p' compat/libpfm4/libpfm.map | sort | diff - "$work/has" >"$work/said"
say names $?

cat >"$work/client.c" <<'SOURCE'
#include <stdio.h>
#include <perfmon/pfmlib.h>
#ifdef BOTH
#include <tach.h>
#endif
int main(void)
{
	uint64_t code = 0;
	pfm_pmu_encode_arg_t arg = {.codes = &code, .count = 1, .size = sizeof arg};

	if (pfm_initialize() != PFM_SUCCESS ||
	    pfm_get_os_event_encoding("skl::INST_RETIRED:ANY_P", PFM_PLM3, PFM_OS_NONE, &arg) != PFM_SUCCESS)
		return 1;
#ifdef BOTH
	if (tach_pmu_find("skl") < 0)
		return 2;
#endif
	printf("%llx\n", (unsigned long long)code);
	return 0;
}
SOURCE
san=$(grep -o -e '-fsanitize=[^ ]*' "$B/flags" | sort -u)
for way in '' '-DBOTH' '-static -DBOTH'; do
	[ -z "$san" ] || [ "${way#-static}" = "$way" ] || continue
	both= ; [ "${way%BOTH}" = "$way" ] || both=$B/libtach.a
	# shellcheck disable=SC2086 # lists of words
	{ gcc -O1 -Wall -Icompat/libpfm4/include -Iinclude $san $way -o "$work/client" "$work/client.c" \
		"$B/libpfm4/libpfm.a" $both -lm -lpthread -ldl 2>&1 &&
		[ "$(LIBPFM_ENCODE_INACTIVE=1 "$work/client")" = 5100c0 ]; } >"$work/said"
	say "links${way// /}" $?
done

make -s install B="$B" DESTDIR="$work" PREFIX=/usr LIBDIR=/usr/lib >"$work/said" 2>&1 && cmp "$B/libpfm4/libpfm.a" "$work/usr/lib/tach/libpfm.a" >>"$work/said" 2>&1
say installed $?
exit $failed
