/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What saves cover of a run that goes on (LEDGER 9). Of each process the last saves are kept; what
 * falls out of these never makes it look safer than it is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "numbers.h"
#include "run.h"

#define UNDER_WAY_NS (600 * LIVE_SECOND_NS) /* one that takes longer is not waited for */
#define PLACES_MAX 64 /* that saves which are not kept were renamed from; with more, all are */

struct live_saved { /* of all processes; what follows from their saves */
	int64_t covered_ns; /* INT64_MIN: nothing */
	int64_t unsure_ns, unsure_at_ns; /* that may be; INT64_MIN. When that was made */
	uint64_t unsure_bytes, covered_bytes;
	bool deleted, unmoved; /* that is why */
	enum live_small small; /* is what covers; without such: */
	int64_t sure_ns; /* INT64_MIN: nothing */
	uint64_t largest_bytes; /* of all files with a state, those that fell out among them */
	int64_t forgotten_ns; /* checkpoints that began up to here count for nothing */
	uint64_t place[PLACES_MAX]; /* live_place_hash */
	size_t places; /* above PLACES_MAX: there were more */
	bool stale;
};

/* ---- what was told ---- */

static bool is_from(const struct live_saved *all, uint64_t place)
{
	bool from = all->places > PLACES_MAX;

	for (size_t i = 0; i < all->places && !from; i++)
		from = all->place[i] == place;
	return from;
}

/* As it was told, and whether it was to be renamed by what is not kept any more. */
static struct live_save told_of(const struct live_saved *all, const struct live_kept *k)
{
	struct live_save s = k->save;

	s.waits = strcmp(s.saver, LIVE_MOVED_SAVER) != 0 && is_from(all, live_place_hash(s.path));
	return s;
}

/* The first one that is kept, with what is known of renames, and whose place is remembered. */
static struct live_save leave_first(const struct live_stream *s, struct live_saved *all)
{
	struct live_save list[LIVE_SAVES_MAX];
	uint64_t place;

	for (size_t i = 0; i < s->kepts; i++)
		list[i] = told_of(all, &s->kept[i]);
	if (live_moves_find(list, s->kepts)) {
		all->places = PLACES_MAX + 1;
		list[0].unmoved = true;
	}
	place = live_place_hash(list[0].path);
	if (list[0].staged && !is_from(all, place)) {
		if (all->places < PLACES_MAX)
			all->place[all->places] = place;
		all->places++;
	}
	return list[0];
}

/* What begins no later belongs to the same checkpoint: as in checkpoints.c. */
static int64_t joined_until(const struct live_save *s)
{
	return s->call_end_ns == LIVE_NEVER ? s->start_ns : s->call_end_ns + LIVE_JOIN_NS;
}

/*
 * Makes room. The next one of its checkpoint takes over when that began, and that it never will be
 * there if this one was not whole, or was not renamed.
 */
static void forget_first(struct live_stream *s, struct live_saved *all)
{
	const struct live_save first = leave_first(s, all);
	struct live_save *next = &s->kept[1].save;

	if (next->start_ns > joined_until(&first)) {
		all->forgotten_ns = base_max(all->forgotten_ns, first.start_ns);
	} else {
		next->start_ns = base_min(next->start_ns, first.start_ns);
		next->failed |= first.whole_ns == LIVE_NEVER;
		next->unmoved |= live_save_unmoved(&first);
		next->whole_ns = next->failed ? LIVE_NEVER
					      : base_max(next->whole_ns, live_save_there(&first));
	}
	free((char *)(uintptr_t)first.path);
	s->kepts--;
	memmove(s->kept, s->kept + 1, s->kepts * sizeof(*s->kept));
}

/* Who is told apart is one: the message's own text is gone when it is asked for. */
static const char *saver_of(const Wire__Checkpoint *c)
{
	return strcmp(c->saver, LIVE_MOVED_SAVER) ? "" : LIVE_MOVED_SAVER;
}

