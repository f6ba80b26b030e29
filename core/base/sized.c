/* SPDX-License-Identifier: MIT */
/* Copies structs of another version up to the size that both sides know. */
#include <string.h>
#include "core/base/error.h"
#include "core/base/sized.h"

/* No struct is that large: a larger size was never set, so its memory is not read. */
enum { SIZE_LIMIT = 65536 };

uint32_t tach__sized(const void *theirs, const char *name, size_t first, size_t known,
		     size_t align, struct tach_error *err)
{
	uint32_t size;

	if (!theirs) {
		tach__error(err, TACH_ERR_INVAL, 0, 0, "struct %s: a NULL pointer", name);
		return 0;
	}
	memcpy(&size, theirs, sizeof size);
	if (size == 0)
		return (uint32_t)first;
	/* Any other size would end inside a member, such as half a pointer. */
	if (size % align == 0 && size <= SIZE_LIMIT)
		return size;
	tach__error(err, TACH_ERR_INVAL, 0, 0,
		    "struct %s has a size of %u, where this library's has %zu: "
		    "set it to sizeof(struct %s)",
		    name, size, known, name);
	return 0;
}

const void *tach__resized_in(const void *theirs, void *ours, const char *name, size_t first,
			     size_t known, size_t align, struct tach_error *err)
{
	const char *at = theirs;
	uint32_t size = tach__sized(theirs, name, first, known, align, err),
		 own = (uint32_t)known;

	if (!size)
		return NULL;
	for (size_t i = known; i < size; i++)
		if (at[i]) {
			tach__error(err, TACH_ERR_INVAL, 0, 0,
				    "struct %s of %u bytes is not 0 at byte %zu, and this "
				    "library knows %zu: the program needs a newer library, "
				    "or did not clear the struct",
				    name, size, i, known);
			return NULL;
		}
	memset(ours, 0, known);
	memcpy(ours, theirs, size < known ? size : known);
	memcpy(ours, &own, sizeof own);
	return ours;
}

void *tach__resized_out(void *theirs, void *ours, const char *name, size_t first, size_t known,
			size_t align, struct tach_error *err)
{
	return tach__sized(theirs, name, first, known, align, err) ? memset(ours, 0, known)
								   : NULL;
}

void tach__resized_done(void *theirs, const void *filled, const char *name, size_t first,
			size_t known, size_t align)
{
	size_t size = tach__sized(theirs, name, first, known, align, NULL),
	       skip = sizeof(uint32_t);

	if (size > known)
		memset((char *)theirs + known, 0, size - known);
	memcpy((char *)theirs + skip, (const char *)filled + skip,
	       (size < known ? size : known) - skip);
}
