/* SPDX-License-Identifier: MIT */
/* Events by name and code: whether they exist, and their descriptions. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "compat/papi/state.h"

static int is_running_library(void)
{
	return pp_process.level != PAPI_NOT_INITED;
}

int PAPI_query_event(int EventCode)
{
	const struct pp_derived *d = NULL;

	if (IS_PRESET(EventCode)) {
		if ((EventCode & PAPI_PRESET_AND_MASK) >= PAPI_MAX_PRESET_EVENTS)
			return pp_return(PAPI_ENOTPRESET);
		d = pp_preset(EventCode & PAPI_PRESET_AND_MASK);
		return d && d->count ? PAPI_OK : PAPI_ENOEVNT;
	}
	if (IS_NATIVE(EventCode)) {
		if (pp_native_component(EventCode) < 0)
			return pp_return(PAPI_ENOCMP);
		return PAPI_OK;
	}
	if (IS_USER_DEFINED(EventCode))
		d = pp_user_event(EventCode & PAPI_UE_AND_MASK);
	return d && d->count ? PAPI_OK : pp_return(PAPI_ENOEVNT);
}

int PAPI_event_name_to_code(const char *in, int *out)
{
	const char *name;

	if (!in || !out)
		return pp_return(PAPI_EINVAL);
	if (!is_running_library())
		return pp_return(PAPI_ENOINIT);
	if (strncmp(in, "PAPI_", 5) == 0)
		for (int i = 0; (name = pp_preset_name(i)); i++)
			if (strcasecmp(name, in) == 0) {
				*out = i | PAPI_PRESET_MASK;
				return PAPI_OK;
			}
	for (int i = 0; i < pp_user_events(); i++)
		if (strcasecmp(pp_user_event(i)->symbol, in) == 0) {
			*out = i | PAPI_UE_MASK;
			return PAPI_OK;
		}
	return pp_return(pp_native_code(in, out));
}

int PAPI_query_named_event(const char *EventName)
{
	int event, code = PAPI_event_name_to_code(EventName, &event);

	return pp_return(code == PAPI_OK ? PAPI_query_event(event) : code);
}

static int copy_name(char *out, const char *name)
{
	if (!name)
		return PAPI_ENOEVNT;
	snprintf(out, PAPI_MAX_STR_LEN, "%s", name);
	return PAPI_OK;
}

int PAPI_event_code_to_name(int EventCode, char *out)
{
	const struct pp_native *native;
	const struct pp_derived *d;
	const char *name;

	if (!out)
		return pp_return(PAPI_EINVAL);
	if (IS_PRESET(EventCode)) {
		name = pp_preset_name(EventCode & PAPI_PRESET_AND_MASK);
		if (!is_running_library() || !name)
			return pp_return(PAPI_ENOTPRESET);
		return copy_name(out, name);
	}
	if (IS_USER_DEFINED(EventCode)) {
		d = pp_user_event(EventCode & PAPI_UE_AND_MASK);
		return pp_return(copy_name(out, d ? d->symbol : NULL));
	}
	native = pp_native_of(EventCode);
	if (!native)
		return IS_NATIVE(EventCode) ? PAPI_ENOEVNT : pp_return(PAPI_ENOEVNT);
	return strlen(native->shown) >= PAPI_MAX_STR_LEN ? PAPI_EBUF
							 : copy_name(out, native->shown);
}

/* ---- descriptions ---- */

static void describe_derived(const struct pp_derived *d, PAPI_event_info_t *info)
{
	snprintf(info->derived, sizeof info->derived, "%s",
		 d->count ? d->info.type_name : "NOT_DERIVED");
	if (!d->count)
		return;
	info->count = d->count > PP_TERMS ? PP_TERMS : (unsigned)d->count;
	if (d->info.type == TACH_DERIVED_TYPE_POSTFIX ||
	    d->info.type == TACH_DERIVED_TYPE_INFIX)
		tach_formula_print(tach_expansion_formula(d->expansion), TACH_FORMULA_POSTFIX,
				   info->postfix, sizeof info->postfix);
	for (unsigned i = 0; i < info->count; i++) {
		info->code[i] = (unsigned)d->code[i];
		snprintf(info->name[i], sizeof info->name[i], "%s",
			 tach_expansion_event(d->expansion, (int)i));
	}
	snprintf(info->note, sizeof info->note, "%s", d->info.note);
}

static int describe_preset(int index, PAPI_event_info_t *info)
{
	const struct pp_derived *d = pp_preset(index);

	if (!d || !is_running_library())
		return PAPI_ENOEVNT;
	snprintf(info->symbol, sizeof info->symbol, "%s", pp_preset_name(index));
	info->event_type = pp_preset_type(index);
	snprintf(info->short_descr, sizeof info->short_descr, "%s", pp_preset_text(index));
	snprintf(info->long_descr, sizeof info->long_descr, "%s", pp_preset_text(index));
	describe_derived(d, info);
	return PAPI_OK;
}

