/* SPDX-License-Identifier: MIT */
/* The structs of PAPI's functions. This is a part of papi.h. Include papi.h instead. */
#ifndef PAPI_STRUCTS_H
#define PAPI_STRUCTS_H

#define long_long   long long
#define u_long_long unsigned long long

typedef unsigned long PAPI_thread_id_t;
typedef void *vptr_t;
typedef char *PAPI_user_defined_events_file_t;
typedef int (*PAPI_debug_handler_t)(int code);
typedef void (*PAPI_overflow_handler_t)(int EventSet, void *address, long long overflow_vector,
					void *context);

typedef struct _papi_all_thr_spec {
	int num;
	PAPI_thread_id_t *id;
	void **data;
} PAPI_all_thr_spec_t;

typedef struct _papi_sprofil {
	void *pr_base;
	unsigned pr_size;
	vptr_t pr_off;
	unsigned pr_scale; /* 0x10000: a 16-bit bucket for each two bytes of code */
} PAPI_sprofil_t;

/* ---- options ---- */

typedef struct _papi_itimer_option {
	int itimer_num, itimer_sig, ns, flags;
} PAPI_itimer_option_t;

typedef struct _papi_inherit_option {
	int eventset, inherit;
} PAPI_inherit_option_t;

typedef struct _papi_domain_option {
	int def_cidx, eventset, domain;
} PAPI_domain_option_t;

typedef struct _papi_granularity_option {
	int def_cidx, eventset, granularity;
} PAPI_granularity_option_t;

typedef struct _papi_preload_option {
	char lib_preload_env[PAPI_MAX_STR_LEN];
	char lib_preload_sep;
	char lib_dir_env[PAPI_MAX_STR_LEN];
	char lib_dir_sep;
} PAPI_preload_info_t;

typedef struct _papi_mpx_info {
	int timer_sig, timer_num, timer_us;
} PAPI_mpx_info_t;

typedef struct _papi_debug_option {
	int level;
	PAPI_debug_handler_t handler;
} PAPI_debug_option_t;

typedef struct _papi_attach_option {
	int eventset;
	unsigned long tid;
} PAPI_attach_option_t;

typedef struct _papi_cpu_option {
	int eventset;
	unsigned int cpu_num;
} PAPI_cpu_option_t;

typedef struct _papi_multiplex_option {
	int eventset, ns, flags;
} PAPI_multiplex_option_t;

typedef struct _papi_addr_range_option {
	int eventset;
	vptr_t start, end;
	int start_off, end_off;
} PAPI_addr_range_option_t;

/* ---- what there is ---- */

typedef struct _papi_component_option {
	char name[PAPI_MAX_STR_LEN];
	char short_name[PAPI_MIN_STR_LEN];
	char description[PAPI_MAX_STR_LEN];
	char version[PAPI_MIN_STR_LEN];
	char support_version[PAPI_MIN_STR_LEN];
	char kernel_version[PAPI_MIN_STR_LEN];
	char disabled_reason[PAPI_HUGE_STR_LEN];
	int disabled; /* 0, or the error of its initialisation */
	int initialized;
	int CmpIdx;
	int num_cntrs, num_mpx_cntrs;
	int num_preset_events, num_native_events;
	int default_domain, available_domains;
	int default_granularity, available_granularities;
	int hardware_intr_sig;
	int component_type;
	char *pmu_names[PAPI_PMU_MAX];
	int reserved[8];
	unsigned int hardware_intr : 1;
	unsigned int precise_intr : 1;
	unsigned int posix1b_timers : 1;
	unsigned int kernel_profile : 1;
	unsigned int kernel_multiplex : 1;
	unsigned int fast_counter_read : 1;
	unsigned int fast_real_timer : 1;
	unsigned int fast_virtual_timer : 1;
	unsigned int attach : 1;
	unsigned int attach_must_ptrace : 1;
	unsigned int cntr_umasks : 1;
	unsigned int cpu : 1;
	unsigned int inherit : 1;
	unsigned int reserved_bits : 19;
} PAPI_component_info_t;

typedef struct _papi_address_map {
	char name[PAPI_HUGE_STR_LEN];
	vptr_t text_start, text_end;
	vptr_t data_start, data_end;
	vptr_t bss_start, bss_end;
} PAPI_address_map_t;

typedef struct _papi_program_info {
	char fullname[PAPI_HUGE_STR_LEN];
	PAPI_address_map_t address_info;
} PAPI_exe_info_t;

typedef struct _papi_shared_lib_info {
	PAPI_address_map_t *map;
	int count;
} PAPI_shlib_info_t;

