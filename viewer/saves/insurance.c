/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The integral is made piece by piece: between two instants at which a checkpoint comes or goes,
 * what a GPU was held since the one that counts is a sum of straight lines.
 */
#include "insurance.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE_NS INT64_C(60000000000)
#define GRADED_NS (10 * MINUTE_NS)

const char *const saves_part_names[SAVES_PARTS] = { "durable", "unsaved", "redone",
						    "unknown", "lost",	  "other" };
const char *const saves_end_names[SAVES_ENDS] = { "ordered", "on", "killed", "failed" };

/* What a GPU was held from the first span's start on: at each span's start, and its integral. */
struct held {
	const struct ana_span *span;
	size_t spans;
	int64_t *before; /* held before the span */
	base_wide *area; /* integral of what was held, up to the span's start */
};

struct event { /* a checkpoint comes or goes */
	int64_t t_ns;
	uint32_t checkpoint;
};

struct insure {
	const struct saves_input *in;
	struct view_insurance *out;
	struct live_checkpoints c;
	struct held *held;
	struct event *event; /* by time */
	size_t events, at;
	uint32_t *heap; /* checkpoints that are there, the latest beginning first */
	size_t heaped;
	size_t newest; /* that covers anything at the end of a segment; SIZE_MAX: none does */
};

/* ---- what a GPU was held ---- */

static int prepare(struct held *h, const struct saves_gpu *g)
{
	h->span = g->held;
	h->spans = g->helds;
	h->before = calloc(g->helds + 1, sizeof(*h->before));
	h->area = calloc(g->helds + 1, sizeof(*h->area));
	if (!h->before || !h->area)
		return -ENOMEM;
	for (size_t i = 0; i + 1 < g->helds; i++) {
		base_wide own = h->span[i].end - h->span[i].start;
		base_wide gap = h->span[i + 1].start - h->span[i].end;

		h->before[i + 1] = h->before[i] + (int64_t)own;
		/* twice the area, so that it stays whole */
		h->area[i + 1] = h->area[i] + own * (2 * (base_wide)h->before[i] + own) +
				 2 * gap * h->before[i + 1];
	}
	return 0;
}

/* The last span that begins at @t or before; SIZE_MAX: none does. */
static size_t span_at(const struct held *h, int64_t t)
{
	size_t low = 0, high = h->spans;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (h->span[mid].start <= t)
			low = mid + 1;
		else
			high = mid;
	}
	return low - 1;
}

static int64_t held_until(const struct held *h, int64_t t)
{
	size_t i = span_at(h, t);

	if (i == SIZE_MAX)
		return 0;
	return h->before[i] + base_min(t, h->span[i].end) - h->span[i].start;
}

/* Twice the integral of held_until from the beginning to @t. */
static base_wide area_until(const struct held *h, int64_t t)
{
	size_t i = span_at(h, t);
	base_wide own, behind;

	if (i == SIZE_MAX)
		return 0;
	own = base_min(t, h->span[i].end) - h->span[i].start;
	behind = t > h->span[i].end ? t - h->span[i].end : 0;
	return h->area[i] + own * (2 * (base_wide)h->before[i] + own) +
	       2 * behind * (h->before[i] + own);
}

/* ---- segments ---- */

static int by_life(const void *a, const void *b, void *arg)
{
	const struct saves_process *p = arg;
	int64_t x = p[*(const uint32_t *)a].start_ns, y = p[*(const uint32_t *)b].start_ns;

	return x < y ? -1 : x > y;
}

/* Those that hold a GPU, by when they began. */
static uint32_t *holders(const struct saves_input *in, size_t *count)
{
	uint32_t *order = calloc(in->processes + 1, sizeof(*order));

	*count = 0;
	for (size_t i = 0; order && i < in->processes; i++)
		if (in->process[i].holds && in->process[i].end_ns > in->process[i].start_ns)
			order[(*count)++] = (uint32_t)i;
	if (order)
		qsort_r(order, *count, sizeof(*order), by_life, (void *)(uintptr_t)in->process);
	return order;
}

