/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A unit is gathered, written or read as a whole, and only then put where it belongs.
 */
#include "kept_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/evidence/hotspots_kept.h"
#include "analysis/ranks/rank_recorder.h"
#include "analysis/ranks/skew.h"
#include "base/hash.h"

struct kept_gpu {
	struct ana_gpu gpu;
	struct ana_timeline timeline;
	struct ana_rank_recorder recorder;
};

struct unit {
	const struct ana_kept *k;
	struct kept_gpu *gpu;
	uint64_t *steps; /* by source */
	struct ana_found found;
};

/* ---- of which plan --------------------------------------------------------------------------- */

static uint64_t hash_spans(uint64_t h, const struct ana_spans *s)
{
	for (size_t i = 0; i < s->count; i++) {
		h = base_hash(h, &s->span[i].start, sizeof(s->span[i].start));
		h = base_hash(h, &s->span[i].end, sizeof(s->span[i].end));
	}
	return base_hash(h, &s->count, sizeof(s->count));
}

static uint64_t hash_device(uint64_t h, const struct ana_device *d)
{
	const int64_t number[] = { d->first_ns,		d->last_ns,  d->clock_ns,
				   (int64_t)d->ops,	d->imported, d->unseen,
				   d->recorder != NULL, d->ordinal,  (int64_t)d->uses };

	h = base_hash(h, number, sizeof(number));
	h = hash_spans(h, &d->held);
	h = hash_spans(h, &d->given);
	h = hash_spans(h, &d->lost);
	h = hash_spans(h, &d->unobserved);
	h = hash_spans(h, &d->stepped_down);
	h = hash_spans(h, &d->run_phases);
	return hash_spans(h, &d->contended);
}

static uint64_t hash_source(uint64_t h, const struct ana_source *s)
{
	const int64_t number[] = { s->pid,
				   s->start_ns,
				   s->end_ns,
				   (int64_t)s->ops,
				   (int64_t)s->calls,
				   (int64_t)s->events,
				   s->first_step_ns,
				   s->has_step,
				   s->has_optimizer,
				   (int64_t)s->s->frames,
				   (int64_t)s->s->bytes };

	h = base_hash(h, s->s->id, sizeof(s->s->id));
	return base_hash(h, number, sizeof(number));
}

uint64_t ana_kept_identity(const struct ana_kept *k)
{
	const struct ana_component *c = &k->plan->component[k->component];
	const uint64_t number[] = { ANA_RULES,		 sizeof(struct kept_gpu),
				    sizeof(struct unit), sizeof(struct ana_hotspot_row),
				    ANA_CLASSES,	 k->plan->sources,
				    k->plan->devices,	 k->component,
				    k->plan->components, c->sources,
				    c->devices };
	uint64_t h = base_hash_text(BASE_HASH, "12 " GPUSTARVE_VERSION);
	size_t i;

	h = base_hash(h, number, sizeof(number));
	for (i = 0; i < c->sources; i++)
		h = hash_source(h, &k->plan->source[c->source[i]]);
	for (i = 0; i < c->devices; i++)
		h = hash_device(h, &k->plan->device[c->device[i]]);
	return h;
}

/* ---- its parts ------------------------------------------------------------------------------- */

/* Names and facts of the GPU, and when it was held, come of the plan, and its judgement later. */
static void clear_gpu(struct ana_gpu *g)
{
	g->host = g->uuid = g->name = g->mig_profile = NULL;
	g->held = NULL;
	g->helds = 0;
	g->life = NULL;
	g->lives = 0;
	g->vacant = NULL;
	g->vacants = 0;
	g->vacancy = (struct ana_vacancy){ 0 };
	g->judgement = (struct ana_judgement){ 0 };
}

static bool is_time(int64_t ns)
{
	return ns >= -ANA_ARCHIVE_TIME_MAX && ns <= ANA_ARCHIVE_TIME_MAX;
}

/* @n parts of a whole that is @all at most: what is made of them adds them up. */
static bool are_parts(const int64_t *ns, int n, int64_t all)
{
	for (int i = 0; i < n; i++) {
		if (ns[i] < 0 || ns[i] > all)
			return false;
		all -= ns[i];
	}
	return true;
}

