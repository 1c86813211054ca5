/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings with places, and advice fitted to the evidence: sums, ranks, words, and what must not be
 * advised.
 */
#include "findings/finding_sentence.h"
#include "findings/findings.h"
#include "harness.h"
#include "findings/loader.h"
#include "findings/told.h"
#include "facts/feeder.h"
#include "view_made.h"
#include "findings/words.h"

#define H100 "NVIDIA H100 80GB HBM3"

static const struct view_advice *advice(const struct view_summary *s, const char *id)
{
	for (size_t i = 0; i < s->advices; i++)
		if (!strcmp(s->advice[i].id, id))
			return &s->advice[i];
	return NULL;
}

/* The findings of a class sum to the class; those of all classes come by cost. */
static void expect_sums(const struct view_summary *s)
{
	for (int c = 0; c < ANA_CLASSES; c++) {
		int64_t ns = 0, usd = 0, conf = 0;
		for (size_t i = 0; i < s->findings; i++) {
			const struct view_finding *f = &s->finding[i];
			if ((int)f->class != c)
				continue;
			ns += f->ns;
			usd += f->nano_usd;
			for (int k = 0; k < ANA_CONFIDENCES; k++) {
				EXPECT(f->by_confidence[k] >= 0);
				conf += f->by_confidence[k];
			}
		}
		if (!ns)
			continue;
		EXPECT_INT(ns, s->result->classes[c]);
		EXPECT(llabs(usd - s->cost.classes[c]) <= 8); /* each is rounded by itself */
		EXPECT_INT(conf, ns);
	}
}

static void test_places(void)
{
	struct view_summary *s = made_summary_of(made_starved(NULL), H100, 6880000000LL);
	int64_t third = MADE_HOUR_NS / 3;
	struct base_arena mem = { 0 };

	REQUIRE(s && s->findings >= 4);
	expect_sums(s);
	const struct view_finding *f = &s->finding[0]; /* two shards, one line */
	EXPECT_INT(f->class, ANA_INPUT_FETCH);
	EXPECT_INT(f->ns, third / 2 + third / 8);
	EXPECT_INT(f->of_starved_ppm, 625000);
	EXPECT_INT(f->where.line, 88);
	EXPECT_UINT(f->where.samples, 1514);
	EXPECT_UINT(f->where.targets, 2);
	EXPECT_UINT(f->where.threads, 4);
	EXPECT_STR(
		view_finding_words(s, &mem, f, 34),
		"4 of 4 workers blocked reading .../imagenet/train/shard-0017.bin and 1 more (nfs4), "
		"dataset.py:88 __getitem__");
	EXPECT_STR(view_finding_words(s, &mem, &s->finding[1], 34),
		   "4 of 4 workers running resize (Image.py), dataset.py:91 __getitem__");
	EXPECT_INT(s->finding[1].class, ANA_INPUT_PREP);
	f = &s->finding[2]; /* what is left of input.fetch, behind its place */
	EXPECT(f->class == ANA_INPUT_FETCH && f->rest && !f->where.known);
	EXPECT_INT(f->ns, third / 8);
	EXPECT_STR(view_finding_words(s, &mem, f, 34),
		   "the loader read from storage or network, line not known");
	base_arena_fini(&mem);
	view_summary_free(s);
}

/* Hotspots that claim more than their class has are not believed. */
static void test_overdrawn(void)
{
	struct ana_result *r = made_starved(NULL);
	struct view_summary *s;

	for (size_t i = 0; i < r->hotspots; i++)
		r->hotspot[i].ns *= 5;
	r->hotspot[0].confidence = ANA_LOW;
	s = made_summary_of(r, H100, 6880000000LL);
	expect_sums(s);
	view_summary_free(s);
}

/* One sample of a class stands for all of it: it comes before a smaller doubt. */
static void test_rank(void)
{
	struct ana_result *r = made_result(1, H100, 5);
	struct view_summary *s;

	made_no_class(r, ANA_INPUT_UNKNOWN);
	made_no_class(r, ANA_HOST_SYNC);
	made_class(r, ANA_HOST_SYNC, 238000000);
	made_class(r, ANA_HOST_UNKNOWN, 19000000);
	made_site(r, (struct ana_hotspot){ .class = ANA_HOST_SYNC,
					   .ns = 9000000,
					   .role = WIRE_ROLE_SUBMITTER,
					   .file = (char *)"t.py",
					   .line = 3,
					   .samples = 2,
					   .threads = 1 });
	s = made_summary_of(r, H100, 1);
	expect_sums(s);
	EXPECT(s->finding[0].class == ANA_HOST_SYNC && s->finding[0].where.line == 3);
	EXPECT(s->finding[1].class == ANA_HOST_SYNC && s->finding[1].rest);
	EXPECT_INT(s->finding[2].class, ANA_HOST_UNKNOWN);
	view_summary_free(s);
}

/* A sleep is known by its line, though not what for: the advice is about that. */
static void test_sleep(void)
{
	struct ana_hotspot place = { .class = ANA_HOST_UNKNOWN,
				     .ns = 600000000000,
				     .role = WIRE_ROLE_SUBMITTER,
				     .wait = WIRE_WAIT_SLEEP,
				     .file = (char *)"t.py",
				     .line = 7,
				     .samples = 60,
				     .threads = 1 };
	const char *const want[3][2] = {
		{ "a look at why it sleeps (t.py:7)", "look at the line that sleeps (t.py:7): " },
		{ "a look at what the host does there (t.py:7)",
		  "look at what the host does there (t.py:7); if that does not tell, mark " },
		{ "NVTX ranges around the phases of the loop", "mark the phases of the loop " },
	};

	for (int i = 0; i < 3; i++) {
		struct ana_result *r = made_result(1, H100, 5);
		const struct view_advice *a;
		struct view_summary *s;

		made_no_class(r, ANA_INPUT_UNKNOWN);
		made_class(r, ANA_HOST_UNKNOWN, 700000000000);
		place.wait = i ? WIRE_WAIT_NONE : WIRE_WAIT_SLEEP;
		if (i < 2)
			made_site(r, place);
		s = made_summary_of(r, H100, 1);
		a = advice(s, "host-unknown");
		REQUIRE(a);
		EXPECT_STR(a->brief, want[i][0]);
		EXPECT(!strncmp(a->action, want[i][1], strlen(want[i][1])));
		EXPECT_INT(a->saving_ns, 0);
		view_summary_free(s);
	}
}

/*
 * A comprehension in a comprehension: three functions, one line, one finding. Without lines
 * functions are places.
 */
static void test_one_line(void)
{
	struct ana_hotspot place = { .class = ANA_INPUT_INLINE,
				     .ns = 3000000000,
				     .role = WIRE_ROLE_SUBMITTER,
				     .function = (char *)"encode.<locals>.<listcomp>",
				     .file = (char *)"t.py",
				     .line = 28,
				     .samples = 30,
				     .threads = 1 };
	struct ana_result *r = made_result(1, H100, 5);
	struct view_summary *s;

	made_no_class(r, ANA_INPUT_UNKNOWN);
	made_no_class(r, ANA_HOST_SYNC);
	made_class(r, ANA_INPUT_INLINE, 7000000000);
	made_site(r, place);
	place.function = (char *)"encode";
	place.ns = 2000000000;
	made_site(r, place);
	place.line = 0;
	place.ns = 1000000000;
	made_site(r, place);
	place.function = (char *)"main";
	made_site(r, place);
	s = made_summary_of(r, H100, 1);
	expect_sums(s);
	REQUIRE(s->findings >= 3);
	EXPECT_INT(s->finding[0].where.line, 28);
	EXPECT_INT(s->finding[0].ns, 5000000000);
	EXPECT_STR(s->finding[0].where.function, "encode.<locals>.<listcomp>");
	EXPECT_UINT(s->finding[0].where.samples, 60);
	EXPECT_INT(s->finding[1].ns, 1000000000);
	EXPECT_INT(s->finding[2].ns, 1000000000);
	view_summary_free(s);
}

/*
 * Of gaps much shorter than the time from look to look samples see little: three of a line tell it.
 */
static void test_short_gaps(void)
{
	struct ana_hotspot place = { .class = ANA_HOST_SYNC,
				     .ns = 500000,
				     .role = WIRE_ROLE_SUBMITTER,
				     .file = (char *)"t.py",
				     .line = 3,
				     .samples = 3,
				     .threads = 1 };
	struct ana_result *r = made_result(1, H100, 5);
	struct view_summary *s;

	made_no_class(r, ANA_INPUT_UNKNOWN);
	made_no_class(r, ANA_HOST_SYNC);
	made_class(r, ANA_HOST_SYNC, 238000000);
	made_site(r, place);
	place.line = 4; /* two samples of as much are too few, */
	place.samples = 2;
	made_site(r, place);
	place.line = 5; /* and so is a fiftieth of what was seen */
	place.samples = 30;
	place.ns = 20000;
	made_site(r, place);
	s = made_summary_of(r, H100, 1);
	expect_sums(s);
	EXPECT(s->finding[0].class == ANA_HOST_SYNC && s->finding[0].where.line == 3);
	EXPECT_INT(s->finding[0].ns, 500000);
	EXPECT(s->finding[1].class == ANA_HOST_SYNC && s->finding[1].rest);
	EXPECT_INT(s->finding[1].ns, 237500000);
	view_summary_free(s);
}

/* A place whose confidence differs from its class's. */
static void test_confidence(void)
{
	struct ana_result *r = made_starved(NULL);
	struct view_summary *s;

	r->hotspot[0].confidence = ANA_MEDIUM;
	s = made_summary_of(r, H100, 6880000000LL);
	expect_sums(s);
	EXPECT_INT(s->finding[0].confidence, ANA_MEDIUM);
	view_summary_free(s);
}

