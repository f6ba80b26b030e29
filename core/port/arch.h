/* SPDX-License-Identifier: MIT */
/*
 * What an architecture provides. Every architecture's part is compiled on every host.
 *
 * NAME_encode reads w->event, w->picks and w->plm, fills rows, shown, ncodes and codes, and
 * returns 0 or what tach__refuse returned. Errors must come in the order of the picks.
 * NAME_perf turns codes into config, config1 and config2 for PERF_TYPE_RAW; w->has says which
 * of the latter two the event decides.
 */
#ifndef TACH_CORE_PORT_ARCH_H
#define TACH_CORE_PORT_ARCH_H

#include "core/port/work.h"

int tach__intel_encode(struct tach__work *w);
void tach__intel_perf(struct tach__work *w);
int tach__amd_encode(struct tach__work *w);
void tach__amd_perf(struct tach__work *w);
int tach__netburst_encode(struct tach__work *w);
void tach__netburst_perf(struct tach__work *w);
int tach__arm_encode(struct tach__work *w);
void tach__arm_perf(struct tach__work *w);
/* CPUID leaf 0AH: what this processor leaves of the architectural events and modifiers. */
uint32_t tach__archperfmon_mods(const struct tach_encode_options *opt, uint32_t mods);
int tach__archperfmon_event(const struct tach_encode_options *opt,
			    const struct tach__event *event);
int tach__ia64_encode(struct tach__work *w);

#endif
