/* SPDX-License-Identifier: MIT */
/* The functions. This is a part of papi.h. Include papi.h instead. */
#ifndef PAPI_FUNCTIONS_H
#define PAPI_FUNCTIONS_H

int PAPI_accum(int EventSet, long long *values);
int PAPI_add_event(int EventSet, int Event);
int PAPI_add_named_event(int EventSet, const char *EventName);
int PAPI_add_events(int EventSet, int *Events, int number);
int PAPI_assign_eventset_component(int EventSet, int cidx);
int PAPI_attach(int EventSet, unsigned long tid);
int PAPI_cleanup_eventset(int EventSet);
int PAPI_create_eventset(int *EventSet);
int PAPI_detach(int EventSet);
int PAPI_destroy_eventset(int *EventSet);
int PAPI_enum_event(int *EventCode, int modifier);
int PAPI_enum_cmp_event(int *EventCode, int modifier, int cidx);
int PAPI_event_code_to_name(int EventCode, char *out);
int PAPI_event_name_to_code(const char *in, int *out);
int PAPI_get_dmem_info(PAPI_dmem_info_t *dest);
int PAPI_get_event_info(int EventCode, PAPI_event_info_t *info);
const PAPI_exe_info_t *PAPI_get_executable_info(void);
const PAPI_hw_info_t *PAPI_get_hardware_info(void);
const PAPI_component_info_t *PAPI_get_component_info(int cidx);
int PAPI_get_multiplex(int EventSet);
int PAPI_get_opt(int option, PAPI_option_t *ptr);
int PAPI_get_cmp_opt(int option, PAPI_option_t *ptr, int cidx);
long long PAPI_get_real_cyc(void);
long long PAPI_get_real_nsec(void);
long long PAPI_get_real_usec(void);
const PAPI_shlib_info_t *PAPI_get_shared_lib_info(void);
int PAPI_get_thr_specific(int tag, void **ptr);
int PAPI_get_overflow_event_index(int Eventset, long long overflow_vector, int *array,
				  int *number);
long long PAPI_get_virt_cyc(void);
long long PAPI_get_virt_nsec(void);
long long PAPI_get_virt_usec(void);
int PAPI_is_initialized(void);
int PAPI_library_init(int version);
int PAPI_list_events(int EventSet, int *Events, int *number);
int PAPI_list_threads(unsigned long *tids, int *number);
int PAPI_lock(int);
int PAPI_multiplex_init(void);
int PAPI_num_cmp_hwctrs(int cidx);
int PAPI_num_events(int EventSet);
int PAPI_overflow(int EventSet, int EventCode, int threshold, int flags,
		  PAPI_overflow_handler_t handler);
void PAPI_perror(const char *msg);
int PAPI_profil(void *buf, unsigned bufsiz, vptr_t offset, unsigned scale, int EventSet,
		int EventCode, int threshold, int flags);
int PAPI_query_event(int EventCode);
int PAPI_query_named_event(const char *EventName);
int PAPI_read(int EventSet, long long *values);
int PAPI_read_ts(int EventSet, long long *values, long long *cyc);
int PAPI_register_thread(void);
int PAPI_remove_event(int EventSet, int EventCode);
int PAPI_remove_named_event(int EventSet, const char *EventName);
int PAPI_remove_events(int EventSet, int *Events, int number);
int PAPI_reset(int EventSet);
int PAPI_set_debug(int level);
int PAPI_set_cmp_domain(int domain, int cidx);
int PAPI_set_domain(int domain);
int PAPI_set_cmp_granularity(int granularity, int cidx);
int PAPI_set_granularity(int granularity);
int PAPI_set_multiplex(int EventSet);
int PAPI_set_opt(int option, PAPI_option_t *ptr);
int PAPI_set_thr_specific(int tag, void *ptr);
void PAPI_shutdown(void);
int PAPI_sprofil(PAPI_sprofil_t *prof, int profcnt, int EventSet, int EventCode, int threshold,
		 int flags);
int PAPI_start(int EventSet);
int PAPI_state(int EventSet, int *status);
int PAPI_stop(int EventSet, long long *values);
char *PAPI_strerror(int);
unsigned long PAPI_thread_id(void);
int PAPI_thread_init(unsigned long (*id_fn)(void));
int PAPI_unlock(int);
int PAPI_unregister_thread(void);
int PAPI_write(int EventSet, long long *values);
int PAPI_get_event_component(int EventCode);
int PAPI_get_eventset_component(int EventSet);
int PAPI_get_component_index(const char *name);
int PAPI_disable_component(int cidx);
int PAPI_disable_component_by_name(const char *name);
int PAPI_num_components(void);
int PAPI_flips_rate(int event, float *rtime, float *ptime, long long *flpins, float *mflips);
int PAPI_flops_rate(int event, float *rtime, float *ptime, long long *flpops, float *mflops);
int PAPI_ipc(float *rtime, float *ptime, long long *ins, float *ipc);
int PAPI_epc(int event, float *rtime, float *ptime, long long *ref, long long *core,
	     long long *evt, float *epc);
int PAPI_rate_stop(void);
int PAPI_enum_dev_type(int enum_modifier, void **handle);
int PAPI_get_dev_type_attr(void *handle, PAPI_dev_type_attr_e attr, void *value);
int PAPI_get_dev_attr(void *handle, int id, PAPI_dev_attr_e attr, void *value);
int PAPI_num_hwctrs(void);

/* ---- regions by name ---- */

int PAPI_hl_region_begin(const char *region);
int PAPI_hl_read(const char *region);
int PAPI_hl_region_end(const char *region);
int PAPI_hl_stop(void);
/* PAPI 7 has these two functions under other names, which it does not export. */
int PAPI_hl_set_events(const char *events);
void PAPI_hl_print_output(void);

#endif