#define PAPI_MH_TYPE_EMPTY		    0x0
#define PAPI_MH_TYPE_INST		    0x1
#define PAPI_MH_TYPE_DATA		    0x2
#define PAPI_MH_TYPE_VECTOR		    0x4
#define PAPI_MH_TYPE_TRACE		    0x8
#define PAPI_MH_TYPE_UNIFIED		    (PAPI_MH_TYPE_INST | PAPI_MH_TYPE_DATA)
#define PAPI_MH_CACHE_TYPE(a)		    ((a)&0xf)
#define PAPI_MH_TYPE_WT			    0x00
#define PAPI_MH_TYPE_WB			    0x10
#define PAPI_MH_CACHE_WRITE_POLICY(a)	    ((a)&0xf0)
#define PAPI_MH_TYPE_UNKNOWN		    0x000
#define PAPI_MH_TYPE_LRU		    0x100
#define PAPI_MH_TYPE_PSEUDO_LRU		    0x200
#define PAPI_MH_TYPE_FIFO		    0x400
#define PAPI_MH_CACHE_REPLACEMENT_POLICY(a) ((a)&0xf00)
#define PAPI_MH_TYPE_TLB		    0x1000
#define PAPI_MH_TYPE_PREF		    0x2000
#define PAPI_MH_TYPE_RD_ALLOC		    0x10000
#define PAPI_MH_TYPE_WR_ALLOC		    0x20000
#define PAPI_MH_TYPE_RW_ALLOC		    0x40000
#define PAPI_MH_CACHE_ALLOCATION_POLICY(a)  ((a)&0xf0000)
#define PAPI_MH_MAX_LEVELS		    6
#define PAPI_MAX_MEM_HIERARCHY_LEVELS	    4

/* Sizes are in bytes; an associativity of SHRT_MAX is full. */
typedef struct _papi_mh_tlb_info {
	int type, num_entries, page_size, associativity;
} PAPI_mh_tlb_info_t;

typedef struct _papi_mh_cache_info {
	int type, size, line_size, num_lines, associativity;
} PAPI_mh_cache_info_t;

typedef struct _papi_mh_level_info {
	PAPI_mh_tlb_info_t tlb[PAPI_MH_MAX_LEVELS];
	PAPI_mh_cache_info_t cache[PAPI_MH_MAX_LEVELS];
} PAPI_mh_level_t;

typedef struct _papi_mh_info {
	int levels;
	PAPI_mh_level_t level[PAPI_MAX_MEM_HIERARCHY_LEVELS];
} PAPI_mh_info_t;

typedef struct _papi_hw_info {
	int ncpu; /* of a NUMA node */
	int threads, cores, sockets, nnodes, totalcpus;
	int vendor;
	char vendor_string[PAPI_MAX_STR_LEN];
	int model;
	char model_string[PAPI_MAX_STR_LEN];
	float revision;
	int cpuid_family, cpuid_model, cpuid_stepping;
	int cpu_max_mhz, cpu_min_mhz;
	PAPI_mh_info_t mem_hierarchy;
	int virtualized;
	char virtual_vendor_string[PAPI_MAX_STR_LEN];
	char virtual_vendor_version[PAPI_MAX_STR_LEN];
	float mhz;
	int clock_mhz;
	int reserved[8];
} PAPI_hw_info_t;

typedef union {
	PAPI_preload_info_t preload;
	PAPI_debug_option_t debug;
	PAPI_inherit_option_t inherit;
	PAPI_granularity_option_t granularity;
	PAPI_granularity_option_t defgranularity;
	PAPI_domain_option_t domain;
	PAPI_domain_option_t defdomain;
	PAPI_attach_option_t attach;
	PAPI_cpu_option_t cpu;
	PAPI_multiplex_option_t multiplex;
	PAPI_itimer_option_t itimer;
	PAPI_hw_info_t *hw_info;
	PAPI_shlib_info_t *shlib_info;
	PAPI_exe_info_t *exe_info;
	PAPI_component_info_t *cmp_info;
	PAPI_addr_range_option_t addr;
	PAPI_user_defined_events_file_t events_file;
} PAPI_option_t;

/* In KiB, as in /proc/self/status. */
typedef struct _dmem_t {
	long long peak, size, resident, high_water_mark, shared, text, library, heap, locked,
		stack, pagesize, pte;
} PAPI_dmem_info_t;

/* Positions of the values, for Fortran. */
#define PAPIF_DMEM_VMPEAK     1
#define PAPIF_DMEM_VMSIZE     2
#define PAPIF_DMEM_RESIDENT   3
#define PAPIF_DMEM_HIGH_WATER 4
#define PAPIF_DMEM_SHARED     5
#define PAPIF_DMEM_TEXT	      6
#define PAPIF_DMEM_LIBRARY    7
#define PAPIF_DMEM_HEAP	      8
#define PAPIF_DMEM_LOCKED     9
#define PAPIF_DMEM_STACK      10
#define PAPIF_DMEM_PAGESIZE   11
#define PAPIF_DMEM_PTE	      12
#define PAPIF_DMEM_MAXVAL     12

