/* SPDX-License-Identifier: MIT */
/*
 * Regions: with region("parse") as r: ...
 *
 * A thread's open regions are a list, which shows if an end is on another thread or out of
 * order. The list contains the marks, not the object: any thread may free an object whose
 * region never ended, but the mark must stay until its thread no longer uses it.
 */
#include "tachmodule.h"
#include <pthread.h>

struct open {
	struct open *outer; /* the enclosing one, or the next free one */
	int live;	    /* 1: open; 0: dropped by its object; -1: out of order */
	uint64_t before;    /* entries that the thread had completed when this one began */
	struct tach_region_mark mark;
};

struct region {
	struct counted counted;
	PyObject *name;
	struct tach_site *site;
	struct open *open; /* NULL: not open */
};

static __thread struct open *innermost;
static __thread uint64_t completed;
static struct open *unused; /* protected by the GIL, like everything here */
static PyObject *sites;	    /* name -> site */

static const char NOT_YET[] = "it was not entered yet";
static const char STILL_OPEN[] = "it is still open";
static const char OFF[] = "regions are off: tach.configure() or TACH_ENABLE=1 switches them on";
static const char OTHER_THREAD[] =
	"it ended on another thread, or in another process, than it began on";
static const char OUT_OF_TURN[] =
	"regions of this thread ended out of turn, as those of tasks and generators do";
static const char NOT_MEASURED[] =
	"this entry was not measured: lost, or left out by TACH_REGIONS, sparse or warmup";

static const char UNKNOWN[] = "what is counted could not be found out";

/* ---- the thread's list ---- */

static void release(struct open *o)
{
	o->outer = unused;
	unused = o;
}

static void drop_dead(void)
{
	while (innermost && innermost->live == 0) {
		struct open *o = innermost;

		innermost = o->outer;
		release(o);
	}
}

static struct open *push(void)
{
	struct open *o = unused;

	if (o)
		unused = o->outer;
	else if (!(o = malloc(sizeof *o)))
		return NULL;
	drop_dead();
	o->live = 1;
	o->before = completed;
	o->outer = innermost;
	innermost = o;
	return o;
}

/*
 * Removes the entry from the thread's list. Returns 0 if it belongs to another thread. If
 * entries inside it are still open, all of them are out of order.
 */
static int take(struct open *o)
{
	struct open **at = &innermost;

	drop_dead();
	while (*at && *at != o)
		at = &(*at)->outer;
	if (!*at)
		return 0;
	for (struct open *inner = innermost; inner != o; inner = inner->outer)
		if (inner->live)
			inner->live = o->live = -1;
	*at = o->outer;
	return 1;
}

/* ---- entries ---- */

static PyObject *region_enter(PyObject *self, PyObject *none)
{
	struct region *r = (struct region *)self;

	(void)none;
	if (r->open) {
		PyErr_SetString(PyExc_RuntimeError,
				"this region is open already: region(name) makes "
				"another for each entry");
		return NULL;
	}
	if (tach_quantities_prepare() != 0)
		return NULL;
	if (r->counted.of)
		tach_counted_clear(&r->counted);
	r->open = push();
	if (!r->open)
		return PyErr_NoMemory();
	r->counted.why = STILL_OPEN;
	Py_INCREF(self);
	tach_region_begin(r->site, &r->open->mark);
	return self;
}

static int attribute(struct region *r, int sums, uint32_t flags, uint32_t generation)
{
	struct counted *c = &r->counted;
	struct quantities *q = tach_quantities_of_regions(generation);

	if (!q) {
		c->why = UNKNOWN;
		if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception))
			return -1;
		PyErr_Clear();
		return 0;
	}
	c->of = (struct quantities *)Py_NewRef((PyObject *)q);
	c->why = sums == q->n ? "" : NOT_MEASURED;
	for (int i = 1; i < q->n; i++)
		c->flags[i] = flags | q->flags;
	return 0;
}

