/* SPDX-License-Identifier: MIT */
/*
 * Fortran's interface. Each function has the four symbols that Fortran compilers make from one
 * name. Arguments are addresses. After all other arguments, the compiler passes the length of
 * each text by value.
 */
#include <string.h>
#include "compat/papi/state.h"

#define ALIAS(name, of, parameters) void name parameters __attribute__((alias(#of)))
#define FORTRAN(name, capitals, parameters, statement)                                         \
	void papif_##name parameters;                                                          \
	ALIAS(papif_##name##_, papif_##name, parameters);                                      \
	ALIAS(papif_##name##__, papif_##name, parameters);                                     \
	ALIAS(PAPIF_##capitals, papif_##name, parameters);                                     \
	void papif_##name parameters                                                           \
	{                                                                                      \
		statement;                                                                     \
	}
#define ANSWERS(name, NAME, parameters, call) FORTRAN(name, NAME, parameters, *check = (call))

struct text {
	char c[PAPI_MAX_STR_LEN];
};

/* Copies a Fortran text without the blanks at its end. */
static struct text text_of(const char *from, int length)
{
	struct text t;
	size_t n = length < 0 ? 0 : (size_t)length;

	if (n > sizeof t.c - 1)
		n = sizeof t.c - 1;
	while (n && from[n - 1] == ' ')
		n--;
	memcpy(t.c, from, n);
	t.c[n] = '\0';
	return t;
}

static void fill(char *to, int length, const char *from)
{
	for (int i = 0; i < length; i++)
		to[i] = *from ? *from++ : ' ';
}

/* ---- library and threads ---- */

ANSWERS(library_init, LIBRARY_INIT, (int *check), PAPI_library_init(*check))
FORTRAN(shutdown, SHUTDOWN, (void), PAPI_shutdown())
FORTRAN(is_initialized, IS_INITIALIZED, (int *level), *level = PAPI_is_initialized())
ANSWERS(set_debug, SET_DEBUG, (const int *level, int *check), PAPI_set_debug(*level))
FORTRAN(perror, PERROR, (const char *message, int length),
	PAPI_perror(text_of(message, length).c))
ANSWERS(thread_init, THREAD_INIT, (unsigned long (*id)(void), int *check), PAPI_thread_init(id))
FORTRAN(thread_id, THREAD_ID, (unsigned long *id), *id = PAPI_thread_id())
ANSWERS(register_thread, REGISTER_THREAD, (int *check), PAPI_register_thread())
ANSWERS(unregister_thread, UNREGISTER_THREAD, (int *check), PAPI_unregister_thread())
ANSWERS(unregster_thread, UNREGSTER_THREAD, (int *check), PAPI_unregister_thread())
ANSWERS(lock, LOCK, (const int *number, int *check), PAPI_lock(*number))
/* As in PAPI's library, this function and two more below have no name in capitals only. */
FORTRAN(unlock, unlock, (const int *number, int *check), *check = PAPI_unlock(*number))

/* ---- event sets ---- */

ANSWERS(create_eventset, CREATE_EVENTSET, (int *set, int *check), PAPI_create_eventset(set))
ANSWERS(destroy_eventset, DESTROY_EVENTSET, (int *set, int *check), PAPI_destroy_eventset(set))
ANSWERS(cleanup_eventset, CLEANUP_EVENTSET, (const int *set, int *check),
	PAPI_cleanup_eventset(*set))
ANSWERS(assign_eventset_component, ASSIGN_EVENTSET_COMPONENT,
	(const int *set, const int *component, int *check),
	PAPI_assign_eventset_component(*set, *component))
ANSWERS(add_event, ADD_EVENT, (const int *set, const int *event, int *check),
	PAPI_add_event(*set, *event))
ANSWERS(add_events, ADD_EVENTS, (const int *set, int *events, const int *number, int *check),
	PAPI_add_events(*set, events, *number))
ANSWERS(add_named_event, ADD_NAMED_EVENT,
	(const int *set, const char *name, int *check, int length),
	PAPI_add_named_event(*set, text_of(name, length).c))
ANSWERS(remove_event, REMOVE_EVENT, (const int *set, const int *event, int *check),
	PAPI_remove_event(*set, *event))
ANSWERS(remove_events, REMOVE_EVENTS,
	(const int *set, int *events, const int *number, int *check),
	PAPI_remove_events(*set, events, *number))
ANSWERS(remove_named_event, REMOVE_NAMED_EVENT,
	(const int *set, const char *name, int *check, int length),
	PAPI_remove_named_event(*set, text_of(name, length).c))
ANSWERS(list_events, LIST_EVENTS, (const int *set, int *events, int *number, int *check),
	PAPI_list_events(*set, events, number))
FORTRAN(num_events, NUM_EVENTS, (const int *set, int *count), *count = PAPI_num_events(*set))
ANSWERS(state, STATE, (const int *set, int *status, int *check), PAPI_state(*set, status))
ANSWERS(multiplex_init, MULTIPLEX_INIT, (int *check), PAPI_multiplex_init())
ANSWERS(get_multiplex, GET_MULTIPLEX, (const int *set, int *check), PAPI_get_multiplex(*set))
ANSWERS(set_multiplex, SET_MULTIPLEX, (const int *set, int *check), PAPI_set_multiplex(*set))

/* ---- counting ---- */

ANSWERS(start, START, (const int *set, int *check), PAPI_start(*set))
ANSWERS(stop, STOP, (const int *set, long long *values, int *check), PAPI_stop(*set, values))
ANSWERS(read, READ, (const int *set, long long *values, int *check), PAPI_read(*set, values))
ANSWERS(read_ts, READ_TS, (const int *set, long long *values, long long *cycles, int *check),
	PAPI_read_ts(*set, values, cycles))
ANSWERS(accum, ACCUM, (const int *set, long long *values, int *check), PAPI_accum(*set, values))
ANSWERS(reset, RESET, (const int *set, int *check), PAPI_reset(*set))
ANSWERS(write, WRITE, (const int *set, long long *values, int *check), PAPI_write(*set, values))

/* ---- events ---- */

ANSWERS(query_event, QUERY_EVENT, (const int *event, int *check), PAPI_query_event(*event))
ANSWERS(query_named_event, QUERY_NAMED_EVENT, (const char *name, int *check, int length),
	PAPI_query_named_event(text_of(name, length).c))
ANSWERS(event_name_to_code, EVENT_NAME_TO_CODE,
	(const char *name, int *event, int *check, int length),
	PAPI_event_name_to_code(text_of(name, length).c, event))
ANSWERS(enum_event, ENUM_EVENT, (int *event, const int *modifier, int *check),
	PAPI_enum_event(event, *modifier))

static int name_of(int event, char *name, int length)
{
	char text[PAPI_MAX_STR_LEN] = "";
	int code = PAPI_event_code_to_name(event, text);

	fill(name, length, text);
	return code;
}
ANSWERS(event_code_to_name, EVENT_CODE_TO_NAME,
	(const int *event, char *name, int *check, int length), name_of(*event, name, length))

static int describe(int event, char *symbol, int symbol_len, char *text, int text_len,
		    char *brief, int brief_len, int *count, char *note, int note_len)
{
	PAPI_event_info_t info;
	int code = PAPI_get_event_info(event, &info);

	if (code != PAPI_OK)
		return code;
	fill(symbol, symbol_len, info.symbol);
	fill(text, text_len, info.long_descr);
	fill(brief, brief_len, info.short_descr);
	fill(note, note_len, info.note);
	*count = (int)info.count;
	return PAPI_OK;
}
FORTRAN(get_event_info, GET_EVENT_INFO,
	(const int *event, char *symbol, char *text, char *brief, int *count, char *note,
	 const int *flags, int *check, int symbol_len, int text_len, int brief_len,
	 int note_len),
	(void)flags;
	*check = describe(*event, symbol, symbol_len, text, text_len, brief, brief_len, count,
			  note, note_len))

/* ---- options ---- */

ANSWERS(set_domain, SET_DOMAIN, (const int *domain, int *check), PAPI_set_domain(*domain))
ANSWERS(set_cmp_domain, SET_CMP_DOMAIN, (const int *domain, const int *component, int *check),
	PAPI_set_cmp_domain(*domain, *component))
ANSWERS(set_granularity, SET_GRANULARITY, (const int *granularity, int *check),
	PAPI_set_granularity(*granularity))
ANSWERS(set_cmp_granularity, SET_CMP_GRANULARITY,
	(const int *granularity, const int *component, int *check),
	PAPI_set_cmp_granularity(*granularity, *component))
FORTRAN(get_clockrate, GET_CLOCKRATE, (int *rate), *rate = PAPI_get_opt(PAPI_CLOCKRATE, NULL))

static int domain_of(int set, int *domain, int mode)
{
	PAPI_option_t o;
	int code;

	memset(&o, 0, sizeof o);
	if (mode == PAPI_DEFDOM) {
		*domain = PAPI_get_opt(mode, NULL);
		return PAPI_OK;
	}
	if (mode != PAPI_DOMAIN)
		return PAPI_EINVAL;
	o.domain.eventset = set;
	code = PAPI_get_opt(mode, &o);
	if (code == PAPI_OK)
		*domain = o.domain.domain;
	return code;
}
ANSWERS(get_domain, GET_DOMAIN, (const int *set, int *domain, const int *mode, int *check),
	domain_of(*set, domain, *mode))

static int granularity_of(int set, int *granularity, int mode)
{
	PAPI_option_t o;
	int code;

	memset(&o, 0, sizeof o);
	if (mode == PAPI_DEFGRN) {
		*granularity = PAPI_get_opt(mode, &o);
		return PAPI_OK;
	}
	if (mode != PAPI_GRANUL)
		return PAPI_EINVAL;
	o.granularity.eventset = set;
	code = PAPI_get_opt(mode, &o);
	if (code == PAPI_OK)
		*granularity = o.granularity.granularity;
	return code;
}
ANSWERS(get_granularity, GET_GRANULARITY,
	(const int *set, int *granularity, const int *mode, int *check),
	granularity_of(*set, granularity, *mode))

static int set_event_domain(int set, int domain)
{
	PAPI_option_t o;

	memset(&o, 0, sizeof o);
	o.domain.eventset = set;
	o.domain.domain = domain;
	return PAPI_set_opt(PAPI_DOMAIN, &o);
}
ANSWERS(set_event_domain, SET_EVENT_DOMAIN, (const int *set, const int *domain, int *check),
	set_event_domain(*set, *domain))

/* The Fortran call has no argument for the set. PAPI reads an uninitialised number; this
 * library uses PAPI_NULL. */
static int set_inherit(int inherit)
{
	PAPI_option_t o;

	memset(&o, 0, sizeof o);
	o.inherit.eventset = PAPI_NULL;
	o.inherit.inherit = inherit;
	return PAPI_set_opt(PAPI_INHERIT, &o);
}
ANSWERS(set_inherit, SET_INHERIT, (const int *inherit, int *check), set_inherit(*inherit))

static int preload(char *name, int length)
{
	PAPI_option_t o;
	int code = PAPI_get_opt(PAPI_PRELOAD, &o);

	if (code == PAPI_OK)
		fill(name, length, o.preload.lib_preload_env);
	return code;
}
ANSWERS(get_preload, GET_PRELOAD, (char *name, int *check, int length), preload(name, length))

/* ---- the machine ---- */

FORTRAN(get_real_cyc, GET_REAL_CYC, (long long *cycles), *cycles = PAPI_get_real_cyc())
FORTRAN(get_real_usec, GET_REAL_USEC, (long long *time), *time = PAPI_get_real_usec())
FORTRAN(get_real_nsec, GET_REAL_NSEC, (long long *time), *time = PAPI_get_real_nsec())
FORTRAN(get_virt_cyc, GET_VIRT_CYC, (long long *cycles), *cycles = PAPI_get_virt_cyc())
FORTRAN(get_virt_usec, GET_VIRT_USEC, (long long *time), *time = PAPI_get_virt_usec())
FORTRAN(num_hwctrs, num_hwctrs, (int *number), *number = PAPI_num_hwctrs())
FORTRAN(num_cmp_hwctrs, num_cmp_hwctrs, (const int *component, int *number),
	*number = PAPI_num_cmp_hwctrs(*component))
ANSWERS(get_dmem_info, GET_DMEM_INFO, (long long *sizes, int *check),
	PAPI_get_dmem_info((PAPI_dmem_info_t *)(void *)sizes))

static void get_machine(int *ncpu, int *nnodes, int *total, int *vendor, char *vendor_name,
			int vendor_len, int *model, char *model_name, int model_len,
			float *revision, float *mhz)
{
	const PAPI_hw_info_t *h = PAPI_get_hardware_info();

	*ncpu = h ? h->ncpu : 0;
	*nnodes = h ? h->nnodes : 0;
	*total = h ? h->totalcpus : 0;
	*vendor = h ? h->vendor : 0;
	*model = h ? h->model : 0;
	*revision = h ? h->revision : 0;
	*mhz = h ? (float)h->cpu_max_mhz : 0;
	fill(vendor_name, vendor_len, h ? h->vendor_string : "");
	fill(model_name, model_len, h ? h->model_string : "");
}
FORTRAN(get_hardware_info, GET_HARDWARE_INFO,
	(int *ncpu, int *nnodes, int *total, int *vendor, char *vendor_name, int *model,
	 char *model_name, float *revision, float *mhz, int vendor_len, int model_len),
	get_machine(ncpu, nnodes, total, vendor, vendor_name, vendor_len, model, model_name,
		    model_len, revision, mhz))

static int get_executable(char *path, int path_len, char *name, int name_len, long long *at[6])
{
	const PAPI_exe_info_t *e = PAPI_get_executable_info();

	if (!e)
		return PAPI_EINVAL;
	fill(path, path_len, e->fullname);
	fill(name, name_len, e->address_info.name);
	*at[0] = (long)e->address_info.text_start;
	*at[1] = (long)e->address_info.text_end;
	*at[2] = (long)e->address_info.data_start;
	*at[3] = (long)e->address_info.data_end;
	*at[4] = (long)e->address_info.bss_start;
	*at[5] = (long)e->address_info.bss_end;
	return PAPI_OK;
}
ANSWERS(get_exe_info, GET_EXE_INFO,
	(char *path, char *name, long long *text, long long *text_end, long long *data,
	 long long *data_end, long long *bss, long long *bss_end, int *check, int path_len,
	 int name_len),
	get_executable(path, path_len, name, name_len,
		       (long long *[]){text, text_end, data, data_end, bss, bss_end}))

/* ---- devices: the handle stays here, a program gets the number 0 ---- */

static void *device_handle;

static int next_device(int modifier, int *index)
{
	*index = 0;
	return PAPI_enum_dev_type(modifier, &device_handle);
}
ANSWERS(enum_dev_type, ENUM_DEV_TYPE, (const int *modifier, int *index, int *check),
	next_device(*modifier, index))

static int type_attribute(int attribute, int *value, char *text, int length)
{
	const char *string = "";
	int is_text = attribute == PAPI_DEV_TYPE_ATTR__CHAR_NAME ||
		      attribute == PAPI_DEV_TYPE_ATTR__CHAR_STATUS;
	int code = PAPI_get_dev_type_attr(device_handle, (PAPI_dev_type_attr_e)attribute,
					  is_text ? (void *)&string : (void *)value);

	if (is_text && code == PAPI_OK)
		fill(text, length, string);
	return code;
}
FORTRAN(get_dev_type_attr, GET_DEV_TYPE_ATTR,
	(int *index, const int *attribute, int *value, char *text, int *check, int length),
	*index = 0;
	*check = type_attribute(*attribute, value, text, length))

static int attribute_of(int id, int attribute, int *value, char *text, int length)
{
	const char *string = "";
	int is_text = attribute == PAPI_DEV_ATTR__CPU_CHAR_NAME ||
		      attribute == PAPI_DEV_ATTR__CUDA_CHAR_DEVICE_NAME ||
		      attribute == PAPI_DEV_ATTR__ROCM_CHAR_DEVICE_NAME;
	int code = PAPI_get_dev_attr(device_handle, id, (PAPI_dev_attr_e)attribute,
				     is_text ? (void *)&string : (void *)value);

	if (is_text && code == PAPI_OK)
		fill(text, length, string);
	return code;
}
FORTRAN(get_dev_attr, GET_DEV_ATTR,
	(int *index, const int *id, const int *attribute, int *value, char *text, int *check,
	 int length),
	*index = 0;
	*check = attribute_of(*id, *attribute, value, text, length))

/* ---- rates; PAPI takes the event of the first three by value, which no Fortran gives ---- */

ANSWERS(flips_rate, FLIPS_RATE,
	(const int *event, float *real, float *proc, long long *count, float *rate, int *check),
	PAPI_flips_rate(*event, real, proc, count, rate))
ANSWERS(flops_rate, FLOPS_RATE,
	(const int *event, float *real, float *proc, long long *count, float *rate, int *check),
	PAPI_flops_rate(*event, real, proc, count, rate))
ANSWERS(epc, EPC,
	(const int *event, float *real, float *proc, long long *ref, long long *core,
	 long long *count, float *rate, int *check),
	PAPI_epc(*event, real, proc, ref, core, count, rate))
ANSWERS(ipc, IPC, (float *real, float *proc, long long *count, float *rate, int *check),
	PAPI_ipc(real, proc, count, rate))
ANSWERS(rate_stop, RATE_STOP, (int *check), PAPI_rate_stop())

/* ---- regions by name ---- */

ANSWERS(hl_region_begin, HL_REGION_BEGIN, (const char *name, int *check, int length),
	PAPI_hl_region_begin(text_of(name, length).c))
ANSWERS(hl_read, HL_READ, (const char *name, int *check, int length),
	PAPI_hl_read(text_of(name, length).c))
ANSWERS(hl_region_end, HL_REGION_END, (const char *name, int *check, int length),
	PAPI_hl_region_end(text_of(name, length).c))
ANSWERS(hl_stop, HL_STOP, (int *check), PAPI_hl_stop())