/* ---- events ---- */

#define PAPI_MAX_INFO_TERMS 12

enum { PAPI_LOCATION_CORE = 0, PAPI_LOCATION_CPU, PAPI_LOCATION_PACKAGE, PAPI_LOCATION_UNCORE };
enum { PAPI_DATATYPE_INT64 = 0, PAPI_DATATYPE_UINT64, PAPI_DATATYPE_FP64, PAPI_DATATYPE_BIT64 };
enum { PAPI_VALUETYPE_RUNNING_SUM = 0, PAPI_VALUETYPE_ABSOLUTE };
enum {
	PAPI_TIMESCOPE_SINCE_START = 0,
	PAPI_TIMESCOPE_SINCE_LAST,
	PAPI_TIMESCOPE_UNTIL_NEXT,
	PAPI_TIMESCOPE_POINT
};
enum {
	PAPI_UPDATETYPE_ARBITRARY = 0,
	PAPI_UPDATETYPE_PUSH,
	PAPI_UPDATETYPE_PULL,
	PAPI_UPDATETYPE_FIXEDFREQ
};

typedef struct event_info {
	unsigned int event_code;
	char symbol[PAPI_HUGE_STR_LEN];
	char short_descr[PAPI_MIN_STR_LEN];
	char long_descr[PAPI_HUGE_STR_LEN];
	int component_index;
	char units[PAPI_MIN_STR_LEN];
	int location, data_type, value_type, timescope, update_type, update_freq;

	/* For presets and events of a user's file: */
	unsigned int count;	 /* number of native events */
	unsigned int event_type; /* PAPI_PRESET_BIT_... */
	char derived[PAPI_MIN_STR_LEN];
	char postfix[PAPI_2MAX_STR_LEN];
	unsigned int code[PAPI_MAX_INFO_TERMS];
	char name[PAPI_MAX_INFO_TERMS][PAPI_2MAX_STR_LEN];
	char note[PAPI_HUGE_STR_LEN];
} PAPI_event_info_t;

/* ---- devices ---- */

typedef enum {
	PAPI_DEV_TYPE_ID__CPU,
	PAPI_DEV_TYPE_ID__CUDA,
	PAPI_DEV_TYPE_ID__ROCM,
	PAPI_DEV_TYPE_ID__MAX_NUM,
} PAPI_dev_type_id_e;

enum {
	PAPI_DEV_TYPE_ENUM__FIRST = 0,
	PAPI_DEV_TYPE_ENUM__CPU = 1 << PAPI_DEV_TYPE_ID__CPU,
	PAPI_DEV_TYPE_ENUM__CUDA = 1 << PAPI_DEV_TYPE_ID__CUDA,
	PAPI_DEV_TYPE_ENUM__ROCM = 1 << PAPI_DEV_TYPE_ID__ROCM,
	PAPI_DEV_TYPE_ENUM__ALL = (1 << PAPI_DEV_TYPE_ID__MAX_NUM) - 1,
};

typedef enum {
	PAPI_DEV_TYPE_ATTR__INT_PAPI_ID,
	PAPI_DEV_TYPE_ATTR__INT_VENDOR_ID,
	PAPI_DEV_TYPE_ATTR__CHAR_NAME,
	PAPI_DEV_TYPE_ATTR__INT_COUNT,
	PAPI_DEV_TYPE_ATTR__CHAR_STATUS,
} PAPI_dev_type_attr_e;

