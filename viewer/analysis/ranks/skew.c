/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of things: recorders for GPUs that may run collectives; after the walk clocks, groups,
 * attribution, verdicts; then the result.
 */
#include "skew.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/read/name_flags.h"
#include "ranks_result.h"

#define LATE_SHARE 100 /* of a step: later than that is late */
#define LATE_LEAST_NS 1000

/* Some name in the process's table is a collective's. */
static bool has_collectives(const struct ana_source *s)
{
	uint32_t n = wire_strtab_count(s->s->strings), i;

	for (i = 0; i <= n; i++)
		if (ana_name_flags(wire_strtab_get(s->s->strings, i, NULL)) & ANA_NAME_COMM)
			return true;
	return false;
}

static bool wants_recorder(const struct ana_device *d, const bool *has)
{
	size_t u;

	for (u = 0; u < d->uses; u++)
		if (has[d->use[u].source] && d->use[u].ops)
			return true;
	return false;
}

struct ana_collective_log *ana_skew_new_log(const struct ana_plan *p)
{
	return ana_collective_log_new(p->log_room, p->spill);
}

static int make_recorders(struct ana_plan *p, const bool *has, size_t recorders)
{
	size_t i;

	p->log_room = ANA_LOGS_BYTES / recorders;
	p->spill = ana_spill_new(NULL);
	if (!p->spill)
		return -ENOMEM;
	for (i = 0; i < p->devices; i++) {
		struct ana_device *d = &p->device[i];

		if (!wants_recorder(d, has))
			continue;
		d->recorder = calloc(1, sizeof(*d->recorder));
		if (!d->recorder)
			return -ENOMEM;
		d->recorder->unanswered_ns = INT64_MIN;
		d->recorder->log = ana_skew_new_log(p);
		if (!d->recorder->log)
			return -ENOMEM;
	}
	return 0;
}

int ana_skew_begin(struct ana_plan *p)
{
	bool *has = NULL;
	size_t i, recorders = 0;
	int err = 0;

	if (p->devices < 2)
		return 0;
	has = calloc(p->sources + 1, sizeof(*has));
	if (!has)
		return -ENOMEM;
	for (i = 0; i < p->sources; i++)
		has[i] = p->source[i].ops && has_collectives(&p->source[i]);
	for (i = 0; i < p->devices; i++)
		recorders += wants_recorder(&p->device[i], has);
	if (recorders >= 2)
		err = make_recorders(p, has, recorders);
	free(has);
	return err;
}

void ana_skew_fini(struct ana_plan *p)
{
	size_t i;

	for (i = 0; i < p->devices; i++) {
		struct ana_rank_recorder *s = p->device[i].recorder;

		if (!s)
			continue;
		ana_collective_log_free(s->log);
		ana_kernel_speed_fini(&s->speed);
		free(s);
		p->device[i].recorder = NULL;
	}
	ana_spill_free(p->spill);
	p->spill = NULL;
}

/* --- who takes part --- */

/* The process with most collectives on the GPU. */
static uint32_t source_of(const struct ana_collective_log *t)
{
	uint64_t best = 0, sum;
	uint32_t source = t->lane[0].source, i, k;

	for (i = 0; i < t->lanes; i++) {
		for (sum = 0, k = 0; k < t->lanes; k++)
			sum += t->lane[k].source == t->lane[i].source ? t->lane[k].count : 0;
		if (sum > best) {
			best = sum;
			source = t->lane[i].source;
		}
	}
	return source;
}

