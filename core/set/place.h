/* SPDX-License-Identifier: MIT */
#ifndef TACH_CORE_SET_PLACE_H
#define TACH_CORE_SET_PLACE_H

/* Of a metric that was named: its place in a tree and what it is for people. */
struct tach__place {
	int level;    /* from 1; 0: in no tree */
	double scale; /* what is shown is scale times the value; 0: not said */
	/* NULL or "": not said. A set's are strings of the registry, which stay. */
	const char *unit, *parent, *threshold, *description;
};

#endif
