/* SPDX-License-Identifier: Apache-2.0 */
/* From the votes of a decided piece to the lines they are for. */
#include "hotspots.h"
#include "hotspot_cpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/observer.h"
#include "backward.h"
#include "base/minmax.h"
#include "base/vec.h"
#include "frames.h"
#include "wire/keyed_hash.h"

void ana_hotspot_fini(struct ana_hotspot *s)
{
	size_t i;

	free(s->function);
	free(s->file);
	free(s->leaf);
	free(s->native);
	free(s->has_cpu);
	free(s->target);
	free(s->fs);
	for (i = 0; i < s->chains; i++) {
		free(s->chain[i].who);
		free(s->chain[i].waits_in);
		free(s->chain[i].function);
		free(s->chain[i].file);
	}
	free(s->chain);
	*s = (struct ana_hotspot){ 0 };
}

void ana_hotspots_fini(struct ana_hotspots *s)
{
	uint32_t i;

	for (i = 0; i < s->count; i++) {
		ana_hotspot_fini(&s->row[i].hotspot);
		ana_hotspot_chain_fini(&s->row[i].chain);
		free(s->row[i].thread);
	}
	ana_targets_fini(&s->targets);
	free(s->row);
	free(s->slot);
	*s = (struct ana_hotspots){ 0 };
}

/* ---- finding --------------------------------------------------------------------------------- */

struct key {
	enum ana_class class;
	uint8_t role, wait;
	bool runnable;
	struct ana_text function, file;
	uint32_t line;
};

/* Its threads could run and had no CPU. */
static bool is_starved(enum ana_class c)
{
	return c == ANA_INPUT_CPU_STARVED || c == ANA_HOST_CPU_STARVED;
}

static uint64_t hash_of(const struct key *k)
{
	uint32_t number[5] = { (uint32_t)k->class, k->role, k->wait, k->runnable, k->line };
	const struct wire_secret secret = wire_secret();
	uint64_t h = wire_keyed_hash(number, sizeof(number), &secret);

	h = wire_keyed_mix(h, wire_keyed_hash(k->function.at, k->function.len, &secret), &secret);
	return wire_keyed_mix(h, wire_keyed_hash(k->file.at, k->file.len, &secret), &secret);
}

static bool same_text(const char *own, struct ana_text t)
{
	return own ? strlen(own) == t.len && !memcmp(own, t.at, t.len) : !t.len;
}

static bool same(const struct ana_hotspot *s, const struct key *k)
{
	return s->class == k->class && s->role == k->role && s->wait == k->wait &&
	       s->runnable == k->runnable && s->line == k->line &&
	       same_text(s->function, k->function) && same_text(s->file, k->file);
}

static int rehash(struct ana_hotspots *s)
{
	uint32_t mask = s->slot ? s->mask * 2 + 1 : 63, i;
	uint32_t *slot = malloc(((size_t)mask + 1) * sizeof(*slot));

	if (!slot)
		return -ENOMEM;
	memset(slot, 0xff, ((size_t)mask + 1) * sizeof(*slot));
	for (i = 0; i < s->count; i++) {
		uint32_t at = (uint32_t)(s->row[i].hash >> 20) & mask;

		while (slot[at] != UINT32_MAX)
			at = (at + 1) & mask;
		slot[at] = i;
	}
	free(s->slot);
	s->slot = slot;
	s->mask = mask;
	return 0;
}

static int copy_text(char **to, struct ana_text t)
{
	*to = t.len ? strndup(t.at, t.len) : NULL;
	return t.len && !*to ? -ENOMEM : 0;
}

static struct ana_hotspot_row *new_row(struct ana_hotspots *s, const struct key *k, uint64_t hash)
{
	struct ana_hotspot_row *r;

