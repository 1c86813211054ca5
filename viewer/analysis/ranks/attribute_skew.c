/* SPDX-License-Identifier: Apache-2.0 */
#include "attribute_skew.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "path.h"
#include "skew_causes.h"

#define SMALL_SHARE 2000 /* of a step: less is not looked for behind waits of sends and receives */

#define OWN_LEAST 4 /* so much of a lateness is one's own doing: a quarter */

#define EXPOSED_MAX 1024u /* stretches of a GPU that may still become comm.skew */

struct stretch {
	int64_t start, end;
};

struct ana_exposed { /* ascending, disjoint */
	struct stretch at[EXPOSED_MAX];
	uint32_t count;
};

int ana_skew_attribution_init(struct ana_skew_attribution *c)
{
	uint32_t i;

	c->row = calloc(c->gpus + 1, sizeof(*c->row));
	c->group = calloc(c->groups->groups + 1u, sizeof(*c->group));
	c->straggler = calloc(c->gpus + 1, sizeof(*c->straggler));
	if (!c->row || !c->group || !c->straggler)
		return -ENOMEM;
	if (c->gpus <= ANA_PAIR_ROWS) {
		c->pair_ns = calloc(c->gpus * c->gpus + 1, sizeof(*c->pair_ns));
		if (!c->pair_ns)
			return -ENOMEM;
	}
	for (i = 0; i < c->gpus; i++) {
		c->row[i].exposed = calloc(1, sizeof(*c->row[i].exposed));
		c->row[i].recent_waits = calloc(1, sizeof(*c->row[i].recent_waits));
		c->row[i].last_end = INT64_MIN;
		if (!c->row[i].exposed || !c->row[i].recent_waits)
			return -ENOMEM;
	}
	for (i = 0; i < c->groups->groups; i++) {
		const struct ana_member_set *g = &c->groups->group[i];

		c->group[i].last_end = INT64_MIN;
		if (g->sends)
			continue;
		c->group[i].baselines = calloc(g->gpus, sizeof(*c->group[i].baselines));
		c->group[i].straggler = calloc(g->gpus, sizeof(*c->group[i].straggler));
		if (!c->group[i].baselines || !c->group[i].straggler)
			return -ENOMEM;
	}
	if (c->groups->partners.count) {
		c->paths = ana_paths_new(c->gpus, c->step_ns / SMALL_SHARE);
		if (!c->paths)
			return -ENOMEM;
	}
	c->first_ns = INT64_MAX;
	c->last_ns = INT64_MIN;
	return 0;
}

void ana_skew_attribution_fini(struct ana_skew_attribution *c)
{
	uint32_t i;

	for (i = 0; c->row && i < c->gpus; i++) {
		free(c->row[i].exposed);
		free(c->row[i].recent_waits);
		ana_lateness_fini(&c->row[i].lateness);
	}
	for (i = 0; c->group && i < c->groups->groups; i++) {
		free(c->group[i].baselines);
		free(c->group[i].straggler);
	}
	free(c->row);
	free(c->group);
	free(c->straggler);
	free(c->pair_ns);
	ana_paths_free(c->paths);
	c->row = NULL;
	c->group = NULL;
	c->straggler = NULL;
	c->pair_ns = NULL;
	c->paths = NULL;
}

void ana_skew_attribution_exposed(void *attribution, uint32_t gpu, int64_t start, int64_t end)
{
	struct ana_skew_attribution *c = attribution;
	struct ana_exposed *e = c->row[gpu].exposed;

	if (e->count == EXPOSED_MAX) { /* what is so old lies in no collective under way */
		memmove(e->at, e->at + EXPOSED_MAX / 2, EXPOSED_MAX / 2 * sizeof(e->at[0]));
		e->count = EXPOSED_MAX / 2;
	}
	e->at[e->count++] = (struct stretch){ start, end };
}

/* Takes a part out of stretch @i. Its rest behind the part becomes a stretch of its own. */
static void cut_out(struct ana_exposed *e, uint32_t i, int64_t start, int64_t end)
{
	struct stretch s = e->at[i];

	if (s.start < start && end < s.end && e->count < EXPOSED_MAX) {
		memmove(&e->at[i + 1], &e->at[i], (e->count - i) * sizeof(e->at[0]));
		e->count++;
		e->at[i].end = start;
		e->at[i + 1].start = end;
	} else if (s.start < start) {
		e->at[i].end = start;
	} else {
		e->at[i].start = end; /* may be empty now */
	}
}

