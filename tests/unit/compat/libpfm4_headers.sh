#!/usr/bin/env bash
# libpfm-4's headers in typical use: the headers include those that clients rely on, fields print with the formats of
# <inttypes.h>, old names exist, and C and C++ accept the headers alone and with the kernel's and our headers. SWIG,
# which follows no #include, accepts the headers too.
set -u
cd "$(dirname "$0")/../../.."
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
say() { if [ "$2" = 0 ]; then echo "ok $1"; else sed 's/^/# /' "$work/said" | head -20; echo "not ok $1"; failed=1; fi; }

client() { # INCLUDES-BEFORE: what google-benchmark, PAPI, rtop and the examples do with these headers
	cat <<CODE
#include <inttypes.h>
#include <stdio.h>
$1
#include <perfmon/pfmlib_perf_event.h>
int client(int fd, perf_event_attr_t *attr, const struct perf_event_mmap_page *page);
int client(int fd, perf_event_attr_t *attr, const struct perf_event_mmap_page *page)
{
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	prctl(PR_TASK_PERF_EVENTS_DISABLE);
	${2:-}printf("%" PRIu64 " %" PRIx64 " %" PRIu32, attr->config, attr->sample_period, attr->type);
	${2:-}printf("%" PRIu64 " %" PRId64 " %" PRIu32, page->time_enabled, page->offset, page->index);
	return (int)page->cap_usr_rdpmc + perf_event_open(attr, 0, -1, -1, 0);
}
CODE
}
compile() { "$@" -Wall -Wextra -Werror -Icompat/libpfm4/include -Iinclude -fsyntax-only >"$work/said" 2>&1; }

client '' >"$work/client.c"
compile "${CC:-gcc}" -std=gnu99 "$work/client.c"; say c $?
compile "${CC:-gcc}" -std=gnu11 -pedantic "$work/client.c"; say c11_pedantic $?
cp "$work/client.c" "$work/client.cc"
compile "${CXX:-g++}" -std=c++17 "$work/client.cc"; say cxx $?
# A program that includes the kernel's header first gets the kernel's types.
for before in linux/perf_event.h tach.h; do
	client "#include <$before>" // >"$work/client.c"
	compile "${CC:-gcc}" -std=gnu11 "$work/client.c"; say "behind_${before//[\/.]/_}" $?
done
{ client ''; echo '#include <tach.h>'; } >"$work/client.c"
compile "${CC:-gcc}" -std=gnu11 "$work/client.c"; say before_tach $?

if ! command -v swig >/dev/null; then
	echo 'skip swig: swig is not installed'
	exit $failed
fi
cat >"$work/perfmon_int.i" <<'CODE'
%module perfmon_int
%include <stdint.i>
typedef int pid_t;
%include <perfmon/perf_event.h>
%include <perfmon/pfmlib.h>
%include <perfmon/pfmlib_perf_event.h>
CODE
swig -python -Icompat/libpfm4/include -o "$work/wrap.c" "$work/perfmon_int.i" >"$work/said" 2>&1
members=$(grep -o '^SWIGINTERN PyObject \*_wrap_perf_event_attr_t_[a-z0-9_]*_set' "$work/wrap.c" 2>/dev/null |
	sed 's/.*_attr_t_//; s/_set$//')
# Each member that SWIG saw belongs to the struct in the wrapper, at the kernel's offset.
{
	echo '#define SWIG'
	echo '#include <perfmon/perf_event.h>'
	echo 'void all(perf_event_attr_t *a); void all(perf_event_attr_t *a) {'
	for m in $members; do echo "(void)a->$m;"; done
	echo '}'
} >"$work/members.c"
layout() { # C that fills an attr; prints its bytes
	cat <<'CODE'
#include <stdio.h>
#include <string.h>
#include <perfmon/perf_event.h>
int main(void)
{
	union { perf_event_attr_t a; unsigned char byte[512]; } u;
	memset(&u, 0, sizeof u);
	u.a.type = 1, u.a.size = 2, u.a.config = 3, u.a.SAMPLE sample_period = 4, u.a.sample_type = 5, u.a.read_format = 6;
	u.a.pinned = 1, u.a.exclude_hv = 1, u.a.freq = 1, u.a.precise_ip = 2, u.a.exclude_guest = 1;
	u.a.exclude_callchain_user = 1, u.a.WAKEUP wakeup_events = 7, u.a.bp_type = 8, u.a.BPA config1 = 9;
	u.a.BPB config2 = 10, u.a.branch_sample_type = 11, u.a.sample_regs_user = 12, u.a.sample_stack_user = 13;
	u.a.clockid = 14, u.a.sample_regs_intr = 15, u.a.aux_watermark = 16, u.a.sample_max_stack = 17;
	for (int i = 0; i < 112; i++)
		printf("%02x", u.byte[i]);
	return puts("") < 0;
}
CODE
}
{ echo '#define SWIG'; layout; } >"$work/named.c"
layout >"$work/plain.c"
bytes() { "${CC:-gcc}" -std=gnu11 -Icompat/libpfm4/include "${@:2}" -o "$work/client" "$1" >"$work/said" 2>&1 && "$work/client"; }
named=$(bytes "$work/named.c" -DSAMPLE=sample. -DWAKEUP=wakeup. -DBPA=bpa. -DBPB=bpb.) &&
	[ "$named" = "$(bytes "$work/plain.c" -DSAMPLE= -DWAKEUP= -DBPA= -DBPB=)" ]
say swig_layout $?
[ "$(wc -w <<<"$members")" -gt 30 ] && grep -q '_wrap_perf_event_open' "$work/wrap.c" &&
	grep -q '_wrap_pfm_perf_encode_arg_t_attr_set' "$work/wrap.c" && compile "${CC:-gcc}" "$work/members.c"
say swig $?
exit $failed
