/* SPDX-License-Identifier: MIT */
/* perfmon2's and perfmon3's system calls, which this kernel does not have. */
#include <errno.h>
#include <perfmon/perfmon.h>

/* Stubs do not use their arguments. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define ABSENT(...)                                                                            \
	os_err_t __VA_ARGS__                                                                   \
	{                                                                                      \
		errno = ENOSYS;                                                                \
		return -1;                                                                     \
	}

ABSENT(pfm_create(int flags, pfarg_sinfo_t *sif, ...))
ABSENT(pfm_write(int fd, int flags, int type, void *reg, size_t n))
ABSENT(pfm_read(int fd, int flags, int type, void *reg, size_t n))
ABSENT(pfm_set_state(int fd, int flags, int state))
ABSENT(pfm_create_sets(int fd, int flags, pfarg_set_desc_t *s, size_t sz))
ABSENT(pfm_getinfo_sets(int fd, int flags, pfarg_set_info_t *s, size_t sz))
ABSENT(pfm_attach(int fd, int flags, int target))
ABSENT(pfm_create_context(pfarg_ctx_t *ctx, char *name, void *arg, size_t size))
ABSENT(pfm_write_pmcs(int fd, pfarg_pmc_t *pmcs, int count))
ABSENT(pfm_write_pmds(int fd, pfarg_pmd_t *pmds, int count))
ABSENT(pfm_read_pmds(int fd, pfarg_pmd_t *pmds, int count))
ABSENT(pfm_load_context(int fd, pfarg_load_t *load))
ABSENT(pfm_start(int fd, pfarg_start_t *start))
ABSENT(pfm_stop(int fd))
ABSENT(pfm_restart(int fd))
ABSENT(pfm_create_evtsets(int fd, pfarg_setdesc_t *setd, int count))
ABSENT(pfm_getinfo_evtsets(int fd, pfarg_setinfo_t *info, int count))
ABSENT(pfm_delete_evtsets(int fd, pfarg_setdesc_t *setd, int count))
ABSENT(pfm_unload_context(int fd))
