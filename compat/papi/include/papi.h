/* SPDX-License-Identifier: MIT */
/*
 * PAPI 7's interface, for programs that are built for libtach's libpapi.so.7.0. Names, numbers
 * and structs are those of PAPI 7.0; docs/compatibility.md tells what differs.
 */
#ifndef _PAPI
#define _PAPI
#define PAPI_VERSION_NUMBER(maj, min, rev, inc)                                                \
	(((maj) << 24) | ((min) << 16) | ((rev) << 8) | (inc))
#define PAPI_VERSION_MAJOR(x)	  (((x) >> 24) & 0xff)
#define PAPI_VERSION_MINOR(x)	  (((x) >> 16) & 0xff)
#define PAPI_VERSION_REVISION(x)  (((x) >> 8) & 0xff)
#define PAPI_VERSION_INCREMENT(x) ((x)&0xff)
#define PAPI_VERSION		  PAPI_VERSION_NUMBER(7, 0, 0, 0)
#define PAPI_VER_CURRENT	  (PAPI_VERSION & 0xffff0000)

#define IS_NATIVE(code)	      (((code)&PAPI_NATIVE_MASK) && !((code)&PAPI_PRESET_MASK))
#define IS_PRESET(code)	      (((code)&PAPI_PRESET_MASK) && !((code)&PAPI_NATIVE_MASK))
#define IS_USER_DEFINED(code) (((code)&PAPI_PRESET_MASK) && ((code)&PAPI_NATIVE_MASK))

#include <sys/types.h>
#include <limits.h>
#include <signal.h>
#include <papiStdEventDefs.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- errors ---- */

#define PAPI_OK		   0
#define PAPI_EINVAL	   -1
#define PAPI_ENOMEM	   -2
#define PAPI_ESYS	   -3
#define PAPI_ECMP	   -4
#define PAPI_ESBSTR	   -4
#define PAPI_ECLOST	   -5
#define PAPI_EBUG	   -6
#define PAPI_ENOEVNT	   -7
#define PAPI_ECNFLCT	   -8
#define PAPI_ENOTRUN	   -9
#define PAPI_EISRUN	   -10
#define PAPI_ENOEVST	   -11
#define PAPI_ENOTPRESET	   -12
#define PAPI_ENOCNTR	   -13
#define PAPI_EMISC	   -14
#define PAPI_EPERM	   -15
#define PAPI_ENOINIT	   -16
#define PAPI_ENOCMP	   -17
#define PAPI_ENOSUPP	   -18
#define PAPI_ENOIMPL	   -19
#define PAPI_EBUF	   -20
#define PAPI_EINVAL_DOM	   -21
#define PAPI_EATTR	   -22
#define PAPI_ECOUNT	   -23
#define PAPI_ECOMBO	   -24
#define PAPI_ECMP_DISABLED -25
#define PAPI_EDELAY_INIT   -26
#define PAPI_EMULPASS	   -27
#define PAPI_NUM_ERRORS	   28

#define PAPI_QUIET	0
#define PAPI_VERB_ECONT 1
#define PAPI_VERB_ESTOP 2

/* ---- constants ---- */

#define PAPI_NOT_INITED		 0
#define PAPI_LOW_LEVEL_INITED	 1
#define PAPI_HIGH_LEVEL_INITED	 2
#define PAPI_THREAD_LEVEL_INITED 4

#define PAPI_NULL -1

#define PAPI_DOM_USER	    0x1
#define PAPI_DOM_MIN	    PAPI_DOM_USER
#define PAPI_DOM_KERNEL	    0x2
#define PAPI_DOM_OTHER	    0x4
#define PAPI_DOM_SUPERVISOR 0x8
#define PAPI_DOM_ALL	    (PAPI_DOM_USER | PAPI_DOM_KERNEL | PAPI_DOM_OTHER | PAPI_DOM_SUPERVISOR)
#define PAPI_DOM_MAX	    PAPI_DOM_ALL
#define PAPI_DOM_HWSPEC	    0x80000000

