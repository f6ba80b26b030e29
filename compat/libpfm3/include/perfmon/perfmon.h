/* SPDX-License-Identifier: MIT */
/*
 * The types and calls of perfmon2 and perfmon3 that libpfm-3.10 declares next to its own.
 * Programs that use them compile and link, and can report the missing system calls. No Linux
 * from kernel.org ever had these system calls, so each function here returns -1 with errno
 * ENOSYS.
 */
#ifndef PERFMON_PERFMON_H
#define PERFMON_PERFMON_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 256 hardware and 64 software registers. */
#define PFM_ARCH_MAX_PMCS (256 + 64)
#define PFM_ARCH_MAX_PMDS (256 + 64)
#define PFM_MAX_PMCS	  PFM_ARCH_MAX_PMCS
#define PFM_MAX_PMDS	  PFM_ARCH_MAX_PMDS

/* Number of words of a register set. */
#define PFM_BPL	      (sizeof(uint64_t) << 3)
#define PFM_BVSIZE(x) (((x) + PFM_BPL - 1) / PFM_BPL)
#define PFM_PMC_BV    PFM_BVSIZE(PFM_MAX_PMCS)
#define PFM_PMD_BV    PFM_BVSIZE(PFM_MAX_PMDS)

/* Flags of registers, event sets and contexts. */
#define PFM_REGFL_OVFL_NOTIFY 0x1 /* send a message at each overflow */
#define PFM_REGFL_RANDOM      0x2 /* use random periods */
#define PFM_REGFL_NO_EMUL64   0x4 /* do not extend the hardware counter to 64 bits */
#define PFM_SETFL_OVFL_SWITCH 0x01
#define PFM_SETFL_TIME_SWITCH 0x02
#define PFM_FL_NOTIFY_BLOCK   0x01 /* the thread waits after sending a message */
#define PFM_FL_SYSTEM_WIDE    0x02
#define PFM_FL_SMPL_FMT	      0x04 /* the context has a sampling format */
#define PFM_FL_OVFL_NO_MSG    0x80

typedef int os_err_t; /* -1: errno says why */

/* ---- perfmon3 ---- */
#define PFM_RW_PMD	1
#define PFM_RW_PMC	2
#define PFM_RW_PMD_ATTR 3
#define PFM_NO_TARGET	(-1)
#define PFM_ST_START	0x1
#define PFM_ST_STOP	0x2
#define PFM_ST_RESTART	0x3

typedef struct {
	uint64_t sif_avail_pmcs[PFM_PMC_BV];
	uint64_t sif_avail_pmds[PFM_PMD_BV];
	uint64_t sif_reserved[4];
} pfarg_sinfo_t;

typedef struct {
	uint16_t reg_num, reg_set;
	uint32_t reg_flags;
	uint64_t reg_value;
} pfarg_pmr_t;

typedef struct {
	uint16_t reg_num, reg_set;
	uint32_t reg_flags;
	uint64_t reg_value;
	/* the register's new value after an overflow that sends a message, and after any other
	 * overflow */
	uint64_t reg_long_reset, reg_short_reset;
	uint64_t reg_random_mask;
	uint64_t reg_smpl_pmds[PFM_PMD_BV];
	uint64_t reg_reset_pmds[PFM_PMD_BV];
	uint64_t reg_ovfl_swcnt;
	uint64_t reg_smpl_eventid;
	uint64_t reg_last_value;
	uint64_t reg_reserved[8];
} pfarg_pmd_attr_t;

typedef struct {
	uint16_t set_id, set_reserved1;
	uint32_t set_flags;
	uint64_t set_timeout; /* ns */
	uint64_t reserved[6];
} pfarg_set_desc_t;

typedef struct {
	uint16_t set_id, set_reserved1;
	uint32_t set_reserved2;
	uint64_t set_ovfl_pmds[PFM_PMD_BV];
	uint64_t set_runs, set_timeout, set_duration;
	uint64_t set_reserved3[4];
} pfarg_set_info_t;