/* NULL: it is older than what is kept, or there is no memory. */
static struct live_kept *kept_of(struct live_stream *s, struct live_saved *all,
				 const Wire__Checkpoint *c)
{
	struct live_kept *k;
	char *path;

	for (size_t i = s->kepts; i--;)
		if (s->kept[i].number == c->number)
			return &s->kept[i];
	if (c->number <= s->last_save)
		return NULL;
	if (!s->kept)
		s->kept = calloc(LIVE_SAVES_MAX, sizeof(*s->kept));
	path = strndup(c->path, LIVE_PATH_MAX);
	if (!s->kept || !path) {
		free(path);
		return NULL;
	}
	if (s->kepts == LIVE_SAVES_MAX)
		forget_first(s, all);
	k = &s->kept[s->kepts++];
	s->last_save = k->number = c->number;
	live_save_begin(&k->save, c);
	k->save.path = path;
	k->save.saver = saver_of(c);
	return k;
}

static int64_t placed(const struct live_stream *s, int64_t t_ns)
{
	int64_t t = base_max(-LIVE_NUMBER_MAX, base_min(t_ns, LIVE_NUMBER_MAX));

	return t + base_max(-LIVE_NUMBER_MAX, base_min(s->offset_ns, LIVE_NUMBER_MAX));
}

void live_saved_miss(struct live_stream *s, int64_t t_ns)
{
	s->blind_ns = s->blind ? base_max(s->blind_ns, t_ns) : t_ns;
	s->blind = true;
}

void live_saved_count(struct live_stream *s, uint64_t before, uint64_t told, int64_t t_ns)
{
	if (before > s->told)
		live_saved_miss(s, t_ns);
	if (told > s->told)
		s->told = told;
}

static void take_save(struct live_run *r, struct live_stream *s, Wire__Checkpoint c)
{
	struct live_kept *k;

	c.start_ns = placed(s, c.start_ns);
	c.end_ns = c.end_ns ? placed(s, c.end_ns) : 0;
	k = kept_of(s, r->saved, &c);
	if (!k)
		return;
	live_save_tell(&k->save, &c);
	if (k->save.state && k->save.whole_ns != LIVE_NEVER)
		r->saved->largest_bytes = base_max(r->saved->largest_bytes, k->save.file.size);
	r->saved->stale = true;
}

/* A GPU's whole memory, of which others may have some: then more is asked of a state. */
static void take_memory(struct live_run *r, const Wire__Facts *m)
{
	uint64_t before = r->memory_bytes;

	for (size_t i = 0; i < m->n_devices; i++)
		r->memory_bytes = base_max(r->memory_bytes, m->devices[i]->memory_used_bytes);
	if (r->saved && r->memory_bytes > before)
		r->saved->stale = true;
}

static void take_written(struct live_run *r, struct live_stream *s, const Wire__Checkpoint *c)
{
	struct live_written *w = &s->written;

	*w = (struct live_written){ .start_ns = live_clamped(placed(s, c->start_ns)),
				    .end_ns = live_clamped(placed(s, c->end_ns)),
				    .bytes = c->bytes };
	w->start_ns = base_min(w->start_ns, w->end_ns);
	r->saved->stale = true;
}

/* No sooner than the pulse before, whatever stamp it has. */
static int64_t said_ns(const struct live_stream *s, const Wire__Facts *m)
{
	return base_max(s->t_ns, live_clamped(placed(s, m->t_ns)));
}

int live_run_facts(struct live_run *r, const uint8_t *id, uint64_t seq, const Wire__Facts *m)
{
	struct live_stream *s = live_run_stream(r, id);

	if (!s || s->ended || seq <= s->seq)
		return 0;
	s->seq = seq;
	take_memory(r, m);
	if (!r->saved && m->n_checkpoints) {
		r->saved = calloc(1, sizeof(*r->saved));
		if (!r->saved)
			return -ENOMEM;
		r->saved->covered_ns = r->saved->forgotten_ns = INT64_MIN;
		r->saved->unsure_ns = r->saved->sure_ns = INT64_MIN;
	}
	for (size_t i = 0; i < m->n_checkpoints; i++) {
		const Wire__Checkpoint *c = m->checkpoints[i];

		if (c->told)
			live_saved_count(s, c->told - 1, c->told, said_ns(s, m));
		if (live_tells_of_save(c) && *c->path)
			take_save(r, s, *c);
		else if (c->state == WIRE__SAVE_STATE__SAVE_WRITTEN)
			take_written(r, s, c);
	}
	return 0;
}

