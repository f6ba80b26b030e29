/* SPDX-License-Identifier: MIT */
/* The interface of libtach-functions.so for libtach-run.so, which finds tach__functions. */
#ifndef COMPAT_FUNCTIONS_FACE_H
#define COMPAT_FUNCTIONS_FACE_H

#include <tach/region.h>

struct tach__functions {
	uint32_t size; /* of this struct */
	/* Makes the hooks ready; called before the first region begins. */
	void (*prepare)(void);
	/* For calibration: enters and leaves an empty function that counts in that site. */
	void (*pair)(struct tach_site *site);
	/* Call when a thread ends: leaves all functions of the calling thread. */
	void (*close)(void);
	/*
	 * Set by libtach-run.so: runs `work`, and subtracts its counts from the open regions.
	 */
	void (*aside)(void (*work)(void *), void *context);
};

#endif
