#!/usr/bin/env bash
# The table of counter instructions (section tach_ex) has a record for each instruction in the program, and none for
# an instruction that the linker removed: gcc and clang, C and C++ inline functions (COMDAT), --gc-sections, both
# linkers. A program compiled for another layout of the reader does not link.
set -u
cd "$(dirname "$0")/../.."
. tests/check/kept include
B=${B:-build} failed=0
case $(gcc -dumpmachine) in x86_64*) ;; *) echo "skip tach_ex: the records' addresses are checked on x86-64"; exit 77;; esac
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

cat >"$work/inline.h" <<'CODE'
#include <tach/reader.h>
#ifdef __cplusplus
inline void in_two_units(struct tach_reader *r, struct tach_mark *m) { tach_reader_begin_n(r, m, 3); }
#endif
CODE
cat >"$work/one.c" <<'CODE'
#include "inline.h"
#ifdef __cplusplus
extern "C"
#endif
void unused(struct tach_reader *r, struct tach_mark *m) { tach_reader_begin_n(r, m, 4); }
#ifdef __cplusplus
extern "C"
#endif
void used(struct tach_reader *r, struct tach_mark *m)
{
	tach_reader_begin_n(r, m, 2);
#ifdef __cplusplus
	void (*volatile f)(struct tach_reader *, struct tach_mark *) = in_two_units;
	f(r, m);
#endif
}
CODE
cat >"$work/two.c" <<'CODE'
#include <link.h>
#include <stdio.h>
#include <string.h>
#include "inline.h"
extern "C" void used(struct tach_reader *r, struct tach_mark *m);
static long n, good;
static int notes(struct dl_phdr_info *info, size_t size, void *ignored)
{
	(void)size, (void)ignored;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const char *at = (const char *)info->dlpi_addr + p->p_vaddr, *end = at + p->p_memsz;
		if (p->p_type != PT_NOTE || p->p_align > 4)
			continue;
		while (at < end) {
			const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
			at += sizeof *note + ((note->n_namesz + 3u) & ~3u);
			if (note->n_namesz == 5 && memcmp(note + 1, "tach", 5) == 0) {
				const int32_t *pair = (const int32_t *)at;
				const unsigned char *insn = (const unsigned char *)pair + *pair;
				n++;
				good += insn[0] == 0x0f && insn[1] == 0x33;
			}
			at += (note->n_descsz + 3u) & ~3u;
		}
	}
	return 1; /* the program alone, which comes first */
}
/* The slow exits belong to the library, which would bring records of its own. */
extern "C" void tach__begin_slow(struct tach_reader *r, struct tach_mark *m, unsigned n) { (void)r, (void)m, (void)n; }
#ifndef OTHER_LAYOUT
extern "C" const char tach__abi_1 = 1;
#endif
int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) {
		void (*volatile f)(struct tach_reader *, struct tach_mark *) = in_two_units;
		used(NULL, NULL);
		f(NULL, NULL);
	}
	dl_iterate_phdr(notes, NULL);
	printf("%ld records, %ld right\n", n, good);
	return !(n == WANT && good == n);
}
CODE
sed 's/extern "C" //' "$work/two.c" | sed 's/void (\*volatile f).*in_two_units;//; s/f(NULL, NULL);//' >"$work/two_c.c"

try() { # COMPILER LINKER WANT SOURCES...
	local cc=$1 ld=$2 want=$3; shift 3
	command -v "$cc" >/dev/null && command -v "ld.$ld" >/dev/null || { echo "skip tach_ex $cc $ld: not installed"; return; }
	local flags=(-O2 -D_GNU_SOURCE -Iinclude -I"$work" -ffunction-sections -fdata-sections -Wl,--gc-sections "-fuse-ld=$ld" -DWANT="$want")
	if "$cc" "${flags[@]}" -o "$work/program" "$@" 2>"$work/log" && "$work/program" >>"$work/log"; then echo "ok tach_ex $cc $ld"
	else sed 's/^/# /' "$work/log"; echo "not ok tach_ex $cc $ld"; failed=1; fi
	if "$cc" "${flags[@]}" -DOTHER_LAYOUT -o "$work/program" "$@" 2>"$work/log"; then echo "not ok tach_ex $cc $ld: links without tach__abi_1"; failed=1; fi
}
for ld in bfd lld; do
	try gcc $ld 2 "$work/one.c" "$work/two_c.c"
	try clang $ld 2 "$work/one.c" "$work/two_c.c"
	cp "$work/one.c" "$work/one.cc"; cp "$work/two.c" "$work/two.cc"
	try g++ $ld 5 "$work/one.cc" "$work/two.cc"
	try clang++ $ld 5 "$work/one.cc" "$work/two.cc"
done
exit $failed