static int describe_user(int index, PAPI_event_info_t *info)
{
	const struct pp_derived *d = pp_user_event(index);

	if (!d)
		return PAPI_ENOEVNT;
	snprintf(info->symbol, sizeof info->symbol, "%s", d->symbol);
	snprintf(info->short_descr, sizeof info->short_descr, "%s", d->info.short_description);
	snprintf(info->long_descr, sizeof info->long_descr, "%s", d->info.long_description);
	describe_derived(d, info);
	return PAPI_OK;
}

static int describe_native(int code, PAPI_event_info_t *info)
{
	const struct pp_native *native = pp_native_of(code);

	if (!native)
		return pp_native_component(code) < 0 ? PAPI_ENOCMP : PAPI_ENOEVNT;
	info->component_index = native->component;
	snprintf(info->symbol, sizeof info->symbol, "%s", native->shown);
	if (native->component == PP_TOPDOWN) {
		snprintf(info->units, sizeof info->units, "%%");
		info->data_type = PAPI_DATATYPE_FP64;
	}
	pp_native_describe(native, info->long_descr, sizeof info->long_descr);
	return PAPI_OK;
}

int PAPI_get_event_info(int EventCode, PAPI_event_info_t *info)
{
	int code = PAPI_ENOTPRESET, index = EventCode & PAPI_UE_AND_MASK;

	if (!info)
		return pp_return(PAPI_EINVAL);
	if (IS_PRESET(EventCode) &&
	    (EventCode & PAPI_PRESET_AND_MASK) >= PAPI_MAX_PRESET_EVENTS)
		return pp_return(PAPI_ENOTPRESET);
	if (EventCode & (PAPI_PRESET_MASK | PAPI_NATIVE_MASK)) {
		memset(info, 0, sizeof *info);
		info->event_code = (unsigned)EventCode;
	}
	if (IS_PRESET(EventCode))
		code = describe_preset(index, info);
	else if (IS_NATIVE(EventCode))
		code = describe_native(EventCode, info);
	else if (IS_USER_DEFINED(EventCode))
		code = describe_user(index, info);
	return pp_return(code);
}

/* ---- one after the other ---- */

static int next_preset(int *code, int modifier)
{
	int i = *code & PAPI_PRESET_AND_MASK;

	if (modifier == PAPI_ENUM_FIRST) {
		*code = PAPI_PRESET_MASK;
		return PAPI_OK;
	}
	while (++i < PAPI_MAX_PRESET_EVENTS) {
		if (!is_running_library() || !pp_preset_name(i))
			return PAPI_ENOEVNT;
		if (modifier & PAPI_PRESET_ENUM_AVAIL && !pp_preset(i)->count)
			continue;
		*code = i | PAPI_PRESET_MASK;
		return PAPI_OK;
	}
	return pp_return(PAPI_EINVAL);
}

static int next_user(int *code, int modifier)
{
	int i = *code & PAPI_UE_AND_MASK;

	if (pp_user_events() == 0)
		return PAPI_ENOEVNT;
	i = modifier == PAPI_ENUM_FIRST ? 0 : i + 1;
	if (i >= pp_user_events())
		return PAPI_ENOEVNT;
	*code = i | PAPI_UE_MASK;
	return PAPI_OK;
}

static int next_native(int *code, int modifier, int component)
{
	return pp_native_next(code, modifier, component) == PAPI_OK ? PAPI_OK : PAPI_EINVAL;
}

int PAPI_enum_cmp_event(int *EventCode, int modifier, int cidx)
{
	if (!EventCode || !pp_component_valid(cidx) || (IS_PRESET(*EventCode) && cidx > 0))
		return PAPI_ENOCMP;
	if (cidx == PP_ROCM && IS_NATIVE(*EventCode) && pp_component_use_rocm())
		return PAPI_EINVAL;
	if (pp_component_disabled(cidx) && pp_component_disabled(cidx) != PAPI_EDELAY_INIT)
		return PAPI_ENOCMP;
	if (IS_PRESET(*EventCode))
		return next_preset(EventCode, modifier);
	if (IS_NATIVE(*EventCode))
		return next_native(EventCode, modifier, cidx);
	return pp_return(PAPI_EINVAL);
}

int PAPI_enum_event(int *EventCode, int modifier)
{
	int component = EventCode ? pp_native_component(*EventCode) : PAPI_ENOCMP;

	if (component < 0)
		return PAPI_ENOCMP;
	if (IS_PRESET(*EventCode))
		return next_preset(EventCode, modifier);
	if (IS_NATIVE(*EventCode))
		return next_native(EventCode, modifier, component);
	return IS_USER_DEFINED(*EventCode) ? next_user(EventCode, modifier)
					   : pp_return(PAPI_EINVAL);
}

int PAPI_get_event_component(int EventCode)
{
	return pp_native_component(EventCode);
}
