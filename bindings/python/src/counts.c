/* SPDX-License-Identifier: MIT */
/*
 * Counts with their provenance: by attribute, by item, as a dict. A missing count is None, and
 * `why` gives the reason; a name that was not configured is an error.
 */
#include "tachmodule.h"

#define NO_COUNT (TACH_FLAG_LOST | TACH_FLAG_INCOMPLETE)

void tach_counted_clear(struct counted *c)
{
	Py_CLEAR(c->of);
	memset((char *)c + sizeof(PyObject), 0, sizeof *c - sizeof(PyObject));
	c->why = "";
}

struct counted *tach_counts_new(struct quantities *of)
{
	struct counted *c = PyObject_New(struct counted, tach_counts_type);

	if (!c)
		return NULL;
	c->of = NULL;
	tach_counted_clear(c);
	c->of = (struct quantities *)Py_NewRef((PyObject *)of);
	return c;
}

static void counts_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	Py_XDECREF(((struct counted *)self)->of);
	PyObject_Free(self);
	Py_DECREF(type);
}

/* The count minus the overhead; at least 0. */
static uint64_t net(const struct counted *c, int i)
{
	uint64_t cost = c->of->empty[i] + c->inside * c->of->inside[i];

	return c->value[i] > cost ? c->value[i] - cost : 0;
}

static double metric(const struct counted *c, int m, uint32_t *flags)
{
	uint64_t values[SUMS];

	for (int i = 1; i < c->of->n; i++)
		values[i - 1] = net(c, i);
	*flags = tach_formula_flags(c->of->formula[m], c->flags + 1);
	return tach_formula_eval(c->of->formula[m], values, (double)net(c, 0) * c->of->tick,
				 flags);
}

static PyObject *value_at(const struct counted *c, int i, int raw)
{
	uint32_t flags = i < c->of->n ? c->flags[i] : 0;
	double value = 0;

	if (*c->why)
		Py_RETURN_NONE;
	if (i >= c->of->n)
		value = metric(c, i - c->of->n, &flags);
	if (flags & NO_COUNT)
		Py_RETURN_NONE;
	if (i >= c->of->n)
		return PyFloat_FromDouble(value);
	if (i == 0)
		return PyFloat_FromDouble(c->of->tick *
					  (double)(raw ? c->value[0] : net(c, 0)));
	return PyLong_FromUnsignedLongLong(raw ? c->value[i] : net(c, i));
}

/* Returns NULL without an exception if the name does not exist. */
static PyObject *look(const struct counted *c, PyObject *name)
{
	PyObject *number = c->of ? PyDict_GetItemWithError(c->of->numbers, name) : NULL;

	return number ? value_at(c, (int)PyLong_AsLong(number), 0) : NULL;
}

/*
 * Handles a name that was not counted. If there are no counts at all, returns None; `why` gives
 * the reason.
 */
static PyObject *absent(const struct counted *c, PyObject *name, PyObject *error)
{
	PyObject *space, *names;

	if (PyErr_Occurred())
		return NULL;
	if (!c->of || (c->of->n == 1 && PyObject_IsTrue(c->of->missing)))
		Py_RETURN_NONE;
	space = PyUnicode_FromString(", ");
	names = space ? PyUnicode_Join(space, c->of->names) : NULL;
	if (names)
		PyErr_Format(error, "%U is not counted, only: %U. %U", name, names,
			     c->of->missing);
	Py_XDECREF(space);
	Py_XDECREF(names);
	return NULL;
}

/*
 * The object's own attributes have priority over an event of the same name, which item access
 * finds.
 */
PyObject *tach_counted_getattr(PyObject *self, PyObject *name)
{
	struct counted *c = (struct counted *)self;
	PyObject *own = PyObject_GenericGetAttr(self, name), *value;

	if (own || !PyErr_ExceptionMatches(PyExc_AttributeError))
		return own;
	if (PyUnicode_ReadChar(name, 0) == '_')
		return NULL;
	PyErr_Clear();
	value = look(c, name);
	return value || PyErr_Occurred() ? value : absent(c, name, PyExc_AttributeError);
}

PyObject *tach_counted_item(PyObject *self, PyObject *name)
{
	struct counted *c = (struct counted *)self;
	PyObject *value;

	if (!PyUnicode_Check(name)) {
		PyErr_SetString(PyExc_TypeError, "counts are looked up by name");
		return NULL;
	}
	value = look(c, name);
	return value ? value : absent(c, name, PyExc_KeyError);
}

