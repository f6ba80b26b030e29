/* SPDX-License-Identifier: MIT */
/*
 * The quantities and their names, and the overhead of counting from Python: the interpreter
 * executes some hundreds of instructions between reading the begin and the body, and between
 * the body and reading the end. Empty entries measure this overhead, and the minimum is
 * subtracted from every entry.
 */
#include "tachmodule.h"

/* The quantities of regions, valid for one set at a time. */
static struct quantities *regions;
static uint32_t regions_generation;
static int preparing, tried;

static void quantities_dealloc(PyObject *self)
{
	struct quantities *q = (struct quantities *)self;
	PyTypeObject *type = Py_TYPE(self);

	if (!q->owner)
		for (int i = 0; i < q->nmetrics; i++)
			tach_formula_free(q->formula[i]);
	PyMem_Free(q->formula);
	Py_XDECREF(q->names);
	Py_XDECREF(q->metrics);
	Py_XDECREF(q->numbers);
	Py_XDECREF(q->missing);
	Py_XDECREF(q->owner);
	PyObject_Free(self);
	Py_DECREF(type);
}

/* Steals references to names, metrics and missing, any of which may be NULL after an error. */
static struct quantities *make(PyObject *names, PyObject *metrics, PyObject *missing)
{
	struct quantities *q = PyObject_New(struct quantities, tach_quantities_type);

	if (!q || !names || !metrics || !missing) {
		Py_XDECREF(names);
		Py_XDECREF(metrics);
		Py_XDECREF(missing);
		PyObject_Free(q);
		return NULL;
	}
	memset((char *)q + sizeof(PyObject), 0, sizeof *q - sizeof(PyObject));
	q->names = names;
	q->metrics = metrics;
	q->missing = missing;
	q->tick = 1;
	q->n = (int)PyTuple_Size(names);
	q->numbers = PyDict_New();
	q->formula =
		PyMem_Calloc((size_t)PyTuple_Size(metrics) + 1, sizeof(struct tach_formula *));
	for (int i = q->n + (int)PyTuple_Size(metrics) - 1; q->numbers && i >= 0; i--) {
		PyObject *name = i < q->n ? PyTuple_GetItem(names, i)
					  : PyTuple_GetItem(metrics, i - q->n);
		PyObject *number = PyLong_FromLong(i);

		if (!number || PyDict_SetItem(q->numbers, name, number) != 0)
			Py_CLEAR(q->numbers);
		Py_XDECREF(number);
	}
	if (q->numbers && q->formula && q->n <= SUMS)
		return q;
	if (!PyErr_Occurred())
		PyErr_NoMemory();
	Py_DECREF(q);
	return NULL;
}

typedef const char *namer(const struct tach_set *set, int i);

static PyObject *names_of(const struct tach_set *set, namer *name, int n, const char *first)
{
	PyObject *names = PyTuple_New(n + (first != NULL));

	for (int i = first ? -1 : 0; names && i < n; i++) {
		PyObject *text = PyUnicode_FromString(i < 0 ? first : name(set, i));

		if (!text || PyTuple_SetItem(names, i + (first != NULL), text) != 0)
			Py_CLEAR(names);
	}
	return names;
}

struct quantities *tach_quantities_of_set(const struct tach_set *set, PyObject *owner)
{
	int n = tach_set_nmetrics(set);
	struct quantities *q = make(names_of(set, tach_set_name, tach_set_count(set), "time"),
				    names_of(set, tach_set_metric_name, n, NULL),
				    PyUnicode_FromString(tach_set_missing(set)));

	if (!q)
		return NULL;
	q->owner = Py_NewRef(owner);
	q->nmetrics = n;
	for (int i = 0; i < n; i++)
		q->formula[i] = (struct tach_formula *)(uintptr_t)tach_set_metric(set, i);
	return q;
}

static void explain(struct quantities *q)
{
	PyObject *why = PyUnicode_DecodeUTF8(tach_unavailable,
					     (Py_ssize_t)strlen(tach_unavailable), "replace");

	if (why) {
		Py_DECREF(q->missing);
		q->missing = why;
	}
	PyErr_Clear();
}

/*
 * (names, metric names, formulas, missing, nanoseconds of a tick), as tach._python reads them
 * from a report.
 */
static struct quantities *from_report(void)
{
	PyObject *told = tach_python("quantities", "()"), *names, *metrics, *formulas, *missing;
	struct quantities *q = NULL;
	double tick;
	int emulated;

