/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples and the time they explain, gathered by stack.
 */
#include "stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/vec.h"
#include "trace/symbols.h"
#include "base/units.h"
#include "wire/evidence.h"
#include "wire/keyed_hash.h"

struct key {
	uint32_t process, stack, native, fs;
	uint8_t class, role, wait, starved;
};

struct gathered { /* time of one stack */
	struct key key;
	int64_t ns;
};

struct gathering {
	struct view_export *x;
	struct gathered *row;
	uint32_t rows, room;
	struct ana_map of; /* by hash */
	struct view_symbols *symbols; /* NULL: not of this machine */
	int64_t left_ns[ANA_CLASSES], left_usd[ANA_CLASSES];
	struct view_stack *stack;
	int (*take)(void *arg, const struct view_stack *s);
	void *arg;
	int err;
};

/* --- gathering --- */

static struct gathered *add_row(struct gathering *g, const struct key *k, uint64_t h)
{
	if (g->rows == VIEW_STACKS_MAX)
		return NULL;
	if (!base_vec_more(g->row, g->rows, g->room))
		return NULL;
	if (ana_map_put(&g->of, h, g->rows))
		return NULL;
	g->row[g->rows] = (struct gathered){ .key = *k };
	return &g->row[g->rows++];
}

/* NULL: no room, and the time stays without a stack. */
static struct gathered *find_row(struct gathering *g, const struct key *k)
{
	const struct wire_secret secret = wire_secret();
	uint64_t h = wire_keyed_hash(k, sizeof(*k), &secret);
	uint32_t i;

	while ((i = ana_map_get(&g->of, h)) != ANA_MAP_NONE) {
		if (!memcmp(&g->row[i].key, k, sizeof(*k)))
			return &g->row[i];
		h++;
	}
	return add_row(g, k, h);
}

static int take_sample(void *arg, const struct ana_hotspot_sample *s)
{
	const struct wire_sample *w = s->sample;
	struct gathering *g = arg;
	struct gathered *row;
	struct key k;

	memset(&k, 0, sizeof(k)); /* compared as bytes */
	k.process = s->process;
	k.stack = w->stack;
	k.native = w->native;
	k.fs = w->fs;
	k.class = (uint8_t)s->class;
	k.role = w->role;
	k.wait = w->wait;
	k.starved = s->class == ANA_INPUT_CPU_STARVED || s->class == ANA_HOST_CPU_STARVED;
	row = find_row(g, &k);
	if (row)
		ana_sum(&row->ns, s->ns);
	return 0;
}

/* --- frames --- */

static struct view_frame *push(struct view_stack *s, const char *name, size_t len)
{
	struct view_frame *f = &s->frame[s->frames];

	if (s->frames == VIEW_STACK_FRAMES)
		return NULL;
	s->frames++;
	view_text_valid(f->name, sizeof(f->name), name, len);
	f->file[0] = '\0';
	f->line = 0;
	return f;
}

static void push_text(struct view_stack *s, const char *name)
{
	push(s, name, strlen(name));
}

struct line {
	const char *at;
	size_t len;
};

/* The lines of a stack's text; returns how many. */
static size_t split(const char *text, size_t len, struct line line[WIRE_STACK_FRAMES_MAX])
{
	size_t n = 0;

	while (len && n < WIRE_STACK_FRAMES_MAX) {
		const char *stop = memchr(text, '\n', len);
		size_t own = stop ? (size_t)(stop - text) : len;

		line[n++] = (struct line){ text, own };
		own += stop != NULL;
		text += own;
		len -= own;
	}
	return n;
}

/* What stands before the next tab; moves past it. */
static struct line field(struct line *l)
{
	const char *tab = l->len ? memchr(l->at, '\t', l->len) : NULL;
	struct line f = { l->at, tab ? (size_t)(tab - l->at) : l->len };
	size_t past = f.len + (tab != NULL);

	l->at += past;
	l->len -= past;
	return f;
}

/* "function\tfile\tline", innermost first; the innermost are kept if there are too many. */
static void push_python(struct view_stack *s, const char *text, size_t len)
{
	struct line line[WIRE_STACK_FRAMES_MAX];
	size_t n = split(text, len, line);

	while (n--) {
		struct line rest = line[n], name = field(&rest), file = field(&rest);
		struct view_frame *f = push(s, name.at, name.len);
		size_t i;

		if (!f)
			return;
		view_text_valid(f->file, sizeof(f->file), file.at, file.len);
		for (i = 0; i < rest.len && i < 9 && rest.at[i] >= '0' && rest.at[i] <= '9'; i++)
			f->line = f->line * 10 + (rest.at[i] - '0');
	}
}

