/* SPDX-License-Identifier: Apache-2.0 */
/* Runs that a store tells of: as many as there is room for, and what is beyond is counted. */
#include "harness.h"

#include "alert/runs.h"

#define BEYOND 10

static const struct coll_conditions none = { .nano_usd_per_hour = -1 };

/* A row of a run, whose frame is a Hello that says nothing, or of @bytes that are none. */
static void row(struct coll_runs *r, unsigned int run, uint8_t stream, size_t bytes)
{
	static char hex[2 * LIVE_ROW_FRAME_MAX + 1];
	struct wire_frame f = { .version = WIRE_FRAME_VERSION,
				.type = WIRE_FRAME_HELLO,
				.stream = { stream, (uint8_t)run, (uint8_t)(run >> 8) },
				.seq = 1 };
	struct wire_buf frame = { .data = NULL };
	struct live_row one = { .slot = LIVE_ROW_HELLO, .rank = 1, .hex = hex };

	EXPECT_INT(wire_frame_append(&frame, &f, NULL, 0, NULL, 0), 0);
	for (size_t i = 0; i < frame.len; i++)
		snprintf(&hex[2 * i], 3, "%02x", frame.data[i]);
	one.digits = bytes ? 2 * bytes : 2 * frame.len;
	for (size_t i = 2 * frame.len; i < one.digits; i++)
		hex[i] = '0';
	live_row_name_stream(&one, f.stream);
	snprintf(one.team, sizeof(one.team), "team");
	snprintf(one.run, sizeof(one.run), "r%u", run);
	coll_runs_row(r, &one);
	wire_buf_fini(&frame);
}

static void test_runs(void)
{
	struct coll_runs r;

	EXPECT_INT(coll_runs_init(&r, &none), 0);
	for (unsigned int i = 0; i < COLL_RUNS_MAX + BEYOND; i++)
		row(&r, i, 1, 0);
	EXPECT_UINT(r.count, COLL_RUNS_MAX);
	EXPECT_UINT(r.unwatched, BEYOND);
	coll_runs_rows_end(&r);
	EXPECT_UINT(r.rows, COLL_RUNS_MAX);
	EXPECT(coll_runs_find(&r, "team/r7.gst") &&
	       coll_runs_find(&r, "team/r7.gst")->live.streams);
	row(&r, 7, 2, 0); /* of one that is watched there may be more */
	EXPECT_UINT(r.unwatched, BEYOND);
	coll_runs_tick(&r);
	EXPECT_UINT(r.streams, COLL_RUNS_MAX);
	coll_runs_fini(&r);
}

/* Of rows whose frames are long there are fewer; those that make no sense are counted as well. */
static void test_bytes(void)
{
	struct coll_runs r;
	size_t before;

	EXPECT_INT(coll_runs_init(&r, &none), 0);
	for (unsigned int i = 0; r.row_bytes < COLL_RUNS_ROW_BYTES_MAX; i++)
		row(&r, 0, (uint8_t)i, LIVE_ROW_FRAME_MAX);
	before = r.rows;
	EXPECT(before > 10000 && before < 20000 && !r.unwatched);
	row(&r, 0, 1, LIVE_ROW_FRAME_MAX);
	EXPECT_UINT(r.unwatched, 1);
	EXPECT_UINT(r.rows, before);
	coll_runs_rows_end(&r); /* of 256 keys one row each stays, which is no frame */
	EXPECT_UINT(r.rows, 256);
	EXPECT_UINT(r.unwatched, 1 + 256);
	EXPECT(r.row_bytes < COLL_RUNS_ROW_BYTES_MAX / 50);
	row(&r, 0, 1, 0);
	EXPECT_UINT(r.rows, 257);
	coll_runs_fini(&r);
}

int main(void)
{
	return RUN(test_runs, test_bytes);
}
