/* SPDX-License-Identifier: Apache-2.0 */
#include "kind.h"

#include <string.h>
#include "analysis/evidence/no_work.h"
#include "base/minmax.h"
#include "base/units.h"

/* Waits for requests, or a person, in the time the GPUs were held, from where a program serves. */
#define SERVES_PPM 20000
/*
 * ... and one that takes a loader's batches: beside a server of metrics each time in which its next
 * thread is not begun yet may look like such a wait.
 */
#define SERVES_BESIDE_PPM 100000
/* Of compute in kernels whose names tell what they do, from where those not there count. */
#define NAMED_PPM 800000

/* A word of a kernel's command, whoever started it: "ipykernel_launcher", with or without a path. */
static bool names_ipykernel(const char *word)
{
	static const char *const kernel[] = { "ipykernel", "ipykernel_launcher",
					      "ipykernel_launcher.py" };
	const char *slash = strrchr(word, '/');

	for (size_t i = 0; i < sizeof(kernel) / sizeof(kernel[0]); i++)
		if (!strcmp(slash ? slash + 1 : word, kernel[i]))
			return true;
	return false;
}

static bool is_ipykernel(const Wire__Hello *h)
{
	for (size_t i = 0; i < h->n_command; i++)
		if (names_ipykernel(h->command[i]))
			return true;
	return h->ipykernel;
}

static bool has_ipykernel(const struct view_trace *t)
{
	for (size_t i = 0; t && i < t->streams; i++)
		if (t->stream[i].hello && is_ipykernel(t->stream[i].hello))
			return true;
	return false;
}

static bool has_torch(const struct view_trace *t)
{
	for (size_t i = 0; t && i < t->streams; i++) {
		const Wire__Hello *h = t->stream[i].hello;
		if (h && h->torch_version && h->torch_version[0])
			return true;
	}
	return false;
}

/* Of those that a model of whatever sort has. */
static bool is_dense(int kind)
{
	return kind == FACTS_KIND_MATMUL || kind == FACTS_KIND_ATTENTION ||
	       kind == FACTS_KIND_CONVOLUTION;
}

/* A model ran: some are its own, and the names of nearly all tell what they do. */
static bool is_named(const struct ana_work *w)
{
	int64_t all = 0, named = 0;
	bool dense = false;

	for (int i = 0; i < ANA_WORKS; i++) {
		int kind = i / FACTS_PRECISIONS;
		all += w->ns[i];
		dense |= is_dense(kind) && w->ns[i] > 0;
		named += kind == FACTS_KIND_UNKNOWN || kind == FACTS_KIND_GRAPH ? 0 : w->ns[i];
	}
	return dense && base_ppm(named, all) >= NAMED_PPM;
}

static void sign(struct view_kind *k, enum facts_run_sign s)
{
	k->sign[k->signs++] = s;
}

static bool trains(struct view_kind *k, uint8_t hints)
{
	if (hints & ANA_HINT_STEPS)
		sign(k, FACTS_SIGN_STEPS);
	if (hints & ANA_HINT_OPTIMIZER)
		sign(k, FACTS_SIGN_OPTIMIZER);
	if (hints & ANA_HINT_BACKWARD)
		sign(k, FACTS_SIGN_BACKWARD);
	if (hints & ANA_HINT_GRADIENTS)
		sign(k, FACTS_SIGN_GRADIENTS);
	return hints &
	       (ANA_HINT_STEPS | ANA_HINT_OPTIMIZER | ANA_HINT_BACKWARD | ANA_HINT_GRADIENTS);
}

/* Of host.no_work, what was at a terminal. */
static int64_t person_ns(const struct ana_result *r)
{
	int64_t ns = 0;

	for (size_t i = 0; i < r->hotspots; i++) {
		const struct ana_hotspot *h = &r->hotspot[i];

		if (h->class == ANA_HOST_NO_WORK && h->target &&
		    ana_no_work_terminal(
			    (struct ana_text){ h->target, (uint32_t)strlen(h->target) }))
			ns += h->ns + h->nearby_ns;
	}
	return ns;
}

static bool converses(struct view_kind *k, const struct ana_result *r)
{
	if (base_ppm(person_ns(r), r->gpu_ns) < SERVES_PPM)
		return false;
	sign(k, FACTS_SIGN_PERSON);
	return true;
}

/*
 * Of host.no_work, what came before more work did: behind the last kernel a program that is done
 * may sleep.
 */
static int64_t worked_on_ns(const struct ana_result *r)
{
	int64_t ns = r->classes[ANA_HOST_NO_WORK];

	for (size_t i = 0; i < r->gpus; i++)
		ns -= base_min(ns, r->gpu[i].no_work_after_ns);
	return ns;
}

/* A notebook's kernel waits for its cells. */
static bool infers(struct view_kind *k, const struct ana_result *r, bool notebook)
{
	int64_t no_work = worked_on_ns(r);
	int64_t requests = no_work - base_min(no_work, person_ns(r));
	int64_t least = r->batches ? SERVES_BESIDE_PPM : SERVES_PPM;
	bool serves = !notebook && base_ppm(requests, r->gpu_ns) >= least;

	if (r->hints & ANA_HINT_GENERATES)
		sign(k, FACTS_SIGN_GENERATES);
	if (serves)
		sign(k, FACTS_SIGN_REQUESTS);
	return serves || r->hints & ANA_HINT_GENERATES;
}

/*
 * torch tells of each optimizer; so where it ran none, and all is seen, there was none. Of one that
 * is written by hand nothing but its backward passes may tell.
 */
static bool evaluates(struct view_kind *k, const struct ana_result *r, const struct view_trace *t)
{
	if (!r->batches || !has_torch(t) || !is_named(&r->work) || !(r->hints & ANA_HINT_WATCHED) ||
	    base_ppm(r->quality.unobserved_ns, r->gpu_ns) >= SERVES_PPM)
		return false;
	sign(k, FACTS_SIGN_FORWARD);
	return true;
}

void summary_make_kind(struct view_summary *s, const struct view_trace *t)
{
	struct view_kind *k = &s->kind;
	bool notebook = has_ipykernel(t);

	if (notebook)
		sign(k, FACTS_SIGN_IPYKERNEL);
	if (trains(k, s->result->hints))
		k->kind = FACTS_RUN_TRAINING;
	else if (!notebook && converses(k, s->result))
		k->kind = FACTS_RUN_INTERACTIVE;
	else if (infers(k, s->result, notebook))
		k->kind = FACTS_RUN_INFERENCE;
	else if (evaluates(k, s->result, t))
		k->kind = FACTS_RUN_EVALUATION;
	if (notebook)
		k->kind = FACTS_RUN_INTERACTIVE;
	for (size_t g = 0; g < s->result->gpus; g++)
		for (int c = 0; c < ANA_CLASSES; c++)
			ana_sum(&k->after_last[c], s->result->gpu[g].after_last_ns[c]);
	for (int c = 0; c < ANA_CLASSES; c++)
		ana_sum(&k->after_last_ns, k->after_last[c]);
	for (size_t g = 0; g < s->result->gpus; g++)
		ana_sum(&k->no_work_after_ns, s->result->gpu[g].no_work_after_ns);
}