/*
 * The exposed part of [start, end). With @tell it becomes comm.skew, and counts no second time.
 * *upto: it goes up to the end.
 */
static int64_t consume(struct ana_skew_attribution *c, uint32_t gpu, int64_t start, int64_t end,
		       bool tell, bool *upto)
{
	struct ana_exposed *e = c->row[gpu].exposed;
	int64_t ns = 0;
	uint32_t i;

	*upto = false;
	for (i = e->count; i-- > 0 && e->at[i].end > start;) {
		int64_t from = e->at[i].start > start ? e->at[i].start : start;
		int64_t to = e->at[i].end < end ? e->at[i].end : end;

		if (from >= to)
			continue;
		ns += to - from;
		*upto |= to == end;
		if (tell) {
			cut_out(e, i, from, to);
			c->skew(c->arg, gpu, from, to);
		}
	}
	return ns;
}

/* @t: what of the wait lay after it may have made the rank late. */
static void remember_wait(struct ana_recent_waits *p, int64_t t, const struct ana_skew_share *s)
{
	p->at[p->next].t = t;
	p->at[p->next].ns = s->ns;
	p->at[p->next].culprit = s->culprit;
	p->at[p->next].c = s->c;
	p->next = (p->next + 1) % ANA_RECENT_WAITS_MAX;
	p->count += p->count < ANA_RECENT_WAITS_MAX;
}

static void add_wait(struct ana_skew_attribution *c, uint32_t gpu, int64_t t,
		     const struct ana_skew_share *s)
{
	struct ana_skew_row *r = &c->row[gpu];

	r->waited_ns += s->ns;
	r->causes_waited[s->c] += s->ns;
	if (s->culprit == ANA_NOBODY)
		return;
	c->row[s->culprit].caused_ns += s->ns;
	c->row[s->culprit].causes[s->c] += s->ns;
	if (c->pair_ns)
		c->pair_ns[gpu * c->gpus + s->culprit] += s->ns;
	remember_wait(r->recent_waits, t, s);
}

/* --- one collective --- */

struct collective {
	struct ana_arrival **member;
	size_t n, last; /* last: to come */
	int64_t latest, reference; /* arrivals, common clock: the last one's, the median one's */
	size_t median; /* the member of that */
	uint32_t group;
};

static bool foreign(const struct ana_skew_attribution *c, const struct ana_arrival *a,
		    const struct ana_arrival *b)
{
	return c->align->host_of[a->gpu] != c->align->host_of[b->gpu];
}

static void attribute_wait(struct ana_skew_attribution *c, const struct collective *m, size_t i)
{
	const struct ana_arrival *a = m->member[i], *late = m->member[m->last];
	const struct ana_skew_member culprit = { late, m->last }, victim = { a, i };
	int64_t wait = m->latest - a->common_start, t = a->start, ns;
	struct ana_skew_shares s;
	bool upto;
	size_t k;

	if (wait <= 0 || (foreign(c, a, late) && wait <= c->slack_ns))
		return;
	if (wait > a->end - a->start)
		wait = a->end - a->start;
	ns = consume(c, a->gpu, a->start, a->start + wait, true, &upto);
	if (!ns)
		return;
	if (c->groups->group[m->group].sends) { /* may be under way since long ago */
		ana_skew_causes_of_pair(c, late->gpu, a->gpu, ns, &s);
		t += wait;
	} else {
		ana_skew_causes_find(c, m->group, &culprit, &victim, &s);
	}
	ana_skew_causes_split(&s, ns);
	for (k = 0; k < s.count; k++)
		if (s.at[k].ns)
			add_wait(c, a->gpu, t, &s.at[k]);
	if (c->paths && upto && c->groups->group[m->group].sends)
		ana_paths_follow_pair(c->paths, a->gpu, late->gpu, ns);
	else if (c->paths && upto)
		ana_paths_follow(c->paths, a->gpu, late->gpu);
	c->group[m->group].waited_ns += ns;
}

/*
 * The part of a rank's lateness against the median one that is its own doing. Where others held
 * it up for long, how it differs by itself from the median one is nothing: 0.
 */
