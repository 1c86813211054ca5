/* SPDX-License-Identifier: Apache-2.0 */
/* What was waited for, slowest first: sums by name, a bound, and parts of a run together. */
#include "harness.h"
#include "analysis/evidence/targets.h"

static void add(struct ana_targets *t, const char *name, int64_t ns, uint64_t bytes)
{
	const struct ana_target more = { .ns = ns, .samples = 1, .bytes = bytes, .read_ns = 10 };

	REQUIRE(!ana_targets_add(t, (struct ana_text){ name, (uint32_t)strlen(name) },
				 (struct ana_text){ "ext4", 4 }, &more));
}

static void end(struct ana_target *out, size_t n)
{
	while (n)
		ana_target_fini(&out[--n]);
	free(out);
}

static void test_order(void)
{
	struct ana_targets a = { 0 }, b = { 0 };
	struct ana_target *out;
	size_t n;

	add(&a, "/data/1", 30, 5);
	add(&a, "socket:host:80", 50, 0);
	add(&b, "/data/1", 40, 7);
	add(&b, "/data", 1, UINT64_MAX);
	add(&b, "/data", 1, 2);
	REQUIRE(!ana_targets_merge(&a, &b));
	REQUIRE(!ana_targets_finish(&a, &out, &n));
	REQUIRE(n == 3);
	EXPECT_STR(out[0].name, "/data/1");
	EXPECT_STR(out[0].fs, "ext4");
	EXPECT(out[0].ns == 70 && out[0].samples == 2 && out[0].bytes == 12 &&
	       out[0].read_ns == 20);
	EXPECT_STR(out[1].name, "socket:host:80");
	EXPECT(out[2].ns == 2 && out[2].bytes == UINT64_MAX);
	end(out, n);
	ana_targets_fini(&a);
	ana_targets_fini(&b);
}

/* Many more than are kept: one that is waited for again and again stays. */
static void test_bound(void)
{
	struct ana_targets t = { 0 };
	struct ana_target *out;
	char name[32];
	size_t n;
	int i;

	for (i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "/data/%d", i);
		add(&t, name, 1, 0);
		add(&t, "/slow", 2, 0);
		EXPECT(t.count <= ANA_TARGETS_MAX);
	}
	REQUIRE(!ana_targets_finish(&t, &out, &n));
	EXPECT_UINT(n, ANA_TARGETS_TOLD);
	EXPECT_STR(out[0].name, "/slow");
	EXPECT_INT(out[0].ns, 10000);
	end(out, n);
	ana_targets_fini(&t);
}

int main(void)
{
	return RUN(test_order, test_bound);
}