static void test_many(void)
{
	struct ana_result *r = made_result(1, H100, 5);
	struct view_summary *s;
	char file[32];

	for (int i = 0; i < 3000; i++) {
		snprintf(file, sizeof(file), "f%d.py", i);
		made_site(r, (struct ana_hotspot){ .class = ANA_INPUT_UNKNOWN,
						   .ns = 200000000,
						   .role = WIRE_ROLE_SUBMITTER,
						   .file = file,
						   .line = 1,
						   .samples = 1,
						   .threads = 1 });
	}
	s = made_summary_of(r, H100, 1);
	expect_sums(s);
	EXPECT(s->findings <= 10); /* none of them is worth a line */
	view_summary_free(s);
}

static void test_shares(void)
{
	struct view_summary *s = made_summary_of(made_starved(NULL), H100, 0);
	const struct view_loader *v = &s->loader;

	EXPECT_INT(v->share_ppm[ANA_WORKER_IO], 714286);
	EXPECT_INT(v->share_ppm[ANA_WORKER_CPU], 285714);
	EXPECT_UINT(v->files, 2);
	EXPECT_STR(v->file[0].path, "/data/imagenet/train/shard-0017.bin");
	EXPECT_INT(v->file[0].bytes_per_s, 61728394);
	EXPECT_UINT(v->file[0].samples, 1214);
	EXPECT_STR(v->file[1].path, "socket:10.0.0.7:443");
	EXPECT_INT(v->file[1].bytes_per_s, -1); /* recv() is not counted */
	EXPECT_INT(v->batch_bytes, 3200000);
	EXPECT_INT(v->disk_ppm, 500000);
	EXPECT_INT(v->read_bytes_per_s, 88888889); /* in steps of 36 ms */
	EXPECT_INT(v->needed_bytes_per_s, 133333333); /* 24 ms */
	view_summary_free(s);
}

/* 144 ms per batch, 36 ms per step of which 12 ms are waits: 6 workers instead of 4. */
static void test_workers(void)
{
	struct view_summary *s = made_summary_of(made_starved(NULL), H100, 6880000000LL);
	const struct view_advice *a = advice(s, "workers");

	REQUIRE(a);
	EXPECT(a == &s->advice[0]);
	EXPECT_STR(a->action, "set num_workers=6, if the storage serves them 133.3 MB/s");
	EXPECT_STR(a->brief, "num_workers 4 -> 6");
	EXPECT(strstr(a->why, "144 ms / 24.0 ms, rounded up: 6 workers keep up (now 4)") != NULL);
	EXPECT_INT(s->loader.facts.step_ns, 36000000);
	EXPECT_INT(s->loader.facts.wait_ns, 12000000);
	EXPECT_INT(s->loader.need.predicted_step_ns, 24000000);
	EXPECT_INT(a->saving_ns, MADE_HOUR_NS / 3);
	EXPECT_INT(a->saving_nano_usd, s->cost.starved);
	EXPECT(!advice(s, "loader-wait"));
	a = advice(s, "storage");
	REQUIRE(a);
	EXPECT(strstr(a->why, "read at 88.9 MB/s where 133.3 MB/s would keep up; 50.0 % of it") !=
	       NULL);
	EXPECT(strstr(a->action, "local disk") != NULL);
	view_summary_free(s);
}

/*
 * An hour in which half is starved while so many threads made batches, and nothing else is outside.
 */
static struct view_summary *made_by(uint32_t threads, uint8_t role, uint32_t cpus, enum ana_class c)
{
	struct ana_result *r = made_result(1, H100, 5);

	made_no_class(r, ANA_INPUT_UNKNOWN);
	made_no_class(r, ANA_HOST_SYNC);
	made_class(r, c, MADE_HOUR_NS / 2);
	r->cpus = cpus;
	made_site(r, (struct ana_hotspot){ .class = c,
					   .ns = MADE_HOUR_NS / 2,
					   .role = role,
					   .file = (char *)"data.py",
					   .line = 20,
					   .samples = 100,
					   .threads = threads,
					   .feeder = FACTS_FEEDER_PROCESS_POOL });
	return made_summary_of(r, H100, 6880000000LL);
}

/*
 * A setting that saves 4/5 of what a general word does at most goes first; one that saves less does
 * not.
 */
static void check_numbers_first(void)
{
	struct view_summary *s = made_by(4, WIRE_ROLE_PRODUCER, 1, ANA_INPUT_FETCH);

	REQUIRE(advice(s, "makers") && advice(s, "storage"));
	EXPECT(advice(s, "makers")->saving_ns < advice(s, "storage")->saving_ns);
	EXPECT(advice(s, "makers") == &s->advice[0]);
	EXPECT(advice(s, "storage") == &s->advice[1]);
	view_summary_free(s);

	s = made_by(6, WIRE_ROLE_PRODUCER, 1, ANA_INPUT_FETCH); /* eight at most */
	REQUIRE(advice(s, "makers") && advice(s, "storage"));
	EXPECT(advice(s, "storage") == &s->advice[0]);
	view_summary_free(s);
}

/*
 * The same where they fetched for a quarter of it, wanted a CPU for @starved and had no work for
 * @waits.
 */
static struct view_summary *made_mixed(uint32_t threads, uint32_t cpus, int64_t starved,
				       int64_t waits)
{
	struct ana_result *r = made_result(1, H100, 5);
	int64_t fetch = MADE_HOUR_NS / 4;

	made_no_class(r, ANA_INPUT_UNKNOWN);
	made_no_class(r, ANA_HOST_SYNC);
	made_class(r, ANA_INPUT_FETCH, fetch);
	made_class(r, ANA_INPUT_CPU_STARVED, starved);
	made_class(r, ANA_INPUT_PIPELINE, waits);
	r->cpus = cpus;
	made_site(r, (struct ana_hotspot){ .class = ANA_INPUT_FETCH,
					   .ns = fetch,
					   .role = WIRE_ROLE_PRODUCER,
					   .file = (char *)"data.py",
					   .line = 20,
					   .samples = 100,
					   .threads = threads,
					   .feeder = FACTS_FEEDER_PROCESS_POOL });
	return made_summary_of(r, H100, 6880000000LL);
}

/* What makers compute by turns they compute at once where each has a CPU: that is spared, too. */
static void test_maker_cpus(void)
{
	struct ana_result *r = made_result(1, H100, 5);
	struct view_summary *s;
	const struct view_advice *a;

	made_no_class(r, ANA_INPUT_UNKNOWN);
	made_no_class(r, ANA_HOST_SYNC);
	made_class(r, ANA_INPUT_CPU_STARVED, MADE_HOUR_NS / 4);
	made_class(r, ANA_INPUT_PREP, MADE_HOUR_NS / 8);
	r->cpus = 1;
	made_site(r, (struct ana_hotspot){ .class = ANA_INPUT_CPU_STARVED,
					   .ns = MADE_HOUR_NS / 4,
					   .role = WIRE_ROLE_PRODUCER,
					   .runnable = true,
					   .file = (char *)"data.py",
					   .line = 20,
					   .samples = 100,
					   .threads = 4 });
	s = made_summary_of(r, H100, 6880000000LL);
	a = advice(s, "worker-cpu");
	REQUIRE(a);
	EXPECT_STR(a->brief, "1 -> 5 CPUs");
	EXPECT_INT(a->saving_ns, MADE_HOUR_NS / 8 * 3);
	EXPECT_INT(a->saving_nano_usd, 6880000000LL / 8 * 3);
	view_summary_free(s);
}

/* Most of a finding's time lies beside its samples: it is no surer than that. */
static void test_sure_as_its_time(void)
{
	struct ana_result *r = made_result(1, H100, 5);
	const struct view_finding *f = NULL;
	struct view_summary *s;

	made_no_class(r, ANA_INPUT_UNKNOWN);
	made_no_class(r, ANA_HOST_SYNC);
	made_class(r, ANA_HOST_DISPATCH, MADE_HOUR_NS / 4);
	made_site(r, (struct ana_hotspot){ .class = ANA_HOST_DISPATCH,
					   .ns = MADE_HOUR_NS / 40,
					   .nearby_ns = MADE_HOUR_NS / 4 - MADE_HOUR_NS / 40,
					   .confidence = ANA_MEDIUM,
					   .role = WIRE_ROLE_SUBMITTER,
					   .file = (char *)"train.py",
					   .line = 32,
					   .samples = 191,
					   .threads = 1 });
	s = made_summary_of(r, H100, 6880000000LL);
	for (size_t i = 0; i < s->findings; i++)
		if (s->finding[i].class == ANA_HOST_DISPATCH)
			f = &s->finding[i];
	REQUIRE(f);
	EXPECT_INT(f->ns, MADE_HOUR_NS / 4);
	EXPECT_INT(f->confidence, ANA_LOW);
	EXPECT_INT(f->by_confidence[ANA_LOW], MADE_HOUR_NS / 4 - MADE_HOUR_NS / 40);
	view_summary_free(s);
}