static int64_t own_part(const struct ana_skew_attribution *c, const struct collective *m, size_t i,
			int64_t late)
{
	const struct ana_skew_member mine = { m->member[i], i };
	const struct ana_skew_member median = { m->member[m->median], m->median };
	int64_t more[ANA_CLASSES];
	__int128 own = 0, all = 0;
	int k;

	ana_skew_causes_excess(c, m->group, &mine, &median, more);
	for (k = 0; k < ANA_CLASSES; k++) {
		own += k == ANA_COMM ? 0 : more[k];
		all += more[k];
	}
	return own && own * OWN_LEAST >= all ? (int64_t)((__int128)late * own / all) : 0;
}

static void test_lateness(struct ana_skew_attribution *c, const struct collective *m)
{
	const struct ana_member_set *g = &c->groups->group[m->group];
	size_t i;

	for (i = 0; i < m->n; i++) {
		const struct ana_arrival *a = m->member[i];
		int64_t late = a->common_start - m->reference;

		if (ana_lateness_add(&c->row[a->gpu].lateness, late))
			c->err = -ENOMEM;
		if (late < c->late_ns)
			continue;
		late = own_part(c, m, i, late);
		if (late < c->late_ns)
			continue;
		ana_straggler_test_add(c->straggler, g->gpu, g->gpus, a->gpu, late, a->common_start,
				       c->step_ns);
		ana_straggler_test_add(c->group[m->group].straggler, NULL, g->gpus, (uint32_t)i,
				       late, a->common_start, c->step_ns);
	}
}

/*
 * In each group by itself, and in all together: members of a small one that are late by turns would
 * hide who is late in a large one.
 */
void ana_skew_attribution_decide(struct ana_skew_attribution *c)
{
	int64_t span = c->last_ns > c->first_ns ? c->last_ns - c->first_ns : 0;
	size_t tests = c->gpus, i, k;

	for (i = 0; i < c->groups->groups; i++)
		tests += c->group[i].straggler ? c->groups->group[i].gpus : 0;
	for (i = 0; i < c->groups->groups; i++)
		for (k = 0; c->group[i].straggler && k < c->groups->group[i].gpus; k++)
			if (ana_straggler_test_stable(&c->group[i].straggler[k], tests, span))
				c->straggler[c->groups->group[i].gpu[k]].verdict =
					ANA_CULPRIT_STABLE;
	ana_straggler_test_decide(c->straggler, c->gpus, tests, span);
}

static int by_arrival(const void *a, const void *b, void *arg)
{
	struct ana_arrival *const *member = arg;
	const struct ana_arrival *x = member[*(const uint32_t *)a];
	const struct ana_arrival *y = member[*(const uint32_t *)b];

	if (x->common_start != y->common_start)
		return x->common_start < y->common_start ? -1 : 1;
	return x->gpu < y->gpu ? -1 : x->gpu > y->gpu;
}

static void find_order(struct collective *m)
{
	uint32_t order[4096], i;
	size_t n = m->n < 4096 ? m->n : 4096;

	for (i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), by_arrival, m->member);
	m->last = order[n - 1];
	m->latest = m->member[m->last]->common_start;
	m->median = order[(n - 1) / 2];
	m->reference = m->member[m->median]->common_start;
}

/* Nothing else ran on the GPU when the collective ended: a stretch ends with it. */
static bool idle_at_end(const struct ana_skew_attribution *c, const struct ana_arrival *a)
{
	const struct ana_exposed *e = c->row[a->gpu].exposed;
	uint32_t i;

	for (i = e->count; i-- > 0 && e->at[i].end >= a->end;)
		if (e->at[i].end == a->end)
			return true;
	return a->start == a->end;
}

static bool all_even(const struct ana_skew_attribution *c, const struct collective *m)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (!idle_at_end(c, m->member[i]))
			return false;
	return true;
}

static void set_recent(struct ana_skew_attribution *c, const struct ana_arrival *a)
{
	struct ana_class_sums *s = &c->row[a->gpu].recent_waits->recent;

	s->known = true;
	s->t = a->end;
	memcpy(s->cum, a->cum_end, sizeof(a->cum_end));
}

static void set_baselines(struct ana_skew_attribution *c, const struct collective *m, size_t i,
			  bool even, bool age)
{
	struct ana_baselines *s = &c->group[m->group].baselines[i];
	const struct ana_arrival *a = m->member[i];

	set_recent(c, a);
	s->last = c->row[a->gpu].recent_waits->recent;
	if (even)
		s->even = s->last;
	if (age) {
		s->older = s->aged;
		s->aged = s->last;
	}
}

