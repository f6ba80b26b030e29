/* SPDX-License-Identifier: MIT */
/*
 * Feeds every file of the given folders to a fuzz target; prints the name of a file that
 * crashes.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void one_file(const char *path)
{
	static uint8_t data[1 << 20];
	FILE *from = fopen(path, "rb");
	uint8_t *exact;
	size_t size;

	if (!from)
		return;
	size = fread(data, 1, sizeof data, from);
	fclose(from);
	/* A buffer of the exact size, so that a memory checker sees reads after its end. */
	exact = malloc(size ? size : 1);
	for (size_t i = 0; exact && i < size; i++)
		exact[i] = data[i];
	fprintf(stderr, "%s\n", path);
	if (exact)
		LLVMFuzzerTestOneInput(exact, size);
	free(exact);
}

int main(int argc, char **argv)
{
	int files = 0;

	for (int i = 1; i < argc; i++) {
		DIR *folder = opendir(argv[i]);
		struct dirent *entry;
		char path[4096];

		while (folder && (entry = readdir(folder)) != NULL) {
			if (entry->d_name[0] == '.')
				continue;
			snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
			one_file(path);
			files++;
		}
		if (folder)
			closedir(folder);
	}
	printf("%d files\n", files);
	return files == 0;
}