	if (!base_vec_more(s->row, s->count, s->room))
		return NULL;
	r = &s->row[s->count];
	*r = (struct ana_hotspot_row){ .hash = hash };
	r->hotspot.class = k->class;
	r->hotspot.role = k->role;
	r->hotspot.wait = k->wait;
	r->hotspot.runnable = k->runnable;
	r->hotspot.line = k->line;
	s->count++;
	if (copy_text(&r->hotspot.function, k->function) || copy_text(&r->hotspot.file, k->file))
		return NULL;
	return r;
}

/* The row of the key. NULL with 0: too many; NULL with -ENOMEM. */
static struct ana_hotspot_row *get(struct ana_hotspots *s, const struct key *k, int *err)
{
	uint64_t hash = hash_of(k);
	struct ana_hotspot_row *r;
	uint32_t at;

	*err = 0;
	if (!s->slot || s->count * 2 > s->mask)
		*err = rehash(s);
	if (*err)
		return NULL;
	for (at = (uint32_t)(hash >> 20) & s->mask; s->slot[at] != UINT32_MAX;
	     at = (at + 1) & s->mask) {
		r = &s->row[s->slot[at]];
		if (r->hash == hash && same(&r->hotspot, k))
			return r;
	}
	if (s->count == ANA_HOTSPOTS_MAX)
		return NULL;
	r = new_row(s, k, hash);
	if (!r)
		*err = -ENOMEM;
	else
		s->slot[at] = s->count - 1;
	return r;
}

/* ---- what a hotspot gathers ------------------------------------------------------------------ */

/* A majority vote by time (hotspots.h): the text that has more than half of it stays. */
static int vote_text(char **text, int64_t *lead, struct ana_text t, int64_t ns)
{
	if (!t.len)
		return 0;
	if (same_text(*text, t)) {
		ana_sum(lead, ns);
		return 0;
	}
	if (*text && *lead >= ns) {
		*lead -= ns;
		return 0;
	}
	*lead = *text ? ns - *lead : ns;
	free(*text);
	return copy_text(text, t);
}

/* A socket whose other end is not known, beside one of which it is. */
static bool tells_less(const char *a, size_t n, const char *b, size_t m)
{
	return n < m && b[n] == ':' && !memcmp(a, b, n);
}

/* Several files: the folder that they share, with a star. */
static int add_target(char **target, struct ana_text t)
{
	size_t n = 0, slash = 0, len;
	char *more;

	if (!t.len || same_text(*target, t))
		return 0;
	if (!*target)
		return copy_text(target, t);
	len = strlen(*target);
	if (tells_less(t.at, t.len, *target, len))
		return 0;
	if (tells_less(*target, len, t.at, t.len)) {
		free(*target);
		return copy_text(target, t);
	}
	if (len && (*target)[len - 1] == '*')
		len--;
	while (n < len && n < t.len && (*target)[n] == t.at[n]) {
		n++;
		if (t.at[n - 1] == '/' || t.at[n - 1] == ':')
			slash = n;
	}
	more = realloc(*target, slash + 2);
	if (!more)
		return -ENOMEM;
	more[slash] = '*';
	more[slash + 1] = '\0';
	*target = more;
	return 0;
}

static int add_thread(struct ana_hotspot_row *r, uint64_t thread, uint8_t role)
{
	uint32_t i;

	for (i = 0; i < r->threads; i++)
		if (r->thread[i] == thread)
			return 0;
	if (r->threads == ANA_HOTSPOT_THREADS_MAX)
		return 0;
	if (!base_vec_more(r->thread, r->threads, r->thread_room))
		return -ENOMEM;
	r->thread[r->threads++] = thread;
	r->hotspot.threads = r->threads;
	r->hotspot.workers += role == WIRE_ROLE_WORKER || role == WIRE_ROLE_WORKER_OTHER;
	return 0;
}

