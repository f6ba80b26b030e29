/* SPDX-License-Identifier: MIT */
/*
 * Writes collapsed stacks from traces, the input of flame graphs: "outer;inner NS". NS is the
 * time in which `inner` was the innermost region, for all threads together.
 *
 * A ring has entries in the order in which they ended. So if a ring is read backwards, each
 * region comes before its nested regions. A region that is still open is missing, and its
 * nested regions begin a stack.
 */
#include <string.h>
#include "core/base/out.h"
#include "core/os/memory.h"
#include "core/region/region.h"
#include "core/report/report.h"

enum { NODES = 8192, DEEPEST = 128, NONE = 0, LOST = 1 };

struct node {
	uint32_t up, id; /* `up`: the enclosing node, or NONE */
	int64_t ticks;
};

struct folding {
	/* by hash; node[LOST] counts regions that have no place, and their nested regions */
	struct node node[NODES];
	uint32_t used;
	/* Regions that may enclose the next entry, by level. */
	struct {
		uint32_t node;
		uint64_t begun;
	} around[DEEPEST];
	uint32_t depth;
};

static uint32_t find_node(struct folding *f, uint32_t up, uint32_t id)
{
	uint32_t at = (up * 2654435761u ^ id * 40503u) % NODES;

	for (; up != LOST; at = (at + 1) % NODES) {
		struct node *n = &f->node[at];

		if (at <= LOST)
			continue;
		if (n->id == id && n->up == up)
			return at;
		if (n->id)
			continue;
		if (f->used == NODES / 2)
			break;
		f->used++;
		n->id = id;
		n->up = up;
		return at;
	}
	return LOST;
}

static void entry_add(struct folding *f, const struct tach__traced *e)
{
	int64_t ticks = (int64_t)(e->end - e->begun);
	uint32_t up = NONE, at;

	if (e->level < f->depth)
		f->depth = e->level;
	while (f->depth && f->around[f->depth - 1].begun > e->begun)
		f->depth--;
	if (f->depth)
		up = f->around[f->depth - 1].node;
	at = find_node(f, up, e->id);
	f->node[at].ticks += ticks;
	if (f->depth)
		f->node[up].ticks -= ticks;
	if (f->depth < DEEPEST) {
		f->around[f->depth].node = at;
		f->around[f->depth++].begun = e->begun;
	}
}

static void ring_add(struct folding *f, const struct tach__trace *ring,
		     const struct tach__trace *head)
{
	union tach__traced_copy copy;

	f->depth = 0;
	for (uint64_t n = head->n; n-- > head->oldest;)
		if (tach__trace_get(ring, n, &copy.entry))
			entry_add(f, &copy.entry);
}

static const char *escape(unsigned c, char room[8])
{
	(void)room;
	return c == ';' ? ":" : c < ' ' ? " " : NULL;
}

static void node_write(struct tach__out *out, const struct folding *f, uint32_t at, double ns)
{
	uint32_t path[DEEPEST + 1], n = 0;

	for (uint32_t up = at; up != NONE && n <= DEEPEST; up = f->node[up].up)
		path[n++] = up;
	while (n--) {
		tach__out_escaped(out, tach__site_at(f->node[path[n]].id)->name, escape);
		tach__out_text(out, n ? ";" : " ");
	}
	tach__out(out, "%llu\n", (unsigned long long)((double)f->node[at].ticks * ns + 0.5));
}

int tach__report_folded(struct tach__out *out, uint32_t generation, double ns)
{
	struct folding *f = tach__pages(sizeof *f);
	const struct tach__trace *ring = NULL;
	struct tach__trace head;

	if (!f)
		return TACH_ERR_NOMEM;
	while ((ring = tach__trace_next(ring, &head)))
		if (head.generation == generation)
			ring_add(f, ring, &head);
	for (uint32_t at = LOST + 1; at < NODES; at++)
		if (f->node[at].id && f->node[at].ticks > 0)
			node_write(out, f, at, ns);
	tach__pages_free(f, sizeof *f);
	return 0;
}