	if (!told)
		return NULL;
	if (PyArg_ParseTuple(told, "O!O!O!Udp", &PyTuple_Type, &names, &PyTuple_Type, &metrics,
			     &PyTuple_Type, &formulas, &missing, &tick, &emulated))
		q = make(Py_NewRef(names), Py_NewRef(metrics), Py_NewRef(missing));
	for (int i = 0; q && i < (int)PyTuple_Size(formulas); i++) {
		struct tach_error err = TACH_ERROR_INIT;
		const char *text;
		int code;

		if (tach_text(PyTuple_GetItem(formulas, i), &text) != 0) {
			Py_CLEAR(q);
			break;
		}
		code = tach_formula_compile(text, NULL, &q->formula[i], &err);
		if (code) {
			tach_raise(code, &err);
			Py_CLEAR(q);
			break;
		}
		q->nmetrics = i + 1;
	}
	if (q && tach_unavailable[0])
		explain(q);
	if (q) {
		q->tick = tick;
		q->flags = emulated ? TACH_FLAG_EMULATED : 0;
	}
	Py_DECREF(told);
	return q;
}

struct quantities *tach_quantities_of_regions(uint32_t generation)
{
	if (generation && (!regions || generation != regions_generation)) {
		struct quantities *q = from_report();

		if (!q)
			return NULL;
		tach_quantities_forget();
		regions = q;
		tried = 1;
		regions_generation = generation;
	}
	return regions;
}

void tach_quantities_forget(void)
{
	Py_CLEAR(regions);
	tried = 0;
}

/*
 * Runs before the first entry. The report contains the empty regions, with names that say what
 * they are: they show the overhead of an entry from Python.
 */
int tach_quantities_prepare(void)
{
	PyObject *done;

	if (regions || preparing || tried || !tach_regions_enabled())
		return 0;
	preparing = tried = 1;
	done = tach_python("calibrate", "()");
	preparing = 0;
	Py_XDECREF(done);
	/* A failure here must not end the program. */
	if (!done && PyErr_ExceptionMatches(PyExc_Exception))
		PyErr_Clear();
	return PyErr_Occurred() ? -1 : 0;
}

/* calibrated(empty, spread, inside): three tuples of numbers, with one number per name. */
static PyObject *calibrated(PyObject *self, PyObject *args)
{
	struct quantities *q = (struct quantities *)self;
	PyObject *list[3];
	uint64_t *to[3] = {q->empty, q->spread, q->inside};

	if (!PyArg_ParseTuple(args, "O!O!O!", &PyTuple_Type, &list[0], &PyTuple_Type, &list[1],
			      &PyTuple_Type, &list[2]))
		return NULL;
	for (int k = 0; k < 3; k++)
		for (int i = 0; i < q->n; i++) {
			PyObject *number = PyTuple_GetItem(list[k], i);

			to[k][i] = number ? PyLong_AsUnsignedLongLong(number) : 0;
			if (PyErr_Occurred())
				return NULL;
		}
	q->calibrated = 1;
	Py_RETURN_NONE;
}

static PyObject *cost(PyObject *self, PyObject *none)
{
	struct quantities *q = (struct quantities *)self;
	PyObject *all = PyDict_New();

	(void)none;
	for (int i = 0; all && q->calibrated && i < q->n; i++) {
		double unit = i == 0 ? q->tick : 1;
		PyObject *one = Py_BuildValue(
			"{s:d,s:d,s:d}", "entry", unit * (double)q->empty[i], "spread",
			unit * (double)q->spread[i], "inside", unit * (double)q->inside[i]);

		if (!one || PyDict_SetItem(all, PyTuple_GetItem(q->names, i), one) != 0)
			Py_CLEAR(all);
		Py_XDECREF(one);
	}
	return all;
}

static PyMethodDef methods[] = {
	{"calibrated", calibrated, METH_VARARGS, NULL},
	{"cost", cost, METH_NOARGS, NULL},
	{NULL, NULL, 0, NULL},
};
static PyMemberDef members[] = {
	{"names", T_OBJECT, offsetof(struct quantities, names), READONLY, NULL},
	{"metrics", T_OBJECT, offsetof(struct quantities, metrics), READONLY, NULL},
	{"missing", T_OBJECT, offsetof(struct quantities, missing), READONLY, NULL},
	{NULL, 0, 0, 0, NULL},
};
static PyType_Slot slots[] = {
	{Py_tp_dealloc, quantities_dealloc},
	{Py_tp_methods, methods},
	{Py_tp_members, members},
	{0, NULL},
};
PyType_Spec tach_quantities_spec = {
	"tach._tach._Quantities",
	sizeof(struct quantities),
	0,
	Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	slots,
};
