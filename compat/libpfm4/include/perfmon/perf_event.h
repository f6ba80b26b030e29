/* SPDX-License-Identifier: MIT */
/*
 * The kernel's header in the form that libpfm-4's clients expect: fields have <stdint.h> types,
 * which print with PRIu64; older names exist; the headers that clients need are included; and
 * there is a wrapper for the system call, which the C library does not have.
 */
#ifndef __PERFMON_PERF_EVENT_H__
#define __PERFMON_PERF_EVENT_H__

#ifdef SWIG /* SWIG reads only this file, and its wrapper is compiled with this file too */

#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* The kernel's layout; SWIG needs names for unions, and these are libpfm-4's. */
typedef struct perf_event_attr {
	uint32_t type, size;
	uint64_t config;
	union {
		uint64_t sample_period, sample_freq;
	} sample;
	uint64_t sample_type, read_format;
	uint64_t disabled : 1, inherit : 1, pinned : 1, exclusive : 1, exclude_user : 1,
		exclude_kernel : 1, exclude_hv : 1, exclude_idle : 1, mmap : 1, comm : 1,
		freq : 1, inherit_stat : 1, enable_on_exec : 1, task : 1, watermark : 1,
		precise_ip : 2, mmap_data : 1, sample_id_all : 1, exclude_host : 1,
		exclude_guest : 1, exclude_callchain_kernel : 1, exclude_callchain_user : 1,
		mmap2 : 1, comm_exec : 1, use_clockid : 1, context_switch : 1,
		write_backward : 1, namespaces : 1, ksymbol : 1, bpf_event : 1,
		aux_output : 1, cgroup : 1, text_poke : 1, build_id : 1, inherit_thread : 1,
		remove_on_exec : 1, sigtrap : 1, __reserved_1 : 26;
	union {
		uint32_t wakeup_events, wakeup_watermark;
	} wakeup;
	uint32_t bp_type;
	union {
		uint64_t bp_addr, config1;
	} bpa;
	union {
		uint64_t bp_len, config2;
	} bpb;
	uint64_t branch_sample_type, sample_regs_user;
	uint32_t sample_stack_user;
	int32_t clockid;
	uint64_t sample_regs_intr;
	uint32_t aux_watermark;
	uint16_t sample_max_stack, __reserved_2;
	uint32_t aux_sample_size, __reserved_3;
	uint64_t sig_data;
} perf_event_attr_t;

enum {
	PERF_TYPE_HARDWARE,
	PERF_TYPE_SOFTWARE,
	PERF_TYPE_TRACEPOINT,
	PERF_TYPE_HW_CACHE,
	PERF_TYPE_RAW,
	PERF_TYPE_BREAKPOINT
};
enum {
	PERF_FORMAT_TOTAL_TIME_ENABLED = 1,
	PERF_FORMAT_TOTAL_TIME_RUNNING = 2,
	PERF_FORMAT_ID = 4,
	PERF_FORMAT_GROUP = 8
};

#else

/*
 * The headers that <linux/perf_event.h> includes come first: only its own structs must change.
 */
#include <stdint.h>
#include <asm/byteorder.h>
#include <linux/ioctl.h>
#include <linux/types.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define __u8  uint8_t
#define __u16 uint16_t
#define __u32 uint32_t
#define __u64 uint64_t
#define __s32 int32_t
#define __s64 int64_t
#include <linux/perf_event.h>
#undef __u8
#undef __u16
#undef __u32
#undef __u64
#undef __s32
#undef __s64

typedef struct perf_event_attr perf_event_attr_t;

/* The field's name until Linux 3.12. */
#define cap_usr_rdpmc cap_user_rdpmc

#endif

static inline int perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu,
				  int group_fd, unsigned long flags)
{
	return (int)syscall(__NR_perf_event_open, attr, pid, cpu, group_fd, flags);
}

#endif
