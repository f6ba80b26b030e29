/* SPDX-License-Identifier: MIT */
/*
 * Snapshots of all regions: of this process, of another one, or from a file; and their reports.
 */
#include "tachmodule.h"

struct snapshot {
	PyObject_HEAD struct tach_snapshot *snapshot;
};

static PyObject *wrap(int code, struct tach_snapshot *snapshot, const struct tach_error *err)
{
	struct snapshot *self;

	if (code)
		return tach_raise(code, err);
	self = PyObject_New(struct snapshot, tach_snapshot_type);
	if (self)
		self->snapshot = snapshot;
	else
		tach_snapshot_free(snapshot);
	return (PyObject *)self;
}

static const struct tach_snapshot *of(PyObject *self)
{
	return ((struct snapshot *)self)->snapshot;
}

static void snapshot_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	tach_snapshot_free(((struct snapshot *)self)->snapshot);
	PyObject_Free(self);
	Py_DECREF(type);
}

static PyObject *snapshot_take(PyObject *class, PyObject *args, PyObject *keywords)
{
	static char *names[] = {"process", NULL};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *s = NULL;
	int process = 0, code;

	(void)class;
	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|i:take", names, &process))
		return NULL;
	if (process == 0) {
		code = tach_snapshot_take(&s, &err);
	} else {
		Py_BEGIN_ALLOW_THREADS code = tach_snapshot_take_process(process, &s, &err);
		Py_END_ALLOW_THREADS
	}
	return wrap(code, s, &err);
}

static PyObject *snapshot_load(PyObject *class, PyObject *json)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *s = NULL;
	Py_ssize_t length;
	const char *text = PyUnicode_AsUTF8AndSize(json, &length);
	int code;

	(void)class;
	if (!text)
		return NULL;
	code = tach_snapshot_load(text, (size_t)length, &s, &err);
	return wrap(code, s, &err);
}

static PyObject *snapshot_merge(PyObject *class, PyObject *list)
{
	struct tach_error err = TACH_ERROR_INIT;
	PyObject *all = PySequence_Tuple(list);
	int n = all ? (int)PyTuple_Size(all) : 0, code;
	const struct tach_snapshot **each = PyMem_Calloc((size_t)n + 1, sizeof *each);
	struct tach_snapshot *s = NULL;
	PyObject *merged = NULL;

	(void)class;
	for (int i = 0; each && i < n; i++) {
		PyObject *one = PyTuple_GetItem(all, i);

		if (!PyObject_TypeCheck(one, tach_snapshot_type)) {
			PyErr_SetString(PyExc_TypeError, "a list of snapshots is wanted");
			n = -1;
		} else {
			each[i] = of(one);
		}
	}
	if (all && each && n >= 0) {
		code = tach_snapshot_merge(each, n, &s, &err);
		merged = wrap(code, s, &err);
	} else if (!PyErr_Occurred()) {
		PyErr_NoMemory();
	}
	PyMem_Free(each);
	Py_XDECREF(all);
	return merged;
}

static PyObject *snapshot_since(PyObject *self, PyObject *older)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *s = NULL;
	int code;

	if (!PyObject_TypeCheck(older, tach_snapshot_type)) {
		PyErr_SetString(PyExc_TypeError, "an older snapshot is wanted");
		return NULL;
	}
	code = tach_snapshot_since(of(self), of(older), &s, &err);
	return wrap(code, s, &err);
}

/* ---- reports ---- */

struct text {
	char *at;
	size_t length, room;
};

static int append(void *context, const char *text, size_t length)
{
	struct text *t = context;

	if (t->room - t->length < length) {
		size_t room = 2 * t->room + length;
		char *more = realloc(t->at, room);

		if (!more)
			return TACH_ERR_NOMEM;
		t->at = more;
		t->room = room;
	}
	memcpy(t->at + t->length, text, length);
	t->length += length;
	return 0;
}

static int format_of(const char *name)
{
	static const char *const names[] = {"text", "json", "csv", "prometheus", "html"};

	for (int i = 0; i < 5; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	PyErr_Format(PyExc_ValueError, "no such format: %s (text, json, csv, prometheus, html)",
		     name);
	return -1;
}

static PyObject *snapshot_text(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = {"format", "width", "ascii", NULL};
	struct tach_report_options opt = {.size = sizeof opt};
	struct tach_error err = TACH_ERROR_INIT;
	struct text text = {NULL, 0, 0};
	const char *format = "text";
	PyObject *out;
	int code;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|s$ip:text", names, &format,
					 &opt.width, &opt.ascii) ||
	    (code = format_of(format)) < 0)
		return NULL;
	opt.format = (enum tach_format)code;
	code = tach_report_write(of(self), &opt, append, &text, &err);
	out = code ? tach_raise(code, &err)
		   : PyUnicode_DecodeUTF8(text.at, (Py_ssize_t)text.length, "replace");
	free(text.at);
	return out;
}

static PyObject *snapshot_write(PyObject *self, PyObject *path)
{
	struct tach_error err = TACH_ERROR_INIT;
	PyObject *bytes;
	const char *file;
	int code;

	if (!PyUnicode_FSConverter(path, &bytes))
		return NULL;
	file = PyBytes_AsString(bytes);
	Py_BEGIN_ALLOW_THREADS code = tach_report_file(of(self), NULL, file, &err);
	Py_END_ALLOW_THREADS Py_DECREF(bytes);
	if (code)
		return tach_raise(code, &err);
	Py_RETURN_NONE;
}

static PyObject *snapshot_report(PyObject *self, PyObject *none)
{
	PyObject *text = PyObject_CallMethod(self, "text", "s", "json"), *report;

	(void)none;
	report = text ? tach_python("report_of", "(O)", text) : NULL;
	Py_XDECREF(text);
	return report;
}

static PyObject *get_missing(PyObject *self, void *context)
{
	(void)context;
	return PyUnicode_FromString(tach_snapshot_missing(of(self)));
}

#define WITH_KEYWORDS(function) (PyCFunction)(void (*)(void))(function)
static PyMethodDef methods[] = {
	{"take", WITH_KEYWORDS(snapshot_take), METH_VARARGS | METH_KEYWORDS | METH_STATIC,
	 "Of all regions now; of another process by its number"},
	{"load", snapshot_load, METH_O | METH_STATIC, "A report in JSON, read back"},
	{"merge", snapshot_merge, METH_O | METH_STATIC, "The sums of several"},
	{"since", snapshot_since, METH_O, "What was counted after an older one"},
	{"text", WITH_KEYWORDS(snapshot_text), METH_VARARGS | METH_KEYWORDS,
	 "A report: text, json, csv, prometheus or html"},
	{"write", snapshot_write, METH_O,
	 "A report to a file, in the format that its suffix says"},
	{"report", snapshot_report, METH_NOARGS,
	 "The JSON report as a dict: see tach-report(5)"},
	{NULL, NULL, 0, NULL},
};
static PyGetSetDef getset[] = {
	{"missing", get_missing, NULL, "What is missing and why, or ''", NULL},
	{NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot slots[] = {
	{Py_tp_dealloc, snapshot_dealloc},
	{Py_tp_methods, methods},
	{Py_tp_getset, getset},
	{Py_tp_doc, "The sums of all regions at one moment"},
	{0, NULL},
};
PyType_Spec tach_snapshot_spec = {
	"tach.Snapshot",
	sizeof(struct snapshot),
	0,
	Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	slots,
};