#define PAPI_USR1_TLS	     0x0
#define PAPI_USR2_TLS	     0x1
#define PAPI_TLS_HIGH_LEVEL  0x2
#define PAPI_NUM_TLS	     0x3
#define PAPI_TLS_USR1	     PAPI_USR1_TLS
#define PAPI_TLS_USR2	     PAPI_USR2_TLS
#define PAPI_TLS_NUM	     PAPI_NUM_TLS
#define PAPI_TLS_ALL_THREADS 0x10

#define PAPI_USR1_LOCK 0x0
#define PAPI_USR2_LOCK 0x1
#define PAPI_NUM_LOCK  0x2
#define PAPI_LOCK_USR1 PAPI_USR1_LOCK
#define PAPI_LOCK_USR2 PAPI_USR2_LOCK
#define PAPI_LOCK_NUM  PAPI_NUM_LOCK

#define PAPI_VENDOR_UNKNOWN	  0
#define PAPI_VENDOR_INTEL	  1
#define PAPI_VENDOR_AMD		  2
#define PAPI_VENDOR_IBM		  3
#define PAPI_VENDOR_CRAY	  4
#define PAPI_VENDOR_SUN		  5
#define PAPI_VENDOR_FREESCALE	  6
#define PAPI_VENDOR_ARM		  7
#define PAPI_VENDOR_MIPS	  8
#define PAPI_VENDOR_ARM_ARM	  0x41
#define PAPI_VENDOR_ARM_BROADCOM  0x42
#define PAPI_VENDOR_ARM_CAVIUM	  0x43
#define PAPI_VENDOR_ARM_FUJITSU	  0x46
#define PAPI_VENDOR_ARM_HISILICON 0x48
#define PAPI_VENDOR_ARM_APM	  0x50
#define PAPI_VENDOR_ARM_QUALCOMM  0x51

#define PAPI_GRN_THR	 0x1
#define PAPI_GRN_MIN	 PAPI_GRN_THR
#define PAPI_GRN_PROC	 0x2
#define PAPI_GRN_PROCG	 0x4
#define PAPI_GRN_SYS	 0x8
#define PAPI_GRN_SYS_CPU 0x10
#define PAPI_GRN_MAX	 PAPI_GRN_SYS_CPU

#define PAPI_STOPPED	  0x01
#define PAPI_RUNNING	  0x02
#define PAPI_PAUSED	  0x04
#define PAPI_NOT_INIT	  0x08
#define PAPI_OVERFLOWING  0x10
#define PAPI_PROFILING	  0x20
#define PAPI_MULTIPLEXING 0x40
#define PAPI_ATTACHED	  0x80
#define PAPI_CPU_ATTACHED 0x100

#define PAPI_PROFIL_POSIX     0x0
#define PAPI_PROFIL_RANDOM    0x1
#define PAPI_PROFIL_WEIGHTED  0x2
#define PAPI_PROFIL_COMPRESS  0x4
#define PAPI_PROFIL_BUCKET_16 0x8
#define PAPI_PROFIL_BUCKET_32 0x10
#define PAPI_PROFIL_BUCKET_64 0x20
#define PAPI_PROFIL_FORCE_SW  0x40
#define PAPI_PROFIL_DATA_EAR  0x80
#define PAPI_PROFIL_INST_EAR  0x100
#define PAPI_PROFIL_BUCKETS                                                                    \
	(PAPI_PROFIL_BUCKET_16 | PAPI_PROFIL_BUCKET_32 | PAPI_PROFIL_BUCKET_64)

#define PAPI_OVERFLOW_FORCE_SW	0x40
#define PAPI_OVERFLOW_HARDWARE	0x80
#define PAPI_MULTIPLEX_DEFAULT	0x0
#define PAPI_MULTIPLEX_FORCE_SW 0x1
#define PAPI_INHERIT_ALL	1
#define PAPI_INHERIT_NONE	0

