/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and keeps what the rules may ask.
 */
#include "evidence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/archive.h"
#include "analysis/observer.h"
#include "analysis/read/due.h"
#include "analysis/window.h"
#include "base/minmax.h"
#include "base/vec.h"
#include "take.h"

#define SAMPLES_KEPT_MAX (UINT64_C(1) << 20) /* of one process, however long a GPU idles */
#define THREADS_MAX (1u << 16)
#define BATCHES_KEPT_MAX 8192u
#define BATCHES_KEPT_NS INT64_C(10000000000) /* a batch may wait so long to be taken */
#define RAN_SINCE_NS INT64_C(10000000)
#define SAMPLES_KEPT_NS (3 * ANA_LOOK_BACK_NS) /* who gave before, where he waited before */

bool ana_evidence_any(const struct view_stream *s)
{
	return s->evidences != 0;
}

void ana_evidence_bare(struct ana_evidence *e, const struct wire_strtab *strings)
{
	*e = (struct ana_evidence){
		.upto = INT64_MIN,
		.next = INT64_MIN,
		.looked.since = INT64_MIN,
	};
	ana_pystacks_init(&e->stacks, strings);
	ana_linktexts_init(&e->links, strings);
	ana_callers_init(&e->callers);
	ana_loaders_init(&e->loaders, strings);
}

int ana_evidence_foresee(struct ana_evidence *e, const struct wire_sample *s)
{
	return ana_callers_add(&e->callers, s, ana_linktexts_get(&e->links, s->links), e->pid);
}

/* Reads all samples once, if any may tell of sockets. */
static int foresee(struct ana_evidence *e, struct view_trace *t, const struct view_stream *s,
		   struct wire_scratch *scratch)
{
	const struct wire_sample *sample;
	struct ana_row_feed all = { 0 };
	int err;

	if (!ana_callers_any(s->strings))
		return 0;
	err = ana_row_feed_init(&all, t, s, WIRE_KIND_SAMPLE, scratch);
	while (!err && (sample = ana_row_feed_sample(&all, INT64_MAX)))
		err = ana_evidence_foresee(e, sample);
	err = err ? err : all.err;
	ana_row_feed_fini(&all);
	return err;
}

int ana_evidence_init(struct ana_evidence *e, struct view_trace *t, const struct view_stream *s,
		      struct wire_scratch *scratch)
{
	int err;

	ana_evidence_bare(e, s->strings);
	e->pid = s->hello ? (uint32_t)s->hello->pid : 0;
	err = foresee(e, t, s, scratch);
	if (!err)
		err = ana_row_feed_init(&e->samples, t, s, WIRE_KIND_SAMPLE, scratch);
	return err ? err : ana_row_feed_init(&e->batches, t, s, WIRE_KIND_BATCH, scratch);
}

void ana_evidence_fini(struct ana_evidence *e)
{
	uint32_t i;

	ana_row_feed_fini(&e->samples);
	ana_row_feed_fini(&e->batches);
	for (i = 0; i < e->knowns; i++) {
		free(e->known[i]->sample);
		free(e->known[i]);
	}
	free(e->known);
	free(e->thread);
	ana_looked_fini(&e->looked);
	free(e->asked);
	ana_handed_fini(&e->handed);
	ana_map_fini(&e->thread_of);
	free(e->fetch.row);
	free(e->take.row);
	free(e->close.row);
	free(e->pin.row);
	ana_pystacks_fini(&e->stacks);
	ana_linktexts_fini(&e->links);
	ana_callers_fini(&e->callers);
	ana_loaders_fini(&e->loaders);
}

static uint64_t key_of(uint32_t pid, uint32_t tid)
{
	return (uint64_t)pid << 32 | tid;
}

struct ana_thread_samples *ana_evidence_thread(const struct ana_evidence *e, uint32_t pid,
					       uint32_t tid)
{
	uint32_t i = ana_map_get(&e->thread_of, key_of(pid, tid));

	return i == ANA_MAP_NONE ? NULL : e->known[i];
}