typedef enum {
	PAPI_DEV_ATTR__CPU_CHAR_NAME,
	PAPI_DEV_ATTR__CPU_UINT_L1I_CACHE_SIZE,
	PAPI_DEV_ATTR__CPU_UINT_L1D_CACHE_SIZE,
	PAPI_DEV_ATTR__CPU_UINT_L2U_CACHE_SIZE,
	PAPI_DEV_ATTR__CPU_UINT_L3U_CACHE_SIZE,
	PAPI_DEV_ATTR__CPU_UINT_L1I_CACHE_LINE_SIZE,
	PAPI_DEV_ATTR__CPU_UINT_L1D_CACHE_LINE_SIZE,
	PAPI_DEV_ATTR__CPU_UINT_L2U_CACHE_LINE_SIZE,
	PAPI_DEV_ATTR__CPU_UINT_L3U_CACHE_LINE_SIZE,
	PAPI_DEV_ATTR__CPU_UINT_L1I_CACHE_LINE_COUNT,
	PAPI_DEV_ATTR__CPU_UINT_L1D_CACHE_LINE_COUNT,
	PAPI_DEV_ATTR__CPU_UINT_L2U_CACHE_LINE_COUNT,
	PAPI_DEV_ATTR__CPU_UINT_L3U_CACHE_LINE_COUNT,
	PAPI_DEV_ATTR__CPU_UINT_L1I_CACHE_ASSOC,
	PAPI_DEV_ATTR__CPU_UINT_L1D_CACHE_ASSOC,
	PAPI_DEV_ATTR__CPU_UINT_L2U_CACHE_ASSOC,
	PAPI_DEV_ATTR__CPU_UINT_L3U_CACHE_ASSOC,
	PAPI_DEV_ATTR__CPU_UINT_SOCKET_COUNT,
	PAPI_DEV_ATTR__CPU_UINT_NUMA_COUNT,
	PAPI_DEV_ATTR__CPU_UINT_CORE_COUNT,
	PAPI_DEV_ATTR__CPU_UINT_THREAD_COUNT,
	PAPI_DEV_ATTR__CPU_UINT_FAMILY,
	PAPI_DEV_ATTR__CPU_UINT_MODEL,
	PAPI_DEV_ATTR__CPU_UINT_STEPPING,
	PAPI_DEV_ATTR__CPU_UINT_NUMA_MEM_SIZE,
	PAPI_DEV_ATTR__CPU_UINT_THR_NUMA_AFFINITY,
	PAPI_DEV_ATTR__CPU_UINT_THR_PER_NUMA,
	PAPI_DEV_ATTR__CUDA_ULONG_UID,
	PAPI_DEV_ATTR__CUDA_CHAR_DEVICE_NAME,
	PAPI_DEV_ATTR__CUDA_UINT_WARP_SIZE,
	PAPI_DEV_ATTR__CUDA_UINT_SHM_PER_BLK,
	PAPI_DEV_ATTR__CUDA_UINT_SHM_PER_SM,
	PAPI_DEV_ATTR__CUDA_UINT_BLK_DIM_X,
	PAPI_DEV_ATTR__CUDA_UINT_BLK_DIM_Y,
	PAPI_DEV_ATTR__CUDA_UINT_BLK_DIM_Z,
	PAPI_DEV_ATTR__CUDA_UINT_GRD_DIM_X,
	PAPI_DEV_ATTR__CUDA_UINT_GRD_DIM_Y,
	PAPI_DEV_ATTR__CUDA_UINT_GRD_DIM_Z,
	PAPI_DEV_ATTR__CUDA_UINT_THR_PER_BLK,
	PAPI_DEV_ATTR__CUDA_UINT_SM_COUNT,
	PAPI_DEV_ATTR__CUDA_UINT_MULTI_KERNEL,
	PAPI_DEV_ATTR__CUDA_UINT_MAP_HOST_MEM,
	PAPI_DEV_ATTR__CUDA_UINT_MEMCPY_OVERLAP,
	PAPI_DEV_ATTR__CUDA_UINT_UNIFIED_ADDR,
	PAPI_DEV_ATTR__CUDA_UINT_MANAGED_MEM,
	PAPI_DEV_ATTR__CUDA_UINT_COMP_CAP_MAJOR,
	PAPI_DEV_ATTR__CUDA_UINT_COMP_CAP_MINOR,
	PAPI_DEV_ATTR__CUDA_UINT_BLK_PER_SM,
	PAPI_DEV_ATTR__ROCM_ULONG_UID,
	PAPI_DEV_ATTR__ROCM_CHAR_DEVICE_NAME,
	PAPI_DEV_ATTR__ROCM_UINT_WAVEFRONT_SIZE,
	PAPI_DEV_ATTR__ROCM_UINT_WORKGROUP_SIZE,
	PAPI_DEV_ATTR__ROCM_UINT_WAVE_PER_CU,
	PAPI_DEV_ATTR__ROCM_UINT_SHM_PER_WG,
	PAPI_DEV_ATTR__ROCM_UINT_WG_DIM_X,
	PAPI_DEV_ATTR__ROCM_UINT_WG_DIM_Y,
	PAPI_DEV_ATTR__ROCM_UINT_WG_DIM_Z,
	PAPI_DEV_ATTR__ROCM_UINT_GRD_DIM_X,
	PAPI_DEV_ATTR__ROCM_UINT_GRD_DIM_Y,
	PAPI_DEV_ATTR__ROCM_UINT_GRD_DIM_Z,
	PAPI_DEV_ATTR__ROCM_UINT_CU_COUNT,
	PAPI_DEV_ATTR__ROCM_UINT_SIMD_PER_CU,
	PAPI_DEV_ATTR__ROCM_UINT_COMP_CAP_MAJOR,
	PAPI_DEV_ATTR__ROCM_UINT_COMP_CAP_MINOR,
} PAPI_dev_attr_e;

#endif
