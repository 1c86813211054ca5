/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums over the processes of a GPU, and over the GPUs of a run.
 */
#include "run.h"

#include <stdlib.h>
#include "numbers.h"

/* The stream's use of the GPU; NULL: none. */
static const struct live_device *use_of(const struct live_stream *s, size_t gpu)
{
	for (size_t i = 0; i < s->devices; i++)
		if (s->device[i].used && s->device[i].gpu == gpu)
			return &s->device[i];
	return NULL;
}

/* Processes that share a GPU: their work adds up; it starves while the one that waits most does. */
static void join_share(struct live_share *sum, const struct live_share *one)
{
	if (!one->known)
		return;
	sum->busy_ppm = base_min(1000000, sum->busy_ppm + one->busy_ppm);
	sum->starved_ppm =
		base_min(1000000 - sum->busy_ppm, base_max(sum->starved_ppm, one->starved_ppm));
	sum->window_ns = base_max(sum->window_ns, one->window_ns);
	sum->known = true;
}

struct live_share live_gpu_share(const struct live_run *r, size_t gpu, int64_t now_ns)
{
	struct live_share sum = { 0 };

	for (size_t i = 0; i < r->streams; i++) {
		const struct live_stream *s = r->stream[i];
		if (!live_stream_alive(s, now_ns) || !use_of(s, gpu))
			continue;
		struct live_share one = live_stream_share(s);
		join_share(&sum, &one);
	}
	return sum;
}

int64_t live_gpu_idle_ns(const struct live_run *r, size_t gpu, int64_t now_ns)
{
	int64_t least = -1;

	for (size_t i = 0; i < r->streams; i++) {
		const struct live_stream *s = r->stream[i];
		const struct live_device *d = use_of(s, gpu);
		if (!d || !live_stream_alive(s, now_ns))
			continue;
		int64_t idle = s->unseen ? 0 : base_max(0, s->complete_ns - d->active_ns);
		least = least < 0 ? idle : base_min(least, idle);
	}
	return least;
}

static bool used_before(const struct live_stream *s, size_t device)
{
	for (size_t i = 0; i < device; i++)
		if (s->device[i].used && s->device[i].gpu == s->device[device].gpu)
			return true;
	return false;
}

static void add_uses(const struct live_stream *s, struct live_gpu_now *now)
{
	struct live_share share = live_stream_share(s);

	for (size_t i = 0; i < s->devices; i++) {
		const struct live_device *d = &s->device[i];
		int64_t idle = s->unseen ? 0 : base_max(0, s->complete_ns - d->active_ns);

		if (!d->used || used_before(s, i))
			continue;
		join_share(&now[d->gpu].share, &share);
		if (now[d->gpu].idle_ns < 0 || idle < now[d->gpu].idle_ns)
			now[d->gpu].idle_ns = idle;
	}
}

struct live_gpu_now *live_run_gpus_now(const struct live_run *r, int64_t now_ns)
{
	struct live_gpu_now *now = calloc(r->gpus + 1, sizeof(*now));

	for (size_t i = 0; now && i < r->gpus; i++)
		now[i].idle_ns = -1;
	for (size_t i = 0; now && i < r->streams; i++)
		if (live_stream_alive(r->stream[i], now_ns))
			add_uses(r->stream[i], now);
	return now;
}

int64_t live_gpu_starved_ns(const struct live_gpu *g)
{
	return base_min(g->wait_ns, base_max(0, g->held_ns - g->busy_ns));
}

int64_t live_totals_busy_ppm(const struct live_totals *t)
{
	return base_min(1000000, live_ppm(t->busy_ns, t->training_ns));
}

int64_t live_totals_starved_ppm(const struct live_totals *t)
{
	return base_min(live_ppm(t->training_starved_ns, t->training_ns),
			1000000 - live_totals_busy_ppm(t));
}

struct now_sums { /* over the GPUs alive */
	int64_t busy_ppm, starved_ppm, known;
};

static void add_alive(const struct live_gpu *g, const struct live_gpu_now *now,
		      struct live_totals *t, struct now_sums *n)
{
	int64_t idle = now->idle_ns, price = base_max(0, g->nano_usd_per_hour);
	struct live_share share = now->share;

	if (idle < 0)
		return;
	t->alive++;
	t->idle_ns = t->idle_ns < 0 ? idle : base_min(t->idle_ns, idle);
	t->gpu_idle_ns = base_max(t->gpu_idle_ns, idle);
	t->nano_usd_per_hour = live_add(t->nano_usd_per_hour, price);
	if (!share.known)
		return;
	n->busy_ppm += share.busy_ppm;
	n->starved_ppm += share.starved_ppm;
	n->known++;
	t->now.window_ns = base_max(t->now.window_ns, share.window_ns);
	t->starved_nano_usd_per_hour =
		live_add(t->starved_nano_usd_per_hour,
			 (int64_t)((__int128)price * share.starved_ppm / 1000000));
}

