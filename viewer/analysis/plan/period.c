/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rhythm of a stream. A kernel of a layer comes at regular distances too, and so does what
 * is done every hundredth step: the step is the shortest regular distance whose round holds
 * nearly all the kinds of work that there are.
 */
#include "plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/read/event_feed.h"
#include "analysis/map.h"
#include "batches.h"

#define LOOK_AT 262144u /* operations */
#define WINDOWS 3u /* places to look at: the beginning may be warm-up */
#define SYMBOLS_MAX 65536u
#define ROUNDS_MIN 4u /* of an operation, to be believed */

struct rhythm { /* of one symbol */
	uint32_t count, first, last; /* positions */
	uint32_t distance; /* the most common one between neighbours */
	uint32_t regular; /* how often it is that */
	uint32_t representative; /* where such a round begins */
	bool candidate;
};

/* --- symbols --- */

/*
 * The most common distance of each symbol by a majority vote, which is right wherever there is a
 * majority; how large it really is is counted in a second pass.
 */
static void vote(struct rhythm *r, const uint32_t *symbol, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct rhythm *k = &r[symbol[i]];
		uint32_t distance = (uint32_t)i - k->last;

		if (!k->count++) {
			k->first = (uint32_t)i;
		} else if (!k->regular) {
			k->distance = distance;
			k->regular = 1;
		} else if (distance == k->distance) {
			k->regular++;
		} else {
			k->regular--;
		}
		k->last = (uint32_t)i;
	}
}

static void count_votes(struct rhythm *r, uint32_t symbols, const uint32_t *symbol, size_t n)
{
	size_t i;
	uint32_t s;

	for (s = 0; s < symbols; s++) {
		r[s].regular = 0;
		r[s].last = UINT32_MAX;
	}
	for (i = 0; i < n; i++) {
		struct rhythm *k = &r[symbol[i]];

		if (k->last != UINT32_MAX && (uint32_t)i - k->last == k->distance) {
			/* keep one from the middle: the first rounds may be special */
			if (++k->regular * 2 <= k->count)
				k->representative = k->last;
		}
		k->last = (uint32_t)i;
	}
	for (s = 0; s < symbols; s++)
		r[s].candidate = r[s].count >= ROUNDS_MIN && r[s].regular * 2 >= r[s].count - 1;
}

/* How many kinds of common work a round of this symbol holds. */
static uint32_t kinds_in_round(const struct rhythm *r, const struct rhythm *of,
			       const uint32_t *symbol, size_t n, uint32_t *seen, uint32_t mark)
{
	size_t i, end = (size_t)of->representative + of->distance;
	uint32_t kinds = 0;

	for (i = of->representative; i < end && i < n; i++) {
		if (seen[symbol[i]] == mark || r[symbol[i]].count < ROUNDS_MIN)
			continue;
		seen[symbol[i]] = mark;
		kinds++;
	}
	return kinds;
}

static uint32_t common_kinds(const struct rhythm *r, uint32_t symbols)
{
	uint32_t s, kinds = 0;

	for (s = 0; s < symbols; s++)
		kinds += r[s].count >= ROUNDS_MIN;
	return kinds;
}

/* Of the candidates with a distance over @above the shortest, then the most regular. */
static struct rhythm *next_candidate(struct rhythm *r, uint32_t symbols, uint32_t above)
{
	struct rhythm *best = NULL;
	uint32_t s;

	for (s = 0; s < symbols; s++) {
		struct rhythm *k = &r[s];

		if (!k->candidate || k->distance <= above)
			continue;
		if (!best || k->distance < best->distance ||
		    (k->distance == best->distance &&
		     (k->regular > best->regular ||
		      (k->regular == best->regular && k->first < best->first))))
			best = k;
	}
	return best;
}

long ana_period_of(const uint32_t *symbol, size_t n, uint32_t symbols, size_t *period)
{
	struct rhythm *r = calloc((size_t)symbols + 1, sizeof(*r)), *k;
	uint32_t *seen = calloc((size_t)symbols + 1, sizeof(*seen));
	uint32_t kinds, tried = 0, above = 0;
	long found = -1;

	if (!r || !seen || !n)
		goto out;
	vote(r, symbol, n);
	count_votes(r, symbols, symbol, n);
	kinds = common_kinds(r, symbols);
	while (found < 0 && tried < 256 && (k = next_candidate(r, symbols, above))) {
		tried++;
		above = k->distance;
		if (kinds_in_round(r, k, symbol, n, seen, tried) * 5 >= kinds * 4) {
			found = k->first;
			*period = k->distance;
		}
	}
out:
	free(seen);
	free(r);
	return found;
}

/* --- operations --- */

struct key { /* what tells operations apart */
	uint32_t device, stream, name;
	uint8_t op, copy;
};

struct window {
	struct key *ev; /* of one stream in the end */
	size_t n;
	size_t looked; /* operations of all streams up to the last of these */
	uint32_t *symbol;
	uint32_t symbols;
};

static uint64_t stream_key(const struct key *e)
{
	return (uint64_t)e->device << 32 | e->stream;
}

/* The stream with the most operations of the window. */
static int busiest_stream(const struct window *w, uint64_t *key)
{
	struct ana_map of = { 0 };
	uint32_t *count = calloc(w->n + 1, sizeof(*count)), streams = 0, best = 0;
	size_t i;
	int err = count ? 0 : -ENOMEM;

	for (i = 0; i < w->n && !err; i++) {
		uint32_t k = ana_map_get(&of, stream_key(&w->ev[i]));

		if (k == ANA_MAP_NONE)
			err = ana_map_put(&of, stream_key(&w->ev[i]), k = streams++);
		if (!err && ++count[k] > best) {
			best = count[k];
			*key = stream_key(&w->ev[i]);
		}
	}
	ana_map_fini(&of);
	free(count);
	return err;
}

