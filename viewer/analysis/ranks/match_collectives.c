/* SPDX-License-Identifier: Apache-2.0 */
#include "match_collectives.h"

#include <errno.h>
#include <stdlib.h>

struct entry { /* a collective of one GPU, from its start until it is in a cluster */
	struct ana_arrival a;
	struct entry *next, *prev; /* among the ended; among the spare */
};

struct reader { /* of one log */
	struct ana_log_cursor cursor;
	struct ana_log_mark mark; /* the next */
	int64_t t; /* of it, common */
	struct entry *open[ANA_LOG_OPEN_MAX];
	uint32_t opens;
	uint64_t taken; /* number of the last cluster with this GPU */
};

struct matching {
	struct reader *reader;
	struct ana_collective_log *const *log;
	size_t logs;
	const struct ana_align *align;
	int64_t tolerance;
	const struct ana_match_user *user;
	uint32_t *heap; /* readers, by time of their next mark */
	size_t heaped;
	struct entry *first, *last; /* ended, by common end */
	struct entry *spare;
	struct ana_arrival **member;
	uint64_t clusters, limit, count;
	int err;
};

static bool before(const struct matching *m, uint32_t a, uint32_t b)
{
	int64_t x = m->reader[a].t, y = m->reader[b].t;

	return x != y ? x < y : a < b;
}

static void sift(struct matching *m, size_t i)
{
	uint32_t r = m->heap[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= m->heaped)
			break;
		if (child + 1 < m->heaped && before(m, m->heap[child + 1], m->heap[child]))
			child++;
		if (!before(m, m->heap[child], r))
			break;
		m->heap[i] = m->heap[child];
		i = child;
	}
	m->heap[i] = r;
}

static bool advance(struct matching *m, uint32_t gpu)
{
	struct reader *r = &m->reader[gpu];

	if (!ana_log_cursor_next(&r->cursor, &r->mark))
		return false;
	r->t = ana_align_to(&m->align->host[m->align->host_of[gpu]], r->mark.t);
	return true;
}

static struct entry *take_spare(struct matching *m)
{
	struct entry *e = m->spare;

	if (!e)
		return malloc(sizeof(*e));
	m->spare = e->next;
	return e;
}

static void give_spare(struct matching *m, struct entry *e)
{
	e->next = m->spare;
	m->spare = e;
}

static void copy_time(int64_t to[ANA_CLASSES], const int64_t from[ANA_CLASSES])
{
	int c;

	for (c = 0; c < ANA_CLASSES; c++)
		to[c] = from[c];
}

static void begin(struct matching *m, uint32_t gpu)
{
	struct reader *r = &m->reader[gpu];
	struct entry *e = take_spare(m);

	if (!e) {
		m->err = -ENOMEM;
		return;
	}
	e->a = (struct ana_arrival){
		.gpu = gpu,
		.lane = r->mark.lane,
		.number = r->mark.number,
		.start = r->mark.t,
		.end = r->mark.end,
		.common_start = r->t,
	};
	copy_time(e->a.cum_start, r->cursor.cum);
	r->open[r->opens++] = e;
}

/* By common end, which comes in order but for what the pieces of a clock's line do to it. */
static void enqueue(struct matching *m, struct entry *e)
{
	struct entry *after = m->last;

	while (after && after->a.common_end > e->a.common_end)
		after = after->prev;
	e->prev = after;
	e->next = after ? after->next : m->first;
	if (e->next)
		e->next->prev = e;
	else
		m->last = e;
	if (after)
		after->next = e;
	else
		m->first = e;
}

static void dequeue(struct matching *m, struct entry *e)
{
	if (e->prev)
		e->prev->next = e->next;
	else
		m->first = e->next;
	if (e->next)
		e->next->prev = e->prev;
	else
		m->last = e->prev;
}