static void push_native_frame(struct gathering *g, struct view_stack *s, struct line l)
{
	const char *symbol = g->symbols ? view_symbol_of_frame(g->symbols, l.at, l.len) : NULL;
	struct line module = field(&l), offset = field(&l);
	char name[VIEW_FRAME_BYTES];
	struct view_frame *f;

	if (symbol)
		snprintf(name, sizeof(name), "%.480s", symbol);
	else
		snprintf(name, sizeof(name), "%.*s+0x%.*s",
			 (int)(module.len < 440 ? module.len : 440), module.at,
			 (int)(offset.len < 20 ? offset.len : 20), offset.at);
	f = push(s, name, strlen(name));
	if (f && symbol)
		view_text_valid(f->file, sizeof(f->file), module.at, module.len);
}

/* What lies below Python: the lines before the first frame of the interpreter. */
static void push_native(struct gathering *g, struct view_stack *s, const char *text, size_t len)
{
	struct line line[WIRE_STACK_FRAMES_MAX];
	size_t n = split(text, len, line), i = 0;

	while (i < n && !(line[i].len >= 8 && !memcmp(line[i].at, "<python>", 8)))
		i++;
	while (i--)
		push_native_frame(g, s, line[i]);
}

static void push_wait(struct view_stack *s, const struct key *k, const char *fs)
{
	const char *wait = view_export_wait(k->wait);
	char text[VIEW_FRAME_BYTES];

	if (k->starved) {
		push_text(s, "waits for a CPU");
		return;
	}
	if (!wait)
		return;
	snprintf(text, sizeof(text), "waits: %s%s%.60s%s", wait, *fs ? " (" : "", fs,
		 *fs ? ")" : "");
	push_text(s, text);
}

static void begin(struct gathering *g, int c)
{
	g->stack->frames = 0;
	g->stack->c = c;
	if (g->x->summary->result->simulated)
		push_text(g->stack, "simulated GPU (a model)");
	push_text(g->stack, ana_class_names[c]);
}

/* --- handing out --- */

static int64_t share(const struct view_summary *s, int c, int64_t ns)
{
	int64_t whole = s->result->classes[c];

	return whole > 0 ? base_div_even((__int128)s->cost.classes[c] * ns, whole) : 0;
}

static int take_row(struct gathering *g, const struct gathered *row)
{
	const struct key *k = &row->key;
	const struct wire_strtab *strings = g->x->plan.source[k->process].s->strings;
	struct view_stack *s = g->stack;
	int c = k->class;
	size_t len;
	const char *text;

	s->ns = row->ns < g->left_ns[c] ? row->ns : g->left_ns[c];
	if (s->ns <= 0)
		return 0;
	s->nano_usd = share(g->x->summary, c, s->ns);
	if (s->nano_usd > g->left_usd[c])
		s->nano_usd = g->left_usd[c];
	g->left_ns[c] -= s->ns;
	g->left_usd[c] -= s->nano_usd;
	begin(g, c);
	push_text(s, view_export_role(k->role));
	text = wire_strtab_get(strings, k->stack, &len);
	push_python(s, text, len);
	text = wire_strtab_get(strings, k->native, &len);
	push_native(g, s, text, len);
	push_wait(s, k, wire_strtab_get(strings, k->fs, NULL));
	return g->take(g->arg, s);
}

static int take_rest(struct gathering *g, int c)
{
	if (g->left_ns[c] <= 0)
		return 0;
	begin(g, c);
	g->stack->ns = g->left_ns[c];
	g->stack->nano_usd = g->left_usd[c];
	return g->take(g->arg, g->stack);
}

/* Busy classes have no stacks: the GPU worked. */
static int hand_out(struct gathering *g)
{
	const struct view_summary *s = g->x->summary;
	uint32_t i;
	int c, err = 0;

	memcpy(g->left_ns, s->result->classes, sizeof(g->left_ns));
	memcpy(g->left_usd, s->cost.classes, sizeof(g->left_usd));
	for (i = 0; i < g->rows && !err; i++)
		if (!ana_class_is_busy(g->row[i].key.class))
			err = take_row(g, &g->row[i]);
	for (c = 0; c < ANA_CLASSES && !err; c++)
		if (!ana_class_is_busy(c))
			err = take_rest(g, c);
	return err;
}

/* A path of another machine may be anything here, a dead network disk included. */
static bool of_this_host(const struct view_summary *s)
{
	char name[256] = "";

	return !s->result->imported && s->hosts == 1 && !gethostname(name, sizeof(name) - 1) &&
	       !strcmp(s->host[0], name);
}

int view_export_stacks(struct view_export *x, int (*take)(void *arg, const struct view_stack *s),
		       void *arg)
{
	struct gathering g = { .x = x, .take = take, .arg = arg };
	int err = -ENOMEM;

	g.symbols = of_this_host(x->summary) ? view_symbols_new() : NULL;
	g.stack = malloc(sizeof(*g.stack));
	if (g.stack)
		err = view_export_hotspots(x, take_sample, &g);
	if (!err)
		err = hand_out(&g);
	view_symbols_free(g.symbols);
	ana_map_fini(&g.of);
	free(g.row);
	free(g.stack);
	return err;
}
