/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of blocks that overlap: in order, and no more of them in memory than a bound, however
 * small the file is that holds them.
 */
#include "harness.h"

#include "analysis/read/event_feed.h"
#include "engine_trace.h"

#define US(us) ((int64_t)(us)*1000)
#define EACH WIRE_BLOCK_EVENTS_MAX
#define HELD 25u /* blocks of that size that fit: one, and 24 besides */

/* @blocks of operations that begin together, one stream each; constant columns take no room. */
static void make(struct t_run *r, uint32_t blocks)
{
	struct t_proc p;
	uint32_t b, i;

	t_run_begin(r);
	t_proc_begin(r, &p, 10, 0, US(0));
	for (b = 0; b < blocks; b++) {
		for (i = 0; i < EACH; i++)
			t_kernel(&p, US(1) + i * 1000, US(1) + i * 1000 + 900, 0)->stream = b;
		made_flush(&p.s, 0);
	}
	t_proc_end(&p, US(1000000), true);
}

static void check(uint32_t blocks, uint32_t unreadable)
{
	struct wire_scratch *scratch = wire_scratch_new();
	const struct wire_event *e;
	struct ana_feed f;
	uint64_t n = 0, turned = 0;
	int64_t last = 0;
	const char *why;
	struct t_run r;

	make(&r, blocks);
	REQUIRE(!view_trace_open(&r.trace, r.dir, &why));
	REQUIRE(!ana_feed_init(&f, r.trace, &r.trace->stream[0], WIRE_KIND_OP, scratch));
	for (; (e = ana_feed_peek(&f)); ana_feed_pop(&f), n++) {
		turned += e->start_ns < last;
		last = e->start_ns;
	}
	EXPECT_INT(f.err, 0);
	EXPECT_UINT(n, (uint64_t)(blocks - unreadable) * EACH);
	EXPECT_UINT(turned, 0);
	EXPECT_UINT(f.unreadable, unreadable);
	ana_feed_fini(&f);
	wire_scratch_free(scratch);
	t_run_end(&r);
}

static void test_blocks_that_overlap(void)
{
	check(3, 0);
}

static void test_blocks_without_end(void)
{
	check(HELD + 3, 3);
}

int main(void)
{
	return RUN(test_blocks_that_overlap, test_blocks_without_end);
}
