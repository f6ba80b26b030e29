/* SPDX-License-Identifier: MIT */
/* Names of functions, for the globs of TACH_FUNCTIONS: from the symbol tables of files. */
#include <ctype.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "compat/functions/functions.h"

/* ---- one file ---- */

struct object {
	struct object *next;
	const char *file;
	const Elf64_Sym *symbol;
	const char *text;
	size_t nsymbols, ntext;
	/* Indexes of functions in `symbol`, by the hash of the offset; 0: unused. */
	uint32_t *index;
	uint32_t mask;
};
static struct object *objects;

static uint32_t hash_of(uint64_t offset)
{
	return (uint32_t)((offset * 0x9e3779b97f4a7c15u) >> 32);
}

static int is_inside(uint64_t at, uint64_t size, size_t whole)
{
	return at <= whole && size <= whole - at;
}

/* Finds the table of all symbols. Files without it have a table of exported symbols. */
static void find_symbols(struct object *o, const char *at, size_t size)
{
	const Elf64_Ehdr *head = (const void *)at;
	const Elf64_Shdr *section;

	if (size < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
	    head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_shentsize != sizeof *section ||
	    !is_inside(head->e_shoff, head->e_shnum * sizeof *section, size))
		return;
	section = (const void *)(at + head->e_shoff);
	for (int i = 0; i < head->e_shnum; i++) {
		const Elf64_Shdr *s = &section[i];

		if ((s->sh_type != SHT_SYMTAB && (s->sh_type != SHT_DYNSYM || o->symbol)) ||
		    s->sh_link >= head->e_shnum || !is_inside(s->sh_offset, s->sh_size, size) ||
		    !is_inside(section[s->sh_link].sh_offset, section[s->sh_link].sh_size,
			       size))
			continue;
		o->symbol = (const void *)(at + s->sh_offset);
		o->nsymbols = s->sh_size / sizeof *o->symbol;
		o->text = at + section[s->sh_link].sh_offset;
		o->ntext = section[s->sh_link].sh_size;
	}
}

static void make_index(struct object *o)
{
	size_t room = 1024;

	while (room < 2 * o->nsymbols)
		room *= 2;
	o->index = mmap(NULL, room * sizeof *o->index, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (o->index == MAP_FAILED) {
		o->nsymbols = 0;
		return;
	}
	o->mask = (uint32_t)room - 1;
	for (uint32_t n = 1; n < o->nsymbols; n++) {
		const Elf64_Sym *s = &o->symbol[n];
		uint32_t i = hash_of(s->st_value) & o->mask;

		if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || s->st_shndx == SHN_UNDEF)
			continue;
		while (o->index[i])
			i = (i + 1) & o->mask;
		o->index[i] = n;
	}
}

static struct object *open_object(const char *file)
{
	struct object *o = functions_take(sizeof *o);
	char *name = functions_take(strlen(file) + 1);
	struct stat status;
	void *at = MAP_FAILED;
	int fd;

	if (!o || !name)
		return NULL;
	*o = (struct object){.file = strcpy(name, file)};
	fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0)
		at = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		close(fd);
	if (at != MAP_FAILED)
		find_symbols(o, at, (size_t)status.st_size);
	make_index(o);
	return o;
}

static struct object *find_object(const char *file)
{
	struct object *o = __atomic_load_n(&objects, __ATOMIC_ACQUIRE), *made;

	for (; o; o = o->next)
		if (strcmp(o->file, file) == 0)
			return o;
	made = open_object(file);
	if (!made)
		return NULL;
	made->next = __atomic_load_n(&objects, __ATOMIC_ACQUIRE);
	while (!__atomic_compare_exchange_n(&objects, &made->next, made, 0, __ATOMIC_ACQ_REL,
					    __ATOMIC_ACQUIRE))
		;
	return made;
}

/* ---- C++ ---- */

/*
 * Names as the Itanium ABI mangles them: lengths before names, N...E around nested ones, I...E
 * around arguments of templates, which are left out.
 */
struct mangled {
	const char *at;
	char *to, *end;
	const char *last; /* the innermost name, for constructors */
	int nlast;
};

static void put_text(struct mangled *m, const char *text, int n)
{
	for (; n > 0 && m->to < m->end; n--)
		*m->to++ = *text++;
}

