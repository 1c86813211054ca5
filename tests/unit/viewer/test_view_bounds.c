/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many threads are asked, and how many rows are kept, does not grow with the run, whatever a
 * small file holds.
 */
#include "analysis/evidence/evidence.h"
#include "analysis/time/timeline_stack.h"
#include "engine_trace.h"

#define MS INT64_C(1000000)
#define EPOCHS 500
#define WORKERS 16u
#define EPOCH_MS 1000
#define BLOCK 65536u

static void see(struct ana_evidence *e, uint32_t tid, int64_t t)
{
	const struct wire_sample s = { .t_ns = t, .pid = 1, .tid = tid };

	REQUIRE(!ana_evidence_add_sample(e, &s, t));
}

/* Workers that begin anew in each epoch, a trainer that stays, and one that comes back. */
static void test_threads_that_are_gone(void)
{
	struct wire_strtab *names = wire_strtab_new();
	struct ana_evidence e;
	uint32_t i, k, most = 0;

	REQUIRE(names);
	ana_evidence_bare(&e, names);
	see(&e, 2, 0);
	for (i = 0; i < EPOCHS; i++)
		for (k = 0; k < WORKERS; k++) {
			see(&e, 1, i * EPOCH_MS * MS);
			see(&e, 100 + i * WORKERS + k, i * EPOCH_MS * MS);
			most = e.threads > most ? e.threads : most;
		}
	/* those of six seconds, twice until it is looked who is gone */
	EXPECT(most <= 2 * 8 * WORKERS);
	EXPECT(e.kept <= 2 * 2 * 8 * WORKERS);
	EXPECT_UINT(e.count, 1 + 2 * EPOCHS * WORKERS);
	EXPECT(ana_evidence_thread(&e, 1, 2) && !ana_evidence_thread(&e, 1, 2)->alive);
	see(&e, 2, EPOCHS * EPOCH_MS * MS);
	EXPECT_UINT(e.thread[0]->tid, 2); /* where it was */
	EXPECT_UINT(e.thread[1]->tid, 1);
	ana_evidence_fini(&e);
	wire_strtab_free(names);
}

static void test_rows_at_once(void)
{
	struct ana_timeline_stack l = { 0 };
	int i;

	for (i = 0; i < 100000; i++)
		REQUIRE(!ana_timeline_stack_add(&l, 1, 1000000 - i, 1, INT64_MIN));
	EXPECT_UINT(l.rows, 1 << 16);
	EXPECT_UINT(l.left_out, 100000 - (1 << 16));
	REQUIRE(!ana_timeline_stack_upto(&l, 2000000, INT64_MIN));
	EXPECT_INT(l.total, 999999);
	ana_timeline_stack_fini(&l);
}

/* Of stretches without end that somebody may still ask for, the last million at least are kept. */
static void test_stretches(void)
{
	struct ana_timeline_stack l = { 0 };
	int64_t i, n = 5 << 20, until;
	uint32_t value;

	for (i = 0; i < n; i++)
		REQUIRE(!ana_timeline_stack_add(&l, 10 * i, 10 * i + 5, 1, INT64_MIN));
	REQUIRE(!ana_timeline_stack_upto(&l, 10 * n, INT64_MIN));
	EXPECT(l.room <= 1 << 22);
	EXPECT_INT(l.total, 5 * n);
	for (i = n - (1 << 20); i < n; i++)
		REQUIRE(ana_timeline_stack_at(&l, 10 * i, &value, &until) && until == 10 * i + 5);
	ana_timeline_stack_fini(&l);
}

static void make_samples(struct t_run *r, unsigned int frames)
{
	struct wire_sample *s = calloc(BLOCK, sizeof(*s));
	struct t_proc p;
	unsigned int i;

	REQUIRE(s);
	t_run_begin(r);
	t_proc_begin(r, &p, 10, 0, MS);
	for (i = 0; i < BLOCK; i++)
		s[i] = (struct wire_sample){ .t_ns = 2 * MS + i, .pid = 10, .tid = 10 };
	for (i = 0; i < frames; i++)
		t_samples(&p, s, BLOCK);
	t_proc_end(&p, 9 * MS, true);
	free(s);
}

static void read_rows(unsigned int frames, unsigned int unreadable)
{
	struct wire_scratch *scratch = wire_scratch_new();
	struct ana_row_feed f;
	const char *why;
	struct t_run r;
	uint64_t n = 0;

	make_samples(&r, frames);
	REQUIRE(scratch && !view_trace_open(&r.trace, r.dir, &why));
	REQUIRE(!ana_row_feed_init(&f, r.trace, &r.trace->stream[0], WIRE_KIND_SAMPLE, scratch));
	while (ana_row_feed_sample(&f, INT64_MAX))
		n++;
	EXPECT_INT(f.err, 0);
	EXPECT_UINT(f.unreadable, unreadable);
	EXPECT_UINT(n, (uint64_t)(frames - unreadable) * BLOCK);
	ana_row_feed_fini(&f);
	wire_scratch_free(scratch);
	t_run_end(&r);
}

static void test_frames_of_evidence(void)
{
	read_rows(3, 0);
	read_rows(12, 4);
}

int main(void)
{
	return RUN(test_threads_that_are_gone, test_rows_at_once, test_stretches,
		   test_frames_of_evidence);
}
