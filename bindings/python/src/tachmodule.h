/* SPDX-License-Identifier: MIT */
/* The extension module _tach: what its files share. One interpreter of a process has it. */
#ifndef TACH_PYTHON_H
#define TACH_PYTHON_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030a0000
#endif
#include <Python.h>
#include <stdlib.h>
#include <string.h>
#include <structmember.h>
#include <tach.h>

enum { SUMS = 1 + TACH_COUNTERS_MAX }; /* time, then the members of a set */

/* ---- quantities.c: what is counted, and what counting it from Python takes ---- */

struct quantities {
	PyObject_HEAD PyObject *names; /* tuple: time first */
	PyObject *metrics;	       /* tuple: names */
	PyObject *numbers;	       /* dict: name -> number; metrics after names */
	PyObject *missing;	       /* str: what is missing and why, or "" */
	PyObject *owner;	       /* owner of the formulas, or NULL: this struct */
	uint32_t flags;		       /* true of all members: TACH_FLAG_EMULATED */
	double tick;		       /* nanoseconds of a unit of value 0 */
	int n, nmetrics;
	struct tach_formula **formula;
	int calibrated;
	/* The least count of an empty entry, how much more others had, and how much a nested
	 * one adds. */
	uint64_t empty[SUMS], spread[SUMS], inside[SUMS];
};
extern PyTypeObject *tach_quantities_type;
struct quantities *tach_quantities_of_set(const struct tach_set *set, PyObject *owner);
/* The present quantities of regions; NULL without an exception: unknown. */
struct quantities *tach_quantities_of_regions(uint32_t generation);
/* Once for each set of regions, outside of any if possible: see quantities.c. -1: exception. */
int tach_quantities_prepare(void);
void tach_quantities_forget(void);

/* ---- counts.c: counts with their provenance; the head of Counts and Region ---- */

struct counted {
	PyObject_HEAD struct quantities *of; /* NULL: nothing was counted, and why says why */
	const char *why;		     /* "": see tach_counted_why */
	uint64_t inside; /* entries completed inside, whose cost is to go out too */
	uint32_t flags[SUMS];
	uint64_t value[SUMS];
};
extern PyTypeObject *tach_counts_type;
struct counted *tach_counts_new(struct quantities *of);
PyObject *tach_counted_getattr(PyObject *self, PyObject *name);
PyObject *tach_counted_values(PyObject *self, void *raw);
PyObject *tach_counted_flags(PyObject *self, void *context);
PyObject *tach_counted_provenance(PyObject *self, void *context);
PyObject *tach_counted_why(PyObject *self, void *context);
PyObject *tach_counted_cost(PyObject *self, void *context);
#define TACH_COUNTED_GETSET                                                                    \
	{"values", tach_counted_values, NULL,                                                  \
	 "What was counted and derived, by name; None: see why", NULL},                        \
		{"raw", tach_counted_values, NULL, "As counted, with what measuring it took",  \
		 &tach_counts_type},                                                           \
		{"flags", tach_counted_flags, NULL, "Provenance, as bits of tach/flags.h",     \
		 NULL},                                                                        \
		{"provenance", tach_counted_provenance, NULL, "The same in words; (): exact",  \
		 NULL},                                                                        \
		{"why", tach_counted_why, NULL, "Why a count is None, in one sentence, or ''", \
		 NULL},                                                                        \
	{                                                                                      \
		"cost", tach_counted_cost, NULL,                                               \
			"What an entry takes that was subtracted, and its spread", NULL        \
	}

PyObject *tach_counted_ticks(PyObject *self, PyObject *none);
PyObject *tach_counted_item(PyObject *self, PyObject *name);
void tach_counted_clear(struct counted *c);

/* ---- the types, and what else the module has ---- */

extern PyTypeObject *tach_region_type, *tach_set_type, *tach_reader_type, *tach_snapshot_type;
extern PyType_Spec tach_quantities_spec, tach_counts_spec, tach_region_spec, tach_set_spec,
	tach_reader_spec, tach_snapshot_spec;
PyObject *tach_region_new(PyObject *module, PyObject *name);
const struct tach_set *tach_set_of(PyObject *set); /* of a Set */
extern char tach_unavailable[256]; /* why the requested events are not counted, or "" */
PyObject *tach_configure(PyObject *module, PyObject *args, PyObject *keywords);

/* Raises tach.Error; NULL. */
PyObject *tach_raise(int code, const struct tach_error *err);
/* tach._python.NAME(...) of the package's Python half; format as Py_BuildValue's, a tuple. */
PyObject *tach_python(const char *name, const char *format, ...);
/* str or NULL for None and what was not given; -1: exception. No NUL inside. */
int tach_text(PyObject *text, const char **out);

#endif
