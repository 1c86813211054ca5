/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks to a tree of frames, of bounded size: what comes once it is full is cut off where the tree
 * does not know it, at a node "(other)".
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/evidence/pystack.h"
#include "analysis/time/span.h"
#include "series_parts.h"
#include "wire/keyed_hash.h"

#define FUNCTION_BYTES 64u
#define PATH_BYTES 80u
#define LEAVES_MAX (1u << 16)
#define ROOTS_MAX 4096u
#define NONE UINT32_MAX
#define OTHER 0u /* its name is the first */

void ana_flames_init(struct ana_flames *f, uint32_t max)
{
	*f = (struct ana_flames){ .max = max };
}

void ana_flames_fini(struct ana_flames *f)
{
	uint32_t i;

	for (i = 0; i < f->names; i++)
		free(f->name[i]);
	for (i = 0; i < f->roots; i++)
		ana_map_fini(&f->root[i].leaf_of);
	free(f->name);
	free(f->node);
	free(f->root);
	ana_map_fini(&f->name_of);
	ana_map_fini(&f->node_of);
	ana_map_fini(&f->root_of);
	*f = (struct ana_flames){ 0 };
}

/* Room for one more; NULL and f->err: no memory. */
static void *one_more(struct ana_flames *f, void *array, uint32_t count, uint32_t *room,
		      size_t each)
{
	uint32_t want = *room ? *room * 2 : 64;
	void *p;

	if (count < *room)
		return array;
	p = reallocarray(array, want, each);
	if (p)
		*room = want;
	else
		f->err = -ENOMEM;
	return p;
}

/* ---- names ----------------------------------------------------------------------------------- */

static uint32_t new_name(struct ana_flames *f, const char *text, size_t len, uint64_t h)
{
	char **p = one_more(f, f->name, f->names, &f->name_room, sizeof(*p));

	if (!p)
		return NONE;
	f->name = p;
	p[f->names] = strndup(text, len);
	if (!p[f->names] || ana_map_put(&f->name_of, h, f->names)) {
		free(p[f->names]);
		f->err = -ENOMEM;
		return NONE;
	}
	return f->names++;
}

/* Its number; NONE: there is no room for a new one. */
static uint32_t name_of(struct ana_flames *f, const char *text, bool always)
{
	const struct wire_secret secret = wire_secret();
	size_t len = strlen(text);
	uint64_t h = wire_keyed_hash(text, len, &secret);
	uint32_t i;

	for (; (i = ana_map_get(&f->name_of, h)) != ANA_MAP_NONE; h++)
		if (!strcmp(f->name[i], text))
			return i;
	return always || f->names < f->max ? new_name(f, text, len, h) : NONE;
}