/* What is added to, or added up. */
static bool are_sums(const struct ana_gpu *g)
{
	const int64_t sum[] = { g->held_ns,	      g->busy_ns,	    g->compute_ns,
				g->comm_exposed_ns,   g->copy_exposed_ns,   g->idle_ns,
				g->empty_ns,	      g->queued_ns,	    g->loader_wait_ns,
				g->loader_exposed_ns, g->loader_outside_ns, g->input_kernel_ns,
				g->saving_after_ns,   g->no_work_after_ns,  g->last_end_ns,
				g->submitted_ns };

	for (size_t i = 0; i < sizeof(sum) / sizeof(sum[0]); i++)
		if (!is_time(sum[i]))
			return false;
	for (int c = 0; c < ANA_CLASSES; c++)
		if (!is_time(g->after_last_ns[c]))
			return false;
	for (int d = 0; d < ANA_COPY_DIRS; d++)
		if (!is_time(g->copies[d].ns) || !is_time(g->copies[d].exposed_ns))
			return false;
	return true;
}

void ana_kept_gpu(struct ana_gpu *g, struct ana_archive *a)
{
	clear_gpu(g);
	ana_archive_bytes(a, g, sizeof(*g));
	clear_gpu(g);
	ana_archive_check(a, is_time(g->span_ns) && is_time(g->held_start_ns) &&
				     is_time(g->held_end_ns) && are_sums(g) &&
				     g->span_unrecorded_ns >= 0 &&
				     g->span_unrecorded_ns <= g->span_ns);
	for (int b = 0; b < ANA_BANDS; b++)
		ana_archive_check(a, g->minutes[b] >= 0 && g->minutes[b] <= UINT32_MAX);
	ana_archive_check(a, are_parts(g->classes, ANA_CLASSES, ANA_ARCHIVE_TIME_MAX));
	for (int c = 0; c < ANA_CLASSES; c++)
		ana_archive_check(a, are_parts(g->confidence[c], ANA_CONFIDENCES, g->classes[c]));
	ana_archive_check(a, are_parts(g->work.ns, ANA_WORKS, ANA_ARCHIVE_TIME_MAX));
	ana_archive_check(a, are_parts(g->skew_causes, ANA_CLASSES, g->classes[ANA_COMM_SKEW]));
}

void ana_kept_quality(struct ana_quality *q, struct ana_archive *a)
{
	ana_archive_field(a, q->invalid);
	ana_archive_field(a, q->ops_before_launch);
	ana_archive_field(a, q->launches_expired);
	ana_archive_field(a, q->graphs_lost);
	ana_archive_field(a, q->frames_missing);
	ana_archive_field(a, q->samples);
	ana_archive_field(a, q->samples_torn);
	ana_archive_field(a, q->samples_without_python);
	ana_archive_field(a, q->samples_lost);
	ana_archive_time(a, &q->gap_unsampled_ns);
}

static void archive_found(struct ana_found *f, size_t gpus, struct ana_archive *a)
{
	ana_top_archive(&f->top, gpus, a);
	ana_kept_quality(&f->quality, a);
	ana_hotspots_archive(&f->hotspots, a);
	ana_loaders_archive(&f->loaders, a);
	ana_durations_archive(&f->lengths.all, a);
	ana_durations_archive(&f->lengths.fed, a);
	ana_archive_field(a, f->skipped);
	ana_archive_field(a, f->hints);
	f->step_source =
		(enum ana_step_source)ana_archive_number(a, f->step_source, ANA_STEPS_BATCHES);
	ana_archive_time(a, &f->loader_wait_ns);
	ana_archive_bool(a, &f->forgot);
}

static const char *text_of(const void *arg, uint32_t source, uint32_t name)
{
	const struct ana_plan *p = arg;

	return source < p->sources ? wire_strtab_get(p->source[source].s->strings, name, NULL)
				   : NULL;
}

static void archive_recorder(struct ana_rank_recorder *r, const struct ana_plan *p,
			     struct ana_archive *a)
{
	ana_archive_field(a, r->unanswered_ns);
	ana_kernel_speed_archive(&r->speed, (uint32_t)p->sources, a);
	if (!r->log) {
		r->log = ana_skew_new_log(p);
		a->err = r->log ? a->err : -ENOMEM;
	}
	if (r->log)
		ana_collective_log_archive(r->log, a, text_of, p);
}

static void archive_unit(struct unit *u, struct ana_archive *a)
{
	const struct ana_plan *p = u->k->plan;
	const struct ana_component *c = &p->component[u->k->component];
	uint64_t of = ana_kept_identity(u->k), was = of;
	size_t i;

	ana_archive_field(a, was);
	ana_archive_check(a, was == of);
	for (i = 0; i < c->sources && !a->err; i++)
		ana_archive_field(a, u->steps[i]);
	for (i = 0; i < c->devices && !a->err; i++) {
		ana_kept_gpu(&u->gpu[i].gpu, a);
		ana_timeline_archive(&u->gpu[i].timeline, a);
		if (p->device[c->device[i]].recorder && !a->err)
			archive_recorder(&u->gpu[i].recorder, p, a);
	}
	if (!a->err)
		archive_found(&u->found, p->devices, a);
	if (a->reading)
		ana_archive_check(a, a->pos == a->len);
}