extern os_err_t pfm_create(int flags, pfarg_sinfo_t *sif, ...);
extern os_err_t pfm_write(int fd, int flags, int type, void *reg, size_t n);
extern os_err_t pfm_read(int fd, int flags, int type, void *reg, size_t n);
extern os_err_t pfm_set_state(int fd, int flags, int state);
extern os_err_t pfm_create_sets(int fd, int flags, pfarg_set_desc_t *s, size_t sz);
extern os_err_t pfm_getinfo_sets(int fd, int flags, pfarg_set_info_t *s, size_t sz);
extern os_err_t pfm_attach(int fd, int flags, int target);

/* ---- perfmon2 ---- */
typedef struct {
	uint32_t ctx_flags, ctx_reserved1;
	uint64_t ctx_reserved3[7];
} pfarg_ctx_t;

typedef struct {
	uint16_t reg_num, reg_set;
	uint32_t reg_flags;
	uint64_t reg_value;
	uint64_t reg_reserved2[4];
} pfarg_pmc_t;

typedef struct {
	uint16_t reg_num, reg_set;
	uint32_t reg_flags;
	uint64_t reg_value;
	uint64_t reg_long_reset, reg_short_reset;
	uint64_t reg_last_reset_val;
	uint64_t reg_ovfl_switch_cnt;
	uint64_t reg_reset_pmds[PFM_PMD_BV];
	uint64_t reg_smpl_pmds[PFM_PMD_BV];
	uint64_t reg_smpl_eventid;
	uint64_t reg_random_mask;
	uint32_t reg_random_seed;
	uint32_t reg_reserved2[7];
} pfarg_pmd_t;

typedef struct {
	uint16_t start_set, start_reserved1;
	uint32_t start_reserved2;
	uint64_t reserved3[3];
} pfarg_start_t;

typedef struct {
	uint32_t load_pid; /* number of the thread, or of the processor */
	uint16_t load_set, load_reserved1;
	uint64_t load_reserved2[3];
} pfarg_load_t;

typedef struct {
	uint16_t set_id, set_reserved1;
	uint32_t set_flags;
	uint64_t set_timeout; /* ns */
	uint64_t reserved[6];
} pfarg_setdesc_t;

typedef struct {
	uint16_t set_id, set_reserved1;
	uint32_t set_flags;
	uint64_t set_ovfl_pmds[PFM_PMD_BV];
	uint64_t set_runs, set_timeout, set_act_duration;
	uint64_t set_avail_pmcs[PFM_PMC_BV];
	uint64_t set_avail_pmds[PFM_PMD_BV];
	uint64_t set_reserved3[6];
} pfarg_setinfo_t;

extern os_err_t pfm_create_context(pfarg_ctx_t *ctx, char *smpl_name, void *smpl_arg,
				   size_t smpl_size);
extern os_err_t pfm_write_pmcs(int fd, pfarg_pmc_t *pmcs, int count);
extern os_err_t pfm_write_pmds(int fd, pfarg_pmd_t *pmds, int count);
extern os_err_t pfm_read_pmds(int fd, pfarg_pmd_t *pmds, int count);
extern os_err_t pfm_load_context(int fd, pfarg_load_t *load);
extern os_err_t pfm_start(int fd, pfarg_start_t *start);
extern os_err_t pfm_stop(int fd);
extern os_err_t pfm_restart(int fd);
extern os_err_t pfm_create_evtsets(int fd, pfarg_setdesc_t *setd, int count);
extern os_err_t pfm_getinfo_evtsets(int fd, pfarg_setinfo_t *info, int count);
extern os_err_t pfm_delete_evtsets(int fd, pfarg_setdesc_t *setd, int count);
extern os_err_t pfm_unload_context(int fd);

/* ---- messages of both ---- */
#define PFM_MSG_OVFL 1
#define PFM_MSG_END  2 /* the thread has ended */

typedef struct {
	uint32_t msg_type, msg_ovfl_pid;
	uint16_t msg_active_set, msg_ovfl_cpu;
	uint32_t msg_ovfl_tid;
	uint64_t msg_ovfl_ip;
	uint64_t msg_ovfl_pmds[PFM_PMD_BV];
} pfarg_ovfl_msg_t;

typedef union {
	uint32_t type;
	pfarg_ovfl_msg_t pfm_ovfl_msg;
} pfarg_msg_t;

#define PFM_VERSION_MAJOR(x) (((x) >> 16) & 0xffff)
#define PFM_VERSION_MINOR(x) ((x)&0xffff)

#ifdef __cplusplus
}
#endif
#endif