static bool continues(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* At most @max bytes, whole characters; *cut: something is missing. */
static uint32_t head_of(struct ana_text t, uint32_t max, bool *cut)
{
	uint32_t n = t.len < max ? t.len : max;

	while (n && n < t.len && continues(t.at[n]))
		n--;
	*cut = n < t.len;
	return n;
}

/* Where the last @max bytes begin, at a folder if that is near. */
static uint32_t tail_of(struct ana_text t, uint32_t max)
{
	uint32_t at = t.len > max ? t.len - max : 0, i;

	for (i = at; at && i < t.len && i < at + max / 2; i++)
		if (t.at[i] == '/')
			return i;
	while (at && at < t.len && continues(t.at[at]))
		at++;
	return at;
}

/* "function path/file.py:line" */
static uint32_t frame_name(struct ana_flames *f, const struct ana_frame *r)
{
	char text[FUNCTION_BYTES + PATH_BYTES + 32];
	bool cut;
	uint32_t n = head_of(r->function, FUNCTION_BYTES, &cut);
	uint32_t from = tail_of(r->file, PATH_BYTES);
	int len = snprintf(text, sizeof(text), "%.*s%s", (int)n, r->function.at,
			   cut ? "\xe2\x80\xa6" : "");

	if (r->file.len)
		len += snprintf(text + len, sizeof(text) - (size_t)len, " %s%.*s",
				from ? "\xe2\x80\xa6" : "", (int)(r->file.len - from),
				r->file.at + from);
	if (r->line)
		snprintf(text + len, sizeof(text) - (size_t)len, ":%u", (unsigned int)r->line);
	return name_of(f, text, false);
}

/* ---- the tree -------------------------------------------------------------------------------- */

static uint32_t new_node(struct ana_flames *f, uint32_t parent, uint32_t frame)
{
	struct ana_flame_grow *p = one_more(f, f->node, f->nodes, &f->node_room, sizeof(*p));

	if (!p)
		return NONE;
	f->node = p;
	p[f->nodes] = (struct ana_flame_grow){ parent, frame, 0 };
	return f->nodes++;
}

/* NONE: it is not there and there is no room for it. */
static uint32_t child_of(struct ana_flames *f, uint32_t parent, uint32_t frame, bool always)
{
	uint64_t key = (uint64_t)parent << 32 | frame;
	uint32_t i = frame == NONE ? NONE : ana_map_get(&f->node_of, key);

	if (frame == NONE || i != ANA_MAP_NONE)
		return i;
	if (!always && f->nodes >= f->max)
		return NONE;
	i = new_node(f, parent, frame);
	if (i != NONE && ana_map_put(&f->node_of, key, i))
		f->err = -ENOMEM;
	return f->err ? NONE : i;
}

static struct ana_flame_root *root_of(struct ana_flames *f, uint32_t process, uint8_t role)
{
	uint64_t key = (uint64_t)process << 8 | role;
	uint32_t i = ana_map_get(&f->root_of, key);
	struct ana_flame_root *p;

	if (i != ANA_MAP_NONE)
		return &f->root[i];
	if (f->roots == ROOTS_MAX || (!f->names && name_of(f, "(other)", true) == NONE))
		return NULL;
	p = one_more(f, f->root, f->roots, &f->root_room, sizeof(*p));
	if (!p)
		return NULL;
	f->root = p;
	p[f->roots] = (struct ana_flame_root){ .process = process,
					       .role = role,
					       .node = new_node(f, NONE, OTHER) };
	if (p[f->roots].node == NONE || ana_map_put(&f->root_of, key, f->roots)) {
		f->err = -ENOMEM;
		return NULL;
	}
	return &f->root[f->roots++];
}

/* Down to the stack's innermost frame, as far as there is room. NONE: no memory. */
static uint32_t grow(struct ana_flames *f, uint32_t root, const struct wire_strtab *strings,
		     enum ana_class c, uint32_t stack)
{
	struct ana_frame frame[WIRE_STACK_FRAMES_MAX];
	uint32_t at = child_of(f, root, name_of(f, ana_class_names[c], true), true), next;
	size_t len = 0, n = 0;
	const char *text = "";

	if (stack && stack <= wire_strtab_count(strings))
		text = wire_strtab_get(strings, stack, &len);
	n = ana_frames_read(frame, WIRE_STACK_FRAMES_MAX, text, (uint32_t)len);
	while (n-- && at != NONE) {
		next = child_of(f, at, frame_name(f, &frame[n]), false);
		if (next == NONE)
			return f->err ? NONE : child_of(f, at, OTHER, true);
		at = next;
	}
	return at;
}

static uint32_t leaf_of(struct ana_flames *f, struct ana_flame_root *r,
			const struct wire_strtab *strings, enum ana_class c, uint32_t stack)
{
	uint64_t key = (uint64_t)c << 32 | stack;
	uint32_t leaf = ana_map_get(&r->leaf_of, key);

	if (leaf != ANA_MAP_NONE)
		return leaf;
	leaf = grow(f, r->node, strings, c, stack);
	if (leaf == NONE || f->leaves == LEAVES_MAX)
		return leaf;
	f->leaves++;
	if (ana_map_put(&r->leaf_of, key, leaf))
		f->err = -ENOMEM;
	return leaf;
}

void ana_flames_add(struct ana_flames *f, uint32_t process, const struct wire_strtab *strings,
		    enum ana_class c, const struct wire_sample *w, int64_t ns)
{
	struct ana_flame_root *r;
	uint32_t leaf;

	if (ns <= 0 || f->err || (!ana_class_is_input(c) && !ana_class_is_host(c)))
		return;
	r = root_of(f, process, w->role <= WIRE_ROLE_FEEDER ? w->role : WIRE_ROLE_OTHER);
	leaf = r ? leaf_of(f, r, strings, c, w->stack) : NONE;
	if (leaf != NONE)
		ana_sum(&f->node[leaf].self_ns, ns);
}

/* ---- all together ---------------------------------------------------------------------------- */

struct finish {
	struct ana_flames *f;
	int64_t *below; /* per node, itself included */
	uint32_t *first, *next; /* children, most time first */
	uint32_t *order; /* nodes, for sorting */
	uint32_t *size; /* of a root: nodes of its tree */
	const uint32_t *frame; /* names of this component to those of all */
	struct ana_flame *out;
};

/* Children have higher numbers than their parents. */
static void sum_below(struct finish *x)
{
	uint32_t i;

	for (i = 0; i < x->f->nodes; i++)
		x->below[i] = x->f->node[i].self_ns;
	for (i = x->f->nodes; i-- > 0;)
		if (x->f->node[i].parent != NONE)
			ana_sum(&x->below[x->f->node[i].parent], x->below[i]);
}

/* Least time first; of equals the later name: they are put in front of their siblings in turn. */
static int by_time(const void *a, const void *b, void *arg)
{
	const struct finish *x = arg;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	int names;

	if (x->below[i] != x->below[k])
		return x->below[i] < x->below[k] ? -1 : 1;
	names = strcmp(x->f->name[x->f->node[k].frame], x->f->name[x->f->node[i].frame]);
	return names ? names : i < k ? 1 : -1;
}

static void link_children(struct finish *x)
{
	uint32_t i, n = x->f->nodes;

	for (i = 0; i < n; i++) {
		x->order[i] = i;
		x->first[i] = x->next[i] = NONE;
	}
	qsort_r(x->order, n, sizeof(*x->order), by_time, x);
	for (i = 0; i < n; i++) {
		uint32_t k = x->order[i], parent = x->f->node[k].parent;

		if (parent == NONE)
			continue;
		x->next[k] = x->first[parent];
		x->first[parent] = k;
	}
}

static void put_node(struct finish *x, uint32_t node, uint32_t parent)
{
	struct ana_flame_node *n = &x->out->node[x->out->nodes++];

	n->parent = parent;
	n->frame = x->frame[x->f->node[node].frame];
	n->ns = x->below[node];
	if (x->f->node[node].frame == OTHER && x->f->node[node].parent != NONE)
		ana_sum(&x->out->folded_ns, n->ns);
}

/* Preorder, without recursion: as deep as a stack has frames, and two. */
static void put_tree(struct finish *x, uint32_t root)
{
	uint32_t at[WIRE_STACK_FRAMES_MAX + 4], parent[WIRE_STACK_FRAMES_MAX + 4];
	size_t depth = 0;

	put_node(x, root, 0);
	at[0] = x->first[root];
	parent[0] = 0;
	for (;;) {
		uint32_t node = at[depth];

		if (node == NONE) {
			if (!depth--)
				return;
			continue;
		}
		at[depth] = x->next[node];
		put_node(x, node, parent[depth]);
		depth++;
		parent[depth] = (uint32_t)x->out->nodes - 1;
		at[depth] = x->first[node];
	}
}

static void count_trees(struct finish *x)
{
	uint32_t *root = x->order; /* of no more use as an order */
	uint32_t i;

	for (i = 0; i < x->f->nodes; i++) {
		uint32_t parent = x->f->node[i].parent;

		root[i] = parent == NONE ? i : root[parent];
		x->size[root[i]]++;
	}
}

static int put_trees(struct finish *x, struct ana_series *out)
{
	uint32_t i;

	count_trees(x);
	for (i = 0; i < x->f->roots; i++) {
		const struct ana_flame_root *r = &x->f->root[i];

		x->out = &out->flame[out->flames];
		*x->out = (struct ana_flame){ .process = r->process, .role = r->role };
		x->out->node = calloc(x->size[r->node], sizeof(*x->out->node));
		if (!x->out->node)
			return -ENOMEM;
		out->flames++;
		put_tree(x, r->node);
		ana_sum(&out->flame_sampled_ns, x->below[r->node]);
	}
	return 0;
}

/* The names of this component among all. */
static int take_names(struct ana_flames *all, struct ana_flames *f, uint32_t *frame)
{
	uint32_t i;

	for (i = 0; i < f->names; i++) {
		frame[i] = name_of(all, f->name[i], true);
		if (frame[i] == NONE)
			return -ENOMEM;
	}
	return 0;
}

static int finish_component(struct ana_flames *all, struct ana_flames *f, struct ana_series *out)
{
	size_t n = (size_t)f->nodes + 1;
	uint32_t *numbers = calloc(n * 4 + f->names, sizeof(*numbers));
	struct finish x = { .f = f, .below = calloc(n, sizeof(*x.below)) };
	int err = -ENOMEM;

	if (numbers && x.below) {
		x.first = numbers;
		x.next = numbers + n;
		x.order = numbers + 2 * n;
		x.size = numbers + 3 * n;
		x.frame = numbers + 4 * n;
		err = take_names(all, f, numbers + 4 * n);
	}
	if (!err) {
		sum_below(&x);
		link_children(&x);
		err = put_trees(&x, out);
	}
	free(numbers);
	free(x.below);
	return err;
}

static int by_size(const void *a, const void *b)
{
	const struct ana_flame *x = a, *y = b;

	if (x->node[0].ns != y->node[0].ns)
		return x->node[0].ns > y->node[0].ns ? -1 : 1;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (int)x->role - (int)y->role;
}

int ana_flames_finish(struct ana_flames *f, size_t count, struct ana_series *out)
{
	struct ana_flames all = { 0 };
	size_t roots = 0, i;
	int err = 0;

	for (i = 0; i < count; i++) {
		roots += f[i].roots;
		err = err ? err : f[i].err;
	}
	out->flame = calloc(roots + 1, sizeof(*out->flame));
	if (!out->flame)
		err = -ENOMEM;
	for (i = 0; i < count && !err; i++)
		if (f[i].roots)
			err = finish_component(&all, &f[i], out);
	if (!err) {
		qsort(out->flame, out->flames, sizeof(*out->flame), by_size);
		out->frame = all.name; /* now the result's */
		out->frames = all.names;
		all.name = NULL;
		all.names = 0;
	}
	ana_flames_fini(&all);
	return err;
}