static PyObject *as_dict(const struct counted *c, int raw)
{
	PyObject *all = PyDict_New();
	int n = c->of ? c->of->n + (raw ? 0 : c->of->nmetrics) : 0;

	for (int i = 0; all && i < n; i++) {
		PyObject *name = i < c->of->n ? PyTuple_GetItem(c->of->names, i)
					      : PyTuple_GetItem(c->of->metrics, i - c->of->n);
		PyObject *value = value_at(c, i, raw);

		if (!value || PyDict_SetItem(all, name, value) != 0)
			Py_CLEAR(all);
		Py_XDECREF(value);
	}
	return all;
}

PyObject *tach_counted_values(PyObject *self, void *raw)
{
	return as_dict((struct counted *)self, raw != NULL);
}

static uint32_t all_flags(const struct counted *c)
{
	uint32_t flags = 0;

	for (int i = 0; c->of && i < c->of->n; i++)
		flags |= c->flags[i];
	return flags;
}

PyObject *tach_counted_flags(PyObject *self, void *context)
{
	(void)context;
	return PyLong_FromUnsignedLong(all_flags((struct counted *)self));
}

PyObject *tach_counted_provenance(PyObject *self, void *context)
{
	static const char *const names[] = {
		"rescheduled", "incomplete",	 "syscall", "scaled", "mixed",
		"lost",	       "clock-estimate", "divzero", "stale",  "small",
		"corrected",   "emulated",	 "shared",
	};
	uint32_t flags = all_flags((struct counted *)self);
	PyObject *list = PyList_New(0), *tuple;

	(void)context;
	for (size_t i = 0; list && i < sizeof names / sizeof *names; i++) {
		PyObject *name = flags >> i & 1 ? PyUnicode_FromString(names[i]) : NULL;

		if (name ? PyList_Append(list, name) != 0 : PyErr_Occurred() != NULL)
			Py_CLEAR(list);
		Py_XDECREF(name);
	}
	tuple = list ? PyList_AsTuple(list) : NULL;
	Py_XDECREF(list);
	return tuple;
}

PyObject *tach_counted_why(PyObject *self, void *context)
{
	const struct counted *c = (struct counted *)self;
	uint32_t flags = all_flags(c);

	(void)context;
	if (*c->why)
		return PyUnicode_FromString(c->why);
	if (flags & TACH_FLAG_LOST)
		return PyUnicode_FromString(
			"the counters were lost: closed, set back, or of another thread");
	if (flags & TACH_FLAG_INCOMPLETE)
		return PyUnicode_FromString("the counters did not count part of the time");
	return c->of && c->of->n == 1 ? Py_NewRef(c->of->missing) : PyUnicode_FromString("");
}

PyObject *tach_counted_cost(PyObject *self, void *context)
{
	const struct counted *c = (struct counted *)self;

	(void)context;
	return c->of ? PyObject_CallMethod((PyObject *)c->of, "cost", NULL) : PyDict_New();
}

static PyGetSetDef getset[] = {TACH_COUNTED_GETSET, {NULL, NULL, NULL, NULL, NULL}};

/* Raw counts for calibration, as integers, or None if some are missing. */
PyObject *tach_counted_ticks(PyObject *self, PyObject *none)
{
	const struct counted *c = (struct counted *)self;
	PyObject *all;

	(void)none;
	if (*c->why || !c->of || all_flags(c) & NO_COUNT)
		Py_RETURN_NONE;
	all = PyTuple_New(c->of->n);
	for (int i = 0; all && i < c->of->n; i++) {
		PyObject *number = PyLong_FromUnsignedLongLong(c->value[i]);

		if (!number || PyTuple_SetItem(all, i, number) != 0)
			Py_CLEAR(all);
	}
	return all;
}

static PyObject *counts_repr(PyObject *self)
{
	PyObject *values = tach_counted_values(self, NULL), *text;

	text = values ? PyUnicode_FromFormat("<tach.Counts %R>", values) : NULL;
	Py_XDECREF(values);
	return text;
}

static PyMethodDef methods[] = {
	{"_ticks", tach_counted_ticks, METH_NOARGS, NULL},
	{NULL, NULL, 0, NULL},
};
static PyType_Slot slots[] = {
	{Py_tp_dealloc, counts_dealloc},
	{Py_tp_getattro, tach_counted_getattr},
	{Py_tp_getset, getset},
	{Py_tp_methods, methods},
	{Py_mp_subscript, tach_counted_item},
	{Py_tp_repr, counts_repr},
	{Py_tp_doc, "Counts by name, with their provenance"},
	{0, NULL},
};
PyType_Spec tach_counts_spec = {
	"tach.Counts",
	sizeof(struct counted),
	0,
	Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	slots,
};