static void begin_segment(struct view_insurance *o, int64_t start)
{
	if (o->segments && o->segment[o->segments - 1].end_ns > start)
		o->segment[o->segments - 1].end_ns = start;
	o->segment[o->segments++] = (struct saves_segment){ .start_ns = start,
							    .end_ns = start,
							    .covered_ns = start,
							    .unsure_ns = start,
							    .worked_ns = LIVE_NEVER,
							    .done_ns = LIVE_NEVER,
							    .redone_from_ns = LIVE_NEVER,
							    .maybe_from_ns = LIVE_NEVER };
}

/*
 * One begins with a process before which all others have said their last word: whoever is killed is
 * seen to be gone some time later.
 */
static int make_segments(struct insure *w)
{
	struct view_insurance *o = w->out;
	const struct saves_process *p = w->in->process;
	int64_t word = INT64_MIN;
	size_t n;
	uint32_t *order = holders(w->in, &n);
	int err = 0;

	o->segment = calloc(n + 1, sizeof(*o->segment));
	if (!order || !o->segment) {
		free(order);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		const struct saves_process *one = &p[order[i]];

		if (one->start_ns > word &&
		    (!o->segments || one->start_ns > p[order[i - 1]].start_ns))
			begin_segment(o, one->start_ns);
		word = base_max(word, base_min(one->word_ns, one->end_ns));
		o->segment[o->segments - 1].end_ns =
			base_max(o->segment[o->segments - 1].end_ns, one->end_ns);
	}
	if (n && (o->segment[0].start_ns < -SAVES_EXTENT_MAX * 16 ||
		  o->segment[o->segments - 1].end_ns - o->segment[0].start_ns > SAVES_EXTENT_MAX))
		err = -ERANGE;
	free(order);
	return err;
}

size_t saves_segment_at(const struct view_insurance *o, int64_t t)
{
	size_t low = 0, high = o->segments;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (o->segment[mid].start_ns <= t)
			low = mid + 1;
		else
			high = mid;
	}
	return low - 1;
}

/* Who ended first is why: the others may have been ended for it. */
static void break_off(struct saves_segment *s, const struct saves_process *p)
{
	if (saves_end_broke(s->end) && p->end_ns >= s->broke_ns)
		return;
	s->broke_ns = p->end_ns;
	s->end = p->failed ? SAVES_END_FAILED : SAVES_END_KILLED;
}

static void judge_ends(struct insure *w)
{
	struct view_insurance *o = w->out;

	for (size_t i = 0; i < w->in->processes; i++) {
		const struct saves_process *p = &w->in->process[i];
		size_t k = p->holds ? saves_segment_at(o, p->start_ns) : SIZE_MAX;

		if (k == SIZE_MAX || p->ordered)
			continue;
		if (p->runs && k + 1 == o->segments && !w->in->over) {
			if (o->segment[k].end == SAVES_END_ORDERED)
				o->segment[k].end = SAVES_END_ON;
			continue;
		}
		break_off(&o->segment[k], p);
		if (!p->told)
			o->segment[k].silent_ns = base_max(o->segment[k].silent_ns,
							   base_max(p->end_ns - p->word_ns, 0));
	}
	for (size_t k = 0; k < o->segments; k++) {
		o->kills += o->segment[k].end == SAVES_END_KILLED;
		o->failures += o->segment[k].end == SAVES_END_FAILED;
		o->silent_ns = base_max(o->silent_ns, o->segment[k].silent_ns);
		o->lost_silent_ns = o->segment[k].silent_ns;
	}
}

/* ---- which checkpoint counts ---- */

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return x->t_ns < y->t_ns ? -1 : x->t_ns > y->t_ns;
}

static int make_events(struct insure *w)
{
	w->event = calloc(w->c.checkpoints * 2 + 1, sizeof(*w->event));
	w->heap = calloc(w->c.checkpoints + 1, sizeof(*w->heap));
	if (!w->event || !w->heap)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->c.checkpoints; i++) {
		const struct live_checkpoint *c = &w->c.checkpoint[i];

		if (c->there_ns == LIVE_NEVER || !live_is_sure(c))
			continue;
		w->event[w->events++] = (struct event){ c->there_ns, i };
		if (c->gone_ns != LIVE_NEVER && c->gone_ns > c->there_ns)
			w->event[w->events++] = (struct event){ c->gone_ns, i };
	}
	qsort(w->event, w->events, sizeof(*w->event), by_time);
	return 0;
}

