/* SPDX-License-Identifier: Apache-2.0 */
#include "snippet.h"

#include <inttypes.h>
#include <string.h>
#include "facts/feeder.h"
#include "findings.h"
#include "loader.h"
#include "reads.h"
#include "words.h"

#define LOADER "DataLoader("

/* "#" stands for the number. */
static const char *with_number(struct view_summary *s, const char *call, int64_t n)
{
	size_t before = strcspn(call, "#");

	return base_arena_printf(&s->mem, "%.*s%" PRId64 "%s", (int)before, call, n,
				 call + before + (call[before] == '#'));
}

/* More workers, or the first ones, which then outlive the epoch. */
static const char *workers(struct view_summary *s)
{
	const struct view_loader *v = &s->loader;

	return with_number(s,
			   v->facts.workers
				   ? "DataLoader(..., num_workers=#)"
				   : "DataLoader(..., num_workers=#, persistent_workers=True)",
			   view_loader_wants_cores(s) ? v->need.needed : v->need.advised);
}

/* Threads that compute in Python share its lock: more of them make no more. */
static const char *makers(struct view_summary *s, const struct view_advice *a)
{
	const struct view_finding *f = view_finding_of(s, a->class);
	enum facts_feeder feeder = f ? (enum facts_feeder)f->where.feeder : FACTS_FEEDER_NONE;

	if (!a->makers_now)
		return with_number(s, "DataLoader(..., num_workers=#, persistent_workers=True)",
				   a->makers);
	if (a->class == ANA_INPUT_PREP && feeder == FACTS_FEEDER_THREADS)
		feeder = FACTS_FEEDER_PROCESS;
	if (!facts_feeders[feeder].call)
		return NULL;
	return with_number(s, facts_feeders[feeder].call, a->makers);
}

/* torch refuses what goes with workers where there are none. */
static const char *no_workers(struct view_summary *s, const struct ana_loader_facts *l)
{
	return base_arena_printf(
		&s->mem, "DataLoader(..., num_workers=0%s%s)",
		l->known & ANA_LOADER_PREFETCH && l->prefetch != 2 ? ", prefetch_factor=None" : "",
		l->known & ANA_LOADER_PERSISTENT && l->persistent ? ", persistent_workers=False"
								  : "");
}

/* As view_advise_epoch, _h2d, _pipeline and _handoff decide. */
static const char *setting(struct view_summary *s, const struct view_advice *a)
{
	const struct ana_loader_facts *l = view_loader_facts(s);

	if (!l || !l->kind || strcmp(l->kind, "torch") != 0)
		return NULL;
	switch (a->class) {
	case ANA_INPUT_EPOCH:
		return l->iterators > 1 && l->known & ANA_LOADER_WORKERS && l->workers &&
				       !(l->known & ANA_LOADER_PERSISTENT && l->persistent)
			       ? "DataLoader(..., persistent_workers=True)"
			       : NULL;
	case ANA_INPUT_H2D:
		return l->known & ANA_LOADER_PIN && !l->pin ? "DataLoader(..., pin_memory=True)"
							    : NULL;
	case ANA_INPUT_PIPELINE:
		if (strcmp(a->id, "worker-lock") == 0 || !(l->known & ANA_LOADER_PREFETCH) ||
		    !l->workers)
			return NULL;
		return with_number(s, "DataLoader(..., prefetch_factor=#)",
				   l->prefetch < 2 ? 4 : (int64_t)l->prefetch * 2);
	case ANA_INPUT_HANDOFF:
		return view_advice_without_any(a) ? no_workers(s, l) : NULL;
	default:
		return NULL;
	}
}

/*
 * What is read one by one is read at once. Where torch's own code was seen to launch no call is to
 * be changed, one is to be added.
 */
static const char *launches(const struct view_summary *s, const struct view_advice *a)
{
	const struct view_finding *f = view_finding_of(s, a->class);

	if (a->class == ANA_HOST_DISPATCH && view_reads_of_step(s))
		return "values = torch.stack(results).tolist()";
	return a->class == ANA_HOST_DISPATCH && f && view_words_training(&f->where)
		       ? "model = torch.compile(model)"
		       : NULL;
}

bool view_change_at(const struct view_summary *s, const struct view_advice *a,
		    struct view_hotspot *at)
{
	return a->change && !strncmp(a->change, LOADER, strlen(LOADER)) &&
	       view_loader_made_at(s, at);
}

void view_snippets_add(struct view_summary *s)
{
	for (size_t i = 0; i < s->advices; i++) {
		struct view_advice *a = &s->advice[i];

		if (a->with_need)
			a->change = workers(s);
		else if (a->makers)
			a->change = makers(s, a);
		else
			a->change = launches(s, a) ? launches(s, a) : setting(s, a);
	}
}