static int make_symbols(struct window *w)
{
	struct ana_map of = { 0 };
	uint64_t stream = 0;
	size_t i, n = 0;
	int err = busiest_stream(w, &stream);

	for (i = 0; i < w->n && !err && w->symbols < SYMBOLS_MAX; i++) {
		const struct key *e = &w->ev[i];
		uint64_t key = (uint64_t)e->name << 16 | (uint64_t)e->op << 8 | e->copy;
		uint32_t k;

		if (stream_key(e) != stream)
			continue;
		k = ana_map_get(&of, key);
		if (k == ANA_MAP_NONE)
			err = ana_map_put(&of, key, k = w->symbols++);
		w->ev[n] = *e;
		w->symbol[n++] = k;
	}
	w->n = n;
	w->looked = i;
	ana_map_fini(&of);
	return err;
}

/* A graph is launched as one operation, and may be a step, or a token of many. */
static bool is_short(const struct window *w, size_t from, size_t period)
{
	size_t i;

	if (period > ANA_BATCHES_FEW)
		return false;
	for (i = from; i < from + period && i < w->n; i++)
		if (w->ev[i].op == WIRE_OP_GRAPH)
			return false;
	return true;
}

/*
 * Several rounds in each batch. What comes once a batch tells, else the batches themselves, where a
 * round is too short for a step; not in imports, which do not tell the first wait of an iterator.
 * Else *at is -1: a round may be a step, or a part of one.
 */
static int ask_fewer(const struct window *w, struct ana_source *s, uint64_t batches, size_t period,
		     long *at)
{
	const bool short_round = is_short(w, (size_t)*at, period);
	int err = ana_batches_anchor(w->symbol, w->n, w->symbols, batches, at);

	s->step_is_batch = !err && *at < 0 && short_round && !s->imported;
	return err;
}

/*
 * The loader's batches against the period: *at begins a batch instead, -1: nothing does, where the
 * period tells of the names alone.
 */
static int ask_batches(const struct window *w, struct ana_source *s, size_t period, long *at)
{
	const uint64_t came = s->batches - s->batches_unrecorded;
	const uint64_t batches = (uint64_t)((unsigned __int128)came * w->looked / s->ops);
	int differ;

	if (ana_batches_are_fewer(batches, w->n / period, period))
		return ask_fewer(w, s, batches, period, at);
	if (!ana_batches_are_more(batches, w->n / period))
		return 0;
	differ = ana_batches_differ(w->symbol, w->n, w->symbols, batches);
	if (differ <= 0)
		return differ;
	return ana_batches_anchor(w->symbol, w->n, w->symbols, batches, at);
}

static int look(struct window *w, struct ana_source *s)
{
	size_t period;
	long i;
	int err = make_symbols(w);

	if (err)
		return err;
	i = ana_period_of(w->symbol, w->n, w->symbols, &period);
	if (i >= 0)
		err = ask_batches(w, s, period, &i);
	if (err || i < 0)
		return err;
	s->anchor = (struct ana_anchor){
		.found = true,
		.device = w->ev[i].device,
		.stream = w->ev[i].stream,
		.name = w->ev[i].name,
		.op = w->ev[i].op,
		.copy = w->ev[i].copy,
	};
	return 0;
}

/* True where the operations ended before the window was full. */
static bool fill(struct window *w, struct ana_feed *f)
{
	const struct wire_event *e;

	w->n = w->symbols = 0;
	while (w->n < LOOK_AT && (e = ana_feed_peek(f))) {
		w->ev[w->n++] = (struct key){ e->device, e->stream, e->name, e->op, e->copy };
		ana_feed_pop(f);
	}
	return w->n < LOOK_AT;
}

/*
 * @all: everything was seen from the first operation on. There is no second look then: what begins
 * at the second block of a short run would depend on where the blocks end, and an import of the
 * same operations cuts them elsewhere.
 */
static int look_from(struct view_trace *t, struct ana_source *s, struct wire_scratch *scratch,
		     struct window *w, unsigned int part, bool *all)
{
	struct ana_feed f;
	int err = ana_feed_init(&f, t, s->s, WIRE_KIND_OP, scratch);

	if (err)
		return err;
	f.next = f.dues * part / WINDOWS;
	if (part && f.next == f.dues * (part - 1) / WINDOWS) { /* so few blocks: seen already */
		ana_feed_fini(&f);
		return 0;
	}
	*all = fill(w, &f) && !part;
	err = f.err;
	ana_feed_fini(&f);
	return err ? err : look(w, s);
}

static bool is_told(const struct ana_source *s)
{
	return s->anchor.found || s->step_is_batch;
}

int ana_period_find(struct view_trace *t, struct ana_source *s, struct wire_scratch *scratch)
{
	struct window w = { .ev = malloc(LOOK_AT * sizeof(*w.ev)),
			    .symbol = malloc(LOOK_AT * sizeof(*w.symbol)) };
	unsigned int part;
	bool all = false;
	int err = w.ev && w.symbol ? 0 : -ENOMEM;

	s->anchor = (struct ana_anchor){ 0 };
	s->step_is_batch = false;
	for (part = 0; part < WINDOWS && !err && !is_told(s) && !all; part++)
		err = look_from(t, s, scratch, &w, part, &all);
	free(w.ev);
	free(w.symbol);
	return err;
}