/* Half of the time is starved: twice as many of those who are at work all the time keep up. */
static void test_makers(void)
{
	struct view_summary *s = made_by(3, WIRE_ROLE_PRODUCER, 16, ANA_INPUT_PREP);
	const struct view_advice *a = advice(s, "makers");
	int64_t w = s->result->gpu_ns - s->result->classes[ANA_EXCLUDED_STARTUP];

	REQUIRE(a);
	EXPECT(a == &s->advice[0]);
	EXPECT_STR(a->brief, "max_workers=7"); /* a little more than half: 3 * w / (w - half) */
	EXPECT_STR(a->action, "set max_workers=7 in the process pool (now 3)");
	EXPECT(strstr(a->why, "while 3 processes made batches") != NULL);
	EXPECT_INT(a->saving_ns, MADE_HOUR_NS / 2); /* w * 3 / 7 is less than what is not starved */
	view_summary_free(s);

	s = made_by(3, WIRE_ROLE_PRODUCER, 5, ANA_INPUT_PREP); /* four cores beside the trainer's */
	a = advice(s, "makers");
	REQUIRE(a);
	EXPECT_STR(a->brief, "max_workers=4");
	EXPECT(strstr(a->why, "but the cores here carry only 4") != NULL);
	EXPECT_INT(a->saving_ns, w - w * 3 / 4);
	view_summary_free(s);

	s = made_by(3, WIRE_ROLE_PRODUCER, 4, ANA_INPUT_PREP); /* and no more of them */
	EXPECT(!advice(s, "makers"));
	view_summary_free(s);

	s = made_by(3, WIRE_ROLE_PRODUCER, 2, ANA_INPUT_FETCH); /* who waits needs no core */
	a = advice(s, "makers");
	REQUIRE(a);
	EXPECT_STR(a->brief, "max_workers=7");
	view_summary_free(s);

	/* more of them spare what waits for input are beside it, too */
	s = made_mixed(3, 16, 0, MADE_HOUR_NS / 4);
	a = advice(s, "makers");
	REQUIRE(a);
	EXPECT_INT(a->makers, 5); /* a little more than 3 * 4 / 3 */
	EXPECT_INT(a->saving_ns, w - w * 3 / 5); /* more than a quarter of an hour */
	view_summary_free(s);

	/* half of what they do wants a core: three carry 6 */
	s = made_mixed(3, 4, MADE_HOUR_NS / 4, 0);
	a = advice(s, "makers");
	REQUIRE(a);
	EXPECT_INT(a->makers, 5);
	view_summary_free(s);

	s = made_mixed(3, 3, MADE_HOUR_NS / 4, 0);
	a = advice(s, "makers");
	REQUIRE(a);
	EXPECT_INT(a->makers, 4);
	EXPECT(strstr(a->why, "but the cores here carry only 4") != NULL);
	view_summary_free(s);

	s = made_mixed(4, 3, MADE_HOUR_NS / 4, 0);
	EXPECT(!advice(s, "makers"));
	view_summary_free(s);

	s = made_by(1, WIRE_ROLE_SUBMITTER, 16, ANA_INPUT_PREP);
	a = advice(s, "makers");
	REQUIRE(a);
	EXPECT_STR(a->brief,
		   "2 processes that make batches ahead (a DataLoader with num_workers=2)");
	EXPECT(strstr(a->why, "while the main process made its batches itself") != NULL);
	view_summary_free(s);

	s = made_by(1, WIRE_ROLE_SUBMITTER, 2, ANA_INPUT_INLINE);
	EXPECT(!advice(s, "inline")); /* the number says it */
	a = advice(s, "makers");
	REQUIRE(a);
	EXPECT_STR(
		a->brief,
		"1 process that makes batches ahead (a DataLoader with num_workers=1, all that the "
		"cores here carry)");
	EXPECT(!strncmp(a->action,
			"let 1 process make the batches ahead (a DataLoader with num_workers=1,",
			69));
	EXPECT(a == &s->advice[0]); /* before the general word on the same time */
	view_summary_free(s);

	s = made_by(3, WIRE_ROLE_PRODUCER, 1, ANA_INPUT_INLINE); /* whoever made what else */
	EXPECT(!advice(s, "makers"));
	view_summary_free(s);

	s = made_by(3, WIRE_ROLE_PRODUCER, 1, ANA_INPUT_CPU_STARVED); /* what binds them is said */
	a = advice(s, "worker-cpu");
	REQUIRE(a);
	EXPECT_STR(a->brief, "1 -> 4 CPUs");
	EXPECT(strstr(a->action,
		      "the job may use 1 CPU (affinity and cgroup quota), and 3 make batches"));
	EXPECT(strstr(
		a->action,
		"want a CPU for each of these, too, unless OMP_NUM_THREADS=1 keeps each maker to one"));
	EXPECT_INT(a->saving_ns, MADE_HOUR_NS / 2);
	view_summary_free(s);

	s = made_by(3, WIRE_ROLE_PRODUCER, 16, ANA_INPUT_CPU_STARVED);
	a = advice(s, "worker-cpu");
	REQUIRE(a);
	EXPECT_STR(a->brief, "CPUs that nothing else uses, or OMP_NUM_THREADS=1 for each maker");
	view_summary_free(s);

	s = made_by(3, WIRE_ROLE_PRODUCER, 0, ANA_INPUT_CPU_STARVED);
	a = advice(s, "worker-cpu");
	REQUIRE(a);
	EXPECT(!strstr(a->action, "num_workers"));
	view_summary_free(s);

	s = made_summary_of(made_starved(NULL), H100, 6880000000LL); /* torch's loader tells more */
	EXPECT(!advice(s, "makers"));
	view_summary_free(s);

	check_numbers_first();
}

/* Two trainers on two GPUs with a loader each: the same steps, twice the saving. */
static void test_two_trainers(void)
{
	struct ana_result *r = made_starved(NULL);
	struct view_summary *s;

	r->loader[0].trainers = 2;
	r->batches *= 2;
	r->loader[0].made *= 2;
	r->loader[0].fetch_ns *= 2;
	r->loader[0].fetch_cpu_ns *= 2;
	r->gpu = realloc(r->gpu, 2 * sizeof(*r->gpu));
	r->timeline = realloc(r->timeline, 2 * sizeof(*r->timeline));
	memset(&r->timeline[1], 0, sizeof(r->timeline[1]));
	r->gpus = 2;
	memset(&r->gpu[1], 0, sizeof(r->gpu[1]));
	made_gpu(&r->gpu[1], 1, H100, false);
	r->gpu[1].span_ns = r->gpu[0].span_ns;
	r->gpu[1].loader_exposed_ns = r->gpu[0].loader_exposed_ns;
	r->loader_exposed_ns *= 2;
	memcpy(r->gpu[1].classes, r->gpu[0].classes, sizeof(r->gpu[1].classes));
	memset(r->classes, 0, sizeof(r->classes));
	r->gpu_ns = r->starved_ns = 0;
	made_totals(r);
	s = made_summary_of(r, H100, 6880000000LL);
	EXPECT_INT(s->loader.facts.step_ns, 36000000);
	EXPECT_INT(s->loader.need.needed, 6);
	EXPECT_INT(s->loader.saving_ns, 2 * (MADE_HOUR_NS / 3));
	view_summary_free(s);
}

/*
 * No worker for a loader whose workers get no CPU, and no prefetching of what nobody makes ahead.
 */
static void test_no_contradiction(void)
{
	struct ana_result *r = made_starved(NULL);
	struct view_summary *s;

	made_class(r, ANA_INPUT_CPU_STARVED, MADE_HOUR_NS / 2);
	r->cpus = 2;
	r->loader[0].fetch_cpu_ns = r->loader[0].fetch_ns;
	s = made_summary_of(r, H100, 6880000000LL);
	EXPECT(!advice(s, "workers") && !advice(s, "loader-wait"));
	const struct view_advice *a = advice(s, "worker-cpu");
	REQUIRE(a);
	EXPECT(strstr(a->action, "4 workers and the main process share 2 cores: ask for 7") !=
	       NULL);
	EXPECT(strstr(a->action, "quota and set num_workers=6, with one thread") != NULL);
	view_summary_free(s);

	/* Nobody has so many cores as that would take. */
	r = made_starved(NULL);
	made_class(r, ANA_INPUT_CPU_STARVED, MADE_HOUR_NS / 2);
	r->cpus = 2;
	r->loader[0].fetch_cpu_ns = 10 * r->loader[0].fetch_ns;
	s = made_summary_of(r, H100, 6880000000LL);
	a = advice(s, "worker-cpu");
	REQUIRE(a);
	EXPECT_STR(a->brief, "cheaper samples, then a core for each worker");
	EXPECT(strstr(a->action, "and 61 would be needed to keep up: make samples cheaper first") !=
	       NULL);
	EXPECT(!advice(s, "decode") || !strstr(advice(s, "decode")->brief, "cores"));
	view_summary_free(s);

	/* Without any, the first takes the making out of the step all the same. */
	r = made_starved(NULL);
	made_class(r, ANA_INPUT_CPU_STARVED, MADE_HOUR_NS / 2);
	r->loader[0].workers = 0;
	s = made_summary_of(r, H100, 6880000000LL);
	EXPECT(advice(s, "workers") && strstr(advice(s, "workers")->action, "num_workers=6"));
	a = advice(s, "worker-cpu");
	EXPECT(a && !strstr(a->action, "num_workers"));
	view_summary_free(s);

	/* Workers without work for much of their time; then the same, and they have it. */
	r = made_starved(NULL);
	made_class(r, ANA_INPUT_PIPELINE, MADE_HOUR_NS / 2);
	s = made_summary_of(r, H100, 6880000000LL);
	EXPECT_INT(s->loader.busy_ppm, 1000000);
	EXPECT(advice(s, "workers"));
	view_summary_free(s);
	r = made_starved(NULL);
	made_class(r, ANA_INPUT_PIPELINE, MADE_HOUR_NS / 2);
	r->loader[0].fetch_ns = r->loader[0].fetch_ns / 10 * 8;
	s = made_summary_of(r, H100, 6880000000LL);
	EXPECT_INT(s->loader.busy_ppm, 800000);
	EXPECT(!advice(s, "workers"));
	a = advice(s, "prefetch");
	REQUIRE(a);
	EXPECT(strstr(a->action, "a batch takes 144 ms, one in twenty over 288 ms") != NULL);
	EXPECT(strstr(a->action, "prefetch_factor=4 (now 2)") != NULL);
	EXPECT(strstr(a->action, "in_order=False") != NULL);
	view_summary_free(s);

	/* Workers that wait for each other: more of them would wait longer. */
	r = made_starved(NULL);
	made_class(r, ANA_INPUT_PIPELINE, MADE_HOUR_NS / 20);
	made_site(r, (struct ana_hotspot){ .class = ANA_INPUT_PIPELINE,
					   .ns = MADE_HOUR_NS / 25,
					   .role = WIRE_ROLE_WORKER,
					   .wait = WIRE_WAIT_LOCK_SHARED,
					   .samples = 9,
					   .workers = 3,
					   .threads = 3 });
	s = made_summary_of(r, H100, 6880000000LL);
	EXPECT(!advice(s, "workers") && advice(s, "worker-lock"));
	view_summary_free(s);

	r = made_starved(NULL);
	made_class(r, ANA_INPUT_PIPELINE, MADE_HOUR_NS / 2);
	r->loader[0].workers = 0;
	s = made_summary_of(r, H100, 6880000000LL);
	EXPECT(!advice(s, "prefetch"));
	view_summary_free(s);
}

