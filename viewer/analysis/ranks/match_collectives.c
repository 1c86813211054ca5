/* SPDX-License-Identifier: Apache-2.0 */
#include "match_collectives.h"

#include <errno.h>
#include <stdlib.h>
#include "analysis/map.h"

#define FEW 16u /* members, which are in order sooner than qsort() has begun */

struct entry { /* a collective of one GPU, from its start until it is in a cluster */
	struct ana_arrival a;
	struct entry *next, *prev; /* among the ended; among the spare */
	struct entry *kind_next, *kind_prev; /* among the ended of its kind */
	struct entry *lane_next, *lane_prev; /* among the ended of its lane */
};

struct lane { /* its ended ones */
	struct entry *first, *last;
	uint64_t taken; /* number of the last look that had it */
	uint32_t kind; /* lanes whose collectives may be the same are of one (ana_match_hash) */
	bool sends; /* each meets one other; kin of such lanes meet all together */
};

struct reader { /* of one log */
	struct ana_log_cursor cursor;
	struct ana_log_mark mark; /* the next */
	struct entry *open[ANA_LOG_OPEN_MAX];
	uint32_t opens;
	uint64_t taken; /* number of the last cluster with this GPU */
};

struct next { /* mark of a reader */
	int64_t t; /* common */
	uint32_t gpu;
};

struct matching {
	const struct ana_match *of;
	const struct ana_match_user *user;
	int64_t patience; /* for those that may have ended together with the first */
	struct reader *reader;
	struct lane *lane; /* by number */
	struct next *heap; /* the earliest first */
	size_t heaped;
	struct entry *first, *last; /* ended, by common end */
	struct entry **last_of; /* by kind: ended, by common end, too */
	struct entry *spare;
	struct ana_arrival **member;
	uint64_t looks, count;
	bool enough;
	int err;
};

int ana_lanes_compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static bool before(const struct next *a, const struct next *b)
{
	return a->t != b->t ? a->t < b->t : a->gpu < b->gpu;
}

static void sift(struct matching *m, size_t i)
{
	struct next r = m->heap[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= m->heaped)
			break;
		if (child + 1 < m->heaped && before(&m->heap[child + 1], &m->heap[child]))
			child++;
		if (!before(&m->heap[child], &r))
			break;
		m->heap[i] = m->heap[child];
		i = child;
	}
	m->heap[i] = r;
}

