/* SPDX-License-Identifier: MIT */
/*
 * Functions of Python as regions: `python -m tach script.py`. sys.setprofile calls `_profile`
 * when a function begins or continues, and when it ends or is suspended, also by an exception.
 * So the entries of a thread end in the opposite order of their begins.
 */
#include "tachmodule.h"
#include <pthread.h>
#include <sys/mman.h>

struct entry {
	const PyObject *frame; /* borrowed: a frame lives until it returns */
	struct tach_region_mark mark;
};

/* The sites of code objects, by address. The objects are kept, so that no other code gets their
 * address. */
struct function {
	PyObject *code;
	struct tach_site site;
};

enum { DEEPEST = 16384, FUNCTIONS = 1 << 16, FULL = FUNCTIONS / 4 * 3 };

/* A thread's stack of open entries. It grows down, because the library then finds recursions at
 * once. */
static __thread struct entry *top, *first, *last;
static pthread_key_t key;
static int has_key;
static struct function *table[FUNCTIONS]; /* protected by the GIL */
static unsigned nfunctions;
static PyObject *word_call, *word_return; /* Python's objects for these words, once seen */

/* ---- the thread ---- */

static void thread_free(void *entries)
{
	munmap(entries, (DEEPEST + 1) * sizeof(struct entry));
	top = first = last = NULL;
}

static int thread_ready(void)
{
	struct entry *entries;

	if (!has_key)
		return 0;
	entries = mmap(NULL, (DEEPEST + 1) * sizeof *entries, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (entries == MAP_FAILED)
		return 0;
	pthread_setspecific(key, entries);
	last = entries + 1;
	top = first = entries + DEEPEST + 1;
	return 1;
}

/* ---- functions ---- */

static char *text_of(PyObject *code, const char *name)
{
	PyObject *text = PyObject_GetAttrString(code, name);
	const char *bytes =
		text && PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
	char *copy = bytes ? strdup(bytes) : NULL;

	PyErr_Clear();
	Py_XDECREF(text);
	return copy;
}

/* co_qualname: since Python 3.11. */
static struct function *make_function(PyObject *code)
{
	struct function *f = calloc(1, sizeof *f);
	PyObject *line = PyObject_GetAttrString(code, "co_firstlineno");
	struct tach_site site = TACH_SITE_INIT(NULL, 0, "");

	site.name = text_of(code, "co_qualname");
	if (!site.name)
		site.name = text_of(code, "co_name");
	site.file = text_of(code, "co_filename");
	site.line = line ? (uint32_t)PyLong_AsUnsignedLong(line) : 0;
	PyErr_Clear();
	Py_XDECREF(line);
	if (!f || !site.name || !site.file) {
		free(f);
		return NULL;
	}
	site.function = site.name;
	f->code = Py_NewRef(code);
	f->site = site;
	return f;
}

/* If a program makes new code without end, its later functions share one region. */
static struct tach_site *site_of(PyObject *code)
{
	unsigned i = (unsigned)(((uint64_t)(uintptr_t)code * 0x9e3779b97f4a7c15u) >> 48);

	for (; table[i]; i = (i + 1) % FUNCTIONS)
		if (table[i]->code == code)
			return &table[i]->site;
	if (nfunctions < FULL && (table[i] = make_function(code))) {
		nfunctions++;
		return &table[i]->site;
	}
	return tach_site_get("(other functions)");
}

/* ---- events ---- */

static void begin_function(PyObject *frame)
{
	PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame);
	struct tach_site *site = site_of(code);

	Py_DECREF(code);
	if (!top && !thread_ready())
		return;
	if (top == last) {
		/* The stack is full: the function counts in the last entry. */
		tach_region_begin(site, &last[-1].mark);
		tach_region_end(&last[-1].mark);
		return;
	}
	top--;
	top->frame = frame;
	tach_region_begin(site, &top->mark);
}

/* Functions inside it that did not end belong to the stack of another coroutine (greenlet). */
static void end_function(const PyObject *frame)
{
	struct entry *e = top;

	while (e < first && e->frame != frame)
		e++;
	if (e == first)
		return;
	for (; top <= e; top++)
		tach_region_end(&top->mark);
}

static int is_event(PyObject *event, PyObject **word, const char *name)
{
	if (event == *word)
		return 1;
	if (!PyUnicode_Check(event) || PyUnicode_CompareWithASCIIString(event, name) != 0)
		return 0;
	Py_XDECREF(*word);
	*word = Py_NewRef(event);
	return 1;
}

PyObject *tach_profile(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
	(void)module;
	if (n == 3 && is_event(args[1], &word_call, "call"))
		begin_function(args[0]);
	else if (n == 3 && is_event(args[1], &word_return, "return"))
		end_function(args[0]);
	Py_RETURN_NONE;
}

/* Call at the end of the program, and in a child, where no region is open. */
PyObject *tach_profile_end(PyObject *module, PyObject *is_child)
{
	int forget = PyObject_IsTrue(is_child);

	(void)module;
	for (; top < first; top++)
		if (forget)
			top->mark.end = NULL;
		else
			tach_region_end(&top->mark);
	Py_RETURN_NONE;
}

void tach_profile_ready(void)
{
	if (!has_key)
		has_key = pthread_key_create(&key, thread_free) == 0;
}