/*
 * The cores are the bound: not more workers than they carry, and more cores where there are none.
 */
static void test_cores(void)
{
	struct ana_result *r = made_starved(NULL);
	struct view_summary *s;

	r->cpus = 5;
	r->loader[0].fetch_cpu_ns = r->loader[0].fetch_ns;
	s = made_summary_of(r, H100, 6880000000LL);
	EXPECT(!advice(s, "workers")); /* four are there, and four cores beside the trainer's */
	const struct view_advice *a = advice(s, "workers-and-cores");
	REQUIRE(a && a == &s->advice[0]);
	EXPECT_STR(a->brief, "num_workers 4 -> 6 and 5 -> 7 cores");
	EXPECT_STR(a->change, "DataLoader(..., num_workers=6)");
	EXPECT(strstr(a->action, "ask for 7 cores (now 5) and set num_workers=6 (now 4)") ==
	       a->action);
	EXPECT(strstr(a->why, "; each computes all the time, so that they want 7 cores (now 5)"));
	EXPECT_INT(a->saving_ns, MADE_HOUR_NS / 3); /* they keep up */
	EXPECT_INT(a->saving_least_ns, 0);
	view_summary_free(s);

	/* the finding, the box's "next", the advice and the snippet say the same */
	r = made_starved(NULL);
	made_no_class(r, ANA_INPUT_FETCH);
	made_class(r, ANA_INPUT_PREP, MADE_HOUR_NS / 4);
	r->cpus = 5;
	r->loader[0].fetch_cpu_ns = r->loader[0].fetch_ns;
	s = made_summary_of(r, H100, 6880000000LL);
	a = advice(s, "workers-and-cores");
	REQUIRE(a && a->class == ANA_INPUT_PREP && s->findings);
	struct base_arena mem = { 0 };

	for (size_t i = 0; i < s->findings; i++)
		if (s->finding[i].class == ANA_INPUT_PREP && s->finding[i].where.known)
			EXPECT(strstr(
				view_finding_sentence(s, &mem, i),
				" 6 workers, and 7 cores where there are 5 now (each computes all the time), would hide it"));
	base_arena_fini(&mem);
	view_summary_free(s);

	r = made_starved(NULL);
	r->cpus = 4;
	r->loader[0].workers = 2;
	r->loader[0].fetch_ns = r->loader[0].fetch_cpu_ns = 96000000LL * 100000;
	s = made_summary_of(r, H100, 6880000000LL);
	a = advice(s, "workers");
	REQUIRE(a);
	EXPECT(strstr(a->action, "set num_workers=3") == a->action);
	EXPECT(strstr(
		a->why,
		"rounded up: 4 workers keep up (now 2); each computes all the time, so that 4 cores carry no more than 3."));
	EXPECT_INT(a->saving_ns, 4000000LL * 100000); /* 36 to 32 ms */
	view_summary_free(s);
}

/* The main process makes batches of @fetch_ns, all of it on a CPU, on two cores. */
static struct view_summary *made_alone(int64_t fetch_ns)
{
	struct ana_result *r = made_starved(NULL);

	r->cpus = 2;
	r->loader[0].workers = 0;
	r->loader[0].fetch_ns = r->loader[0].fetch_cpu_ns = fetch_ns * 100000;
	return made_summary_of(r, H100, 6880000000LL);
}

/* A first worker with no core to spare has to hide two thirds of the waits: 8 of 12 ms. */
static void test_first_worker(void)
{
	struct view_summary *s = made_alone(28000000);
	const struct view_advice *a = advice(s, "workers");

	REQUIRE(a);
	EXPECT_STR(a->brief, "num_workers 0 -> 1 on the 2 cores here");
	view_summary_free(s);
	s = made_alone(28000001);
	EXPECT(!advice(s, "workers"));
	a = advice(s, "workers-and-cores");
	REQUIRE(a);
	EXPECT_STR(a->brief, "num_workers 0 -> 2 and 2 -> 3 cores");
	EXPECT_STR(a->change, "DataLoader(..., num_workers=2, persistent_workers=True)");
	EXPECT_INT(a->saving_ns, MADE_HOUR_NS / 3);
	EXPECT(view_advice_else(s, a) == advice(s, "storage")); /* beside that on what is here */
	EXPECT(!view_advice_else(s, view_advice_else(s, a)));
	EXPECT_STR(view_advice_one_here(s, &s->mem, a),
		   ", or num_workers=1, at most 1.29 times the steps per hour");
	EXPECT_STR(view_advice_one_here(s, &s->mem, view_advice_else(s, a)), "");
	view_summary_free(s);
}

/*
 * The number behind @before in @text, once it stands there; else @so_far. False: two that differ.
 */
static bool one_number(const char *text, const char *before, long *so_far)
{
	for (const char *at = text; (at = strstr(at, before)) != NULL; at += strlen(before)) {
		long n = strtol(at + strlen(before), NULL, 10);

		if (*so_far >= 0 && n && n != *so_far)
			return false;
		*so_far = n ? n : *so_far;
	}
	return true;
}

/* All that a run's advice says of workers and cores is one proposal. */
static bool agrees(const struct view_summary *s)
{
	long workers = -1, cores = -1;
	bool same = true, more = advice(s, "workers") || advice(s, "workers-and-cores");

	for (size_t i = 0; i < s->advices; i++) {
		const char *action = s->advice[i].action;

		same &= one_number(action, "num_workers=", &workers);
		same &= one_number(action, "ask for ", &cores) &&
			one_number(action, "with ", &cores);
		same &= !(more && (strstr(action, "lower num_workers") ||
				   strstr(action, "lower the workers")));
	}
	return same;
}

static struct view_summary *made_loader_of(uint32_t workers, uint32_t cpus, int64_t cpu_pct,
					   int64_t starved)
{
	struct ana_result *r = made_starved(NULL);

	made_class(r, ANA_INPUT_CPU_STARVED, starved);
	made_class(r, ANA_HOST_CPU_STARVED, MADE_HOUR_NS / 20);
	r->cpus = cpus;
	r->loader[0].workers = workers;
	r->loader[0].fetch_cpu_ns = r->loader[0].fetch_ns / 100 * cpu_pct;
	return made_summary_of(r, H100, 6880000000LL);
}

static void test_one_proposal(void)
{
	static const uint32_t workers[] = { 0, 1, 2, 4, 8, 40 }, cpus[] = { 1, 2, 4, 8, 64 };
	static const int64_t pct[] = { 1, 6, 50, 100 }, starved[] = { 0, 20, 3 };
	size_t said = 0;

	for (size_t i = 0; i < 6 * 5 * 4 * 3; i++) {
		uint32_t w = workers[i % 6], c = cpus[i / 6 % 5];
		int64_t part = starved[i / 120], share = pct[i / 30 % 4];
		struct view_summary *s =
			made_loader_of(w, c, share, part ? MADE_HOUR_NS / part : 0);

		if (!agrees(s)) {
			T_FAIL("%u workers, %u cores, %d %% CPU, 1/%d starved", w, c, (int)share,
			       (int)part);
			for (size_t k = 0; k < s->advices; k++)
				fprintf(stderr, "  %s: %s\n", s->advice[k].id, s->advice[k].action);
		}
		said += advice(s, "workers") || advice(s, "workers-and-cores");
		view_summary_free(s);
	}
	EXPECT(said > 100);
}

/* A worker that waits for a server on this machine, on two cores that others use, too. */
static struct view_summary *made_served(const char *server)
{
	struct ana_result *r = made_result(1, H100, 10);

	made_no_class(r, ANA_INPUT_UNKNOWN);
	made_class(r, ANA_INPUT_FETCH, MADE_HOUR_NS / 2);
	made_class(r, ANA_INPUT_PIPELINE, MADE_HOUR_NS / 16);
	made_class(r, ANA_INPUT_CPU_STARVED, MADE_HOUR_NS / 16);
	r->cpus = 2;
	r->batches = r->steps = 20000;
	r->gpu[0].span_ns = MADE_HOUR_NS;
	r->loader_wait_ns = r->loader_exposed_ns = r->gpu[0].loader_exposed_ns =
		MADE_HOUR_NS / 8 * 5;
	r->step_fed_median_ns = -1;
	made_site(r, (struct ana_hotspot){ .class = ANA_INPUT_FETCH,
					   .ns = MADE_HOUR_NS / 2,
					   .role = WIRE_ROLE_WORKER,
					   .wait = WIRE_WAIT_SOCKET,
					   .file = (char *)"train.py",
					   .line = 25,
					   .target = (char *)server,
					   .samples = 100,
					   .threads = 1,
					   .workers = 1 });
	made_loader(r, 1, 20000, 170000000, 20000000);
	return made_summary_of(r, H100, 6880000000LL);
}

/* What is not so is not advised. */
static void test_premises(void)
{
	struct view_summary *s = made_served("socket:127.0.0.1:38211");
	const struct view_advice *a;

	REQUIRE(s && s->loader.busy_ppm > 900000);
	EXPECT(agrees(s));
	EXPECT(!advice(s, "prefetch")); /* who makes batches all the time makes none ahead */
	a = advice(s, "workers");
	REQUIRE(a);
	EXPECT_STR(a->action, "set num_workers=3, if the server answers so many at a time");
	EXPECT_STR(a->brief, "num_workers 1 -> 3");
	EXPECT(strstr(a->why, "; each waits for 88 % of its time, so that 2 cores carry them. "));
	a = advice(s, "storage");
	REQUIRE(a);
	EXPECT_STR(a->title, "Fetch more at a time");
	EXPECT(!strstr(a->action, "local disk") && !strstr(a->brief, "cache"));
	EXPECT(!strstr(a->why, "page cache") && !strstr(a->why, "/s")); /* that is of files */
	a = advice(s, "worker-cpu");
	REQUIRE(a);
	EXPECT(strstr(a->action, "1 worker and the main process have 2 cores, enough for them") ==
	       a->action);
	view_summary_free(s);

	s = made_served("socket:10.0.0.7:443");
	a = advice(s, "storage");
	REQUIRE(a);
	EXPECT(strstr(a->action, "local disk") && strstr(a->brief, "a local cache"));
	view_summary_free(s);
}

