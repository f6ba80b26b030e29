/* SPDX-License-Identifier: MIT */
#ifndef TACH_CORE_DOCTOR_H
#define TACH_CORE_DOCTOR_H

#include <tach/doctor.h>
#include "core/doctor/evidence.h"

/* Findings and verdict from evidence alone: no file, no system call. */
void tach__doctor_judge(const struct tach__evidence *e, struct tach_examination *out);

#endif
