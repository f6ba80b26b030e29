/* SPDX-License-Identifier: MIT */
/* Texts of error codes: the library's own, the C library's, and those of invalid codes. */
#include <errno.h>
#include <string.h>
#include <tach/error.h>
#include "tests/check.h"

static const struct {
	int code;
	const char *word; /* of no other's */
} own[] = {
	{TACH_OK, "success"},
	{TACH_ERR_INVAL, "argument"},
	{TACH_ERR_NOMEM, "out of memory"},
	{TACH_ERR_NOTSUPP, "supported"},
	{TACH_ERR_SYNTAX, "malformed"},
	{TACH_ERR_NOTFOUND, "not found"},
	{TACH_ERR_ATTR, "no such umask"},
	{TACH_ERR_ATTR_VALUE, "modifier value"},
	{TACH_ERR_ATTR_SET, "already set"},
	{TACH_ERR_UMASK, "a umask is missing"},
	{TACH_ERR_FEATCOMB, "be combined"},
	{TACH_ERR_TOOMANY, "too many"},
	{TACH_ERR_TOOSMALL, "too small"},
	{TACH_ERR_PERMISSION, "permitted"},
	{TACH_ERR_NOHARDWARE, "performance counters"},
	{TACH_ERR_NOCOUNTER, "out of counters"},
	{TACH_ERR_NOASSIGN, "assignment"},
	{TACH_ERR_CYCLE, "cycle"},
	{TACH_ERR_STATE, "wrong thread"},
	{TACH_ERR_MAGIC, "another kind"},
	{TACH_ERR_EVENTSET, "incompatible sets"},
	{TACH_ERR_INCOMPATIBLE, "measured together"},
	{TACH_ERR_MODEL, "revision"},
	{TACH_ERR_CODE_RANGE, "invalid code range"},
	{TACH_ERR_CODE_ALIGN, "aligned"},
	{TACH_ERR_CODE_TOOMANY, "too many code"},
	{TACH_ERR_CODE_TOOBIG, "too big"},
	{TACH_ERR_CODE_FLAGS, "prefetch"},
	{TACH_ERR_DATA_RANGE, "invalid data range"},
	{TACH_ERR_DATA_TOOMANY, "too many data"},
};
enum { OWN = sizeof own / sizeof *own };

static void the_librarys_own(void)
{
	for (int i = 0; i < OWN; i++) {
		const char *words = tach_strerror(own[i].code);

		for (int k = 0; k < OWN; k++)
			CHECK((strstr(words, own[k].word) != NULL) ==
				      (i == k || (own[k].code == TACH_ERR_TOOMANY &&
						  strstr(own[i].word, "too many"))),
			      "%d: %s", own[i].code, words);
	}
}

static const char *words_of(int number)
{
#ifdef __GLIBC__
	return strerrordesc_np(number);
#else
	return strcmp(strerror(number), "No error information") == 0 ? NULL : strerror(number);
#endif
}

/*
 * A negated errno has the C library's text; any other number has a text that calls it unknown.
 */
static void other_codes_have_a_text(void)
{
	for (int code = -6000; code < 200; code++) {
		const char *want = NULL;
		int is_own = 0;

		for (int i = 0; i < OWN; i++)
			is_own |= own[i].code == code;
		if (is_own)
			continue;
		if (code < 0 && code > -4096)
			want = words_of(-code);
		want = want ? want : "unknown error";
		CHECK(strcmp(tach_strerror(code), want) == 0, "%d: %s", code,
		      tach_strerror(code));
	}
	CHECK(strcmp(tach_strerror(-EBADF), "Bad file descriptor") == 0);
}

int main(void)
{
	CASE(the_librarys_own);
	CASE(other_codes_have_a_text);
	return check_done();
}