/* One worker makes batches in order whatever is set. */
static void test_order_of_one(void)
{
	struct ana_result *r = made_starved(NULL);
	struct view_summary *s;
	const struct view_advice *a;

	made_class(r, ANA_INPUT_PIPELINE, MADE_HOUR_NS / 2);
	r->loader[0].workers = 1;
	r->loader[0].fetch_ns /= 10;
	r->loader[0].fetch_cpu_ns /= 10;
	s = made_summary_of(r, H100, 6880000000LL);
	a = advice(s, "prefetch");
	REQUIRE(a);
	EXPECT(strstr(a->action, "prefetch_factor=4") && !strstr(a->action, "in_order"));
	EXPECT(!strstr(a->brief, "in_order"));
	view_summary_free(s);
}

/* The number of workers is that of the lengths that stand beside it. */
static void test_pace(void)
{
	struct ana_result *r = made_starved(NULL);
	struct view_summary *s;
	bool median;

	r->step_fed_median_ns = 18000000;
	s = made_summary_of(r, H100, 6880000000LL);
	EXPECT_INT(view_loader_pace_ns(s, &median), 18000000);
	EXPECT(median);
	EXPECT_INT(s->loader.need.needed, 8); /* 144 / 18 */
	EXPECT(advice(s, "workers") &&
	       strstr(advice(s, "workers")->why,
		      "144 ms for a batch on average, and the median step without its wait takes 18.0 ms: 144 ms / 18.0 ms, rounded up: 8 "));
	view_summary_free(s);
	s = made_summary_of(made_starved(NULL), H100, 6880000000LL);
	EXPECT_INT(view_loader_pace_ns(s, &median), 24000000);
	EXPECT(!median);
	view_summary_free(s);
}

/* @r's program on so many GPUs at once, each with a rank and a loader of its own. */
static struct ana_result *on_ranks(struct ana_result *r, uint32_t ranks)
{
	r->processes = ranks;
	r->process = realloc(r->process, ranks * sizeof(*r->process));
	for (uint32_t i = 0; i < ranks; i++) {
		if (i)
			r->process[i] = (struct ana_process){ .host = strdup("node1"),
							      .pid = 100 + i,
							      .role = strdup("trainer"),
							      .ended = strdup("exit"),
							      .start_ns = r->process[0].start_ns,
							      .end_ns = r->process[0].end_ns };
		r->process[i].has_rank = true;
		r->process[i].rank = (int32_t)i;
	}
	r->batches *= ranks;
	r->loader[0].trainers = ranks;
	return r;
}

static int64_t fed_median(struct ana_result *r)
{
	struct view_summary *s;
	int64_t ns;

	r->step_fed_median_ns = 18000000;
	s = made_summary_of(r, H100, 6880000000LL);
	ns = s->loader.facts.fed_median_ns;
	view_summary_free(s);
	return ns;
}

/* Of several ranks, too, the median step is that of a batch: each of them takes one in a step. */
static void test_pace_of_ranks(void)
{
	struct ana_result *r = on_ranks(made_starved(NULL), 4);

	EXPECT_INT(fed_median(r), 18000000);
	/* four steps of each, or a quarter, are no batch's */
	r = on_ranks(made_starved(NULL), 4);
	r->steps *= 4;
	EXPECT_INT(fed_median(r), -1);
	r = on_ranks(made_starved(NULL), 4);
	r->steps /= 4;
	EXPECT_INT(fed_median(r), -1);
	/* one of the four has the loader, as where a model lies on several GPUs */
	r = on_ranks(made_starved(NULL), 4);
	r->batches /= 4;
	r->loader[0].trainers = 1;
	EXPECT_INT(fed_median(r), 18000000);
	/* one rank that was requeued: two processes, whose steps follow each other */
	r = on_ranks(made_starved(NULL), 2);
	r->process[1].rank = 0;
	r->batches /= 2;
	EXPECT_INT(fed_median(r), 18000000);
	/* waits for other ranks' loaders are in every step: it is not known without them */
	r = on_ranks(made_starved(NULL), 4);
	r->skew_causes[ANA_INPUT_FETCH] = 18000000LL / 10 * 100000;
	EXPECT_INT(fed_median(r), 18000000);
	r = on_ranks(made_starved(NULL), 4);
	r->skew_causes[ANA_INPUT_FETCH] = 18000000LL / 10 * 100000 + 200000;
	EXPECT_INT(fed_median(r), -1);
	r = on_ranks(made_starved(NULL), 4);
	r->skew_causes[ANA_HOST_GC] = 18000000LL * 100000;
	EXPECT_INT(fed_median(r), 18000000);
}

/*
 * Two processes, each of which took half an hour from the first operation to the last, the second
 * after a pause of an hour of which it started for a half.
 */
static struct view_summary *in_turn(bool at_once)
{
	struct ana_result *r = on_ranks(made_starved(NULL), 2);
	struct ana_gpu *g = &r->gpu[0];

	r->process[0].has_rank = r->process[1].has_rank = false;
	r->process[0].start_ns = 0;
	r->process[0].end_ns = at_once ? 20 : 10;
	r->process[1].start_ns = 10;
	r->process[1].end_ns = 30;
	r->batches /= 2;
	g->held_ns += MADE_HOUR_NS + g->classes[ANA_EXCLUDED_STARTUP];
	g->span_ns += MADE_HOUR_NS;
	g->classes[ANA_EXCLUDED_STARTUP] += MADE_HOUR_NS / 2;
	g->classes[ANA_EXCLUDED_NO_PROCESS] += MADE_HOUR_NS / 2;
	return made_summary_of(r, H100, 6880000000LL);
}

/* What comes after another is no second rank, has all cores, and the pause made no batches. */
static void test_trainers_in_turn(void)
{
	struct view_summary *one = made_summary_of(made_starved(NULL), H100, 6880000000LL);
	const struct view_worker_facts f = one->loader.facts;
	struct view_summary *s = in_turn(false);

	EXPECT_INT(s->loader.facts.step_ns, f.step_ns);
	EXPECT_INT(s->loader.facts.wait_ns, f.wait_ns);
	EXPECT_INT(s->loader.facts.cores, f.cores);
	EXPECT_INT(s->loader.saving_ns, one->loader.saving_ns);
	view_summary_free(s);
	s = in_turn(true); /* side by side: each had half of the batches, and of the cores */
	EXPECT_INT(s->loader.facts.step_ns, 4 * f.step_ns); /* and no pause */
	EXPECT_INT(s->loader.facts.cores, f.cores / 2);
	view_summary_free(s);
	view_summary_free(one);
}

/* The bound and the lengths beside it are of the same numbers. */
static void test_lengths(void)
{
	struct view_summary *s = made_summary_of(made_starved(NULL), H100, 6880000000LL);
	const struct view_advice *a = advice(s, "workers");

	REQUIRE(a);
	EXPECT(strstr(a->why,
		      "for a batch, and a step without its wait takes 24.0 ms, both on average: "));
	/* an hour less a second, 100000 steps; a third of an hour less */
	EXPECT(strstr(
		a->why,
		"The training time of 59 m 59 s, 36.0 ms for each step, would be at least 39 m 59 s, "
		"24.0 ms for each step: at most 1.51 times the steps per hour"));
	view_summary_free(s);
}

static void test_epoch(void)
{
	struct ana_result *r = made_starved(NULL);
	struct view_summary *s;

	made_class(r, ANA_INPUT_EPOCH, MADE_HOUR_NS / 10);
	r->loader[0].iterators = 30;
	r->loader[0].open_ns = 3000000000;
	s = made_summary_of(r, H100, 0);
	const struct view_advice *a = advice(s, "loader-epoch");
	REQUIRE(a);
	EXPECT(strstr(a->action, "persistent_workers=True: 30 iterators were made, each took "
				 "100 ms") != NULL);
	EXPECT_STR(a->brief, "persistent_workers=True");
	view_summary_free(s);

	r = made_starved(NULL); /* with the line that makes them */
	made_class(r, ANA_INPUT_EPOCH, MADE_HOUR_NS / 10);
	made_site(r, (struct ana_hotspot){ .class = ANA_INPUT_EPOCH,
					   .ns = MADE_HOUR_NS / 20,
					   .role = WIRE_ROLE_SUBMITTER,
					   .wait = WIRE_WAIT_CHILD,
					   .file = (char *)"/x/train.py",
					   .line = 15,
					   .target = (char *)"Process.join",
					   .samples = 9,
					   .threads = 1 });
	r->loader[0].iterators = 30;
	s = made_summary_of(r, H100, 0);
	a = advice(s, "loader-epoch");
	REQUIRE(a);
	EXPECT_STR(a->brief, "persistent_workers=True (train.py:15)");
	EXPECT(strstr(a->action, "30 iterators were made (train.py:15), each took") != NULL);
	view_summary_free(s);

	r = made_starved(NULL); /* pages tell the call's own line with the brief: one is enough */
	made_class(r, ANA_INPUT_EPOCH, MADE_HOUR_NS / 10);
	made_site(r, (struct ana_hotspot){ .class = ANA_INPUT_EPOCH,
					   .ns = MADE_HOUR_NS / 20,
					   .role = WIRE_ROLE_SUBMITTER,
					   .file = (char *)"/x/train.py",
					   .line = 15,
					   .samples = 9,
					   .threads = 1 });
	r->loader[0].iterators = 30;
	r->loader[0].made_file = strdup("/x/train.py");
	r->loader[0].made_line = 13;
	s = made_summary_of(r, H100, 0);
	a = advice(s, "loader-epoch");
	REQUIRE(a);
	EXPECT_STR(a->brief, "persistent_workers=True");
	view_summary_free(s);

	r = made_starved(NULL);
	made_class(r, ANA_INPUT_EPOCH, MADE_HOUR_NS / 10);
	r->loader[0].iterators = 30;
	r->loader[0].persistent = true;
	s = made_summary_of(r, H100, 0);
	a = advice(s, "loader-epoch");
	REQUIRE(a);
	EXPECT(!strstr(a->action, "persistent_workers"));
	view_summary_free(s);
}

