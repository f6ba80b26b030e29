/* SPDX-License-Identifier: MIT */
/* What --privilege takes. */
#include <stdlib.h>
#include <tach/event.h>
#include "tools/tach/commands.h"

int privilege_parse(const char *text, uint32_t *privilege)
{
	char *end;
	unsigned long number = strtoul(text, &end, 0);

	*privilege = 0;
	if (end != text && !*end) {
		*privilege = (uint32_t)number;
		return number <= 0x1f;
	}
	for (; *text; text++)
		switch (*text) {
		case 'u':
			*privilege |= TACH_PRIVILEGE_USER;
			break;
		case 'k':
			*privilege |= TACH_PRIVILEGE_KERNEL;
			break;
		case 'h':
			*privilege |= TACH_PRIVILEGE_HYPERVISOR;
			break;
		default:
			return 0;
		}
	return *privilege != 0;
}
