/* SPDX-License-Identifier: MIT */
#ifndef TACH_CORE_SET_PLACE_H
#define TACH_CORE_SET_PLACE_H

/* The place of a named metric in a tree, and its texts for people. */
struct tach__place {
	int level;    /* from 1; 0: in no tree */
	double scale; /* reports show scale times the value; 0: unknown */
	/* NULL or "": unknown. In a set, these are strings of the registry, which are never
	 * freed. */
	const char *unit, *parent, *threshold, *description;
};

#endif
