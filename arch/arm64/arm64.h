/* SPDX-License-Identifier: MIT */
/* Declarations for the files of this folder. */
#ifndef TACH_ARCH_ARM64_H
#define TACH_ARCH_ARM64_H

#include "core/port/port.h"

/* tach__part.numbered. */
int tach__arm64_numbered(const char *sysfs, int i, char device[32], struct tach__cpu *cpu);

#endif