static void end_collective(struct ana_skew_attribution *c, const struct collective *m, bool even)
{
	struct ana_skew_group *g = &c->group[m->group];
	bool age = !g->matched || m->latest - g->aged_at > c->step_ns;
	size_t i;

	for (i = 0; i < m->n; i++) {
		const struct ana_arrival *a = m->member[i];

		set_baselines(c, m, i, even, age);
		c->row[a->gpu].matched += !a->send;
		c->row[a->gpu].sent += a->send;
		if (a->common_end > c->row[a->gpu].last_end)
			c->row[a->gpu].last_end = a->common_end;
		if (a->common_end > c->last_ns)
			c->last_ns = a->common_end;
		if (a->common_end > g->last_end)
			g->last_end = a->common_end;
		if (a->common_start < c->first_ns)
			c->first_ns = a->common_start;
	}
	if (even) {
		g->even = true;
		g->even_at = m->latest;
	}
	if (age)
		g->aged_at = m->latest;
	g->matched++;
	c->matched += !m->member[0]->send;
}

static void refuse(struct ana_skew_attribution *c, const struct ana_arrival *a)
{
	struct ana_skew_row *r = &c->row[a->gpu];
	uint32_t group = ana_groups_usual(c->groups, a);
	bool upto;

	if (a->send) /* it may have met nobody */
		return;
	if (group != UINT32_MAX)
		c->group[group].refused++;
	r->refused++;
	r->refused_ns += consume(c, a->gpu, a->start, a->end, false, &upto);
}

/* All of them must have been there before the first could leave. */
static bool possible(const struct collective *m, int64_t tolerance_ns)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (m->member[i]->common_end + tolerance_ns < m->latest)
			return false;
	return true;
}

static void arrive(struct ana_skew_attribution *c, const struct collective *m)
{
	size_t i;

	for (i = 0; c->paths && i < m->n; i++)
		ana_paths_arrive(c->paths, m->member[i]->gpu, m->member[i]->cum_start);
}

static void take_collective(struct ana_skew_attribution *c, struct collective *m)
{
	size_t i;
	bool even;

	find_order(m);
	if (!possible(m, c->groups->tolerance_ns)) {
		for (i = 0; i < m->n; i++)
			refuse(c, m->member[i]);
		return;
	}
	even = all_even(c, m);
	arrive(c, m);
	test_lateness(c, m);
	c->row[m->member[m->last]->gpu].late += m->latest > m->reference;
	for (i = 0; i < m->n; i++)
		if (i != m->last)
			attribute_wait(c, m, i);
	end_collective(c, m, even);
}

/* What its end changes, but for what tells how often a rank is late. */
static void end_pair(struct ana_skew_attribution *c, const struct collective *m)
{
	struct ana_skew_group *g = &c->group[m->group];
	size_t i;

	for (i = 0; i < m->n; i++) {
		const struct ana_arrival *a = m->member[i];

		set_recent(c, a);
		c->row[a->gpu].sent++;
		if (a->common_end > c->row[a->gpu].last_end)
			c->row[a->gpu].last_end = a->common_end;
		if (a->common_end > g->last_end)
			g->last_end = a->common_end;
	}
	g->matched++;
}

void ana_skew_attribution_pair(void *attribution, struct ana_arrival *const member[2])
{
	struct ana_skew_attribution *c = attribution;
	bool swap = member[0]->gpu > member[1]->gpu;
	struct ana_arrival *by_gpu[2] = { member[swap], member[!swap] };
	struct collective m = { .member = by_gpu,
				.n = 2,
				.group = ana_groups_of_pair(c->groups, member) };

	find_order(&m);
	if (!possible(&m, c->groups->partners.tolerance_ns))
		return;
	arrive(c, &m);
	attribute_wait(c, &m, !m.last);
	end_pair(c, &m);
}

void ana_skew_attribution_cluster(void *attribution, struct ana_arrival *const *member, size_t n)
{
	struct ana_skew_attribution *c = attribution;
	struct ana_arrival *left[4096];
	struct collective m;
	uint32_t from = 0;
	size_t i;

	n = n < 4096 ? n : 4096;
	memcpy(left, member, n * sizeof(*left));
	m.member = left;
	while ((m.n = ana_groups_take(c->groups, m.member, n, &from, &m.group)) > 0) {
		take_collective(c, &m);
		m.member += m.n;
		n -= m.n;
	}
	for (i = 0; i < n; i++)
		refuse(c, m.member[i]);
}
