/* SPDX-License-Identifier: Apache-2.0 */
/* Limits read from words, quotas counted beside a sweep, rates, text made harmless. */
#include "harness.h"

#include <errno.h>
#include "core/quantity.h"
#include "retain/admit.h"

static struct coll_limits limits;
static struct coll_context context;
static struct coll_retention retention;

static void begin(void)
{
	coll_limits_init(&limits);
	memset(&context, 0, sizeof(context));
	coll_retention_init(&retention, "/nowhere", &limits, &context);
}

static void heard(const char *text)
{
	char line[256];
	size_t len;

	for (; *text; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)len, text);
		coll_retention_read_line(&retention, line);
	}
}

/* What a sweep tells is from when it began: what came meanwhile is added, for teams and for all. */
static void test_quota_beside_a_sweep(void)
{
	struct coll_use *red;

	begin();
	limits.value[COLL_LIMIT_QUOTA] = 1000;
	limits.value[COLL_LIMIT_TEAM_QUOTA] = 500;
	red = coll_retention_use(&retention, "red");
	REQUIRE(red);
	EXPECT_INT(coll_admit_append(&retention, red, 0, 300), 0);
	heard("team red 100 1\nteam - 50 2\ntotal 150 3 40 2\n");
	EXPECT_UINT(red->bytes, 400);
	EXPECT_UINT(retention.bytes, 450);
	EXPECT_UINT(coll_retention_use(&retention, "")->bytes, 50);
	EXPECT_INT(coll_admit_append(&retention, red, 0, 101), -EDQUOT);
	EXPECT_UINT(red->need, 101);
	EXPECT_INT(coll_admit_append(&retention, red, 0, 100), 0);
	EXPECT_INT(coll_admit_append(&retention, NULL, 0, 451), -EDQUOT);
	EXPECT_UINT(retention.need, 451);
	EXPECT_INT(coll_admit_append(&retention, NULL, 0, 450), 0);
	EXPECT_UINT(context.count.limit_quota, 2);
	EXPECT_UINT(context.count.runs_removed, 2);
	EXPECT_UINT(context.count.bytes_removed, 40);
	heard("total 0 0 0 0\n"); /* a team that has nothing any more */
	EXPECT_UINT(red->bytes, 400);
	heard("team red 7 1\nteam - 50 2\n"); /* a sweep that was killed amid its sums */
	EXPECT_UINT(red->bytes, 400);
	heard("team red 99999999999999999999 1\nteam\ntotal x\nnonsense");
	coll_retention_fini(&retention);
}

static void test_streams_and_runs(void)
{
	begin();
	limits.value[COLL_LIMIT_STREAMS] = 3;
	limits.value[COLL_LIMIT_RUNS] = 2;
	limits.value[COLL_LIMIT_STREAM_SIZE] = 10;
	EXPECT_INT(coll_admit_open(&retention, "/a"), 0);
	EXPECT_INT(coll_admit_open(&retention, "/b"), 0);
	EXPECT_INT(coll_admit_open(&retention, "/c"), -EUSERS);
	EXPECT_INT(coll_admit_open(&retention, "/a"), 0);
	EXPECT_INT(coll_admit_open(&retention, "/a"), -EUSERS);
	coll_admit_closed(&retention, "/b");
	EXPECT_UINT(retention.open_runs, 1);
	EXPECT_INT(coll_admit_open(&retention, "/c"), 0);
	EXPECT_UINT(context.count.limit_runs, 1);
	EXPECT_UINT(context.count.limit_streams, 1);
	EXPECT_INT(coll_admit_append(&retention, NULL, 5, 5), 0);
	EXPECT_INT(coll_admit_append(&retention, NULL, 5, 6), -EFBIG);
	EXPECT_INT(coll_admit_append(&retention, NULL, UINT64_MAX, 6), -EFBIG);
	EXPECT_INT(coll_admit_open(NULL, "/a"), 0);
	coll_admit_closed(&retention, "/a");
	coll_admit_closed(&retention, "/a");
	coll_admit_closed(&retention, "/c");
	EXPECT_UINT(retention.open_streams, 0);
	coll_retention_fini(&retention);
}

/* What the disk has beyond the floor, and no byte of the floor. */
static void test_free_floor(void)
{
	begin();
	EXPECT_INT(coll_admit_append(&retention, NULL, 0, 1u << 30), 0); /* not looked yet */
	retention.free_known = true;
	retention.free_bytes = 1000;
	EXPECT_INT(coll_admit_append(&retention, NULL, 0, 600), 0);
	EXPECT_INT(coll_admit_append(&retention, NULL, 0, 401), -ENOSPC);
	EXPECT_INT(coll_admit_append(&retention, NULL, 0, 400), 0);
	EXPECT_INT(coll_admit_append(&retention, NULL, 0, 1), -ENOSPC);
	EXPECT_UINT(context.count.limit_free, 2);
	EXPECT_UINT(retention.bytes, (1u << 30) + 1000);
	coll_retention_fini(&retention);
}

/* Over an hour, whatever the pieces, no more than the rate and what was saved up. */
static void test_rate(void)
{
	struct coll_bucket b = { 0 };
	int64_t now = 1000 * COLL_SECOND_NS, end = now + 3600 * COLL_SECOND_NS;
	uint64_t taken = 0, rate = 1000003, seed = 7;

	while (now < end) {
		uint64_t piece = (seed = seed * 6364136223846793005u + 1442695040888963407u) >> 44;

		now += coll_bucket_wait_ns(&b, rate, now);
		coll_bucket_take(&b, rate, piece, now);
		taken += piece;
	}
	EXPECT(taken <= 3603 * rate + (1u << 20));
	EXPECT(taken >= 3600 * rate);
	coll_bucket_take(&b, 1, UINT64_MAX, now);
	EXPECT(coll_bucket_wait_ns(&b, 1, now) <= COLL_BUCKET_DEBT_S * COLL_SECOND_NS);
	EXPECT_INT(coll_bucket_wait_ns(&b, 0, now), 0);
}

static void test_words(void)
{
	uint64_t bytes;
	int64_t ns;

	EXPECT(coll_size_of("12", &bytes) && bytes == 12);
	EXPECT(coll_size_of("3K", &bytes) && bytes == 3072);
	EXPECT(coll_size_of("16777215T", &bytes) && bytes == 16777215ull << 40);
	EXPECT(!coll_size_of("16777216T", &bytes));
	EXPECT(!coll_size_of("", &bytes) && !coll_size_of("K", &bytes));
	EXPECT(!coll_size_of("1k", &bytes) && !coll_size_of("1KB", &bytes));
	EXPECT(!coll_size_of(" 1", &bytes) && !coll_size_of("+1", &bytes));
	EXPECT(coll_span_of("2w", &ns) && ns == 14 * 86400 * COLL_SECOND_NS);
	EXPECT(!coll_span_of("2", &ns) && !coll_span_of("300y", &ns));
}

int main(void)
{
	return RUN(test_quota_beside_a_sweep, test_streams_and_runs, test_free_floor, test_rate,
		   test_words);
}
