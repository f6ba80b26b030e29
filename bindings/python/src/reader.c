/* SPDX-License-Identifier: MIT */
/*
 * Readers: a thread's view of a set. Call begin and end, or read, on the thread that opened it;
 * on another thread they raise tach.Error. If another thread drops a reader, the reader's own
 * thread closes it when that thread opens its next reader or ends. The readers of an ended
 * thread are closed by the thread that drops them.
 */
#include "tachmodule.h"
#include <pthread.h>
#include <time.h>

struct handle {
	struct tach_reader *reader;
	struct handle *next;
	const char *thread;
	unsigned process;
	int dropped, ended; /* its object is gone; its thread has ended */
};

struct reader {
	PyObject_HEAD PyObject *set;
	struct quantities *of;
	struct handle *handle;
	int began;
	uint64_t start;
	struct tach_mark mark;
};

/*
 * Its address identifies the thread. The process number is also needed: fork does not change
 * the address.
 */
static __thread char here;
static __thread struct handle *opened;
static unsigned process;
/* its destructor runs when a thread ends, without the GIL */
static pthread_key_t key;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects `dropped` and `ended` */

static void forked(void)
{
	pthread_mutex_init(&lock, NULL);
	process++;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- handles ---- */

static void handle_free(struct handle *h)
{
	if (h->process == process) /* a forked child must not close its parent's reader */
		tach_reader_close(h->reader);
	free(h);
}

/*
 * Closes readers of this thread whose object is gone. After the thread has ended, any thread
 * may close the others.
 */
static void sweep(int ended)
{
	pthread_mutex_lock(&lock);
	for (struct handle **at = &opened; *at;) {
		struct handle *h = *at;

		h->ended = ended;
		if (ended || h->dropped)
			*at = h->next;
		else
			at = &h->next;
		if (h->dropped)
			handle_free(h);
	}
	pthread_mutex_unlock(&lock);
}

static void thread_ended(void *mark)
{
	(void)mark;
	sweep(1);
}

static struct handle *handle_new(struct tach_reader *reader)
{
	static int ready;
	struct handle *h = calloc(1, sizeof *h);

	if (!ready)
		ready = pthread_key_create(&key, thread_ended) == 0 &&
			pthread_atfork(NULL, NULL, forked) == 0;
	if (!h)
		return NULL;
	*h = (struct handle){reader, opened, &here, process, 0, 0};
	opened = h;
	if (ready)
		pthread_setspecific(key, h);
	return h;
}

static void let_go(struct handle *h)
{
	int ended;

	if (!h)
		return;
	pthread_mutex_lock(&lock);
	h->dropped = 1;
	ended = h->ended;
	pthread_mutex_unlock(&lock);
	if (ended)
		handle_free(h);
	else
		sweep(0);
}

static int ours(const struct handle *h)
{
	return h->thread == &here && h->process == process;
}

static int check(const struct reader *r)
{
	if (r->handle && ours(r->handle))
		return 0;
	tach_raise(TACH_ERR_STATE,
		   r->handle ? &(struct tach_error){.text = "the reader belongs to the thread "
							    "that opened it"}
			     : &(struct tach_error){.text = "the reader is closed"});
	return -1;
}

/* ---- the object ---- */

static PyObject *reader_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	static char *names[] = {"set", NULL};
	struct tach_error err = TACH_ERROR_INIT;
	allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
	struct tach_reader *handle;
	struct reader *self;
	PyObject *set, *done;
	int code;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!:Reader", names, tach_set_type,
					 &set))
		return NULL;
	sweep(0);
	code = tach_reader_open(tach_set_of(set), &handle, &err);
	if (code)
		return tach_raise(code, &err);
	self = (struct reader *)alloc(type, 0);
	if (self)
		self->handle = handle_new(handle);
	if (!self || !self->handle) {
		tach_reader_close(handle);
		Py_XDECREF(self);
		return PyErr_NoMemory();
	}
	self->set = Py_NewRef(set);
	self->of = tach_quantities_of_set(tach_set_of(set), set);
	done = self->of ? tach_python("calibrate_reader", "(OO)", self, self->of) : NULL;
	if (!done)
		Py_CLEAR(self);
	Py_XDECREF(done);
	return (PyObject *)self;
}

static void reader_dealloc(PyObject *self)
{
	struct reader *r = (struct reader *)self;
	PyTypeObject *type = Py_TYPE(self);

	let_go(r->handle);
	Py_XDECREF(r->of);
	Py_XDECREF(r->set);
	PyObject_Free(self);
	Py_DECREF(type);
}

