#!/usr/bin/env bash
# PAPI's names for Fortran: a Fortran program counts with each compiler's convention for names, and with each of the
# three headers; the constants equal those of PAPI's own headers.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B;; esac
command -v gfortran >/dev/null || { echo "skip papi_fortran: gfortran is not installed"; exit 77; }
[ "$("${CC:-gcc}" -dumpmachine)" = "$(gfortran -dumpmachine)" ] || { echo "skip papi_fortran: gfortran for this architecture is not installed"; exit 77; }
san=$(grep -o -e '-fsanitize=[^ ]*' "$B/flags" | sort -u)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset "${!PAPI_@}" "${!TACH_@}" 2>/dev/null
failed=0
say() { if [ "$2" = 0 ]; then echo "ok papi_fortran/$1"; else sed 's/^/# /' "$work/said" | head -20; echo "not ok papi_fortran/$1"; failed=1; fi; }

cat >"$work/count.F" <<'SOURCE'
      program count
#ifdef PREPROCESSED
#include "fpapi.h"
      integer i
#else
      implicit none
      include 'f77papi.h'
      integer i
#endif
      integer set, check, code, status, number, events(4)
      integer*8 values(4), cycles, pages(100000)
      character*(PAPI_MAX_STR_LEN) name
      character*8 short
      real a, b, rate
      integer*8 n

      check = PAPI_VER_CURRENT
      call papif_library_init(check)
      if (check .ne. PAPI_VER_CURRENT) stop 1
      call papif_get_real_nsec(values(1))
      if (values(1) .le. 0) stop 2
      set = PAPI_NULL
      call papif_create_eventset(set, check)
      if (check .ne. PAPI_OK) stop 3
      call papif_add_named_event(set, 'perf::PAGE-FAULTS  ', check)
      if (check .ne. PAPI_OK) stop 77
      call papif_add_named_event(set, 'NO-SUCH-EVENT', check)
      if (check .eq. PAPI_OK) stop 4
      call papif_event_name_to_code('perf::PAGE-FAULTS', code, check)
      if (check .ne. PAPI_OK) stop 5
      name = 'x'
      call papif_event_code_to_name(code, name, check)
      if (name .ne. 'perf::PAGE-FAULTS') stop 6
      call papif_event_code_to_name(code, short, check)
      if (short .ne. 'perf::PA') stop 7
      number = 4
      call papif_list_events(set, events, number, check)
      if (number .ne. 1 .or. events(1) .ne. code) stop 8
      call papif_start(set, check)
      if (check .ne. PAPI_OK) stop 9
      call papif_start(set, check)
      if (check .ne. PAPI_EISRUN) stop 10
      call papif_state(set, status, check)
      if (status .ne. PAPI_RUNNING) stop 11
      do i = 1, 100000
        pages(i) = i
      end do
      call papif_read_ts(set, values, cycles, check)
      if (check .ne. PAPI_OK .or. values(1) .lt. 100) stop 12
      if (cycles .le. 0 .or. pages(7) .ne. 7) stop 13
      call papif_stop(set, values, check)
      if (check .ne. PAPI_OK) stop 14
      call papif_cleanup_eventset(set, check)
      call papif_destroy_eventset(set, check)
      if (check .ne. PAPI_OK .or. set .ne. PAPI_NULL) stop 15
      call papif_flops_rate(PAPI_TOT_INS, a, b, n, rate, check)
      if (check .ne. PAPI_ENOEVNT) stop 16
      call papif_hl_region_begin('a region', check)
      if (check .ne. PAPI_OK) stop 17
      call papif_hl_region_end('a region', check)
      if (check .ne. PAPI_OK) stop 18
      call papif_shutdown
      end
SOURCE
compile() { # OUTPUT FLAG...
	local to=$1
	shift
	# shellcheck disable=SC2086
	gfortran $san -I"$B/gen/papi" "$@" -o "$to" -L"$B/papi" -lpapi -Wl,-rpath,"$B/papi" >"$work/said" 2>&1
}
for how in "one -fsecond-underscore" "two -fno-underscoring" "three -DPREPROCESSED"; do
	flags=${how#* } name=${how% *}
	rc=0
	compile "$work/$name" -cpp "$flags" "$work/count.F" || rc=1
	nm -u "$work/$name" | grep -o 'papif_start_*' | head -n 1 >>"$work/forms"
	[ $rc != 0 ] || (cd "$work" && PAPI_EVENTS=perf::PAGE-FAULTS "./$name") >"$work/said" 2>&1 || rc=$?
	if [ $rc = 77 ]; then
		echo "skip papi_fortran: no event opens"
		exit 77
	fi
	say "$name" $rc
done
printf 'papif_start__\npapif_start\npapif_start_\n' | diff - "$work/forms" >"$work/said" && grep -q '"a region"' "$work"/papi_hl_output/*
say forms $?
printf 'program p\nimplicit none\ninclude "f90papi.h"\nif (PAPI_TOT_INS /= -2147483598 .or. PAPI_DEV_TYPE_ID__CPU /= 0) stop 1\nend program\n' >"$work/free.f90"
compile "$work/free" "$work/free.f90" && "$work/free"
say free $?

if [ ! -e /usr/include/f90papi.h ]; then
	echo "skip papi_fortran/same: libpapi-dev is not installed"
else
	: >"$work/said"
	for f in fpapi.h f77papi.h f90papi.h; do
		tidy() { grep -vi "^[!c]" "$1" | sed -E 's/ +/ /g; s/ $//' | grep . | sort; }
		comm -23 <(tidy "/usr/include/$f") <(tidy "$B/gen/papi/$f") >>"$work/said"
	done
	[ ! -s "$work/said" ]
	say same $?
fi
exit $failed