static void heap_push(struct insure *w, uint32_t checkpoint)
{
	size_t i = w->heaped++;

	for (; i && w->heap[(i - 1) / 2] < checkpoint; i = (i - 1) / 2)
		w->heap[i] = w->heap[(i - 1) / 2];
	w->heap[i] = checkpoint;
}

static void heap_pop(struct insure *w)
{
	uint32_t last = w->heap[--w->heaped];
	size_t i = 0, k;

	for (; (k = 2 * i + 1) < w->heaped; i = k) {
		if (k + 1 < w->heaped && w->heap[k + 1] > w->heap[k])
			k++;
		if (w->heap[k] <= last)
			break;
		w->heap[i] = w->heap[k];
	}
	w->heap[i] = last;
}

/* What happened up to @t and was not taken yet. Of checkpoints the later number began later. */
static void take_events(struct insure *w, int64_t t)
{
	for (; w->at < w->events && w->event[w->at].t_ns <= t; w->at++) {
		uint32_t i = w->event[w->at].checkpoint;

		if (w->event[w->at].t_ns == w->c.checkpoint[i].there_ns)
			heap_push(w, i);
	}
	while (w->heaped && w->c.checkpoint[w->heap[0]].gone_ns <= t)
		heap_pop(w);
}

/* Since when work is unsaved. One of an earlier segment covers nothing of this one. */
static int64_t covered(const struct insure *w, const struct saves_segment *s)
{
	return w->heaped ? base_max(w->c.checkpoint[w->heap[0]].start_ns, s->start_ns)
			 : s->start_ns;
}

/* ---- the sums ---- */

static void add_piece(struct insure *w, int64_t from, int64_t to, int64_t since)
{
	struct view_insurance *o = w->out;
	base_wide worst = 0;

	for (size_t g = 0; g < w->in->gpus; g++) {
		const struct held *h = &w->held[g];
		base_wide had = held_until(h, since);

		o->gpu_loss2[g] +=
			area_until(h, to) - area_until(h, from) - 2 * (base_wide)(to - from) * had;
		worst += held_until(h, to) - had;
	}
	o->instants_ns += to - from;
	o->worst_ns = base_max(o->worst_ns, (int64_t)worst);
}

static void walk_segment(struct insure *w, struct saves_segment *s)
{
	int64_t t = s->start_ns;

	take_events(w, t);
	while (t < s->end_ns) {
		int64_t until = s->end_ns;

		if (w->at < w->events)
			until = base_min(until, w->event[w->at].t_ns);
		if (until > t)
			add_piece(w, t, until, covered(w, s));
		t = until;
		take_events(w, t);
	}
	s->covered_ns = covered(w, s);
	if (s->covered_ns > s->start_ns)
		w->newest = w->heap[0];
}

static void walk(struct insure *w)
{
	struct view_insurance *o = w->out;

	for (size_t k = 0; k < o->segments; k++)
		walk_segment(w, &o->segment[k]);
	for (size_t g = 0; g < w->in->gpus; g++)
		o->loss2 += o->gpu_loss2[g];
}

/* ---- what may be a checkpoint ---- */

/* Whether that leaves anything open. */
static bool be_unsure(struct view_insurance *o, int64_t t, int64_t there_ns, int64_t gone_ns)
{
	size_t k = saves_segment_at(o, there_ns);
	struct saves_segment *s = k == SIZE_MAX ? NULL : &o->segment[k];

	if (!s || gone_ns <= s->end_ns)
		return false;
	s->unsure_ns = base_max(s->unsure_ns, base_min(t, s->end_ns));
	return t > s->covered_ns;
}

/* Of what was deleted a copy may be elsewhere. */
static void find_deleted(struct view_insurance *o, const struct live_checkpoint *c)
{
	if (be_unsure(o, c->start_ns, c->there_ns, LIVE_NEVER) && !c->unsure)
		o->deleted++;
}