/* One class at one place; returns the advice's action. The summary is leaked to the caller. */
static struct view_summary *one(enum ana_class c, uint8_t wait, const char *target)
{
	struct ana_result *r = made_result(1, H100, 5);

	made_no_class(r, ANA_INPUT_UNKNOWN);
	made_class(r, c, MADE_HOUR_NS / 4);
	made_site(r, (struct ana_hotspot){ .class = c,
					   .ns = MADE_HOUR_NS / 5,
					   .role = WIRE_ROLE_SUBMITTER,
					   .wait = wait,
					   .file = (char *)"/x/train.py",
					   .function = (char *)"step",
					   .line = 42,
					   .target = (char *)target,
					   .samples = 7,
					   .threads = 1 });
	return made_summary_of(r, H100, 1000000000);
}

static void expect_action_on(enum ana_class c, uint8_t wait, const char *target, const char *id,
			     const char *part)
{
	struct view_summary *s = one(c, wait, target);
	const struct view_advice *a = advice(s, id);

	if (!a)
		T_FAIL("no advice %s for %s", id, ana_class_names[c]);
	else if (!strstr(a->action, part) || !strstr(a->why, "train.py:42 step"))
		T_FAIL("%s: \"%s\" (%s) lacks \"%s\"", id, a->action, a->why, part);
	view_summary_free(s);
}

static void expect_action(enum ana_class c, uint8_t wait, const char *id, const char *part)
{
	expect_action_on(c, wait, NULL, id, part);
}

static void test_by_evidence(void)
{
	expect_action(ANA_HOST_SYNC, WIRE_WAIT_GPU, "sync", "(train.py:42 step)");
	expect_action(ANA_HOST_LOCK, WIRE_WAIT_GIL, "lock", "another process");
	expect_action(ANA_HOST_LOCK, WIRE_WAIT_LOCK, "lock", "find the thread");
	expect_action(ANA_HOST_GC, WIRE_WAIT_NONE, "gc", "gc.freeze()");
	expect_action(ANA_HOST_WAIT, WIRE_WAIT_LOCK, "host-wait", "(train.py:42 step)");
	expect_action_on(ANA_HOST_WAIT, WIRE_WAIT_LOCK, "queue.get", "host-wait", "waits for data");
	expect_action_on(ANA_HOST_WAIT, WIRE_WAIT_LOCK, "Thread.join", "host-wait",
			 "Thread.join (train.py:42 step) waits until something has finished");
	expect_action_on(ANA_HOST_WAIT, WIRE_WAIT_LOCK, "queue.put", "host-wait", "a longer queue");
	expect_action(ANA_HOST_NO_WORK, WIRE_WAIT_SOCKET, "no-work", "smaller or shared GPU");
	expect_action(ANA_HOST_CPU_WORK, WIRE_WAIT_NONE, "cpu-work", "fewer layers");
	expect_action_on(ANA_HOST_WARMUP, WIRE_WAIT_FAULT, "/opt/libkernels.so", "warmup",
			 "local disk");
	expect_action(ANA_HOST_WARMUP, WIRE_WAIT_LOCK, "warmup", "cache compiled kernels");
	expect_action(ANA_INPUT_FETCH, WIRE_WAIT_SOCKET, "storage", "per request");
	expect_action(ANA_INPUT_FETCH, WIRE_WAIT_SLEEP, "storage", "sleeps (train.py:42 step)");
	expect_action(ANA_INPUT_FETCH, WIRE_WAIT_FAULT, "storage", "mapped file");
	expect_action(ANA_INPUT_PIPELINE, WIRE_WAIT_LOCK_SHARED, "worker-lock", "file handle");
	expect_action(ANA_INPUT_INLINE, WIRE_WAIT_SLEEP, "inline", "loader workers");
}

static void test_words(void)
{
	struct base_arena mem = { 0 };
	struct view_hotspot p = { .known = true, .role = WIRE_ROLE_WORKER, .workers = 3 };

	EXPECT_STR(view_words_who(&mem, ANA_INPUT_FETCH, &p, 4), "3 of 4 workers");
	EXPECT_STR(view_words_who(&mem, ANA_INPUT_FETCH, &p, 2),
		   "workers"); /* some were replaced */
	p.targets = 2;
	EXPECT_STR(view_words_who(&mem, ANA_INPUT_FETCH, &p, 4), "workers");
	EXPECT_STR(view_words_who(&mem, ANA_INPUT_FETCH, &p, 3), "3 of 3 workers");
	p.targets = 0;
	EXPECT_STR(view_words_who(&mem, ANA_INPUT_FETCH, &p, -1), "workers");
	p.role = WIRE_ROLE_PRODUCER;
	EXPECT_STR(view_words_who(&mem, ANA_INPUT_FETCH, &p, 4), "whoever makes the batches");
	EXPECT_STR(view_words_who(&mem, ANA_HOST_DISPATCH, &p, 4), "the awaited thread");
	p.role = WIRE_ROLE_WORKER;
	p.runnable = true;
	EXPECT_STR(view_words_doing(&mem, ANA_INPUT_CPU_STARVED, &p, 40), "waiting for a CPU");
	p.has_cpu = "process mill\tgrind\t/home/me/mill.py\t12";
	EXPECT_STR(view_words_doing(&mem, ANA_INPUT_CPU_STARVED, &p, 40),
		   "waiting for a CPU while process mill ran at mill.py:12");
	p.chain = (struct view_link[]){ { .who = "the main process" }, { .who = "process mill" } };
	p.chains = 2;
	EXPECT_STR(view_words_doing(&mem, ANA_INPUT_CPU_STARVED, &p, 40),
		   "waiting for a CPU while another of its kind ran at mill.py:12");
	p.file = "/home/me/mill.py"; /* which its sentence tells */
	p.line = 12;
	EXPECT_STR(view_words_doing(&mem, ANA_INPUT_CPU_STARVED, &p, 40),
		   "waiting for a CPU while another of its kind ran the same line");
	p.line = 13;
	EXPECT_STR(view_words_doing(&mem, ANA_INPUT_CPU_STARVED, &p, 40),
		   "waiting for a CPU while another of its kind ran at mill.py:12");
	p.file = NULL;
	p.line = 0;
	p.chains = 0;
	p.has_cpu = "the main process\t\t\t0";
	EXPECT_STR(view_words_doing(&mem, ANA_INPUT_CPU_STARVED, &p, 40),
		   "waiting for a CPU while the main process ran");
	p.has_cpu = "anything"; /* of a file that somebody made */
	EXPECT_STR(view_words_doing(&mem, ANA_INPUT_CPU_STARVED, &p, 40), "waiting for a CPU");
	p.has_cpu = NULL;
	EXPECT(!view_words_blocked(&mem, &p, 40));
	p.runnable = false;
	p.wait = WIRE_WAIT_LOCK_SHARED;
	EXPECT_STR(view_words_doing(&mem, ANA_INPUT_PIPELINE, &p, 40),
		   "waiting for a lock shared between processes");
	p.target = "Process.join";
	EXPECT_STR(view_words_doing(&mem, ANA_HOST_WAIT, &p, 40), "waiting in Process.join");
	p.target = NULL;
	p.wait = WIRE_WAIT_QUEUE;
	EXPECT_STR(view_words_doing(&mem, ANA_INPUT_PIPELINE, &p, 40), "waiting for work");
	EXPECT_STR(view_words_blocked(&mem, &p, 40),
		   "the queue between workers and the main process");
	p.wait = WIRE_WAIT_SOCKET;
	p.target = "socket:unix"; /* a pair without a name */
	EXPECT_STR(view_words_doing(&mem, ANA_HOST_WAIT, &p, 40), "waiting for a socket");
	p.target = "socket:/run/server";
	EXPECT_STR(view_words_doing(&mem, ANA_HOST_WAIT, &p, 40),
		   "waiting for data from /run/server");
	p.target = NULL;
	p.wait = WIRE_WAIT_SLEEP;
	EXPECT_STR(view_words_doing(&mem, ANA_INPUT_FETCH, &p, 40), "asleep");
	p.wait = WIRE_WAIT_NONE;
	EXPECT_STR(view_words_doing(&mem, ANA_HOST_GC, &p, 40), "in the garbage collector");
	EXPECT(!view_words_line(&mem, &p, 40));
	EXPECT(!view_words_native(&mem, &p));
	p.native = "/usr/lib/libjpeg.so.62\t1a2b\t";
	EXPECT_STR(view_words_native(&mem, &p), "libjpeg.so.62+0x1a2b");
	p.symbol = "jpeg_read_scanlines";
	EXPECT_STR(view_words_native(&mem, &p), "libjpeg.so.62 jpeg_read_scanlines");
	p.native = "nonsense";
	p.symbol = NULL;
	EXPECT_STR(view_words_native(&mem, &p), "nonsense");
	base_arena_fini(&mem);
}

static void test_short_path(void)
{
	struct base_arena mem = { 0 };

	EXPECT_STR(view_short_path(&mem, "/a/b/c.bin", 10), "/a/b/c.bin");
	EXPECT_STR(view_short_path(&mem, "/data/train/shard-17.bin", 16), ".../shard-17.bin");
	EXPECT_STR(view_short_path(&mem, "/data/a-name-that-is-far-too-long.bin", 16),
		   "a-name...ong.bin");
	EXPECT_STR(view_short_path(&mem,
				   "/x/\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
				   "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4",
				   8),
		   "\xc3\xa4\xc3\xa4...\xc3\xa4\xc3\xa4\xc3\xa4");
	EXPECT_STR(view_short_path(&mem, "\xff\xff\xff\xff\xff\xff\xff\xff\xff", 8),
		   "\xff\xff...\xff\xff\xff");
	EXPECT_STR(view_short_path(&mem, "", 8), "");
	base_arena_fini(&mem);
}