static PyObject *reader_close(PyObject *self, PyObject *none)
{
	struct reader *r = (struct reader *)self;

	(void)none;
	if (r->handle && check(r) != 0)
		return NULL;
	let_go(r->handle);
	r->handle = NULL;
	Py_RETURN_NONE;
}

static PyObject *reader_begin(PyObject *self, PyObject *none)
{
	struct reader *r = (struct reader *)self;

	(void)none;
	if (check(r) != 0)
		return NULL;
	r->began = 1;
	r->start = now();
	tach_reader_begin(r->handle->reader, &r->mark);
	Py_RETURN_NONE;
}

static PyObject *result(struct reader *r, uint32_t flags, uint64_t time, const uint64_t *values,
			int raw)
{
	struct counted *c = tach_counts_new(r->of);

	if (!c)
		return NULL;
	c->value[0] = time;
	for (int i = 1; i < r->of->n; i++) {
		c->value[i] = values[i - 1];
		c->flags[i] = tach_reader_flags(r->handle->reader, (unsigned)i - 1, flags);
	}
	if (!raw)
		tach_set_correct(tach_set_of(r->set), c->value + 1, c->flags + 1);
	return (PyObject *)c;
}

static PyObject *reader_end(PyObject *self, PyObject *none)
{
	struct reader *r = (struct reader *)self;
	uint64_t delta[TACH_COUNTERS_MAX], time;
	uint32_t flags;

	(void)none;
	if (check(r) != 0)
		return NULL;
	if (!r->began)
		return tach_raise(TACH_ERR_STATE,
				  &(struct tach_error){.text = "end without begin"});
	flags = tach_reader_end(r->handle->reader, &r->mark, delta);
	time = now() - r->start;
	r->began = 0;
	return result(r, flags, time, delta, 0);
}

/* Counts since the reader was opened: a list in the order of the set's names. */
static PyObject *reader_read(PyObject *self, PyObject *none)
{
	struct reader *r = (struct reader *)self;
	uint64_t value[TACH_COUNTERS_MAX];
	uint32_t flags;
	PyObject *list;

	(void)none;
	if (check(r) != 0)
		return NULL;
	flags = tach_reader_read(r->handle->reader, value);
	list = PyList_New(r->of->n - 1);
	for (int i = 0; list && i < r->of->n - 1; i++) {
		PyObject *number = tach_reader_flags(r->handle->reader, (unsigned)i, flags) &
						   TACH_FLAG_LOST
					   ? Py_NewRef(Py_None)
					   : PyLong_FromUnsignedLongLong(value[i]);

		if (!number || PyList_SetItem(list, i, number) != 0)
			Py_CLEAR(list);
	}
	return list;
}

static PyObject *reader_enter(PyObject *self, PyObject *none)
{
	(void)none;
	return check((struct reader *)self) == 0 ? Py_NewRef(self) : NULL;
}

static PyObject *reader_exit(PyObject *self, PyObject *args)
{
	(void)args;
	return reader_close(self, NULL);
}

static PyObject *get_missing(PyObject *self, void *context)
{
	struct reader *r = (struct reader *)self;

	(void)context;
	return check(r) == 0 ? PyUnicode_FromString(tach_reader_missing(r->handle->reader))
			     : NULL;
}

static PyObject *get_set(PyObject *self, void *context)
{
	(void)context;
	return Py_NewRef(((struct reader *)self)->set);
}

static PyGetSetDef getset[] = {
	{"missing", get_missing, NULL, "Why members are read by system calls, or ''", NULL},
	{"set", get_set, NULL, "What it counts", NULL},
	{NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef methods[] = {
	{"begin", reader_begin, METH_NOARGS, "Counts from here"},
	{"end", reader_end, METH_NOARGS, "To here: Counts, less what an empty pair takes"},
	{"read", reader_read, METH_NOARGS,
	 "Counts since it was opened, in the order of set.names"},
	{"close", reader_close, METH_NOARGS, NULL},
	{"__enter__", reader_enter, METH_NOARGS, NULL},
	{"__exit__", reader_exit, METH_VARARGS, NULL},
	{NULL, NULL, 0, NULL},
};
static PyType_Slot slots[] = {
	{Py_tp_new, reader_new},
	{Py_tp_dealloc, reader_dealloc},
	{Py_tp_getset, getset},
	{Py_tp_methods, methods},
	{Py_tp_doc, "A set, open in the calling thread"},
	{0, NULL},
};
PyType_Spec tach_reader_spec = {"tach.Reader", sizeof(struct reader), 0, Py_TPFLAGS_DEFAULT,
				slots};