/* Of checkpoints the beginning; of files that were written the end, for it is not known when. */
static void find_unsure(struct insure *w)
{
	struct view_insurance *o = w->out;

	for (size_t k = 0; k < o->segments; k++)
		o->segment[k].unsure_ns = o->segment[k].covered_ns;
	for (size_t i = 0; i < w->c.checkpoints; i++) {
		const struct live_checkpoint *c = &w->c.checkpoint[i];
		bool open;

		if (c->there_ns == LIVE_NEVER)
			continue;
		if (c->deleted)
			find_deleted(o, c);
		if (live_is_sure(c))
			continue;
		open = be_unsure(o, c->start_ns, c->there_ns, c->gone_ns);
		o->unsure += c->unsure;
		o->unmoved += open && !c->unsure;
	}
	for (size_t i = 0; i < w->in->writtens; i++) {
		const struct live_written *one = &w->in->written[i];

		be_unsure(o, one->end_ns, one->start_ns, LIVE_NEVER);
		o->writtens++;
		o->written_bytes = live_bytes_sum(o->written_bytes, one->bytes);
		o->written_ns = base_max(o->written_ns, one->end_ns);
	}
}

/* ---- what came after the last work ---- */

/* Of the last segment alone, and if all its processes told all: of others nothing tells it. */
static void find_worked(struct insure *w)
{
	struct view_insurance *o = w->out;
	struct saves_segment *s = o->segments ? &o->segment[o->segments - 1] : NULL;
	int64_t done = 0;

	if (!s)
		return;
	for (size_t i = 0; i < w->in->processes; i++) {
		const struct saves_process *p = &w->in->process[i];

		if (p->holds && p->start_ns >= s->start_ns && !p->told)
			return;
	}
	s->worked_ns = s->start_ns;
	for (size_t g = 0; g < w->in->gpus; g++) {
		s->worked_ns = base_max(s->worked_ns, w->in->gpu[g].submitted_ns);
		done = base_max(done, w->in->gpu[g].last_end_ns);
	}
	if (done > s->start_ns)
		s->done_ns = done;
}

/* What is covered if a save that began at @from is there: all, where no work followed it. */
static int64_t covers(const struct saves_segment *s, int64_t from)
{
	return from > s->start_ns && from >= s->worked_ns ? s->end_ns : from;
}

/* Saves beside each other wait once. */
static void find_waited(struct insure *w)
{
	for (size_t g = 0; g < w->in->gpus; g++) {
		const struct saves_gpu *gpu = &w->in->gpu[g];
		int64_t upto = gpu->last_end_ns;

		for (size_t i = 0; upto && i < w->in->saves; i++) {
			const struct live_save *s = &w->in->save[i];
			int64_t from = base_max(s->start_ns, upto);

			if (s->call_end_ns == LIVE_NEVER || s->call_end_ns <= from)
				continue;
			ana_sum(&w->out->waited_last_ns, held_until(&w->held[g], s->call_end_ns) -
								 held_until(&w->held[g], from));
			upto = s->call_end_ns;
		}
	}
}

/* ---- restarts ---- */