static void add_gpus(const struct live_run *r, int64_t now_ns, struct live_totals *t)
{
	struct live_gpu_now *now = live_run_gpus_now(r, now_ns);
	struct now_sums n = { 0 };

	t->priced = r->gpus > 0;
	for (size_t i = 0; i < r->gpus; i++) {
		const struct live_gpu *g = &r->gpu[i];
		int64_t starved = live_gpu_starved_ns(g);
		int64_t price = base_max(0, g->nano_usd_per_hour);
		t->priced &= g->nano_usd_per_hour >= 0;
		t->held_ns = live_add(t->held_ns, g->held_ns);
		t->busy_ns = live_add(t->busy_ns, base_min(g->busy_ns, g->held_ns));
		t->training_ns = live_add(t->training_ns, g->training_ns);
		t->training_starved_ns =
			live_add(t->training_starved_ns, base_min(g->training_wait_ns, starved));
		t->starved_ns = live_add(t->starved_ns, starved);
		t->nano_usd = live_add(t->nano_usd, live_amount(price, g->held_ns));
		t->starved_nano_usd = live_add(t->starved_nano_usd, live_amount(price, starved));
		if (now)
			add_alive(g, &now[i], t, &n);
	}
	free(now);
	t->now.known = n.known > 0;
	t->now.busy_ppm = n.known ? n.busy_ppm / n.known : 0;
	t->now.starved_ppm = n.known ? n.starved_ppm / n.known : 0;
	if (!t->priced)
		t->nano_usd = t->starved_nano_usd = t->nano_usd_per_hour =
			t->starved_nano_usd_per_hour = 0;
}

/* The last that was heard, on the clock of the saves. */
static int64_t newest_ns(const struct live_run *r)
{
	int64_t t = 0;

	for (size_t i = 0; i < r->gpus; i++)
		t = base_max(t, r->gpu[i].covered_ns);
	return t;
}

/* Since u->from_ns: of all GPUs, of one, in dollars. */
static void sum_unsaved(const struct live_run *r, const struct live_unsaved *u, int64_t *all,
			int64_t *most, int64_t *nano_usd)
{
	*all = *most = *nano_usd = 0;
	for (size_t i = 0; i < r->gpus; i++) {
		const struct live_gpu *g = &r->gpu[i];
		int64_t ns = live_gpu_unsaved_ns(g, u), price = base_max(0, g->nano_usd_per_hour);

		*all = live_add(*all, ns);
		*most = base_max(*most, ns);
		*nano_usd = live_add(*nano_usd, live_amount(price, ns));
	}
}

static void add_unsaved(const struct live_run *r, int64_t now_ns, struct live_totals *t)
{
	struct live_unsaved u = live_run_unsaved(r, now_ns);

	t->saving = u.under_way;
	if (!u.known)
		return;
	t->saved = u.saved;
	t->saved_bytes = u.saved_bytes;
	t->small = u.small;
	t->unsure = u.unsure;
	t->deleted = u.deleted;
	t->unmoved = u.unmoved;
	t->unsure_bytes = u.unsure_bytes;
	/* Saves are told at once, what GPUs were held a second later. */
	t->unsure_for_ns = u.unsure ? base_max(0, newest_ns(r) - u.unsure_ns) : -1;
	sum_unsaved(r, &u, &t->unsaved_ns, &t->unsaved_for_ns, &t->unsaved_nano_usd);
	u.from_ns = u.sure_ns;
	sum_unsaved(r, &u, &t->sure_ns, &t->sure_for_ns, &t->sure_nano_usd);
	if (!t->priced)
		t->unsaved_nano_usd = t->sure_nano_usd = 0;
}

static void add_stream(const struct live_stream *s, int64_t now_ns, struct live_totals *t)
{
	t->dropped += s->dropped;
	t->own_cpu_ns += s->own_cpu_ns;
	t->life_ns = live_add(t->life_ns, base_max(0, s->t_ns - s->first_ns));
	if (!live_stream_uses_gpu(s))
		return;
	t->streams++;
	if (!s->ended)
		t->quiet_ns = base_max(t->quiet_ns, base_max(0, now_ns - s->seen_ns));
	if (live_stream_alive(s, now_ns))
		t->lag_ns = base_max(t->lag_ns, live_stream_lag_ns(s));
}

void live_run_totals(const struct live_run *r, int64_t now_ns, struct live_totals *t)
{
	*t = (struct live_totals){ .gpus = r->gpus,
				   .idle_ns = -1,
				   .gpu_idle_ns = -1,
				   .quiet_ns = -1,
				   .lag_ns = -1,
				   .unsaved_ns = -1,
				   .unsaved_for_ns = -1,
				   .unsure_for_ns = -1 };
	for (size_t i = 0; i < r->streams; i++)
		add_stream(r->stream[i], now_ns, t);
	add_gpus(r, now_ns, t);
	add_unsaved(r, now_ns, t);
}