/*
 * An hour of 100,000 batches, of which each is on its way for 9 ms while the GPU waits, and was
 * made in @fetch_ns.
 */
static struct ana_result *handing_over(int64_t fetch_ns, bool pin)
{
	struct ana_result *r = made_result(1, H100, 5);
	int64_t ns = MADE_HOUR_NS / 4;

	made_no_class(r, ANA_INPUT_UNKNOWN);
	made_class(r, ANA_INPUT_HANDOFF, ns);
	made_class(r, ANA_INPUT_EPOCH, ns / 10);
	r->cpus = 16;
	r->batches = r->steps = 100000;
	r->gpu[0].span_ns = MADE_HOUR_NS;
	r->loader_exposed_ns = r->gpu[0].loader_exposed_ns = ns;
	r->step_fed_median_ns = -1;
	made_loader(r, 2, 100000, fetch_ns, fetch_ns);
	r->loader[0].iterators = 4;
	r->loader[0].take_ns = ns + MADE_HOUR_NS / 36000; /* 1 us of each is hidden */
	r->loader[0].pin = pin;
	return r;
}

static struct view_summary *handed_over(int64_t fetch_ns, bool pin)
{
	return made_summary_of(handing_over(fetch_ns, pin), H100, 6880000000LL);
}

/* Of the millisecond for which a batch was made it had no CPU for @delay_ns. */
static struct view_summary *lacking_cpu(int64_t delay_ns)
{
	struct ana_result *r = handing_over(1000000, false);

	r->loader[0].fetch_cpu_ns = (1000000 - delay_ns) * 100000;
	r->loader[0].fetch_delay_ns = delay_ns * 100000;
	return made_summary_of(r, H100, 6880000000LL);
}

/*
 * What is made sooner than it comes from a worker is made in the main process, and then waited for.
 */
static void test_without_workers(void)
{
	int64_t waits = MADE_HOUR_NS / 4 + MADE_HOUR_NS / 40;
	struct view_summary *s = handed_over(1000000, false);
	const struct view_advice *a = advice(s, "no-workers");

	REQUIRE(a && a == &s->advice[0]);
	EXPECT_STR(a->brief,
		   "num_workers=0, batches made in the main process (1.0 ms each, their way from a "
		   "worker 9.0 ms)");
	EXPECT(strstr(
		a->action,
		"num_workers=0 (a batch takes 1.0 ms to make, its way from a worker 9.0 ms)"));
	EXPECT_INT(a->saving_ns, waits); /* which may take the main process next to nothing */
	EXPECT_INT(a->saving_least_ns, (waits - 100000 * (int64_t)(1000000 - 1000)) / 2);
	EXPECT_STR(a->change, "DataLoader(..., num_workers=0)");
	EXPECT(!advice(s, "handoff") && !advice(s, "loader-epoch")); /* which is within */
	view_summary_free(s);

	s = handed_over(4500000, false); /* half of the way, and no more */
	EXPECT(advice(s, "no-workers"));
	view_summary_free(s);
	s = lacking_cpu(101000); /* a tenth of the rest, and more */
	a = advice(s, "no-workers");
	REQUIRE(a);
	EXPECT_INT(a->saving_ns, waits);
	EXPECT_INT(a->saving_least_ns, 0);
	view_summary_free(s);
	s = handed_over(4600000, false);
	a = advice(s, "handoff");
	EXPECT(!advice(s, "no-workers") && advice(s, "loader-epoch"));
	REQUIRE(a);
	EXPECT_INT(a->saving_ns, MADE_HOUR_NS / 4);
	EXPECT(!a->change);
	view_summary_free(s);
	s = handed_over(1000000, true); /* how long pinning takes is not known */
	EXPECT(!advice(s, "no-workers") && advice(s, "handoff"));
	view_summary_free(s);
}

/* 100,000 batches, each on its way for @way_ns, and @copies of them to the GPU. */
static struct view_summary *sent(uint64_t copies, int64_t way_ns, int64_t fetch_ns, bool pin)
{
	struct ana_result *r = handing_over(fetch_ns, pin);

	made_no_class(r, ANA_INPUT_HANDOFF);
	made_class(r, ANA_INPUT_HANDOFF, 100000 * way_ns);
	r->copies[ANA_H2D].count = copies;
	return made_summary_of(r, H100, 6880000000LL);
}

static void expect_handoff(struct view_summary *s, const char *brief, const char *part)
{
	const struct view_advice *a = advice(s, "handoff");

	REQUIRE(a);
	EXPECT_STR(a->brief, brief);
	EXPECT(strstr(a->action, part));
	view_summary_free(s);
}

/* What comes in one piece cannot come in fewer. */
static void test_one_tensor(void)
{
	static const char few[] = "fewer and larger tensors per batch";
	struct view_summary *s;

	expect_handoff(
		sent(100000, 1000000, 5000000, false), "pin_memory=True, or larger batches",
		"in one copy and is on its way for 1.0 ms, so it is few tensors already: set "
		"pin_memory=True");
	expect_handoff(sent(110000, 3000000, 5000000, true), "larger batches, of which fewer come",
		       "already: make batches larger");
	/* many, one by one or joined on the host; and what was not copied tells nothing */
	expect_handoff(sent(110001, 1000000, 5000000, false), few, "many small objects");
	expect_handoff(sent(100000, 3000001, 5000000, false), few, "many small objects");
	expect_handoff(sent(0, 1000000, 5000000, false), few, "many small objects");

	s = made_summary_of(handing_over(500000, false), H100, 6880000000LL);
	EXPECT(strstr(advice(s, "no-workers")->action, "many small objects"));
	view_summary_free(s);
	s = sent(100000, 1000000, 100000, false);
	EXPECT(!strstr(advice(s, "no-workers")->action, "many small objects"));
	view_summary_free(s);
}

/* Who learns a cause has saved nothing yet: no dollars, but its place by what nobody knows. */
static void test_only_tells(void)
{
	static const struct {
		enum ana_class c;
		const char *id, *target;
		bool tells;
	} is[] = { { ANA_HOST_UNKNOWN, "host-unknown", NULL, true },
		   { ANA_HOST_WAIT, "host-wait", NULL, true },
		   { ANA_HOST_WAIT, "host-wait", "queue.get", true },
		   { ANA_HOST_WAIT, "host-wait", "queue.put", false },
		   { ANA_HOST_GC, "gc", NULL, false } };

	for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
		struct view_summary *s = one(is[i].c, WIRE_WAIT_LOCK, is[i].target);
		const struct view_advice *a = advice(s, is[i].id);

		REQUIRE(a && a == &s->advice[0]);
		EXPECT_INT(view_advice_only_tells(a), is[i].tells);
		EXPECT_INT(a->saving_ns, is[i].tells ? 0 : MADE_HOUR_NS / 4);
		EXPECT(is[i].tells ? !a->saving_nano_usd : a->saving_nano_usd > 0);
		view_summary_free(s);
	}
}

/*
 * A line that gives the GPU its work, with @leaf as its innermost frame ("function\tfile"), and one
 * more of its function.
 */
static struct ana_result *launching(const char *file, const char *leaf)
{
	struct ana_result *r = made_result(1, H100, 5);
	struct ana_hotspot place = { .class = ANA_HOST_DISPATCH,
				     .ns = MADE_HOUR_NS / 5,
				     .role = WIRE_ROLE_SUBMITTER,
				     .function = (char *)"Layer.plan",
				     .file = (char *)file,
				     .line = 32,
				     .leaf = (char *)leaf,
				     .samples = 20,
				     .threads = 1 };

	made_no_class(r, ANA_INPUT_UNKNOWN);
	made_no_class(r, ANA_HOST_SYNC);
	made_class(r, ANA_HOST_DISPATCH, MADE_HOUR_NS / 2);
	made_site(r, place);
	place.line = 31;
	place.ns = MADE_HOUR_NS / 10;
	made_site(r, place);
	place.function = (char *)"main";
	place.line = 60;
	made_site(r, place);
	return r;
}

