/* SPDX-License-Identifier: MIT */
/* mkevents [-o OUT] FILE... [-d FILE]...: checks event tables and writes them as C. */
#include <stdlib.h>
#include <string.h>
#include "tools/mkevents/mk.h"

static char *slurp(const char *file, size_t *length)
{
	FILE *from = fopen(file, "rb");
	size_t room = 1 << 16, used = 0, got;
	char *text = mk_alloc(room);

	if (!from) {
		perror(file);
		exit(2);
	}
	while ((got = fread(text + used, 1, room - used, from)) > 0) {
		used += got;
		if (used == room)
			text = mk_grow(text, used, &room, 1);
	}
	if (ferror(from)) {
		perror(file);
		exit(2);
	}
	fclose(from);
	*length = used;
	return text;
}

static int usage(FILE *to)
{
	fputs("usage: mkevents [-o OUT.c] FILE.tsv... [-d DESCRIPTIONS.tsv]...\n"
	      "Checks event tables (arch/FORMAT.md); with -o also writes them as C.\n"
	      "Faults are one line each, file:line:column: sentence. Exit status: 0 no fault,\n"
	      "1 faults, 2 bad usage or a file that cannot be read or written.\n",
	      to);
	return to == stderr ? 2 : 0;
}

static int write_image(struct mk *mk, const char *out)
{
	struct mk_image image;
	FILE *to;
	int bad;

	mk_build(mk, &image);
	if (mk->faults == 0) {
		to = fopen(out, "w");
		bad = !to || mk_emit(&image, to) != 0;
		bad |= to && fclose(to) != 0;
		if (bad) {
			perror(out);
			remove(out);
			exit(2);
		}
	}
	mk_image_free(&image);
	return mk->faults != 0;
}

int main(int argc, char **argv)
{
	struct mk mk = {.to = stderr};
	const char *out = NULL;
	char **texts;
	int first = 1, bad;

	if (argc > 1 && strcmp(argv[1], "--help") == 0)
		return usage(stdout);
	if (argc > 2 && strcmp(argv[1], "-o") == 0) {
		out = argv[2];
		first = 3;
	}
	if (first >= argc)
		return usage(stderr);
	texts = mk_alloc((size_t)argc * sizeof *texts);
	for (int i = first; i < argc; i++) {
		int describes = strcmp(argv[i], "-d") == 0 && i + 1 < argc;
		size_t length;

		i += describes;
		texts[i] = slurp(argv[i], &length);
		(describes ? mk_describe : mk_parse)(&mk, argv[i], texts[i], length);
	}
	mk_check(&mk);
	mk_sort(&mk);
	bad = mk.faults != 0;
	if (!bad && out)
		bad = write_image(&mk, out);
	if (mk.faults)
		fprintf(stderr, "mkevents: %d fault%s\n", mk.faults, mk.faults == 1 ? "" : "s");
	mk_free(&mk);
	for (int i = first; i < argc; i++)
		free(texts[i]);
	free(texts);
	return bad;
}