/* "function\tfile" of the innermost frame, if that is not the @line itself. */
static int add_leaf(struct ana_hotspot_row *r, const struct ana_pystack *line,
		    const struct ana_pystack *k, int64_t ns)
{
	char text[1024];
	int n;

	k = k->leaf_function.len ? k : line;
	if (k->leaf_function.at == line->function.at)
		return 0;
	n = snprintf(text, sizeof(text), "%.*s\t%.*s", (int)k->leaf_function.len,
		     k->leaf_function.at, (int)k->leaf_file.len, k->leaf_file.at);
	if (n <= 0 || (size_t)n >= sizeof(text))
		return 0;
	return vote_text(&r->hotspot.leaf, &r->leaf_lead, (struct ana_text){ text, (uint32_t)n },
			 ns);
}

static void add_ns(struct ana_hotspot_row *r, enum ana_confidence confidence, int64_t ns)
{
	int c;

	ana_sum(&r->hotspot.ns, ns);
	ana_sum(&r->by[confidence], ns);
	for (c = 0; c < ANA_CONFIDENCES; c++)
		if (r->by[c] > r->by[r->hotspot.confidence])
			r->hotspot.confidence = (enum ana_confidence)c;
}

static void tell(const struct ana_hotspots *s, const struct ana_evidence *e, enum ana_class class,
		 enum ana_confidence confidence, const struct wire_sample *w, int64_t ns)
{
	struct ana_hotspot_sample sight = { .process = s->process,
					    .class = class,
					    .confidence = confidence,
					    .sample = w,
					    .ns = ns };

	if (s->options && s->options->on_hotspot_sample && ns > 0)
		s->options->on_hotspot_sample(s->options->arg, &sight);
	if (s->observer)
		s->observer->share(s->observer->arg, &sight, e->stacks.table);
}

static struct key key_of(const struct ana_pystack *k, enum ana_class class,
			 const struct wire_sample *w)
{
	return (struct key){
		.class = class,
		.role = w->role,
		.wait = ana_sample_runs(w) ? WIRE_WAIT_NONE : w->wait,
		.runnable = is_starved(class),
		.function = k->function,
		.file = k->file,
		.line = k->line,
	};
}

static void add_feeder(struct ana_hotspot *h, uint8_t feeder)
{
	if (feeder && (!h->feeder || feeder < h->feeder))
		h->feeder = feeder;
}

/* A lock has no name; the library's function that waits by it has: Thread.join, queue.put. */
static int add_function(struct ana_hotspot *h, const struct ana_pystack *k,
			const struct wire_sample *w)
{
	bool lock = w->wait == WIRE_WAIT_LOCK || w->wait == WIRE_WAIT_LOCK_SHARED ||
		    w->wait == WIRE_WAIT_CHILD;

	if (ana_sample_runs(w) || !lock || !k->waits_in || h->target)
		return 0;
	return copy_text(&h->target,
			 (struct ana_text){ k->waits_in, (uint32_t)strlen(k->waits_in) });
}

/* Who was there, and what the sample shows beside the line. */
static int add_details(struct ana_hotspot_row *r, const struct ana_pystacks *s,
		       const struct ana_pystack *line, const struct ana_pystack *k,
		       const struct wire_sample *w, int64_t ns)
{
	struct ana_text native = ana_frames_native(ana_pystacks_text(s, w->native));
	int err = add_thread(r, (uint64_t)w->pid << 32 | w->tid, w->role);

	add_feeder(&r->hotspot, k->feeder);
	if (!err)
		err = add_leaf(r, line, k, ns);
	if (!err)
		err = vote_text(&r->hotspot.native, &r->native_lead, native, ns);
	if (!err)
		err = add_target(&r->hotspot.target, ana_pystacks_text(s, w->target));
	if (!err)
		err = add_function(&r->hotspot, k, w);
	if (!err && !r->hotspot.fs)
		err = copy_text(&r->hotspot.fs, ana_pystacks_text(s, w->fs));
	return err;
}

static uint32_t stack_of(const struct ana_thread_samples *s, size_t i)
{
	return s->sample[i].stack;
}