/* Moves past letters of a substitution or a parameter: S_, S0_, T_, or two letters. */
static void skip_short(struct mangled *m)
{
	const char *p = m->at + 1;

	while (isdigit((unsigned char)*p) || isupper((unsigned char)*p))
		p++;
	m->at = *p == '_' ? p + 1 : m->at + (m->at[1] ? 2 : 1);
}

static long read_length(struct mangled *m)
{
	long n = 0;

	while (isdigit((unsigned char)*m->at) && n < 4096)
		n = n * 10 + *m->at++ - '0';
	return n <= (long)strlen(m->at) ? n : -1;
}

/* Skips the arguments of a template, which begin at I. Literals (Li5E) contain digits that are
 * not lengths. */
static int skip_arguments(struct mangled *m)
{
	int depth = 0;

	while (*m->at) {
		if (isdigit((unsigned char)*m->at)) {
			long n = read_length(m);

			if (n < 0)
				return 0;
			m->at += n;
		} else if (*m->at == 'L' && m->at[1] != '_') {
			m->at += strcspn(m->at, "E");
			m->at += *m->at == 'E';
		} else if (*m->at == 'S' || *m->at == 'T') {
			skip_short(m);
		} else {
			depth += strchr("INXFJL", *m->at) != NULL;
			depth -= *m->at == 'E';
			m->at++;
			if (depth == 0)
				return 1;
		}
	}
	return 0;
}

static int put_name(struct mangled *m, const char *begin)
{
	const char *operator_ = "operator";
	long n;

	if (m->to > begin)
		put_text(m, "::", 2);
	if (isdigit((unsigned char)*m->at)) {
		n = read_length(m);
		if (n < 0)
			return 0;
		m->last = m->at;
		m->nlast = (int)n;
		if (strncmp(m->at, "_GLOBAL__N", 10) == 0)
			put_text(m, "(anonymous namespace)", 21);
		else
			put_text(m, m->at, (int)n);
		m->at += n;
		return 1;
	}
	if ((*m->at == 'C' || *m->at == 'D') && isdigit((unsigned char)m->at[1])) {
		put_text(m, "~", *m->at == 'D');
		put_text(m, m->last, m->nlast);
		m->at += 2;
		return 1;
	}
	if (!islower((unsigned char)m->at[0]) || !m->at[1])
		return 0;
	put_text(m, operator_, 8);
	m->at += 2;
	return 1;
}

static int demangle(const char *symbol, char *name, size_t size)
{
	struct mangled m = {symbol + 2, name, name + size - 1, "", 0};
	int is_nested;

	m.at += *m.at == 'L';
	is_nested = *m.at == 'N';
	if (is_nested)
		m.at += 1 + strspn(m.at + 1, "rVKRO");
	do {
		if (*m.at == 'S' && m.at[1] == 't') {
			put_text(&m, "std", 3);
			m.at += 2;
			if (!is_nested && !put_name(&m, name))
				return 0;
		} else if (*m.at == 'S' || *m.at == 'T') {
			skip_short(&m);
		} else if (*m.at == 'I') {
			if (!skip_arguments(&m))
				return 0;
		} else if (*m.at == 'L') {
			m.at++;
		} else if (!put_name(&m, name)) {
			return 0;
		}
	} while (is_nested && *m.at != 'E');
	*m.to = '\0';
	return m.to > name;
}

int functions_symbol(const char *file, uintptr_t offset, char *name, size_t size)
{
	const struct object *o = *file ? find_object(file) : NULL;
	uint32_t i = hash_of(offset);

	if (!o || !o->nsymbols)
		return 0;
	for (i &= o->mask; o->index[i]; i = (i + 1) & o->mask) {
		const Elf64_Sym *s = &o->symbol[o->index[i]];
		size_t left = s->st_name < o->ntext ? o->ntext - s->st_name : 0;

		if (s->st_value != offset || !left)
			continue;
		if (strncmp(o->text + s->st_name, "_Z", 2) == 0 &&
		    demangle(o->text + s->st_name, name, size))
			return 1;
		/* The compiler adds ".part.0" and the like. */
		snprintf(name, size, "%.*s", (int)strcspn(o->text + s->st_name, "."),
			 o->text + s->st_name);
		return 1;
	}
	return 0;
}
