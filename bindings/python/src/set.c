/* SPDX-License-Identifier: MIT */
/* Sets of events and metrics: Set("cycles, instructions", "ipc = instructions / cycles"). */
#include "tachmodule.h"

struct set {
	PyObject_HEAD struct tach_set *set;
};

const struct tach_set *tach_set_of(PyObject *set)
{
	return ((struct set *)set)->set;
}

static PyObject *set_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	static char *names[] = {"events",   "metrics",	  "pmu",     "multiplex",
				"optional", "interrupts", "correct", NULL};
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;
	PyObject *events = NULL, *metrics = NULL;
	int flag[4] = {0}, code;
	allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
	struct set *self;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OO$ipppp:Set", names, &events,
					 &metrics, &opt.pmu, &flag[0], &flag[1], &flag[2],
					 &flag[3]) ||
	    tach_text(events, &opt.events) || tach_text(metrics, &opt.metrics))
		return NULL;
	opt.flags = (flag[0] ? TACH_SET_MULTIPLEX : 0) | (flag[1] ? TACH_SET_OPTIONAL : 0) |
		    (flag[2] ? TACH_SET_INTERRUPTS : 0) | (flag[3] ? TACH_SET_CORRECT : 0);
	self = (struct set *)alloc(type, 0);
	if (!self)
		return NULL;
	code = tach_set_create(&opt, &self->set, &err);
	if (code == 0)
		return (PyObject *)self;
	Py_DECREF(self);
	return tach_raise(code, &err);
}

static void set_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	tach_set_free(((struct set *)self)->set);
	PyObject_Free(self);
	Py_DECREF(type);
}

static PyObject *tuple_of(PyObject *self, int n,
			  const char *(*get)(const struct tach_set *, int))
{
	PyObject *list = PyTuple_New(n);

	for (int i = 0; list && i < n; i++) {
		PyObject *text = PyUnicode_FromString(get(tach_set_of(self), i));

		if (!text || PyTuple_SetItem(list, i, text) != 0)
			Py_CLEAR(list);
	}
	return list;
}

static const char *kind_name(const struct tach_set *set, int i)
{
	enum tach_member_kind kind = tach_set_kind(set, i);

	return kind == TACH_MEMBER_HARDWARE   ? "hardware"
	       : kind == TACH_MEMBER_EMULATED ? "emulated"
					      : "software";
}

static PyObject *get_names(PyObject *self, void *context)
{
	(void)context;
	return tuple_of(self, tach_set_count(tach_set_of(self)), tach_set_name);
}

static PyObject *get_qualified(PyObject *self, void *context)
{
	(void)context;
	return tuple_of(self, tach_set_count(tach_set_of(self)), tach_set_qualified);
}

static PyObject *get_kinds(PyObject *self, void *context)
{
	(void)context;
	return tuple_of(self, tach_set_count(tach_set_of(self)), kind_name);
}

static PyObject *get_metrics(PyObject *self, void *context)
{
	(void)context;
	return tuple_of(self, tach_set_nmetrics(tach_set_of(self)), tach_set_metric_name);
}

static PyObject *get_missing(PyObject *self, void *context)
{
	(void)context;
	return PyUnicode_FromString(tach_set_missing(tach_set_of(self)));
}

static Py_ssize_t set_length(PyObject *self)
{
	return tach_set_count(tach_set_of(self));
}

static PyGetSetDef getset[] = {
	{"names", get_names, NULL, "Labels, or events as they were written", NULL},
	{"qualified", get_qualified, NULL, "With all that the strings left open", NULL},
	{"kinds", get_kinds, NULL, "hardware, software or emulated", NULL},
	{"metrics", get_metrics, NULL, "Names of what is derived", NULL},
	{"missing", get_missing, NULL, "What was left out and why, or ''", NULL},
	{NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot slots[] = {
	{Py_tp_new, set_new},
	{Py_tp_dealloc, set_dealloc},
	{Py_tp_getset, getset},
	{Py_sq_length, set_length},
	{Py_tp_doc, "What to count, and what to derive from it"},
	{0, NULL},
};
PyType_Spec tach_set_spec = {"tach.Set", sizeof(struct set), 0, Py_TPFLAGS_DEFAULT, slots};