/*
 * The stack (string id) whose line is told: of a producer that has no line of the user's, that of
 * the nearest one that waits for it and has; of a thread without Python that of who has it run
 * backward(); its own if none has.
 */
static uint32_t line_of(struct ana_evidence *e, const struct ana_cause *b, const struct ana_vote *v)
{
	const struct ana_chain_path *p = v->path ? &b->path[v->path - 1] : NULL;
	uint32_t own = stack_of(v->thread, v->sample), id = own;
	uint8_t i = p ? p->links : 0;

	for (; i && !ana_pystacks_get(&e->stacks, id)->user; i--)
		id = stack_of(p->link[i - 1].thread, p->link[i - 1].sample);
	if (!id)
		id = ana_backward_caller(e, v->thread, v->thread->sample[v->sample].t_ns);
	return ana_pystacks_get(&e->stacks, id)->user ? id : own;
}

/* Who waits may show by what: the library that has its batches made by a pool. */
static void add_feeders(struct ana_hotspot *h, struct ana_evidence *e,
			const struct ana_chain_path *p)
{
	uint8_t i;

	for (i = 0; i < p->links; i++)
		add_feeder(h, ana_pystacks_get(&e->stacks,
					       stack_of(p->link[i].thread, p->link[i].sample))
				      ->feeder);
}

#define NOBODY "\t" /* in the vote on who has the CPU: a text, for many such pieces are an answer */

/* Who ran while the thread of the vote could not. */
static int add_cpu(struct ana_hotspot_row *r, struct ana_evidence *e, const struct ana_cause *b,
		   const struct ana_vote *v, int64_t ns)
{
	const struct ana_thread_samples *s;
	char text[1024] = NOBODY;
	size_t sample;

	s = ana_hotspot_cpu_of(e, v->thread, b->start, b->end, &sample);
	if (s && !ana_hotspot_chain_tell(text, sizeof(text), e, &s->sample[sample]))
		snprintf(text, sizeof(text), NOBODY);
	return vote_text(&r->hotspot.has_cpu, &r->cpu_lead,
			 (struct ana_text){ text, (uint32_t)strlen(text) }, ns);
}

/* Samples of a path count once in a piece, whatever number of votes came by it. */
static int add_chain(const struct ana_hotspots *s, struct ana_evidence *e,
		     struct ana_hotspot_row *r, const struct ana_cause *b, uint32_t path,
		     int64_t ns)
{
	bool again = r->chain_piece == s->pieces && r->chain_path == path;

	r->chain_piece = s->pieces;
	r->chain_path = path;
	add_feeders(&r->hotspot, e, &b->path[path - 1]);
	return ana_hotspot_chain_add(&r->chain, e, &b->path[path - 1], ns, again);
}

/* The kernel counts for a thread what comes by read(), not by recv() nor by mapped pages. */
static bool counts_bytes(const struct wire_sample *w)
{
	/* and readv; x86-64, then the newer table */
	static const uint16_t read[] = { 0, 19, 63, 65 };
	size_t i;

	if (w->wait != WIRE_WAIT_SOCKET)
		return w->wait == WIRE_WAIT_READ || w->wait == WIRE_WAIT_PIPE;
	for (i = 0; i < sizeof(read) / sizeof(read[0]); i++)
		if (w->syscall == read[i] + 1)
			return true;
	return false;
}