/* NULL: no memory, or too many threads. */
static struct ana_thread_samples *get_thread(struct ana_evidence *e, uint32_t pid, uint32_t tid)
{
	struct ana_thread_samples *s = ana_evidence_thread(e, pid, tid);

	if (s || e->knowns == THREADS_MAX)
		return s;
	if (!base_vec_more(e->known, e->knowns, e->known_room))
		return NULL;
	s = calloc(1, sizeof(*s));
	if (!s || ana_map_put(&e->thread_of, key_of(pid, tid), e->knowns)) {
		free(s);
		return NULL;
	}
	s->pid = pid;
	s->tid = tid;
	s->number = e->knowns;
	s->first = s->first_python = INT64_MAX;
	e->known[e->knowns++] = s;
	return s;
}

/* Where the thread of this number is among those that are asked, or would be. */
static uint32_t place_of(const struct ana_evidence *e, uint32_t number)
{
	uint32_t low = 0, high = e->threads;

	if (high && e->thread[high - 1]->number < number)
		return high;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (e->thread[mid]->number < number)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int ask_again(struct ana_evidence *e, struct ana_thread_samples *s)
{
	uint32_t at;

	if (s->alive)
		return 0;
	at = place_of(e, s->number);
	if (!base_vec_more(e->thread, e->threads, e->thread_room))
		return -ENOMEM;
	memmove(&e->thread[at + 1], &e->thread[at], (e->threads - at) * sizeof(*e->thread));
	e->thread[at] = s;
	e->threads++;
	s->alive = true;
	return 0;
}

static int64_t back(int64_t t, int64_t ns)
{
	return t < INT64_MIN + ns ? INT64_MIN : t - ns;
}

static void forget_samples(struct ana_evidence *e, struct ana_thread_samples *s, int64_t floor)
{
	int64_t before = back(floor, SAMPLES_KEPT_NS);

	while (s->head < s->tail && s->sample[s->head].t_ns < before) {
		s->head++;
		e->kept--;
	}
}

/*
 * Who said nothing for so long that none of his samples is kept is not asked until he is seen
 * again. Looked for as often as there are threads.
 */
static void leave_out_gone(struct ana_evidence *e, int64_t floor)
{
	uint32_t i, n = 0;

	if (e->unchecked++ < e->threads)
		return;
	e->unchecked = 0;
	for (i = 0; i < e->threads; i++) {
		struct ana_thread_samples *s = e->thread[i];

		forget_samples(e, s, floor);
		if (s->head < s->tail) {
			e->thread[n++] = s;
			continue;
		}
		free(s->sample);
		s->sample = NULL;
		s->head = s->tail = s->room = 0;
		s->alive = false;
	}
	e->threads = n;
}

static void count(struct ana_evidence *e, const struct wire_sample *s)
{
	e->count++;
	e->torn += (s->flags & WIRE_SAMPLE_FL_TORN) != 0;
	e->without_python += (s->flags & WIRE_SAMPLE_FL_NO_PYTHON) != 0;
}

/* In Python's own code around select() and its kin. */
static bool polls(const struct ana_pystack *k)
{
	static const char file[] = "/selectors.py";
	const size_t n = sizeof(file) - 1;

	return k->leaf_file.len >= n && !memcmp(k->leaf_file.at + k->leaf_file.len - n, file, n);
}

/*
 * Of the time since the thread's last look that is old enough it ran a tenth or less, as the kernel
 * counted. What it does between two waits may take all of the time between two looks at a nap.
 */
static bool hardly_ran(const struct ana_thread_samples *t)
{
	const struct wire_sample *s = &t->sample[t->tail - 1];
	size_t i = ana_samples_from(t, s->t_ns - RAN_SINCE_NS + 1);
	const struct wire_sample *v = i > t->head ? &t->sample[i - 1] : NULL;

	return v && v->cpu_ns && s->cpu_ns >= v->cpu_ns &&
	       10 * (__int128)(s->cpu_ns - v->cpu_ns) <= s->t_ns - v->t_ns;
}

static bool is_take(uint8_t take)
{
	return take == ANA_TAKE_ITEM || take == ANA_TAKE_EVENT || take == ANA_TAKE_SERVES;
}

/*
 * In a call that does nothing but wait. In that which reads a pipe or socket data are copied, too:
 * @idle, if the thread hardly does.
 */
static bool awaits(struct ana_evidence *e, const struct ana_pystack *k, const struct wire_sample *s,
		   bool idle)
{
	const struct ana_links *l = ana_linktexts_get(&e->links, s->links);

	if (s->state == WIRE_STATE_RUNNING || !l->awaits)
		return false;
	switch (s->wait) {
	case WIRE_WAIT_LOCK:
	case WIRE_WAIT_LOCK_SHARED:
		return is_take(k->take);
	case WIRE_WAIT_PIPE:
	case WIRE_WAIT_SOCKET:
		return (idle && (is_take(k->take) || k->take == ANA_TAKE_NOT_TOLD)) ||
		       (is_take(k->take) && polls(k));
	case WIRE_WAIT_SLEEP: /* on the way to an iterator's next item, or to look at memory */
		if (k->take == ANA_TAKE_NOT_TOLD)
			return k->draws || (idle && ana_links_await_kind(l, 'm'));
		return is_take(k->take) && polls(k);
	default:
		return is_take(k->take) && polls(k);
	}
}

/*
 * On a CPU, or wanting one, at the very place where it waited for a lock, polled, or slept before
 * it asked again: it has just come back, or is about to wait. Such a look comes often where a
 * machine is busy, for we get a CPU when others begin to wait; it stands for the wait, not for
 * work.
 */
static void take_for_wait(struct ana_evidence *e, struct ana_thread_samples *t)
{
	struct wire_sample *s = &t->sample[t->tail - 1];
	int64_t since = back(s->t_ns, ANA_LOOK_BACK_NS);
	const struct ana_pystack *k;
	bool idle;
	size_t i, n;

	if (s->state != WIRE_STATE_RUNNING || !s->stack)
		return;
	k = ana_pystacks_get(&e->stacks, s->stack);
	idle = hardly_ran(t);
	if (!is_take(k->take) && (k->take != ANA_TAKE_NOT_TOLD || (!idle && !k->draws)))
		return;
	for (i = t->tail - 1, n = 0; n < ANA_STANDS_MAX && i > t->head; i--, n++) {
		const struct wire_sample *v = &t->sample[i - 1];

		if (v->t_ns < since)
			return;
		if (v->stack != s->stack || !awaits(e, k, v, idle))
			continue;
		s->state = v->state;
		s->wait = v->wait;
		s->syscall = v->syscall;
		s->target = v->target;
		s->links = v->links;
		return;
	}
}

int ana_evidence_add_sample(struct ana_evidence *e, const struct wire_sample *s, int64_t floor)
{
	struct ana_thread_samples *t = get_thread(e, s->pid, s->tid);
	const struct ana_links *l;

	count(e, s);
	if (!t)
		return e->knowns == THREADS_MAX ? 0 : -ENOMEM;
	if (e->observer && e->observer->sample(e->observer->arg, e->process, s))
		return -ENOMEM;
	if (t->head < t->tail && t->sample[t->tail - 1].t_ns > s->t_ns)
		return 0;
	leave_out_gone(e, floor);
	if (ask_again(e, t))
		return -ENOMEM;
	forget_samples(e, t, floor);
	if (e->kept >= SAMPLES_KEPT_MAX && t->head < t->tail) {
		t->head++;
		e->kept--;
		e->forgotten++;
	}
	if (ana_window_room(&t->sample, &t->head, &t->tail, &t->room, sizeof(*t->sample)))
		return -ENOMEM;
	t->role = s->role;
	t->first = base_min(t->first, s->t_ns);
	if (s->stack)
		t->first_python = base_min(t->first_python, s->t_ns);
	l = ana_linktexts_get(&e->links, s->links);
	t->hands |= l->hands;
	t->connected |= ana_links_await_kind(l, 't') || ana_links_await_kind(l, 'u');
	t->reads |= s->rchar_bytes != 0;
	t->sample[t->tail++] = *s;
	take_for_wait(e, t);
	e->kept++;
	l = ana_linktexts_get(&e->links, t->sample[t->tail - 1].links);
	if (ana_handed_add(&e->handed, l, s->t_ns))
		return -ENOMEM;
	ana_looked_add(&e->looked, t->number, e->threads, s->t_ns, back(floor, SAMPLES_KEPT_NS));
	return 0;
}

static int add_row(struct ana_batches *b, const struct wire_batch *row, int64_t floor)
{
	int64_t before = back(floor, BATCHES_KEPT_NS);

	if (b->head < b->tail && b->row[b->tail - 1].start_ns > row->start_ns)
		return 0;
	while (b->head < b->tail &&
	       (b->row[b->head].end_ns < before || b->tail - b->head >= BATCHES_KEPT_MAX))
		b->head++;
	if (ana_window_room(&b->row, &b->head, &b->tail, &b->room, sizeof(*b->row)))
		return -ENOMEM;
	b->row[b->tail++] = *row;
	if (row->end_ns - row->start_ns > b->longest)
		b->longest = row->end_ns - row->start_ns;
	return 0;
}

static int add_fetch(struct ana_evidence *e, const struct wire_batch *row, int64_t floor)
{
	struct ana_thread_samples *t = get_thread(e, row->pid, row->tid);

	if (t && !t->fetched) {
		t->fetched = true;
		t->first_fetch = row->start_ns;
	}
	return add_row(&e->fetch, row, floor);
}

int ana_evidence_add_batch(struct ana_evidence *e, const struct wire_batch *b, int64_t floor)
{
	int err = ana_loaders_add(&e->loaders, b);

	if (err)
		return err;
	if (e->observer)
		err = e->observer->batch(e->observer->arg, e->process, b,
					 ana_loaders_get(&e->loaders, b->loader));
	if (err)
		return err;
	switch (b->what) {
	case WIRE_BATCH_FETCH:
		return add_fetch(e, b, floor);
	case WIRE_BATCH_TAKE:
		return add_row(&e->take, b, floor);
	case WIRE_BATCH_PIN:
		return add_row(&e->pin, b, floor);
	case WIRE_BATCH_CLOSE:
		return add_row(&e->close, b, floor);
	default:
		return 0;
	}
}

int ana_evidence_read(struct ana_evidence *e, int64_t t, int64_t floor)
{
	const struct wire_sample *s;
	const struct wire_batch *b;
	int err = 0;

	while (!err && (s = ana_row_feed_sample(&e->samples, t)))
		err = ana_evidence_add_sample(e, s, floor);
	while (!err && (b = ana_row_feed_batch(&e->batches, t)))
		err = ana_evidence_add_batch(e, b, floor);
	e->upto = t;
	e->next = base_min(ana_row_feed_next(&e->samples), ana_row_feed_next(&e->batches));
	err = err ? err : e->samples.err;
	return err ? err : e->batches.err;
}

size_t ana_samples_from(const struct ana_thread_samples *s, int64_t t)
{
	size_t low = s->head, high = s->tail;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->sample[mid].t_ns < t)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct ana_among ana_evidence_among(struct ana_evidence *e, int64_t a, int64_t b)
{
	const struct ana_among all = { e->thread, e->threads };
	struct ana_among some = { 0 };
	const uint32_t *number;
	uint32_t i, n;

	if (!ana_looked_between(&e->looked, e->threads, a, b, &number, &n))
		return all;
	for (i = 0; i < n; i++) {
		if (!base_vec_more(e->asked, some.threads, e->asked_room))
			return all;
		if (e->known[number[i]]->alive)
			e->asked[some.threads++] = e->known[number[i]];
	}
	some.thread = e->asked;
	return some;
}

static size_t starts_from(const struct ana_batches *b, int64_t t)
{
	size_t low = b->head, high = b->tail;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (b->row[mid].start_ns < t)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

size_t ana_batches_near(const struct ana_batches *b, int64_t from, int64_t to, size_t *end)
{
	*end = starts_from(b, to);
	return starts_from(b, back(from, b->longest));
}

/* ---- kept ------------------------------------------------------------------------------------ */

static void archive_batches(struct ana_batches *b, struct ana_archive *a)
{
	ana_archive_window(a, b->row, b->head, b->tail, b->room, BATCHES_KEPT_MAX);
	for (size_t i = b->head; i < b->tail; i++) {
		ana_archive_field(a, b->row[i]);
		ana_archive_check(a, ana_stamp_good(b->row[i].start_ns) &&
					     ana_stamp_good(b->row[i].end_ns) &&
					     b->row[i].start_ns <= b->row[i].end_ns);
	}
	ana_archive_time(a, &b->longest);
}

static void archive_thread(struct ana_thread_samples *s, struct ana_archive *a)
{
	ana_archive_field(a, s->pid);
	ana_archive_field(a, s->tid);
	ana_archive_bool(a, &s->alive);
	ana_archive_field(a, s->role);
	ana_archive_bool(a, &s->hands);
	ana_archive_bool(a, &s->connected);
	ana_archive_stamp(a, &s->first);
	ana_archive_stamp(a, &s->first_python);
	ana_archive_bool(a, &s->fetched);
	ana_archive_time(a, &s->first_fetch);
	ana_archive_window(a, s->sample, s->head, s->tail, s->room, 2 * SAMPLES_KEPT_MAX);
	for (size_t i = s->head; i < s->tail; i++) {
		ana_archive_field(a, s->sample[i]);
		s->reads |= s->sample[i].rchar_bytes != 0;
		ana_archive_check(a, ana_stamp_good(s->sample[i].t_ns));
	}
}

static int know_handed(struct ana_evidence *e, const struct ana_thread_samples *s)
{
	int err = 0;

	for (size_t i = s->head; i < s->tail && !err; i++)
		err = ana_handed_add(&e->handed, ana_linktexts_get(&e->links, s->sample[i].links),
				     s->sample[i].t_ns);
	return err;
}

static void read_thread(struct ana_evidence *e, struct ana_archive *a)
{
	struct ana_thread_samples s = { 0 }, *to;

	archive_thread(&s, a);
	to = a->err || ana_evidence_thread(e, s.pid, s.tid) ? NULL : get_thread(e, s.pid, s.tid);
	if (!to) {
		ana_archive_check(a, false);
		free(s.sample);
		return;
	}
	if (know_handed(e, &s))
		a->err = -ENOMEM;
	s.number = to->number;
	*to = s;
	e->kept += s.tail - s.head;
	if (s.head < s.tail)
		ana_looked_lacks(&e->looked, s.sample[s.tail - 1].t_ns);
	if (!s.alive)
		return;
	to->alive = false;
	if (ask_again(e, to))
		a->err = -ENOMEM;
}

static void archive_threads(struct ana_evidence *e, struct ana_archive *a)
{
	uint32_t n = ana_archive_small(a, e->knowns, THREADS_MAX);

	for (uint32_t i = 0; i < n && !a->err; i++) {
		if (a->reading)
			read_thread(e, a);
		else
			archive_thread(e->known[i], a);
	}
}

/* What stacks and links say is read from their texts again. */
void ana_evidence_archive(struct ana_evidence *e, struct ana_archive *a)
{
	archive_threads(e, a);
	ana_archive_field(a, e->unchecked);
	archive_batches(&e->fetch, a);
	archive_batches(&e->take, a);
	archive_batches(&e->close, a);
	archive_batches(&e->pin, a);
	ana_loaders_archive_open(&e->loaders, a);
	ana_archive_stamp(a, &e->upto);
	ana_archive_field(a, e->count);
	ana_archive_field(a, e->torn);
	ana_archive_field(a, e->without_python);
	ana_archive_field(a, e->forgotten);
	ana_row_feed_archive(&e->samples, a);
	ana_row_feed_archive(&e->batches, a);
}
