/* SPDX-License-Identifier: MIT */
/*
 * The extension module _tach: declarations shared by its files. Only one interpreter of a
 * process can import it.
 */
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

/* ---- quantities.c: the counted quantities, and the overhead from Python ---- */

struct quantities {
	PyObject_HEAD PyObject *names; /* tuple: time first */
	PyObject *metrics;	       /* tuple: names */
	PyObject *numbers;	       /* dict: name -> number; metrics after names */
	PyObject *missing;	       /* str: which parts are missing and why, or "" */
	PyObject *owner;	       /* owner of the formulas; NULL: this struct */
	uint32_t flags;		       /* flags of all members: TACH_FLAG_EMULATED */
	double tick;		       /* nanoseconds per unit of value 0 */
	int n, nmetrics;
	struct tach_formula **formula;
	int calibrated;
	/*
	 * The minimum count of an empty entry, how much more others had, and how much a nested
	 * one adds.
	 */
	uint64_t empty[SUMS], spread[SUMS], inside[SUMS];
};
extern PyTypeObject *tach_quantities_type;
struct quantities *tach_quantities_of_set(const struct tach_set *set, PyObject *owner);
/* The present quantities of regions, or NULL without an exception if unknown. */
struct quantities *tach_quantities_of_regions(uint32_t generation);
/*
 * Call it once for each set of regions, outside of all regions if possible: see quantities.c.
 * Returns -1 with an exception.
 */
int tach_quantities_prepare(void);
void tach_quantities_forget(void);

/* ---- counts.c: counts with their provenance; the head of Counts and Region ---- */

struct counted {
	/* NULL: nothing was counted; `why` gives the reason */
	PyObject_HEAD struct quantities *of;
	const char *why; /* "": see tach_counted_why */
	uint64_t inside; /* entries completed inside, whose overhead is subtracted too */
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

/* ---- the types, and other parts of the module ---- */

extern PyTypeObject *tach_region_type, *tach_set_type, *tach_reader_type, *tach_snapshot_type;
extern PyType_Spec tach_quantities_spec, tach_counts_spec, tach_region_spec, tach_set_spec,
	tach_reader_spec, tach_snapshot_spec;
PyObject *tach_region_new(PyObject *module, PyObject *name);
const struct tach_set *tach_set_of(PyObject *set);
/* why the requested events are not counted, or "" */
extern char tach_unavailable[256];
PyObject *tach_configure(PyObject *module, PyObject *args, PyObject *keywords);

/* ---- functions.c: each function of Python as a region ---- */

void tach_profile_ready(void);
/* For sys.setprofile: _profile(frame, event, argument). */
PyObject *tach_profile(PyObject *module, PyObject *const *args, Py_ssize_t n);
/* Ends the calling thread's functions, or forgets them in a child. */
PyObject *tach_profile_end(PyObject *module, PyObject *is_child);

/* Raises tach.Error and returns NULL. */
PyObject *tach_raise(int code, const struct tach_error *err);
/*
 * Calls tach._python.NAME(...) in the package's Python half; format is like Py_BuildValue's, a
 * tuple.
 */
PyObject *tach_python(const char *name, const char *format, ...);
/*
 * Reads a str, or NULL for None or a missing argument. Returns -1 with an exception. The text
 * contains no NUL.
 */
int tach_text(PyObject *text, const char **out);

#endif
