/* SPDX-License-Identifier: Apache-2.0 */
/* Advice for batches that are made soon and take long from a worker to the main process. */
#include <inttypes.h>
#include <string.h>

#include "advice.h"
#include "findings.h"
#include "loader.h"
#include "base/minmax.h"
#include "base/units.h"
#include "wire/evidence.h"

/* of the way that a GPU waits for: making a batch takes no more than this part of it */
#define CHEAP_PART 2
#define MORE_PART 10 /* of batches: copies of something else, as of a model at the start */
/* a batch of a few tensors is sooner here; of hundreds, which take ten times that, it is not */
#define FEW_NS 3000000

/* What the loader's workers are waited for: batches, and epochs that start them. */
static int64_t waits_ns(const struct view_summary *s)
{
	int64_t ns = view_advice_ns(s, ANA_INPUT_EPOCH);

	for (int c = 0; c < ANA_CLASSES; c++)
		if (ana_class_wants_workers(c))
			view_cost_add(&ns, view_advice_ns(s, (enum ana_class)c));
	return ns;
}

static int64_t way_ns(const struct view_summary *s)
{
	return view_loader_each_ns(s, view_advice_ns(s, ANA_INPUT_HANDOFF));
}

/*
 * Pinning would come along into the main process, and how long it takes is not recorded. Making a
 * batch counts with what it waited for a CPU, for the main process may do so as well.
 */
bool view_advice_without_workers(const struct view_summary *s)
{
	const struct ana_loader_facts *l = view_loader_facts(s);
	const struct view_loader *v = &s->loader;

	if (!l || !v->has_need || !l->workers || !l->kind || strcmp(l->kind, "torch") != 0 ||
	    !(l->known & ANA_LOADER_PIN) || l->pin || v->fetch_ns <= 0 ||
	    view_advice_more_workers(s) || view_advice_more_cores(s))
		return false;
	return v->fetch_ns <= way_ns(s) / CHEAP_PART &&
	       view_advice_ns(s, ANA_INPUT_HANDOFF) >= waits_ns(s) / 2 &&
	       view_loader_inline_ns(s) < waits_ns(s);
}

/*
 * What a worker takes for a batch has shared memory in it, which the main process does without: it
 * may take less, and next to nothing. How much more it takes beside what it does already is not
 * known.
 */
static int64_t least_ns(const struct view_summary *s, int64_t waits, int64_t then)
{
	const struct view_worker_facts *f = &s->loader.facts;

	if (f->fetch_delay_ns > f->fetch_ns / VIEW_LACK_PART)
		return 0;
	return (waits - then) / VIEW_SURE_PART;
}

/*
 * The GPU gets each batch in one copy, and it is too short on its way to be many tensors: what is
 * one already cannot be fewer. (The copy alone does not tell: the main process may have joined
 * them.)
 */
static bool is_one_tensor(const struct view_summary *s)
{
	const struct ana_result *r = s->result;
	uint64_t batches = r->batches - base_min(r->unrecorded.batches, r->batches);
	uint64_t copies = r->copies[ANA_H2D].count;

	return copies && copies <= batches + batches / MORE_PART && way_ns(s) <= FEW_NS;
}

static void take_them_ahead(struct view_summary *s, struct view_advice *a)
{
	const struct ana_loader_facts *l = view_loader_facts(s);
	bool pinned = l && l->known & ANA_LOADER_PIN && l->pin;
	base_unit way;

	a->brief = pinned ? "larger batches, of which fewer come"
			  : "pin_memory=True, or larger batches";
	a->action = base_arena_printf(
		&s->mem,
		"a batch goes to the GPU in one copy and is on its way for %s, so it is few tensors already: "
		"%smake batches larger, of which fewer have to come",
		base_duration(way, way_ns(s)),
		pinned ? ""
		       : "set pin_memory=True, so that a thread takes batches from the workers "
			 "while a step goes on, or ");
}

static void make_them_here(struct view_summary *s, struct view_advice *a)
{
	int64_t waits = waits_ns(s), then = view_loader_inline_ns(s);
	base_unit make, way, all, left;

	base_duration(make, s->loader.fetch_ns);
	base_duration(way, way_ns(s));
	a->id = "no-workers";
	a->title = "Make batches in the main process";
	a->brief = base_arena_printf(
		&s->mem,
		"num_workers=0, batches made in the main process (%s each, their way from a worker %s)",
		make, way);
	a->action = base_arena_printf(
		&s->mem,
		"make batches in the main process: num_workers=0 (a batch takes %s to make, its way from a "
		"worker %s), without prefetch_factor, persistent_workers, timeout and "
		"multiprocessing_context, which go with workers%s",
		make, way,
		is_one_tensor(s) ? ""
				 : "; or send few large tensors instead of many small objects");
	a->why = base_arena_printf(
		&s->mem,
		"%s. The GPU%s waited %s for all that workers were to bring, and would wait %s if "
		"batches then took as long as they take a worker",
		a->why, s->result->gpus > 1 ? "s" : "", base_duration(all, waits),
		base_duration(left, then));
	a->saving_nano_usd = base_div_even((__int128)a->saving_nano_usd * waits, a->saving_ns);
	a->saving_ns = waits;
	a->saving_least_ns = least_ns(s, waits, then);
}

bool view_advise_handoff(struct view_summary *s, struct view_advice *a)
{
	const struct view_finding *f = view_finding_of(s, a->class);
	const struct ana_loader_facts *l = view_loader_facts(s);

	if (view_advice_without_workers(s))
		make_them_here(s, a);
	else if (is_one_tensor(s))
		take_them_ahead(s, a);
	else if (f && f->where.role == WIRE_ROLE_PIN)
		a->action = "the pin thread is the bottleneck: send few large tensors instead of "
			    "many small ones, and smaller types (uint8 until the GPU)";
	else if (l && l->known & ANA_LOADER_PIN && l->pin)
		a->action = "send few large tensors instead of many small objects, and smaller "
			    "types (uint8 until the GPU)";
	return true;
}