/* Options of PAPI_set_opt and PAPI_get_opt. */
#define PAPI_DETACH	      1
#define PAPI_DEBUG	      2
#define PAPI_MULTIPLEX	      3
#define PAPI_DEFDOM	      4
#define PAPI_DOMAIN	      5
#define PAPI_DEFGRN	      6
#define PAPI_GRANUL	      7
#define PAPI_DEF_MPX_NS	      8
#define PAPI_MAX_MPX_CTRS     11
#define PAPI_PROFIL	      12
#define PAPI_PRELOAD	      13
#define PAPI_CLOCKRATE	      14
#define PAPI_MAX_HWCTRS	      15
#define PAPI_HWINFO	      16
#define PAPI_EXEINFO	      17
#define PAPI_MAX_CPUS	      18
#define PAPI_ATTACH	      19
#define PAPI_SHLIBINFO	      20
#define PAPI_LIB_VERSION      21
#define PAPI_COMPONENTINFO    22
#define PAPI_DATA_ADDRESS     23
#define PAPI_INSTR_ADDRESS    24
#define PAPI_DEF_ITIMER	      25
#define PAPI_DEF_ITIMER_NS    26
#define PAPI_CPU_ATTACH	      27
#define PAPI_INHERIT	      28
#define PAPI_USER_EVENTS_FILE 29

#define PAPI_INIT_SLOTS	  64
#define PAPI_MIN_STR_LEN  64
#define PAPI_MAX_STR_LEN  128
#define PAPI_2MAX_STR_LEN 256
#define PAPI_HUGE_STR_LEN 1024
#define PAPI_PMU_MAX	  80
#define PAPI_DERIVED	  0x1

/* Modes of PAPI_enum_event. */
enum {
	PAPI_ENUM_EVENTS = 0,
	PAPI_ENUM_FIRST,
	PAPI_PRESET_ENUM_AVAIL,
	PAPI_PRESET_ENUM_MSC,
	PAPI_PRESET_ENUM_INS,
	PAPI_PRESET_ENUM_IDL,
	PAPI_PRESET_ENUM_BR,
	PAPI_PRESET_ENUM_CND,
	PAPI_PRESET_ENUM_MEM,
	PAPI_PRESET_ENUM_CACH,
	PAPI_PRESET_ENUM_L1,
	PAPI_PRESET_ENUM_L2,
	PAPI_PRESET_ENUM_L3,
	PAPI_PRESET_ENUM_TLB,
	PAPI_PRESET_ENUM_FP,
	PAPI_NTV_ENUM_UMASKS,
	PAPI_NTV_ENUM_UMASK_COMBOS,
	PAPI_NTV_ENUM_IARR,
	PAPI_NTV_ENUM_DARR,
	PAPI_NTV_ENUM_OPCM,
	PAPI_NTV_ENUM_IEAR,
	PAPI_NTV_ENUM_DEAR,
	PAPI_NTV_ENUM_GROUPS
};
#define PAPI_ENUM_ALL PAPI_ENUM_EVENTS

#define PAPI_PRESET_BIT_MSC	(1 << PAPI_PRESET_ENUM_MSC)
#define PAPI_PRESET_BIT_INS	(1 << PAPI_PRESET_ENUM_INS)
#define PAPI_PRESET_BIT_IDL	(1 << PAPI_PRESET_ENUM_IDL)
#define PAPI_PRESET_BIT_BR	(1 << PAPI_PRESET_ENUM_BR)
#define PAPI_PRESET_BIT_CND	(1 << PAPI_PRESET_ENUM_CND)
#define PAPI_PRESET_BIT_MEM	(1 << PAPI_PRESET_ENUM_MEM)
#define PAPI_PRESET_BIT_CACH	(1 << PAPI_PRESET_ENUM_CACH)
#define PAPI_PRESET_BIT_L1	(1 << PAPI_PRESET_ENUM_L1)
#define PAPI_PRESET_BIT_L2	(1 << PAPI_PRESET_ENUM_L2)
#define PAPI_PRESET_BIT_L3	(1 << PAPI_PRESET_ENUM_L3)
#define PAPI_PRESET_BIT_TLB	(1 << PAPI_PRESET_ENUM_TLB)
#define PAPI_PRESET_BIT_FP	(1 << PAPI_PRESET_ENUM_FP)
#define PAPI_NTV_GROUP_AND_MASK 0x00FF0000
#define PAPI_NTV_GROUP_SHIFT	16

#include <papi_structs.h>
#include <papi_functions.h>

#define PAPI_COMPONENT_INDEX(a) PAPI_get_event_component(a)
#define PAPI_descr_error(a)	PAPI_strerror(a)

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