/* What the thread was blocked on, and what it had read by its next sample in the piece. */
static int add_slow(struct ana_hotspots *s, const struct ana_pystacks *k, enum ana_class class,
		    const struct ana_cause *b, const struct ana_vote *v, int64_t ns)
{
	const struct wire_sample *w = &v->thread->sample[v->sample], *next = w + 1;
	struct ana_target more = { .ns = ns, .samples = 1 };

	if (!ana_class_is_input(class) || is_starved(class) || ana_sample_runs(w) || !w->target ||
	    (w->wait != WIRE_WAIT_READ && w->wait != WIRE_WAIT_FAULT &&
	     w->wait != WIRE_WAIT_WRITE && w->wait != WIRE_WAIT_SOCKET))
		return 0;
	if (v->sample + 1 < v->thread->tail && next->t_ns < b->end && counts_bytes(w) &&
	    w->rchar_bytes && next->rchar_bytes >= w->rchar_bytes) {
		more.bytes = next->rchar_bytes - w->rchar_bytes;
		more.read_ns = next->t_ns - w->t_ns;
	}
	return ana_targets_add(&s->targets, ana_pystacks_text(k, w->target),
			       ana_pystacks_text(k, w->fs), &more);
}

/* @ns of the class goes to the line that the vote's sample shows. */
static int add_vote(struct ana_hotspots *s, struct ana_evidence *e, const struct ana_cause *b,
		    enum ana_class class, const struct ana_vote *v, int64_t ns)
{
	const enum ana_confidence confidence = b->confidence[class];
	const struct wire_sample *w = &v->thread->sample[v->sample];
	const uint32_t at = line_of(e, b, v);
	const struct ana_pystack k = *ana_pystacks_get(&e->stacks, w->stack);
	const struct ana_pystack line = *ana_pystacks_get(&e->stacks, at);
	struct key key = key_of(&line, class, w);
	struct ana_hotspot_row *r;
	int err;

	tell(s, e, class, confidence, w, ns);
	err = add_slow(s, &e->stacks, class, b, v, ns);
	if (err)
		return err;
	r = get(s, &key, &err);
	if (!r) {
		ana_sum(&s->other_ns, ns);
		return err;
	}
	add_ns(r, confidence, ns);
	ana_sum(&r->stand_ns[b->kind], b->stand_ns > b->end - b->start
					       ? ana_scale(b->stand_ns, ns, b->end - b->start)
					       : ns);
	r->hotspot.samples++;
	err = add_details(r, &e->stacks, &line, &k, w, ns);
	if (!err && key.runnable)
		err = add_cpu(r, e, b, v, ns);
	if (err)
		return err;
	if (b->late)
		return 0;
	return v->path ? add_chain(s, e, r, b, v->path, ns) : ana_hotspot_chain_none(&r->chain, ns);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* Which votes tell the lines of a class, in the order in which they are asked. */
static bool tells(const struct ana_cause *b, const struct ana_vote *v, enum ana_class c, int round)
{
	bool starved = is_starved(c);
	bool made = c == ANA_INPUT_FETCH || c == ANA_INPUT_PREP || starved ||
		    (c == ANA_INPUT_PIPELINE && 2 * b->held > b->idle);

	if (round == 0)
		return v->class == c;
	if (round == 1)
		return starved && v->producer && ana_sample_runs(&v->thread->sample[v->sample]);
	return v->producer == made;
}

/* In parts by weight, summed as they go, so that they sum to the whole. */
static int add_class(struct ana_hotspots *s, struct ana_evidence *e, const struct ana_cause *b,
		     enum ana_class c)
{
	int64_t all = 0, so_far = 0, given = 0, until;
	size_t i;
	int round, err = 0;