static void end(struct matching *m, uint32_t gpu)
{
	struct reader *r = &m->reader[gpu];
	uint32_t i = 0;

	while (i < r->opens && r->open[i]->a.number != r->mark.number)
		i++;
	if (i == r->opens)
		return;
	r->open[i]->a.common_end = r->t;
	copy_time(r->open[i]->a.cum_end, r->cursor.cum);
	enqueue(m, r->open[i]);
	r->open[i] = r->open[--r->opens];
	m->count++;
}

/* The name; of a host whose clock is not aligned, nothing can be the same as on another. */
static uint64_t hash_of(const struct matching *m, const struct entry *e)
{
	uint64_t hash = m->log[e->a.gpu]->lane[e->a.lane].hash;
	uint32_t host = m->align->host_of[e->a.gpu];

	return m->align->host[host].aligned ? hash : hash ^ (host + UINT64_C(1)) << 32;
}

/* The first that ended, and those that may have been the same. */
static void form_cluster(struct matching *m)
{
	struct entry *head = m->first, *e, *next, *taken = NULL;
	uint64_t hash = hash_of(m, head);
	int64_t until = head->a.common_end + m->tolerance;
	int64_t limit = head->a.common_end;
	size_t n = 0;

	m->clusters++;
	for (e = head; e && e->a.common_end <= until; e = next) {
		struct reader *r = &m->reader[e->a.gpu];

		next = e->next;
		if (hash_of(m, e) != hash || r->taken == m->clusters || e->a.common_start > limit)
			continue;
		r->taken = m->clusters;
		dequeue(m, e);
		e->next = taken;
		taken = e;
		m->member[n++] = &e->a;
	}
	m->user->cluster(m->user->arg, m->member, n);
	while ((e = taken)) {
		taken = e->next;
		give_spare(m, e);
	}
}

static void step(struct matching *m)
{
	uint32_t gpu = m->heap[0];
	struct reader *r = &m->reader[gpu];

	while (m->first && m->first->a.common_end + m->tolerance < r->t)
		form_cluster(m);
	if (r->mark.kind == ANA_MARK_BEGIN)
		begin(m, gpu);
	else if (r->mark.kind == ANA_MARK_END)
		end(m, gpu);
	else if (m->user->exposed)
		m->user->exposed(m->user->arg, gpu, r->mark.t, r->mark.end);
	if (!advance(m, gpu))
		m->heap[0] = m->heap[--m->heaped];
	if (m->heaped)
		sift(m, 0);
}

static int init(struct matching *m)
{
	size_t i;

	m->reader = calloc(m->logs + 1, sizeof(*m->reader));
	m->heap = calloc(m->logs + 1, sizeof(*m->heap));
	m->member = calloc(m->logs + 1, sizeof(*m->member));
	if (!m->reader || !m->heap || !m->member)
		return -ENOMEM;
	for (i = 0; i < m->logs; i++) {
		ana_log_cursor_init(&m->reader[i].cursor, m->log[i]);
		if (advance(m, (uint32_t)i))
			m->heap[m->heaped++] = (uint32_t)i;
	}
	for (i = m->heaped; i-- > 0;)
		sift(m, i);
	return 0;
}

static void fini(struct matching *m)
{
	struct entry *e;
	size_t i;

	while ((e = m->first)) {
		m->first = e->next;
		free(e);
	}
	while ((e = m->spare)) {
		m->spare = e->next;
		free(e);
	}
	for (i = 0; m->reader && i < m->logs; i++)
		while (m->reader[i].opens)
			free(m->reader[i].open[--m->reader[i].opens]);
	free(m->reader);
	free(m->heap);
	free(m->member);
}

int ana_match_collectives(struct ana_collective_log *const *log, size_t logs,
			  const struct ana_align *align, int64_t tolerance_ns, uint64_t limit,
			  const struct ana_match_user *user)
{
	struct matching m = { .log = log,
			      .logs = logs,
			      .align = align,
			      .tolerance = tolerance_ns,
			      .user = user,
			      .limit = limit };
	int err = init(&m);

	while (!err && !m.err && m.heaped && (!limit || m.count < limit))
		step(&m);
	while (!err && !m.err && m.first)
		form_cluster(&m);
	err = err ? err : m.err;
	fini(&m);
	return err;
}