/* Its next mark. False: there is none. */
static bool advance(struct matching *m, uint32_t gpu, struct next *next)
{
	struct reader *r = &m->reader[gpu];

	if (!ana_log_cursor_next(&r->cursor, &r->mark)) {
		m->err = m->err ? m->err : r->cursor.err;
		return false;
	}
	next->gpu = gpu;
	next->t = ana_align_to(&m->of->align->host[m->of->align->host_of[gpu]], r->mark.t);
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

static void begin(struct matching *m, uint32_t gpu, int64_t t)
{
	struct reader *r = &m->reader[gpu];
	bool sends = m->lane[m->of->first_lane[gpu] + r->mark.lane].sends;
	unsigned int is = sends ? ANA_MATCH_SENDS : ANA_MATCH_COLLECTIVES;
	struct entry *e;

	if (!(m->of->what & is))
		return;
	e = take_spare(m);
	if (!e) {
		m->err = -ENOMEM;
		return;
	}
	e->a.gpu = gpu;
	e->a.lane = r->mark.lane;
	e->a.number = r->mark.number;
	e->a.start = r->mark.t;
	e->a.end = r->mark.end;
	e->a.common_start = t;
	e->a.send = m->of->log[gpu]->lane[r->mark.lane].meeting == FACTS_MEET_ONE;
	if (m->user->exposed)
		copy_time(e->a.cum_start, r->cursor.cum);
	r->open[r->opens++] = e;
}

static struct lane *lane_of(const struct matching *m, const struct entry *e)
{
	return &m->lane[ana_lane_number(m->of->first_lane, &e->a)];
}

static void enqueue_in_kind(struct matching *m, struct entry *e)
{
	struct entry **last = &m->last_of[lane_of(m, e)->kind], *after = *last, *next = NULL;

	while (after && after->a.common_end > e->a.common_end) {
		next = after;
		after = after->kind_prev;
	}
	e->kind_prev = after;
	e->kind_next = next;
	if (after)
		after->kind_next = e;
	if (next)
		next->kind_prev = e;
	else
		*last = e;
}

/* By common end, which comes in order but for what the pieces of a clock's line do to it. */
static void enqueue(struct matching *m, struct entry *e)
{
	struct lane *lane = lane_of(m, e);
	struct entry *after = m->last;

	enqueue_in_kind(m, e);
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
	e->lane_prev = lane->last;
	e->lane_next = NULL;
	if (lane->last)
		lane->last->lane_next = e;
	else
		lane->first = e;
	lane->last = e;
}

static void dequeue(struct matching *m, struct entry *e)
{
	struct lane *lane = lane_of(m, e);

	if (e->prev)
		e->prev->next = e->next;
	else
		m->first = e->next;
	if (e->next)
		e->next->prev = e->prev;
	else
		m->last = e->prev;
	if (e->kind_prev)
		e->kind_prev->kind_next = e->kind_next;
	if (e->kind_next)
		e->kind_next->kind_prev = e->kind_prev;
	else
		m->last_of[lane->kind] = e->kind_prev;
	if (e->lane_prev)
		e->lane_prev->lane_next = e->lane_next;
	else
		lane->first = e->lane_next;
	if (e->lane_next)
		e->lane_next->lane_prev = e->lane_prev;
	else
		lane->last = e->lane_prev;
}

static void end(struct matching *m, uint32_t gpu, int64_t t)
{
	struct reader *r = &m->reader[gpu];
	uint32_t i = 0;

	while (i < r->opens && r->open[i]->a.number != r->mark.number)
		i++;
	if (i == r->opens)
		return;
	r->open[i]->a.common_end = t;
	if (m->user->exposed)
		copy_time(r->open[i]->a.cum_end, r->cursor.cum);
	enqueue(m, r->open[i]);
	r->open[i] = r->open[--r->opens];
	m->count++;
}

uint64_t ana_match_hash(const struct ana_match *m, const struct ana_arrival *a)
{
	uint64_t hash = m->key ? m->key[ana_lane_number(m->first_lane, a)]
			       : m->log[a->gpu]->lane[a->lane].hash;
	uint32_t host = m->align->host_of[a->gpu];

	return m->align->host[host].aligned ? hash : hash ^ (host + UINT64_C(1)) << 32;
}

/* The kin of which each lane's first ran when the first of them ended, @e being one; NULL: none. */
static const struct ana_kin *whole_kin(const struct matching *m, const struct entry *e)
{
	uint32_t lane = ana_lane_number(m->of->first_lane, &e->a), i;
	const struct ana_kins *k = m->of->kins;
	int64_t start = INT64_MIN, end = INT64_MAX;
	const struct ana_kin *kin;

	if (!k || k->of[lane] == UINT32_MAX || m->lane[lane].first != e)
		return NULL;
	kin = &k->kin[k->of[lane]];
	for (i = 0; i < kin->lanes; i++) {
		const struct entry *first = m->lane[kin->lane[i]].first;

		if (!first)
			return NULL;
		start = first->a.common_start > start ? first->a.common_start : start;
		end = first->a.common_end < end ? first->a.common_end : end;
	}
	return start <= end ? kin : NULL;
}

static bool ends_before(const struct ana_arrival *x, const struct ana_arrival *y)
{
	if (x->common_end != y->common_end)
		return x->common_end < y->common_end;
	return x->gpu < y->gpu;
}

static int by_end(const void *a, const void *b)
{
	const struct ana_arrival *x = *(struct ana_arrival *const *)a;
	const struct ana_arrival *y = *(struct ana_arrival *const *)b;

	return ends_before(x, y) ? -1 : ends_before(y, x);
}

static void sort_by_end(struct ana_arrival **member, size_t n)
{
	size_t i, k;

	if (n > FEW) {
		qsort(member, n, sizeof(*member), by_end);
		return;
	}
	for (i = 1; i < n; i++) {
		struct ana_arrival *a = member[i];

		for (k = i; k > 0 && ends_before(a, member[k - 1]); k--)
			member[k] = member[k - 1];
		member[k] = a;
	}
}

/* Tells of the @n members and forgets them; @taken: their entries, by next. */
static void tell(struct matching *m, struct entry *taken, size_t n)
{
	struct entry *e;

	m->user->cluster(m->user->arg, m->member, n);
	while ((e = taken)) {
		taken = e->next;
		give_spare(m, e);
	}
}

static void take(struct matching *m, struct entry *e, struct entry **taken, size_t *n)
{
	dequeue(m, e);
	e->next = *taken;
	*taken = e;
	m->member[(*n)++] = &e->a;
}

static void form_kin(struct matching *m, const struct ana_kin *kin)
{
	struct entry *taken = NULL;
	size_t n = 0;
	uint32_t i;

	for (i = 0; i < kin->lanes; i++)
		take(m, m->lane[kin->lane[i]].first, &taken, &n);
	sort_by_end(m->member, n);
	tell(m, taken, n);
}

/* The first that ended, and those that may have been the same and are nobody's kin just now. */
static void form_cluster(struct matching *m)
{
	struct entry *head = m->first, *e, *next, *taken = NULL;
	int64_t until = head->a.common_end + m->of->tolerance_ns;
	int64_t limit = head->a.common_end;
	size_t n = 0;

	m->looks++;
	for (e = head; e && e->a.common_end <= until; e = next) {
		struct reader *r = &m->reader[e->a.gpu];

		next = e->kind_next;
		if (r->taken == m->looks || e->a.common_start > limit ||
		    (e != head && whole_kin(m, e)))
			continue;
		r->taken = m->looks;
		take(m, e, &taken, &n);
	}
	tell(m, taken, n);
}

static void look_around(struct matching *m)
{
	struct entry *head = m->first, *e;
	int64_t limit = head->a.common_end, until = limit + m->of->tolerance_ns;
	size_t n = 0;

	m->looks++;
	for (e = head->kind_next; e && e->a.common_end <= until; e = e->kind_next) {
		struct lane *lane = lane_of(m, e);

		if (e->a.gpu == head->a.gpu || lane->taken == m->looks || e->a.common_start > limit)
			continue;
		lane->taken = m->looks;
		m->member[n++] = &e->a;
	}
	m->enough |= !m->user->near(m->user->arg, &head->a, m->member, n);
	dequeue(m, head);
	give_spare(m, head);
}

/* The one that ended soonest after the first, of its partners' first ones; NULL: none is near. */
static struct entry *find_partner(const struct matching *m, const struct entry *head)
{
	const struct ana_partners *p = m->of->partners;
	uint32_t lane = ana_lane_number(m->of->first_lane, &head->a), i;
	struct entry *best = NULL;

	for (i = p->first[lane]; i < p->first[lane + 1]; i++) {
		struct entry *e = m->lane[p->list[i].lane].first;

		if (!e || e->a.common_start > head->a.common_end ||
		    e->a.common_end > head->a.common_end + p->tolerance_ns)
			continue;
		if (!best || e->a.common_end < best->a.common_end)
			best = e;
	}
	return best;
}

static void form_pair(struct matching *m)
{
	struct entry *head = m->first, *partner = find_partner(m, head);

	if (partner) {
		m->user->pair(m->user->arg, (struct ana_arrival *[]){ &head->a, &partner->a });
		dequeue(m, partner);
		give_spare(m, partner);
	}
	dequeue(m, head);
	give_spare(m, head);
}

/* What becomes of the first that ended. */
static void pass_first(struct matching *m)
{
	const struct ana_kin *kin = whole_kin(m, m->first);

	if (m->user->near)
		look_around(m);
	else if (lane_of(m, m->first)->sends)
		form_pair(m);
	else if (kin)
		form_kin(m, kin);
	else
		form_cluster(m);
}

static void step(struct matching *m)
{
	uint32_t gpu = m->heap[0].gpu;
	struct reader *r = &m->reader[gpu];
	int64_t t = m->heap[0].t;

	while (m->first && m->first->a.common_end + m->patience < t)
		pass_first(m);
	if (r->mark.kind == ANA_MARK_BEGIN)
		begin(m, gpu, t);
	else if (r->mark.kind == ANA_MARK_END)
		end(m, gpu, t);
	else if (m->user->exposed)
		m->user->exposed(m->user->arg, gpu, r->mark.t, r->mark.end);
	if (!advance(m, gpu, &m->heap[0]))
		m->heap[0] = m->heap[--m->heaped];
	if (m->heaped)
		sift(m, 0);
}

static int number_kind(struct ana_map *kind_of, uint64_t hash, uint32_t *kind)
{
	*kind = ana_map_get(kind_of, hash);
	if (*kind != ANA_MAP_NONE)
		return 0;
	*kind = kind_of->count;
	return ana_map_put(kind_of, hash, *kind);
}

/* What a lane's collectives may be is told once, however often they end. */
static int init_lanes(struct matching *m)
{
	struct ana_map kind_of = { 0 };
	struct ana_arrival a = { 0 };
	int err = 0;

	for (a.gpu = 0; a.gpu < m->of->logs; a.gpu++) {
		const struct ana_collective_log *log = m->of->log[a.gpu];

		for (a.lane = 0; a.lane < log->lanes && !err; a.lane++) {
			uint32_t number = ana_lane_number(m->of->first_lane, &a);
			const struct ana_kins *k = m->of->kins;

			m->lane[number].sends = log->lane[a.lane].meeting == FACTS_MEET_ONE &&
						(!k || k->of[number] == UINT32_MAX);
			err = number_kind(&kind_of, ana_match_hash(m->of, &a),
					  &m->lane[number].kind);
		}
	}
	m->last_of = calloc(kind_of.count + 1u, sizeof(struct entry *));
	ana_map_fini(&kind_of);
	return err || !m->last_of ? -ENOMEM : 0;
}

static int init(struct matching *m)
{
	size_t logs = m->of->logs, i;

	m->reader = calloc(logs + 1, sizeof(*m->reader));
	m->heap = calloc(logs + 1, sizeof(*m->heap));
	m->lane = calloc(m->of->lanes + 1u, sizeof(*m->lane));
	m->member = calloc((m->user->near ? m->of->lanes : logs) + 1, sizeof(*m->member));
	if (!m->reader || !m->heap || !m->lane || !m->member || init_lanes(m))
		return -ENOMEM;
	for (i = 0; i < logs; i++) {
		ana_log_cursor_init(&m->reader[i].cursor, m->of->log[i]);
		m->reader[i].cursor.moments = !m->user->exposed;
		m->heaped += advance(m, (uint32_t)i, &m->heap[m->heaped]);
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
	for (i = 0; m->reader && i < m->of->logs; i++) {
		while (m->reader[i].opens)
			free(m->reader[i].open[--m->reader[i].opens]);
		ana_log_cursor_fini(&m->reader[i].cursor);
	}
	free(m->reader);
	free(m->heap);
	free(m->lane);
	free(m->last_of);
	free(m->member);
}

int ana_match_collectives(const struct ana_match *of, const struct ana_match_user *user)
{
	struct matching m = { .of = of, .user = user, .patience = of->tolerance_ns };
	int64_t most = of->tolerance_ns + ANA_TOLERANCE_MAX_NS;
	int err = init(&m);

	if (of->kins && most > m.patience)
		m.patience = most;
	if (of->partners && of->partners->tolerance_ns > m.patience)
		m.patience = of->partners->tolerance_ns;
	while (!err && !m.err && !m.enough && m.heaped && (!of->limit || m.count < of->limit))
		step(&m);
	while (!err && !m.err && !m.enough && m.first)
		pass_first(&m);
	err = err ? err : m.err;
	fini(&m);
	return err;
}
