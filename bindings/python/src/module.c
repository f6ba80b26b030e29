/* SPDX-License-Identifier: MIT */
/* The module: functions, errors, types, and which interpreter may import it. */
#include <stdarg.h>
#include "tachmodule.h"

static PyObject *error_type;
PyTypeObject *tach_quantities_type, *tach_counts_type, *tach_region_type, *tach_set_type,
	*tach_reader_type, *tach_snapshot_type;

PyObject *tach_raise(int code, const struct tach_error *err)
{
	const char *text = err && err->text[0] ? err->text : tach_strerror(code);
	PyObject *error = PyObject_CallFunction(error_type, "s", text), *number = NULL;
	struct {
		const char *name;
		int value;
	} part[] = {{"code", code},
		    {"line", err ? err->line : 0},
		    {"column", err ? err->column : 0}};

	for (size_t i = 0; error && i < sizeof part / sizeof *part; i++) {
		number = PyLong_FromLong(part[i].value);
		if (!number || PyObject_SetAttrString(error, part[i].name, number) != 0)
			Py_CLEAR(error);
		Py_XDECREF(number);
	}
	if (error)
		PyErr_SetObject(error_type, error);
	Py_XDECREF(error);
	return NULL;
}

PyObject *tach_python(const char *name, const char *format, ...)
{
	PyObject *module = PyImport_ImportModule("tach._python"), *function, *args,
		 *result = NULL;
	va_list list;

	if (!module)
		return NULL;
	function = PyObject_GetAttrString(module, name);
	Py_DECREF(module);
	if (!function)
		return NULL;
	va_start(list, format);
	args = Py_VaBuildValue(format, list);
	va_end(list);
	if (args)
		result = PyObject_Call(function, args, NULL);
	Py_XDECREF(args);
	Py_DECREF(function);
	return result;
}

int tach_text(PyObject *text, const char **out)
{
	Py_ssize_t length;

	*out = NULL;
	if (!text || Py_IsNone(text))
		return 0;
	if (!PyUnicode_Check(text)) {
		PyErr_SetString(PyExc_TypeError, "a str is wanted");
		return -1;
	}
	*out = PyUnicode_AsUTF8AndSize(text, &length);
	if (*out && strlen(*out) != (size_t)length) {
		PyErr_SetString(PyExc_ValueError, "a NUL character in a string");
		*out = NULL;
	}
	return *out ? 0 : -1;
}

/*
 * If this machine cannot count the events, time is still measured and the reason is kept; with
 * `required` it is an error.
 */
char tach_unavailable[256];

/*
 * A converter for PyArg_Parse: returns a count, or raises an OverflowError with our own
 * message.
 */
static int count_of(PyObject *number, void *out)
{
	unsigned long value = PyLong_AsUnsignedLong(number);

	if (PyErr_Occurred())
		return 0;
	if (value > UINT32_MAX) {
		PyErr_Format(PyExc_OverflowError, "%R is more than 4294967295", number);
		return 0;
	}
	*(uint32_t *)out = (uint32_t)value;
	return 1;
}

PyObject *tach_configure(PyObject *module, PyObject *args, PyObject *keywords)
{
	static char *names[] = {"events", "metrics",	"only",	      "sparse",
				"warmup", "histograms", "interrupts", "correct",
				"worst",  "required",	NULL};
	struct tach_regions_options opt = {.size = sizeof opt};
	struct tach_error err = TACH_ERROR_INIT;
	PyObject *events = NULL, *metrics = NULL, *only = NULL, *worst = NULL;
	int histograms = 0, interrupts = 0, correct = 0, required = 0, code;

	(void)module;
	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OO$OO&O&pppOp:configure", names,
					 &events, &metrics, &only, count_of, &opt.sparse,
					 count_of, &opt.warmup, &histograms, &interrupts,
					 &correct, &worst, &required) ||
	    tach_text(events, &opt.events) || tach_text(metrics, &opt.metrics) ||
	    tach_text(only, &opt.only) || tach_text(worst, &opt.worst))
		return NULL;
	opt.histograms = (uint32_t)histograms;
	opt.interrupts = correct ? TACH_SET_CORRECT : interrupts ? TACH_SET_INTERRUPTS : 0;
	code = tach_regions_configure(&opt, &err);
	tach_unavailable[0] = '\0';
	if (!required && (code == TACH_ERR_NOHARDWARE || code == TACH_ERR_PERMISSION ||
			  code == TACH_ERR_NOTSUPP || code == TACH_ERR_NOCOUNTER)) {
		snprintf(tach_unavailable, sizeof tach_unavailable, "%s", err.text);
		opt.events = "";
		opt.metrics = NULL;
		opt.interrupts = 0;
		code = tach_regions_configure(&opt, &err);
	}
	if (code)
		return tach_raise(code, &err);
	tach_quantities_forget();
	Py_RETURN_NONE;
}