static int unit_init(struct unit *u, const struct ana_kept *k)
{
	const struct ana_component *c = &k->plan->component[k->component];

	*u = (struct unit){ .k = k };
	u->gpu = calloc(c->devices + 1, sizeof(*u->gpu));
	u->steps = calloc(c->sources + 1, sizeof(*u->steps));
	return u->gpu && u->steps ? 0 : -ENOMEM;
}

/* ---- written --------------------------------------------------------------------------------- */

static int gather(struct unit *u)
{
	const struct ana_kept *k = u->k;
	const struct ana_component *c = &k->plan->component[k->component];
	size_t i;
	int err = 0;

	for (i = 0; i < c->sources; i++)
		u->steps[i] = k->plan->source[c->source[i]].steps;
	for (i = 0; i < c->devices && !err; i++) {
		struct ana_rank_recorder *r = k->plan->device[c->device[i]].recorder;

		u->gpu[i].gpu = k->result->gpu[c->device[i]];
		u->gpu[i].timeline = k->result->timeline[c->device[i]];
		if (!r)
			continue;
		err = r->speed.err ? r->speed.err : ana_collective_log_finish(r->log);
		u->gpu[i].recorder = *r;
	}
	u->found = *k->found;
	return err;
}

int ana_kept_write(const struct ana_kept *k, uint8_t **bytes, size_t *len)
{
	struct ana_archive a = { .reading = false };
	struct unit u;
	int err = unit_init(&u, k);

	if (!err)
		err = gather(&u);
	if (!err)
		archive_unit(&u, &a);
	free(u.gpu); /* what they hold is borrowed */
	free(u.steps);
	err = err ? err : a.err;
	if (err) {
		free(a.at);
		return err;
	}
	*bytes = a.at;
	*len = a.len;
	return 0;
}

/* ---- read ------------------------------------------------------------------------------------ */

static void found_fini(struct ana_found *f)
{
	ana_top_fini(&f->top);
	ana_durations_fini(&f->lengths.all);
	ana_durations_fini(&f->lengths.fed);
	ana_hotspots_fini(&f->hotspots);
	ana_loaders_fini(&f->loaders);
}

static void unit_fini(struct unit *u)
{
	const struct ana_component *c = &u->k->plan->component[u->k->component];

	for (size_t i = 0; u->gpu && i < c->devices; i++) {
		free(u->gpu[i].timeline.bucket);
		ana_collective_log_free(u->gpu[i].recorder.log);
		ana_kernel_speed_fini(&u->gpu[i].recorder.speed);
	}
	found_fini(&u->found);
	free(u->gpu);
	free(u->steps);
}

void ana_kept_put_gpu(struct ana_gpu *to, struct ana_gpu *from)
{
	from->host = to->host;
	from->uuid = to->uuid;
	from->name = to->name;
	from->mig_profile = to->mig_profile;
	from->held = to->held;
	from->helds = to->helds;
	from->life = to->life;
	from->lives = to->lives;
	from->vacant = to->vacant;
	from->vacants = to->vacants;
	from->vacancy = to->vacancy;
	*to = *from;
}

/* What was read goes where a walk would have put it; what stood there goes back to be freed. */
static void put_in_place(struct unit *u)
{
	const struct ana_kept *k = u->k;
	const struct ana_component *c = &k->plan->component[k->component];
	size_t i;

	for (i = 0; i < c->sources; i++)
		k->plan->source[c->source[i]].steps = u->steps[i];
	for (i = 0; i < c->devices; i++) {
		struct ana_rank_recorder *r = k->plan->device[c->device[i]].recorder;
		struct ana_timeline *t = &k->result->timeline[c->device[i]], was = *t;

		ana_kept_put_gpu(&k->result->gpu[c->device[i]], &u->gpu[i].gpu);
		*t = u->gpu[i].timeline;
		u->gpu[i].timeline = was;
		if (r) {
			struct ana_rank_recorder before = *r;

			*r = u->gpu[i].recorder;
			u->gpu[i].recorder = before;
		}
	}
	*k->found = u->found;
	u->found = (struct ana_found){ 0 };
}

int ana_kept_read(const struct ana_kept *k, const uint8_t *bytes, size_t len)
{
	/* never written to: the same object serves both directions */
	struct ana_archive a = { .reading = true, .at = (uint8_t *)bytes, .len = len };
	struct unit u;
	int err = unit_init(&u, k);

	if (!err) {
		archive_unit(&u, &a);
		err = a.err;
	}
	if (!err)
		put_in_place(&u);
	unit_fini(&u);
	return err;
}