static int by_rank(const void *a, const void *b, void *plan)
{
	const struct ana_plan *p = plan;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const Wire__Hello *x = p->source[source_of(p->device[i].recorder->log)].hello;
	const Wire__Hello *y = p->source[source_of(p->device[k].recorder->log)].hello;
	bool has = x && x->has_rank, other = y && y->has_rank;

	if (has != other)
		return has ? -1 : 1;
	if (has && x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return i < k ? -1 : i > k;
}

static bool same_clock(const struct ana_source *a, const struct ana_source *b)
{
	if (a->imported || b->imported)
		return a->imported && b->imported && a->file == b->file;
	return a->hello && b->hello && !strcmp(a->hello->host, b->hello->host) &&
	       !strcmp(a->hello->boot_id, b->hello->boot_id);
}

static uint32_t host_of(struct ana_skew *k, uint32_t source)
{
	uint32_t h;

	for (h = 0; h < k->hosts; h++)
		if (same_clock(&k->plan->source[k->host_source[h]], &k->plan->source[source]))
			return h;
	k->host_source[k->hosts] = source;
	return k->hosts++;
}

static int gather(struct ana_skew *k)
{
	struct ana_plan *p = k->plan;
	size_t i;
	int err = 0;

	k->device = calloc(p->devices + 1, sizeof(*k->device));
	k->log = calloc(p->devices + 1, sizeof(*k->log));
	k->bucket = calloc(p->devices + 1, sizeof(*k->bucket));
	k->source = calloc(p->devices + 1, sizeof(*k->source));
	k->host = calloc(p->devices + 1, sizeof(*k->host));
	k->host_source = calloc(p->devices + 1, sizeof(*k->host_source));
	if (!k->device || !k->log || !k->bucket || !k->source || !k->host || !k->host_source)
		return -ENOMEM;
	for (i = 0; i < p->devices && !err; i++) {
		struct ana_rank_recorder *s = p->device[i].recorder;

		if (!s)
			continue;
		err = s->speed.err ? s->speed.err : ana_collective_log_finish(s->log);
		if (s->log->collectives + s->log->sends)
			k->device[k->gpus++] = (uint32_t)i;
	}
	if (k->gpus)
		qsort_r(k->device, k->gpus, sizeof(*k->device), by_rank, p);
	for (i = 0; i < k->gpus; i++) {
		k->log[i] = p->device[k->device[i]].recorder->log;
		k->source[i] = source_of(k->log[i]);
		k->host[i] = host_of(k, k->source[i]);
	}
	return err;
}

/* --- comm becomes comm.skew --- */

/* The first that ends after @start; as a rule that is @last, where the piece before it was. */
static size_t bucket_of(const struct ana_timeline *t, size_t last, int64_t start)
{
	size_t low = 0, high = t->count;

	if (last < high && t->bucket[last].start_ns <= start && start < t->bucket[last].end_ns)
		return last;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->bucket[mid].end_ns <= start)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void move_buckets(struct ana_timeline *t, size_t *last, int64_t start, int64_t end)
{
	size_t i = *last = bucket_of(t, *last, start);

	for (; i < t->count && t->bucket[i].start_ns < end; i++) {
		struct ana_bucket *b = &t->bucket[i];
		int64_t from = b->start_ns > start ? b->start_ns : start;
		int64_t to = b->end_ns < end ? b->end_ns : end;
		int64_t ns = to - from < b->classes[ANA_COMM] ? to - from : b->classes[ANA_COMM];

		b->classes[ANA_COMM] -= ns;
		b->classes[ANA_COMM_SKEW] += ns;
	}
}

static void move(void *arg, uint32_t gpu, int64_t start, int64_t end)
{
	struct ana_skew *k = arg;
	struct ana_gpu *g = &k->result->gpu[k->device[gpu]];
	int64_t ns = end - start;

	g->classes[ANA_COMM] -= ns;
	g->confidence[ANA_COMM][ANA_HIGH] -= ns;
	g->classes[ANA_COMM_SKEW] += ns;
	g->confidence[ANA_COMM_SKEW][k->hosts > 1 ? ANA_MEDIUM : ANA_HIGH] += ns;
	move_buckets(&k->result->timeline[k->device[gpu]], &k->bucket[gpu], start, end);
}

static int64_t worst_residual(const struct ana_skew *k)
{
	int64_t worst = 0;
	uint32_t h;

	for (h = 0; h < k->hosts; h++)
		if (k->align.host[h].aligned && k->align.host[h].residual_ns > worst)
			worst = k->align.host[h].residual_ns;
	return worst;
}

/* Without steps of their own: the time between two collectives of those who meet most often. */
static int64_t step_of(const struct ana_skew *k, int64_t step_ns)
{
	uint64_t most = 0;
	uint32_t i;

	if (step_ns > 0)
		return step_ns;
	for (i = 0; i < k->groups.groups; i++)
		if (k->groups.group[i].count > most)
			most = k->groups.group[i].count;
	if (most < 2 || k->groups.last_ns <= k->groups.first_ns)
		return 0;
	return (k->groups.last_ns - k->groups.first_ns) / (int64_t)(most - 1);
}

static int attribute(struct ana_skew *k, int64_t step_ns)
{
	struct ana_match_user user = { .cluster = ana_skew_attribution_cluster,
				       .pair = ana_skew_attribution_pair,
				       .exposed = ana_skew_attribution_exposed,
				       .arg = &k->attribution };
	struct ana_skew_attribution *c = &k->attribution;
	const struct ana_match match = { .what = ANA_MATCH_COLLECTIVES | ANA_MATCH_SENDS,
					 .log = k->log,
					 .logs = k->gpus,
					 .align = &k->align,
					 .first_lane = k->groups.first_lane,
					 .lanes = k->groups.lanes,
					 .key = k->groups.key,
					 .kins = &k->groups.kins,
					 .partners = &k->groups.partners,
					 .tolerance_ns = k->groups.tolerance_ns };
	int err;

	*c = (struct ana_skew_attribution){ .groups = &k->groups,
					    .align = &k->align,
					    .gpus = k->gpus,
					    .step_ns = step_of(k, step_ns),
					    .slack_ns = k->hosts > 1 ? 2 * worst_residual(k) : 0,
					    .skew = move,
					    .arg = k };
	c->late_ns = c->step_ns / LATE_SHARE;
	if (c->late_ns < LATE_LEAST_NS)
		c->late_ns = LATE_LEAST_NS;
	if (c->late_ns < 2 * c->slack_ns)
		c->late_ns = 2 * c->slack_ns;
	err = ana_skew_attribution_init(c);
	if (!err)
		err = ana_match_collectives(&match, &user);
	if (!err)
		err = c->err;
	if (!err)
		ana_skew_attribution_decide(c);
	return err;
}

static void skew_free(struct ana_skew *k)
{
	ana_skew_attribution_fini(&k->attribution);
	ana_groups_fini(&k->groups);
	ana_align_fini(&k->align);
	free(k->device);
	free(k->log);
	free(k->bucket);
	free(k->source);
	free(k->host);
	free(k->host_source);
}

int ana_skew_finish(struct ana_plan *p, struct ana_result *r, const struct ana_found *found,
		    int64_t step_ns)
{
	struct ana_skew k = { .plan = p, .result = r, .found = found };
	int err = gather(&k);

	if (err || k.gpus < 2)
		goto free;
	err = ana_align_find(&k.align, k.log, k.gpus, k.host, k.hosts);
	if (!err)
		err = ana_groups_learn(&k.groups, k.log, k.gpus, &k.align,
				       k.hosts > 1 ? 2 * worst_residual(&k) : 0);
	if (!err)
		err = attribute(&k, step_ns);
	if (!err)
		err = ana_ranks_result_make(&k);
free:
	skew_free(&k);
	return err;
}