static PyObject *region_exit(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
	struct region *r = (struct region *)self;
	struct counted *c = &r->counted;
	struct open *o = r->open;
	uint32_t flags = 0, generation = 0;
	int sums, mine;

	(void)args, (void)n;
	if (!o) {
		PyErr_SetString(PyExc_RuntimeError, "this region is not open");
		return NULL;
	}
	sums = tach_region_read(&o->mark, c->value, SUMS, &flags, &generation);
	tach_region_end(&o->mark);
	r->open = NULL;
	mine = take(o);
	if (!mine) {
		/* The entry is in another thread's list, and the library refused this end. */
		c->why = OTHER_THREAD;
		o->live = 0;
		Py_RETURN_NONE;
	}
	c->inside = completed - o->before;
	completed++;
	c->why = o->live < 0		  ? OUT_OF_TURN
		 : sums > 0		  ? ""
		 : tach_regions_enabled() ? NOT_MEASURED
					  : OFF;
	release(o);
	if (!*c->why && attribute(r, sums, flags, generation) != 0)
		return NULL;
	Py_RETURN_NONE;
}

/* ---- the object ---- */

static struct tach_site *site_of(PyObject *name)
{
	PyObject *known = sites ? PyDict_GetItemWithError(sites, name) : NULL;
	struct tach_site *site;
	const char *text;

	if (known)
		return PyLong_AsVoidPtr(known);
	if (PyErr_Occurred() || tach_text(name, &text) || (!sites && !(sites = PyDict_New())))
		return NULL;
	/* NULL: more than TACH_SITES_MAX sites. The region measures nothing. */
	site = tach_site_get(text);
	known = PyLong_FromVoidPtr(site);
	if (known && PyDict_SetItem(sites, name, known) == 0)
		Py_DECREF(known);
	else
		Py_XDECREF(known);
	return site;
}

PyObject *tach_region_new(PyObject *module, PyObject *name)
{
	struct tach_site *site;
	struct region *r;

	(void)module;
	if (!PyUnicode_Check(name)) {
		PyErr_SetString(PyExc_TypeError, "a region's name is a str");
		return NULL;
	}
	site = site_of(name);
	if (PyErr_Occurred())
		return NULL;
	r = PyObject_New(struct region, tach_region_type);
	if (!r)
		return NULL;
	r->counted.of = NULL;
	tach_counted_clear(&r->counted);
	r->counted.why = NOT_YET;
	r->name = Py_NewRef(name);
	r->site = site;
	r->open = NULL;
	return (PyObject *)r;
}

static void region_dealloc(PyObject *self)
{
	struct region *r = (struct region *)self;
	PyTypeObject *type = Py_TYPE(self);

	if (r->open) {
		/*
		 * The thread will report the region as lost, because the mark differs from the
		 * one at begin.
		 */
		r->open->mark.end = NULL;
		r->open->live = 0;
	}
	Py_XDECREF(r->counted.of);
	Py_DECREF(r->name);
	PyObject_Free(self);
	Py_DECREF(type);
}

static PyObject *region_call(PyObject *self, PyObject *args, PyObject *keywords)
{
	PyObject *function;

	if (keywords || !PyArg_ParseTuple(args, "O:region", &function))
		return keywords ? (PyErr_SetString(PyExc_TypeError, "@tach.region(name)"), NULL)
				: NULL;
	return tach_python("decorated", "(OO)", ((struct region *)self)->name, function);
}

static PyObject *region_name(PyObject *self, void *context)
{
	(void)context;
	return Py_NewRef(((struct region *)self)->name);
}

static PyObject *region_repr(PyObject *self)
{
	return PyUnicode_FromFormat("<tach.region %R>", ((struct region *)self)->name);
}

static PyGetSetDef getset[] = {
	{"name", region_name, NULL, "Its name in reports", NULL},
	TACH_COUNTED_GETSET,
	{NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef methods[] = {
	{"__enter__", region_enter, METH_NOARGS, NULL},
	{"__exit__", (PyCFunction)(void (*)(void))region_exit, METH_FASTCALL, NULL},
	{"_ticks", tach_counted_ticks, METH_NOARGS, NULL},
	{NULL, NULL, 0, NULL},
};
static PyType_Slot slots[] = {
	{Py_tp_dealloc, region_dealloc},
	{Py_tp_getattro, tach_counted_getattr},
	{Py_tp_getset, getset},
	{Py_tp_methods, methods},
	{Py_mp_subscript, tach_counted_item},
	{Py_tp_call, region_call},
	{Py_tp_repr, region_repr},
	{Py_tp_doc, "One entry of a named region of code"},
	{0, NULL},
};
PyType_Spec tach_region_spec = {
	"tach.Region",
	sizeof(struct region),
	0,
	Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	slots,
};
