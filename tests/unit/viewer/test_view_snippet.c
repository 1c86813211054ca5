/* SPDX-License-Identifier: Apache-2.0 */
/* The call that a piece of advice comes to: whose it is, and its number. */
#include "harness.h"
#include "facts/feeder.h"
#include "findings/snippet.h"
#include "view_made.h"
#include "wire/evidence.h"

#define H100 "NVIDIA H100 80GB HBM3"

static struct view_summary *made(void)
{
	return made_summary_of(made_starved(NULL), H100, 6880000000LL);
}

/* Of one piece of advice, in a summary that has no other. */
static const char *change(struct view_summary *s, struct view_advice a)
{
	s->advice = base_arena_alloc(&s->mem, sizeof(a));
	s->advice[0] = a;
	s->advices = 1;
	view_snippets_add(s);
	return s->advice[0].change;
}

static struct view_advice about(enum ana_class c)
{
	return (struct view_advice){ .id = "some", .class = c, .action = "", .brief = "" };
}

static void test_workers(void)
{
	struct view_summary *s = made();
	struct view_advice a = about(ANA_INPUT_FETCH);

	a.with_need = true;
	s->loader.need.advised = 6;
	EXPECT_STR(change(s, a), "DataLoader(..., num_workers=6)");
	s->loader.facts.workers = 0;
	EXPECT_STR(change(s, a), "DataLoader(..., num_workers=6, persistent_workers=True)");
	view_summary_free(s);
}

/* The line that a loader was made at is that of the call, unless a library made it. */
static void test_place(void)
{
	struct view_summary *s = made();
	struct view_advice a = about(ANA_INPUT_H2D);
	struct view_hotspot at;

	a.change = "DataLoader(..., pin_memory=True)";
	EXPECT(!view_change_at(s, &a, &at));
	s->result->loader[0].made_file = strdup("/srv/train.py");
	s->result->loader[0].made_line = 45;
	REQUIRE(view_change_at(s, &a, &at));
	EXPECT_STR(at.file, "/srv/train.py");
	EXPECT_UINT(at.line, 45);
	a.change = "Pool(processes=4)"; /* another call's */
	EXPECT(!view_change_at(s, &a, &at));
	a.change = NULL;
	EXPECT(!view_change_at(s, &a, &at));
	free(s->result->loader[0].made_file);
	s->result->loader[0].made_file = strdup("/x/site-packages/lightning/data.py");
	a.change = "DataLoader(..., pin_memory=True)";
	EXPECT(!view_change_at(s, &a, &at));
	view_summary_free(s);
}

static void test_settings(void)
{
	struct view_summary *s = made();
	struct ana_loader_facts *l = &s->result->loader[0];
	struct view_advice locked = about(ANA_INPUT_PIPELINE), without = about(ANA_INPUT_HANDOFF);

	REQUIRE(s->result->loaders && l->kind);
	l->known =
		ANA_LOADER_WORKERS | ANA_LOADER_PIN | ANA_LOADER_PREFETCH | ANA_LOADER_PERSISTENT;
	l->workers = 4;
	l->prefetch = 2;
	l->iterators = 3;
	l->pin = l->persistent = false;
	EXPECT_STR(change(s, about(ANA_INPUT_EPOCH)), "DataLoader(..., persistent_workers=True)");
	EXPECT_STR(change(s, about(ANA_INPUT_H2D)), "DataLoader(..., pin_memory=True)");
	EXPECT_STR(change(s, about(ANA_INPUT_PIPELINE)), "DataLoader(..., prefetch_factor=4)");
	locked.id = "worker-lock";
	EXPECT(!change(s, locked));
	EXPECT(!change(s, about(ANA_INPUT_HANDOFF)));
	without.id = "no-workers";
	EXPECT_STR(change(s, without), "DataLoader(..., num_workers=0)");
	l->persistent = true; /* torch refuses these without workers */
	l->prefetch = 4;
	EXPECT_STR(
		change(s, without),
		"DataLoader(..., num_workers=0, prefetch_factor=None, persistent_workers=False)");
	EXPECT(!change(s, about(ANA_HOST_GC)));
	l->pin = l->persistent = true;
	EXPECT(!change(s, about(ANA_INPUT_H2D)));
	EXPECT(!change(s, about(ANA_INPUT_EPOCH)));
	l->workers = 0;
	EXPECT(!change(s, about(ANA_INPUT_PIPELINE)));
	view_summary_free(s);
}

/* By the stack of who made batches; threads that compute in Python become processes. */
static void test_makers(void)
{
	static const struct {
		enum facts_feeder feeder;
		enum ana_class class;
		const char *call;
	} cases[] = {
		{ FACTS_FEEDER_POOL, ANA_INPUT_PREP, "Pool(processes=5)" },
		{ FACTS_FEEDER_THREAD_POOL, ANA_INPUT_FETCH, "ThreadPoolExecutor(max_workers=5)" },
		{ FACTS_FEEDER_TF_DATA, ANA_INPUT_PREP, "dataset.map(..., num_parallel_calls=5)" },
		{ FACTS_FEEDER_THREADS, ANA_INPUT_FETCH, "[Thread(target=...) for _ in range(5)]" },
		{ FACTS_FEEDER_THREADS, ANA_INPUT_PREP, "[Process(target=...) for _ in range(5)]" },
		{ FACTS_FEEDER_ZARR, ANA_INPUT_FETCH,
		  "zarr.config.set({\"threading.max_workers\": 5})" },
		{ FACTS_FEEDER_RAY, ANA_INPUT_FETCH, NULL },
		{ FACTS_FEEDER_NONE, ANA_INPUT_FETCH, NULL },
	};
	struct view_summary *s = made();

	s->finding = base_arena_alloc(&s->mem, sizeof(*s->finding));
	s->findings = 1;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct view_advice a = about(cases[i].class);

		a.makers = 5;
		a.makers_now = 2;
		s->finding[0] = (struct view_finding){ .class = cases[i].class, .ns = 1 };
		s->finding[0].where.known = true;
		s->finding[0].where.feeder = (uint8_t)cases[i].feeder;
		if (cases[i].call)
			EXPECT_STR(change(s, a), cases[i].call);
		else
			EXPECT(!change(s, a));
		a.makers_now = 0; /* the trainer itself */
		EXPECT_STR(change(s, a), "DataLoader(..., num_workers=5, persistent_workers=True)");
	}
	view_summary_free(s);
}

/*
 * A number in each call that has one, and nothing that markdown or a shell would take for its own.
 */
static void test_calls(void)
{
	for (int i = 1; i < FACTS_FEEDERS; i++) {
		const char *call = facts_feeders[i].call;

		if (!call)
			continue;
		EXPECT(strchr(call, '#') && strchr(call, '#') == strrchr(call, '#'));
		EXPECT(!strpbrk(call, "`\n<&"));
	}
}

int main(void)
{
	return RUN(test_workers, test_place, test_settings, test_makers, test_calls);
}