/* The first save of a segment: what is loaded behind it tells nothing of its beginning. */
static int64_t first_save(const struct insure *w, const struct saves_segment *s)
{
	size_t low = 0, high = w->in->saves;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (w->in->save[mid].start_ns < s->start_ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low < w->in->saves ? w->in->save[low].start_ns : LIVE_NEVER;
}

void saves_redo(struct saves_segment *s, int64_t from)
{
	if (saves_end_broke(s->end))
		s->redone_from_ns =
			base_min(s->redone_from_ns, covers(s, base_max(from, s->start_ns)));
}

void saves_maybe_redo(struct saves_segment *s, int64_t from)
{
	if (saves_end_broke(s->end))
		s->maybe_from_ns =
			base_min(s->maybe_from_ns, covers(s, base_max(from, s->start_ns)));
}

/* Of several saves that were opened nothing tells with which it went on. */
static void restart(struct insure *w, size_t k)
{
	struct view_insurance *o = w->out;
	struct saves_segment *s = &o->segment[k];
	int64_t until = first_save(w, s), newest = INT64_MIN, oldest = LIVE_NEVER;
	size_t from;

	for (size_t i = 0; i < w->in->loads; i++) {
		const struct live_load *l = &w->in->load[i];
		size_t save = SIZE_MAX;

		if (l->t_ns >= s->start_ns && l->t_ns < s->end_ns && l->t_ns <= until)
			save = live_opened(w->in->save, w->in->saves, &w->c, l, s->start_ns);
		if (save == SIZE_MAX)
			continue;
		newest = base_max(newest, w->c.checkpoint[w->c.of_save[save]].start_ns);
		oldest = base_min(oldest, w->c.checkpoint[w->c.of_save[save]].start_ns);
	}
	from = newest == INT64_MIN ? SIZE_MAX : saves_segment_at(o, newest);
	if (from == SIZE_MAX || from >= k)
		return;
	s->opened = true;
	s->opened_segment = (uint32_t)from;
	saves_redo(&o->segment[from], newest);
	for (size_t i = from + 1; i < k; i++)
		saves_redo(&o->segment[i], o->segment[i].start_ns);
	for (size_t i = k; i-- && (i + 1 == k || o->segment[i + 1].start_ns > oldest);)
		saves_maybe_redo(&o->segment[i], oldest);
}

/* ---- what became of it ---- */

/* The program's end, once its GPUs had done all, is no work: nothing of it is done again. */
static int64_t work_end(const struct saves_segment *s, int64_t from_ns)
{
	return base_clamp(s->done_ns, from_ns, s->end_ns);
}

struct saves_cut saves_cut_of(const struct saves_segment *s, bool last)
{
	int64_t cut = covers(s, s->covered_ns), open = base_max(s->unsure_ns, cut);
	int64_t sure = base_min(s->maybe_from_ns, s->end_ns);
	struct saves_cut c = { cut, open, s->end_ns, SAVES_UNSAVED };

	if (!saves_end_broke(s->end)) {
		c.rest_ns = work_end(s, open);
		return c;
	}
	c.rest = last ? SAVES_LOST : SAVES_UNKNOWN;
	c.durable_ns = base_min(cut, sure);
	if (s->redone_from_ns == LIVE_NEVER)
		return c;
	cut = base_min(s->redone_from_ns, s->end_ns);
	return (struct saves_cut){ base_min(cut, sure), cut, s->end_ns, SAVES_REDONE };
}

static void book(const struct held *h, const struct saves_segment *s, int64_t *part, bool last)
{
	struct saves_cut c = saves_cut_of(s, last);

	part[SAVES_DURABLE] += held_until(h, c.durable_ns) - held_until(h, s->start_ns);
	part[SAVES_UNKNOWN] += held_until(h, c.unknown_ns) - held_until(h, c.durable_ns);
	part[c.rest] += held_until(h, c.rest_ns) - held_until(h, c.unknown_ns);
}

static void book_all(struct insure *w)
{
	struct view_insurance *o = w->out;

	for (size_t g = 0; g < w->in->gpus; g++) {
		int64_t sum = 0;

		for (size_t k = 0; k < o->segments; k++)
			book(&w->held[g], &o->segment[k], o->gpu_part[g], k + 1 == o->segments);
		for (int p = 0; p < SAVES_OTHER; p++)
			sum += o->gpu_part[g][p];
		o->gpu_part[g][SAVES_OTHER] = w->in->gpu[g].held_ns - sum;
		for (int p = 0; p < SAVES_PARTS; p++)
			ana_sum(&o->part[p], o->gpu_part[g][p]);
	}
}

/* ---- restarts under another run id ---- */

/* What moves to redone if one opened the checkpoint that began at @newest. */
static void suppose(struct insure *w, size_t mark, int64_t newest, struct saves_segment *s)
{
	struct view_insurance *o = w->out;
	size_t from = saves_segment_at(o, newest);

	memcpy(s, o->segment, o->segments * sizeof(*s));
	if (from == SIZE_MAX)
		newest = o->segment[from = 0].start_ns;
	saves_redo(&s[from], newest);
	for (size_t k = from + 1; k < o->segments; k++)
		saves_redo(&s[k], s[k].start_ns);
	for (size_t g = 0; g < w->in->gpus; g++) {
		int64_t part[SAVES_PARTS] = { 0 }, *moved = o->gpu_moved[g][mark];

		for (size_t k = 0; k < o->segments; k++)
			book(&w->held[g], &s[k], part, k + 1 == o->segments);
		moved[SAVES_MOVED_DURABLE] = o->gpu_part[g][SAVES_DURABLE] - part[SAVES_DURABLE];
		moved[SAVES_MOVED_UNKNOWN] = o->gpu_part[g][SAVES_UNKNOWN] - part[SAVES_UNKNOWN];
		for (int p = 0; p < SAVES_MOVED; p++)
			ana_sum(&o->chain.mark[mark].ns[p], moved[p]);
	}
}

static int tell_chain(struct insure *w)
{
	struct view_insurance *o = w->out;
	struct saves_chain *c = &o->chain;
	const struct saves_segment *first = o->segment;
	struct saves_segment *s = calloc(o->segments + 1, sizeof(*s));
	int64_t from[SAVES_MARKS_MAX + 1];

	if (!s)
		return -ENOMEM;
	c->known = o->segments > 0;
	c->start_ns = c->word_ns = c->known ? first->start_ns : 0;
	for (size_t i = 0; i < w->in->processes; i++) {
		const struct saves_process *p = &w->in->process[i];

		if (p->holds)
			c->word_ns = base_max(c->word_ns, base_min(p->word_ns, p->end_ns));
	}
	if (c->known) {
		saves_chain_opened(c, w->in, first->start_ns, first->end_ns, first_save(w, first));
		saves_chain_marks(c, from, w->in, &w->c);
	}
	for (size_t m = 0; m < c->marks; m++)
		suppose(w, m, from[m], s);
	free(s);
	return 0;
}

static void tell_now(struct insure *w)
{
	struct view_insurance *o = w->out;
	const struct saves_segment *s = o->segments ? &o->segment[o->segments - 1] : NULL;

	o->now_ns = -1;
	if (!s || s->end != SAVES_END_ON)
		return;
	o->now_ns = 0;
	for (size_t g = 0; g < w->in->gpus; g++)
		o->now_ns += o->gpu_now_ns[g] =
			held_until(&w->held[g], s->end_ns) - held_until(&w->held[g], s->covered_ns);
}

static void count_saves(struct insure *w)
{
	for (size_t i = 0; i < w->in->saves; i++) {
		const struct live_save *s = &w->in->save[i];

		if (w->c.of_save[i] == LIVE_NO_CHECKPOINT)
			continue;
		w->out->saves++;
		w->out->whole += s->whole_ns != LIVE_NEVER;
		w->out->failed += s->failed;
		w->out->synced += s->whole_ns != LIVE_NEVER && s->synced;
	}
	for (size_t i = 0; i < w->c.checkpoints; i++)
		w->out->checkpoints += w->c.checkpoint[i].there_ns != LIVE_NEVER &&
				       live_is_sure(&w->c.checkpoint[i]);
}

static int by_length(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Between checkpoints that were there, of one segment; of an even number the lower one. */
static int tell_interval(struct insure *w)
{
	int64_t *length = calloc(w->c.checkpoints + 1, sizeof(*length)), last = 0;
	size_t n = 0, of = SIZE_MAX;

	if (!length)
		return -ENOMEM;
	for (size_t i = 0; i < w->c.checkpoints; i++) {
		int64_t t = w->c.checkpoint[i].start_ns;
		size_t k = saves_segment_at(w->out, t);

		if (w->c.checkpoint[i].there_ns == LIVE_NEVER || !live_is_sure(&w->c.checkpoint[i]))
			continue;
		if (k == of && k != SIZE_MAX)
			length[n++] = t - last;
		last = t;
		of = k;
	}
	qsort(length, n, sizeof(*length), by_length);
	w->out->every_ns = n ? length[(n - 1) / 2] : -1;
	free(length);
	return 0;
}

/* ---- all of it ---- */

static int make_room(struct insure *w)
{
	size_t n = w->in->gpus + 1;

	w->held = calloc(n, sizeof(*w->held));
	w->out->gpu_part = calloc(n, sizeof(*w->out->gpu_part));
	w->out->gpu_loss2 = calloc(n, sizeof(*w->out->gpu_loss2));
	w->out->gpu_now_ns = calloc(n, sizeof(*w->out->gpu_now_ns));
	w->out->gpu_moved = calloc(n, sizeof(*w->out->gpu_moved));
	return w->held && w->out->gpu_part && w->out->gpu_loss2 && w->out->gpu_now_ns &&
			       w->out->gpu_moved
		       ? 0
		       : -ENOMEM;
}

static int insure(struct insure *w)
{
	int err = make_room(w);

	if (!err)
		err = make_segments(w);
	for (size_t g = 0; g < w->in->gpus && !err; g++)
		err = prepare(&w->held[g], &w->in->gpu[g]);
	if (!err)
		err = live_checkpoints_make(w->in->save, w->in->saves, &w->c);
	if (!err)
		err = make_events(w);
	if (err)
		return err;
	judge_ends(w);
	walk(w);
	find_unsure(w);
	find_worked(w);
	find_waited(w);
	for (size_t k = 1; k < w->out->segments; k++)
		restart(w, k);
	book_all(w);
	tell_now(w);
	count_saves(w);
	err = w->newest == SIZE_MAX ? 0 : saves_state_of(&w->out->state, w->in, &w->c, w->newest);
	if (!err)
		err = tell_chain(w);
	return err ? err : tell_interval(w);
}

int saves_insure(const struct saves_input *in, struct view_insurance *out)
{
	struct insure w = { .in = in, .out = out, .newest = SIZE_MAX };
	int err;

	*out = (struct view_insurance){ 0 };
	err = insure(&w);
	for (size_t g = 0; w.held && g < in->gpus; g++) {
		free(w.held[g].before);
		free(w.held[g].area);
	}
	free(w.held);
	free(w.event);
	free(w.heap);
	live_checkpoints_fini(&w.c);
	if (err)
		saves_insure_fini(out);
	return err;
}

void saves_insure_fini(struct view_insurance *o)
{
	free(o->segment);
	free(o->gpu_part);
	free(o->gpu_now_ns);
	free(o->gpu_loss2);
	free(o->gpu_moved);
	*o = (struct view_insurance){ 0 };
}

/* ---- what follows ---- */

int64_t saves_mean_ns(const struct view_insurance *i)
{
	return i->instants_ns ? base_div_even(i->loss2, 2 * (base_wide)i->instants_ns) : 0;
}

int64_t saves_gpu_mean_ns(const struct view_insurance *i, size_t gpu)
{
	return i->instants_ns ? base_div_even(i->gpu_loss2[gpu], 2 * (base_wide)i->instants_ns) : 0;
}

int64_t saves_best_interval(int64_t cost_ns, int64_t between_ns)
{
	unsigned __int128 n = 2 * (unsigned __int128)cost_ns * (unsigned __int128)between_ns;
	uint64_t root = 0;

	for (int bit = 62; bit >= 0; bit--) {
		uint64_t next = root | UINT64_C(1) << bit;

		if ((unsigned __int128)next * next <= n)
			root = next;
	}
	return (int64_t)root;
}

int64_t saves_spot_pays_ns(int64_t price, int64_t spot, int64_t loss_ns)
{
	base_wide least = (base_wide)price * loss_ns, saved = (base_wide)price - spot;

	if (saved <= 0)
		return -1;
	least = (least + saved - 1) / saved;
	return least > INT64_MAX ? INT64_MAX : (int64_t)least;
}

char saves_grade(const struct view_insurance *i, int64_t loss_ns)
{
	if (i->instants_ns < GRADED_NS)
		return 0;
	if (!i->checkpoints)
		return i->unsure || i->unmoved || i->writtens ? 0 : 'F';
	return loss_ns <= 5 * MINUTE_NS	   ? 'A'
	       : loss_ns <= 15 * MINUTE_NS ? 'B'
	       : loss_ns <= 60 * MINUTE_NS ? 'C'
					   : 'D';
}