static PyObject *disable(PyObject *module, PyObject *none)
{
	(void)module, (void)none;
	tach_regions_disable();
	Py_RETURN_NONE;
}

static PyObject *enabled(PyObject *module, PyObject *none)
{
	(void)module, (void)none;
	return PyBool_FromLong(tach_regions_enabled());
}

static PyObject *tag(PyObject *module, PyObject *number)
{
	unsigned long long value = PyLong_AsUnsignedLongLongMask(number);

	(void)module;
	if (PyErr_Occurred())
		return NULL;
	tach_tag(value);
	Py_RETURN_NONE;
}

static PyObject *version(PyObject *module, PyObject *none)
{
	(void)module, (void)none;
	return PyUnicode_FromString(tach_version());
}

static PyObject *regions(PyObject *module, PyObject *none)
{
	struct quantities *q;

	(void)module, (void)none;
	if (tach_quantities_prepare() != 0)
		return NULL;
	q = tach_quantities_of_regions(0);
	if (!q && PyErr_Occurred())
		return NULL;
	return q ? Py_NewRef((PyObject *)q) : Py_NewRef(Py_None);
}

static PyMethodDef functions[] = {
	{"region", tach_region_new, METH_O,
	 "region(name): a named region of code, for with, or as a decorator"},
	{"configure", (PyCFunction)(void (*)(void))tach_configure, METH_VARARGS | METH_KEYWORDS,
	 "Switches regions on, or to other events"},
	{"disable", disable, METH_NOARGS, "Switches regions off; sums stay"},
	{"enabled", enabled, METH_NOARGS, "Whether regions are switched on"},
	{"tag", tag, METH_O, "A number for what this thread works on; worst entries have it"},
	{"version", version, METH_NOARGS, "The version of the library that is loaded"},
	{"_regions", regions, METH_NOARGS, NULL},
	{"_profile", (PyCFunction)(void (*)(void))tach_profile, METH_FASTCALL, NULL},
	{"_profile_end", tach_profile_end, METH_O, NULL},
	{NULL, NULL, 0, NULL},
};

static PyTypeObject *make_type(PyObject *module, PyType_Spec *spec)
{
	return (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
}

/* The types are created once, so a second import has the same types. */
static int types_ready(PyObject *module)
{
	if (error_type)
		return 0;
	tach_quantities_type = make_type(module, &tach_quantities_spec);
	tach_counts_type = make_type(module, &tach_counts_spec);
	tach_region_type = make_type(module, &tach_region_spec);
	tach_set_type = make_type(module, &tach_set_spec);
	tach_reader_type = make_type(module, &tach_reader_spec);
	tach_snapshot_type = make_type(module, &tach_snapshot_spec);
	if (!tach_quantities_type || !tach_counts_type || !tach_region_type || !tach_set_type ||
	    !tach_reader_type || !tach_snapshot_type)
		return -1;
	error_type = PyErr_NewExceptionWithDoc(
		"tach.Error",
		"What the library refused: a sentence, with the cure; code, line, column", NULL,
		NULL);
	return error_type ? 0 : -1;
}

/*
 * Marks and the list of open regions belong to a thread. A thread may run code of several
 * interpreters, which do not share objects.
 */
static int execute(PyObject *module)
{
	if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
		PyErr_SetString(PyExc_ImportError, "tach works in the main interpreter of a "
						   "process, not in a subinterpreter");
		return -1;
	}
	tach_profile_ready();
	if (types_ready(module) != 0)
		return -1;
	return PyModule_AddObjectRef(module, "Error", error_type) ||
			       PyModule_AddType(module, tach_counts_type) ||
			       PyModule_AddType(module, tach_region_type) ||
			       PyModule_AddType(module, tach_set_type) ||
			       PyModule_AddType(module, tach_reader_type) ||
			       PyModule_AddType(module, tach_snapshot_type)
		       ? -1
		       : 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, execute}, {0, NULL}};
static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	"tach._tach",
	"Hardware counters of this thread, through libtach.",
	0,
	functions,
	slots,
	NULL,
	NULL,
	NULL,
};

PyMODINIT_FUNC PyInit__tach(void);
PyMODINIT_FUNC PyInit__tach(void)
{
	return PyModuleDef_Init(&definition);
}