void live_saved_fini(struct live_run *r, struct live_stream *s)
{
	for (size_t i = 0; s && i < s->kepts; i++)
		free((char *)(uintptr_t)s->kept[i].save.path);
	if (s)
		free(s->kept);
	else
		free(r->saved);
}

/* ---- what follows ---- */

static int by_start(const void *a, const void *b)
{
	const struct live_save *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->process < y->process ? -1 : x->process > y->process;
}

/* All that are kept, on our axis; to be freed. NULL: no memory. */
static struct live_save *all_saves(const struct live_run *r, size_t *count)
{
	struct live_save *out;
	size_t n = 0;

	for (size_t i = 0; i < r->streams; i++)
		n += r->stream[i]->kepts;
	out = calloc(n + 1, sizeof(*out));
	*count = 0;
	for (size_t i = 0; out && i < r->streams; i++)
		for (size_t k = 0; k < r->stream[i]->kepts; k++) {
			struct live_save *s = &out[(*count)++];

			*s = told_of(r->saved, &r->stream[i]->kept[k]);
			s->process = (uint32_t)i;
		}
	if (out)
		qsort(out, *count, sizeof(*out), by_start);
	return out;
}

/* Is what the process wrote last no save that is known? */
static bool is_written(const struct live_stream *s)
{
	bool known = false;

	for (size_t k = 0; k < s->kepts && !known; k++)
		known = live_written_known(&s->written, &s->kept[k].save, 1);
	return s->written.bytes && !known;
}

static void add_written(const struct live_run *r, struct live_saved *all)
{
	for (size_t i = 0; i < r->streams; i++) {
		const struct live_written *w = &r->stream[i]->written;

		if (w->end_ns <= all->unsure_ns || !is_written(r->stream[i]))
			continue;
		all->unsure_ns = all->unsure_at_ns = w->end_ns;
		all->unsure_bytes = w->bytes;
		all->deleted = all->unmoved = false;
	}
}

/* By the newest that covers, and the newest of those that are not small. */
static void take_covering(const struct live_run *r, const struct live_checkpoint *one,
			  uint64_t bytes)
{
	struct live_saved *all = r->saved;
	enum live_small small = live_small_of(bytes, r->saved->largest_bytes, r->memory_bytes);

	if (all->covered_ns == INT64_MIN) {
		all->covered_ns = one->start_ns;
		all->covered_bytes = bytes;
		all->small = small;
	}
	if (!small)
		all->sure_ns = one->start_ns;
}

static void take_newest(const struct live_run *r, const struct live_checkpoints *c,
			const struct live_save *save, size_t saves, const uint64_t *bytes)
{
	struct live_saved *all = r->saved;
	size_t unsure = SIZE_MAX;

	for (size_t i = c->checkpoints; i-- && all->sure_ns == INT64_MIN;) {
		const struct live_checkpoint *one = &c->checkpoint[i];

		if (one->there_ns == LIVE_NEVER || one->start_ns <= all->forgotten_ns ||
		    (one->gone_ns != LIVE_NEVER && !one->deleted))
			continue;
		if (live_is_sure(one) && !one->deleted)
			take_covering(r, one, bytes[i]);
		else if (unsure == SIZE_MAX && all->covered_ns == INT64_MIN)
			unsure = i;
	}
	if (unsure == SIZE_MAX)
		return;
	all->unsure_ns = c->checkpoint[unsure].start_ns;
	all->deleted = c->checkpoint[unsure].deleted;
	all->unmoved = c->checkpoint[unsure].unmoved && !c->checkpoint[unsure].unsure;
	all->unsure_at_ns =
		all->deleted ? c->checkpoint[unsure].gone_ns : c->checkpoint[unsure].there_ns;
	for (size_t i = 0; i < saves; i++)
		if (c->of_save[i] == unsure)
			all->unsure_bytes += save[i].file.size;
}