	for (round = 0; round < 3 && !all; round++) {
		for (i = 0; i < b->votes; i++)
			if (tells(b, &b->vote[i], c, round))
				ana_sum(&all, b->vote[i].weight);
	}
	round--;
	for (i = 0; i < b->votes && all && !err; i++) {
		if (!tells(b, &b->vote[i], c, round) || !b->vote[i].weight)
			continue;
		ana_sum(&so_far, b->vote[i].weight);
		until = ana_scale(b->ns[c], so_far, all);
		err = add_vote(s, e, b, c, &b->vote[i], until - given);
		given = until;
	}
	return err;
}

int ana_hotspots_add(struct ana_hotspots *s, struct ana_evidence *e, const struct ana_cause *b)
{
	int c, err = b->err;

	s->pieces++;
	for (c = 0; c < ANA_CLASSES && !err && b->votes; c++)
		if (b->ns[c])
			err = add_class(s, e, b, (enum ana_class)c);
	return err;
}

void ana_hotspots_add_nearby(struct ana_hotspots *s, enum ana_piece_kind kind, enum ana_class c,
			     enum ana_confidence confidence, int64_t ns)
{
	ana_sum(&s->nearby_ns[kind][c], ns);
	if (confidence == ANA_MEDIUM)
		ana_sum(&s->medium_ns[kind][c], ns);
}

/* ---- all together ---------------------------------------------------------------------------- */

static struct ana_text own_text(const char *text)
{
	return (struct ana_text){ text ? text : "", text ? (uint32_t)strlen(text) : 0 };
}

static int merge_row(struct ana_hotspots *to, const struct ana_hotspot_row *f)
{
	const struct ana_hotspot *x = &f->hotspot;
	struct key key = { x->class,	      x->role, x->wait, x->runnable, own_text(x->function),
			   own_text(x->file), x->line };
	struct ana_hotspot_row *r;
	uint32_t workers;
	int err, c;

	r = get(to, &key, &err);
	if (!r) {
		ana_sum(&to->other_ns, x->ns);
		return err;
	}
	for (c = 0; c < ANA_CONFIDENCES; c++)
		if (f->by[c])
			add_ns(r, (enum ana_confidence)c, f->by[c]);
	for (c = 0; c < ANA_PIECE_KINDS; c++)
		ana_sum(&r->stand_ns[c], f->stand_ns[c]);
	r->hotspot.samples += x->samples;
	workers = r->hotspot.workers + x->workers; /* other processes have other threads */
	r->hotspot.threads += x->threads;
	r->hotspot.workers = workers;
	add_feeder(&r->hotspot, x->feeder);
	err = vote_text(&r->hotspot.leaf, &r->leaf_lead, own_text(x->leaf), x->ns);
	if (!err)
		err = vote_text(&r->hotspot.native, &r->native_lead, own_text(x->native), x->ns);
	if (!err)
		err = vote_text(&r->hotspot.has_cpu, &r->cpu_lead, own_text(x->has_cpu), x->ns);
	if (!err)
		err = add_target(&r->hotspot.target, own_text(x->target));
	if (!err && !r->hotspot.fs)
		err = copy_text(&r->hotspot.fs, own_text(x->fs));
	return err ? err : ana_hotspot_chain_merge(&r->chain, &f->chain, x->ns);
}

int ana_hotspots_merge(struct ana_hotspots *to, const struct ana_hotspots *from)
{
	uint32_t i;
	int kind, c, err = 0;

	ana_sum(&to->other_ns, from->other_ns);
	for (kind = 0; kind < ANA_PIECE_KINDS; kind++)
		for (c = 0; c < ANA_CLASSES; c++) {
			ana_sum(&to->nearby_ns[kind][c], from->nearby_ns[kind][c]);
			ana_sum(&to->medium_ns[kind][c], from->medium_ns[kind][c]);
		}
	for (i = 0; i < from->count && !err; i++)
		err = merge_row(to, &from->row[i]);
	return err ? err : ana_targets_merge(&to->targets, &from->targets);
}

static int by_time(const void *a, const void *b)
{
	const struct ana_hotspot *x = &((const struct ana_hotspot_row *)a)->hotspot;
	const struct ana_hotspot *y = &((const struct ana_hotspot_row *)b)->hotspot;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (int)x->wait - (int)y->wait;
}

/*
 * @ns of each class in parts by what was seen of each line in pieces of the kind, or of a class in
 * none, by time; summed as they go: the lines of a class get all of it.
 */
static void spread(const struct ana_hotspots *s, enum ana_piece_kind kind,
		   const int64_t ns[ANA_CLASSES], int64_t *part)
{
	int64_t stand[ANA_CLASSES] = { 0 }, time[ANA_CLASSES] = { 0 };
	int64_t so_far[ANA_CLASSES] = { 0 }, given[ANA_CLASSES] = { 0 };
	uint32_t i;

	for (i = 0; i < s->count; i++) {
		ana_sum(&stand[s->row[i].hotspot.class], s->row[i].stand_ns[kind]);
		ana_sum(&time[s->row[i].hotspot.class], s->row[i].hotspot.ns);
	}
	for (i = 0; i < s->count; i++) {
		const struct ana_hotspot_row *r = &s->row[i];
		const enum ana_class c = r->hotspot.class;
		int64_t until;

		ana_sum(&so_far[c], stand[c] ? r->stand_ns[kind] : r->hotspot.ns);
		until = ana_scale(ns[c], so_far[c], stand[c] ? stand[c] : time[c]);
		part[i] = until - given[c];
		given[c] = until;
	}
}

/* @part: room for two numbers of each row. */
static void give_nearby(struct ana_hotspots *s, int64_t *part)
{
	int64_t *medium = part + s->count;
	int kind;
	uint32_t i;

	for (kind = 0; kind < ANA_PIECE_KINDS; kind++) {
		spread(s, (enum ana_piece_kind)kind, s->nearby_ns[kind], part);
		spread(s, (enum ana_piece_kind)kind, s->medium_ns[kind], medium);
		for (i = 0; i < s->count; i++) {
			ana_sum(&s->row[i].hotspot.nearby_ns, part[i]);
			/* each is rounded by itself */
			ana_sum(&s->row[i].hotspot.nearby_medium_ns, base_min(medium[i], part[i]));
		}
	}
}

static void forget_nobody(struct ana_hotspot *h)
{
	if (h->has_cpu && strcmp(h->has_cpu, NOBODY))
		return;
	free(h->has_cpu);
	h->has_cpu = NULL;
}

int ana_hotspots_finish(struct ana_hotspots *s, struct ana_hotspot **out, size_t *count)
{
	struct ana_hotspot *hotspot = calloc((size_t)s->count + 1, sizeof(*hotspot));
	size_t n = 0;
	int64_t *part = calloc((size_t)s->count + 1, 2 * sizeof(*part));
	uint32_t i;
	int err = 0;

	if (!hotspot || !part) {
		free(hotspot);
		free(part);
		return -ENOMEM;
	}
	if (s->count) /* their slots hold no more; nothing is added from here on */
		qsort(s->row, s->count, sizeof(*s->row), by_time);
	give_nearby(s, part);
	free(part);
	for (i = 0; i < s->count; i++) {
		if (s->row[i].hotspot.ns) {
			err = err ? err
				  : ana_hotspot_chain_put(&s->row[i].chain, &s->row[i].hotspot);
			forget_nobody(&s->row[i].hotspot);
			hotspot[n++] = s->row[i].hotspot;
			s->row[i].hotspot = (struct ana_hotspot){ 0 };
		}
	}
	*out = hotspot;
	*count = n;
	return err;
}

/* ---- kept ------------------------------------------------------------------------------------ */

/* By a secret of this process's. */
static void hash_again(struct ana_hotspot_row *r)
{
	const struct ana_hotspot *h = &r->hotspot;
	const struct key k = {
		h->class,	   h->role, h->wait, h->runnable, own_text(h->function),
		own_text(h->file), h->line
	};

	r->hash = hash_of(&k);
}

int ana_hotspots_index(struct ana_hotspots *s)
{
	int err = 0;

	s->room = s->count;
	for (uint32_t i = 0; i < s->count; i++)
		hash_again(&s->row[i]);
	while (!err && s->count * 2 > s->mask)
		err = rehash(s);
	return err;
}