/* Small results that each step reads one by one; few of them, or large ones, are no such. */
static void test_one_by_one(void)
{
	static const struct {
		uint64_t count, bytes;
		const char *file, *brief;
	} cases[] = {
		{ 256 * 640, 256 * 640 * 8, "/x/train.py",
		  "one read of the 256 results of a step (train.py:32 Layer.plan), not one each" },
		{ 10 * 640, 10 * 640 * 1024, "/venv/lib/python3.11/site-packages/pack/loop.py",
		  "one read of the 10 results of a step, not one each" },
		{ 10 * 640, 10 * 640 * 1025, "/venv/lib/python3.11/site-packages/pack/loop.py",
		  "torch.compile or CUDA graphs" },
		{ 9 * 640, 9 * 640 * 8, "/venv/lib/python3.11/site-packages/pack/loop.py",
		  "torch.compile or CUDA graphs" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ana_result *r = launching(cases[i].file, NULL);
		struct view_summary *s;
		const struct view_advice *a;

		r->steps = 640;
		r->copies[ANA_D2H] =
			(struct ana_copies){ .count = cases[i].count, .bytes = cases[i].bytes };
		s = made_summary_of(r, H100, 1000000000);
		a = advice(s, "dispatch");
		REQUIRE(a);
		EXPECT_STR(a->brief, cases[i].brief);
		EXPECT(!strstr(cases[i].brief, "one read") ==
		       !strstr(view_finding_sentence(s, &s->mem, 0),
			       "results from the GPU one by one"));
		EXPECT(!strstr(cases[i].brief, "one read") ==
		       !(a->change && strstr(a->change, ".tolist()")));
		EXPECT(!strstr(cases[i].brief, "one read") ==
		       !strstr(a->action, "small results from the GPU, one by one"));
		view_summary_free(s);
	}
}

/* What is read one by one is told once: with the launches that come late by it, if that is more. */
static void test_reads_are_no_copies(void)
{
	static const struct {
		int64_t dispatch_ns;
		uint64_t reads;
		bool told; /* by the copies' advice ... */
		const char *title; /* ... as this */
	} cases[] = {
		{ MADE_HOUR_NS / 2, 256, false, NULL },
		{ MADE_HOUR_NS / 200, 256, true, "Read results from the GPU together" },
		{ MADE_HOUR_NS / 2, 1, true, "Overlap copies with kernels" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ana_result *r = made_result(1, H100, 5);
		const struct view_advice *a;
		struct view_summary *s;

		made_no_class(r, ANA_INPUT_UNKNOWN);
		made_no_class(r, ANA_HOST_SYNC);
		made_class(r, ANA_HOST_DISPATCH, cases[i].dispatch_ns);
		made_class(r, ANA_COPY, MADE_HOUR_NS / 20);
		r->steps = 640;
		r->copies[ANA_D2H] = (struct ana_copies){ .count = cases[i].reads * 640,
							  .bytes = cases[i].reads * 640 * 8,
							  .exposed_ns = MADE_HOUR_NS / 20 };
		s = made_summary_of(r, H100, 1000000000);
		a = advice(s, "copy");
		EXPECT(!a == !cases[i].told);
		if (a && cases[i].told)
			EXPECT_STR(a->title, cases[i].title);
		view_summary_free(s);
	}
}

/*
 * Where the program's own Python is what takes long, it is named first; where a package's is, not.
 */
static void test_own_python(void)
{
	static const char *const others[][2] = {
		{ "/x/train.py", "relu\t/usr/lib/python3.11/site-packages/torch/nn/functional.py" },
		{ "/venv/lib/python3.11/site-packages/pack/loop.py", NULL },
	};
	struct view_summary *s = made_summary_of(launching("/x/train.py", NULL), H100, 1000000000);
	const struct view_advice *a = advice(s, "dispatch");
	struct ana_result *r;

	REQUIRE(a);
	EXPECT_STR(
		a->brief,
		"less Python in the step (train.py:32 Layer.plan, also 31); else torch.compile or CUDA graphs");
	EXPECT(strstr(
		a->action,
		"spend less Python there (train.py:32 Layer.plan, also 31): compute it once, or outside of the step; else"));
	view_summary_free(s);
	/* many operations right behind each other: it is these that are too small */
	r = launching("/x/train.py", NULL);
	made_class(r, ANA_DEVICE_TURNAROUND, MADE_HOUR_NS / 8);
	s = made_summary_of(r, H100, 1000000000);
	a = advice(s, "dispatch");
	REQUIRE(a);
	EXPECT_STR(
		a->brief,
		"torch.compile or CUDA graphs; else less Python in the step (train.py:32 Layer.plan, also 31)");
	EXPECT(strstr(a->action,
		      "use torch.compile or CUDA graphs, fuse small operators, or raise the "
		      "batch size; else spend less Python there (train.py:32 Layer.plan, also "
		      "31): compute it once, or outside of the step"));
	view_summary_free(s);
	for (size_t i = 0; i < 2; i++) {
		s = made_summary_of(launching(others[i][0], others[i][1]), H100, 1000000000);
		a = advice(s, "dispatch");
		REQUIRE(a);
		EXPECT_STR(a->brief, "torch.compile or CUDA graphs");
		view_summary_free(s);
	}
}

/* A saving that is larger than the finding told first of its class says what it is of. */
static void test_about(void)
{
	struct base_arena mem = { 0 };
	struct view_summary *s = made_summary_of(launching("/x/train.py", NULL), H100, 1000000000);
	const char *of = view_advice_about_words(s, &mem, advice(s, "dispatch"));

	EXPECT_STR(of ? of : "", "of all of host.dispatch, 50.0 %");
	EXPECT(strstr(advice(s, "dispatch")->why,
		      "; the saving is out of all of host.dispatch, 50.0 % of the training time"));
	view_summary_free(s);

	s = made_summary_of(made_starved(NULL), H100, 6880000000LL);
	of = view_advice_about_words(s, &mem, advice(s, "workers"));
	EXPECT_STR(of ? of : "", "of all waits for input, 33.3 %");
	view_summary_free(s);

	s = made_by(4, WIRE_ROLE_SUBMITTER, 16, ANA_INPUT_FETCH); /* one line has all of it */
	EXPECT(!view_advice_about_words(s, &mem, advice(s, "storage")));
	view_summary_free(s);
	base_arena_fini(&mem);
}

/* It stands where its time puts it, and lets nothing small stand beside it. */
static void test_only_tells_order(void)
{
	struct ana_result *r = launching("/x/train.py", NULL);
	struct view_summary *s;

	made_class(r, ANA_HOST_UNKNOWN, MADE_HOUR_NS / 5);
	s = made_summary_of(r, H100, 1000000000);
	REQUIRE(s->advices == 2);
	EXPECT(&s->advice[0] == advice(s, "dispatch") &&
	       &s->advice[1] == advice(s, "host-unknown"));
	view_summary_free(s);

	r = made_result(1, H100, 5);
	made_no_class(r, ANA_INPUT_UNKNOWN);
	made_class(r, ANA_HOST_UNKNOWN, MADE_HOUR_NS / 5);
	made_class(r, ANA_HOST_SYNC, MADE_HOUR_NS / 20);
	s = made_summary_of(r, H100, 1000000000);
	EXPECT(view_advice_first(s) == advice(s, "host-unknown"));
	EXPECT(advice(s, "sync") && view_advice_second(s) != advice(s, "sync"));
	view_summary_free(s);
}

/*
 * A second cause has its own remedy, where that is worth a third of the first one's and spares
 * another time.
 */
static void test_second(void)
{
	struct ana_result *r = launching("/x/train.py", NULL);
	struct view_summary *s;
	const struct view_advice *a;

	made_class(r, ANA_INPUT_HANDOFF, MADE_HOUR_NS / 5);
	s = made_summary_of(r, H100, 1000000000);
	a = view_advice_second(s);
	EXPECT(view_advice_first(s) == advice(s, "dispatch"));
	EXPECT(a && a == advice(s, "handoff"));
	view_summary_free(s);

	r = launching("/x/train.py", NULL);
	made_class(r, ANA_INPUT_HANDOFF, MADE_HOUR_NS / 7); /* of a half: less than a third */
	s = made_summary_of(r, H100, 1000000000);
	EXPECT(advice(s, "handoff") && !view_advice_second(s));
	view_summary_free(s);

	/* CUDA graphs are of what is to be done first already */
	r = launching("/x/train.py", NULL);
	made_class(r, ANA_DEVICE_LAUNCH, MADE_HOUR_NS / 5);
	s = made_summary_of(r, H100, 1000000000);
	EXPECT(view_advice_first(s) == advice(s, "dispatch") && advice(s, "launch"));
	EXPECT(!view_advice_second(s));
	view_summary_free(s);

	/* workers spare what nearer data does */
	s = made_summary_of(made_starved(NULL), H100, 6880000000LL);
	EXPECT(view_advice_first(s) == advice(s, "workers") && advice(s, "storage"));
	EXPECT(!view_advice_second(s));
	view_summary_free(s);
}

/* Copies at the line of a checkpoint are its own; at another line they are not. */
static void test_copies_of_checkpoint(void)
{
	for (uint32_t line = 42; line < 44; line++) {
		struct ana_result *r = made_result(1, H100, 5);
		struct ana_hotspot place = { .class = ANA_HOST_CHECKPOINT,
					     .ns = MADE_HOUR_NS / 5,
					     .role = WIRE_ROLE_SUBMITTER,
					     .file = (char *)"/x/train.py",
					     .function = (char *)"step",
					     .line = 42,
					     .samples = 7,
					     .threads = 1 };
		struct view_summary *s;

		made_no_class(r, ANA_INPUT_UNKNOWN);
		made_class(r, ANA_HOST_CHECKPOINT, MADE_HOUR_NS / 5);
		made_class(r, ANA_COPY, MADE_HOUR_NS / 10);
		made_site(r, place);
		place.class = ANA_COPY;
		place.ns = MADE_HOUR_NS / 10;
		place.line = line;
		made_site(r, place);
		s = made_summary_of(r, H100, 1000000000);
		REQUIRE(advice(s, "copy"));
		EXPECT(strstr(advice(s, "copy")->action,
			      line == 42 ? "save less often" : "use pinned memory"));
		view_summary_free(s);
	}
}

static const struct t_case cases[] = {
	T_CASE(test_places),	    T_CASE(test_overdrawn),
	T_CASE(test_rank),	    T_CASE(test_one_line),
	T_CASE(test_short_gaps),    T_CASE(test_confidence),
	T_CASE(test_many),	    T_CASE(test_shares),
	T_CASE(test_workers),	    T_CASE(test_makers),
	T_CASE(test_maker_cpus),    T_CASE(test_sure_as_its_time),
	T_CASE(test_two_trainers),  T_CASE(test_no_contradiction),
	T_CASE(test_cores),	    T_CASE(test_copies_of_checkpoint),
	T_CASE(test_first_worker),  T_CASE(test_one_proposal),
	T_CASE(test_premises),	    T_CASE(test_order_of_one),
	T_CASE(test_lengths),	    T_CASE(test_pace),
	T_CASE(test_pace_of_ranks), T_CASE(test_epoch),
	T_CASE(test_by_evidence),   T_CASE(test_without_workers),
	T_CASE(test_one_tensor),    T_CASE(test_trainers_in_turn),
	T_CASE(test_only_tells),    T_CASE(test_only_tells_order),
	T_CASE(test_one_by_one),    T_CASE(test_reads_are_no_copies),
	T_CASE(test_own_python),    T_CASE(test_about),
	T_CASE(test_second),	    T_CASE(test_words),
	T_CASE(test_short_path),    T_CASE(test_sleep),
};

int main(void)
{
	return t_run(cases, sizeof(cases) / sizeof(cases[0]));
}