/* The newest checkpoint that is there and was not overwritten, and what may be one. */
static void refresh(const struct live_run *r, struct live_saved *all)
{
	struct live_checkpoints c = { 0 };
	uint64_t *bytes = NULL;
	size_t n;
	struct live_save *save = all_saves(r, &n);

	if (save && !live_series_prove(save, n) && !live_moves_find(save, n) &&
	    !live_checkpoints_make(save, n, &c))
		bytes = live_state_bytes(&c, save, n);
	if (bytes) {
		all->covered_ns = all->sure_ns = all->unsure_ns = INT64_MIN;
		all->unsure_bytes = all->covered_bytes = 0;
		all->deleted = all->unmoved = false;
		all->small = LIVE_SMALL_NOT;
		all->stale = false;
		take_newest(r, &c, save, n, bytes);
		add_written(r, all);
	}
	free(bytes);
	live_checkpoints_fini(&c);
	free(save);
}

/*
 * The beginning of the segment that goes on: of the process that came last, and of all whose lives
 * reach into that of one that came after. False: none is alive.
 */
static bool segment_begin(const struct live_run *r, int64_t now_ns, int64_t *begin)
{
	bool alive = false, again;

	*begin = INT64_MIN;
	for (size_t i = 0; i < r->streams; i++) {
		if (!live_stream_alive(r->stream[i], now_ns))
			continue;
		*begin = base_max(*begin, r->stream[i]->first_ns);
		alive = true;
	}
	do {
		again = false;
		for (size_t i = 0; alive && i < r->streams; i++) {
			const struct live_stream *s = r->stream[i];

			if (!live_stream_uses_gpu(s) || !s->pulses || s->first_ns >= *begin ||
			    s->t_ns < *begin)
				continue;
			*begin = s->first_ns;
			again = true;
		}
	} while (again);
	return alive;
}

/* What was left out between frames that were read cannot be told from saves that were not made. */
static bool is_blind(const struct live_run *r, int64_t now_ns, int64_t from_ns)
{
	for (size_t i = 0; i < r->streams; i++)
		if (r->stream[i]->blind && live_stream_alive(r->stream[i], now_ns) &&
		    r->stream[i]->blind_ns > from_ns)
			return true;
	return false;
}

static bool under_way(const struct live_run *r, int64_t now_ns)
{
	for (size_t i = 0; i < r->streams; i++) {
		const struct live_stream *s = r->stream[i];
		const struct live_save *last = s->kepts ? &s->kept[s->kepts - 1].save : NULL;

		if (last && live_stream_alive(s, now_ns) && !last->failed &&
		    last->whole_ns == LIVE_NEVER && s->t_ns - last->start_ns < UNDER_WAY_NS)
			return true;
	}
	return false;
}

struct live_unsaved live_run_unsaved(const struct live_run *r, int64_t now_ns)
{
	struct live_unsaved u = { 0 };

	if (!segment_begin(r, now_ns, &u.from_ns))
		return u;
	if (r->saved && r->saved->stale)
		refresh(r, r->saved);
	u.sure_ns = u.from_ns;
	if (r->saved && r->saved->covered_ns > u.from_ns) {
		u.from_ns = r->saved->covered_ns;
		u.saved = true;
		u.saved_bytes = r->saved->covered_bytes;
		u.small = r->saved->small;
		u.sure_ns = base_max(u.sure_ns, r->saved->sure_ns);
	}
	if (r->saved && r->saved->unsure_ns > u.from_ns) {
		u.unsure = true;
		u.deleted = r->saved->deleted;
		u.unmoved = r->saved->unmoved;
		u.unsure_ns = r->saved->unsure_at_ns;
		u.unsure_bytes = r->saved->unsure_bytes;
	}
	u.known = !is_blind(r, now_ns, u.from_ns);
	u.under_way = under_way(r, now_ns);
	return u;
}

int64_t live_gpu_unsaved_ns(const struct live_gpu *g, const struct live_unsaved *u)
{
	if (!u->known)
		return -1;
	if (g->covered_ns <= u->from_ns)
		return 0;
	return base_min(g->held_ns, g->covered_ns - u->from_ns);
}
