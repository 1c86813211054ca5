/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's versions: rows in order, found by number and by record, named; each trouble with its
 * source.
 */
#include "facts/cupti.h"

#include "harness.h"

static void test_rows(void)
{
	const uint32_t both = FACTS_CUPTI_PER_THREAD_OFF | FACTS_CUPTI_PER_THREAD_ON;
	size_t n, i;
	const struct facts_cupti *r = facts_cupti_rows(&n);

	EXPECT(n >= 20);
	EXPECT_UINT(r[0].version, FACTS_CUPTI_OLDEST);
	for (i = 0; i < n; i++) {
		EXPECT(!i || r[i].version > r[i - 1].version ||
		       (r[i].version == r[i - 1].version &&
			r[i].bytes.kernel > r[i - 1].bytes.kernel));
		EXPECT((r[i].facts & both) != both);
		EXPECT(!(r[i].facts & FACTS_CUPTI_ENDLESS) ||
		       r[i].facts & FACTS_CUPTI_NEEDS_DRIVER);
		EXPECT(facts_cupti(r[i].version, r[i].bytes.kernel) == &r[i]);
	}
}

static void test_found(void)
{
	size_t n;
	const struct facts_cupti *rows = facts_cupti_rows(&n);

	EXPECT(!facts_cupti(17, 176));
	EXPECT(!facts_cupti(0, 0));
	EXPECT_STR(facts_cupti(18, 200)->release, "11.8");
	EXPECT_STR(facts_cupti(18, 208)->release, "12.0 or 12.1");
	EXPECT_STR(facts_cupti(18, 0)->release, "11.8");
	EXPECT_STR(facts_cupti(25, 208)->release, "12.6"); /* none has it: as the one before */
	EXPECT_STR(facts_cupti(130001, 216)->release, "13.0 U1");
	EXPECT(facts_cupti(140200, 300) == &rows[n - 1]);
}

static void expect_name(const char *name, uint32_t version, uint32_t kernel_bytes)
{
	char text[32];

	facts_cupti_release(text, version, kernel_bytes);
	EXPECT_STR(text, name);
}

static void test_names(void)
{
	expect_name("before 11.8", 17, 176);
	expect_name("11.8", 18, 200);
	expect_name("12.0 or 12.1", 18, 208);
	expect_name("11.8 to 12.1", 18, 0);
	expect_name("not known", 25, 208);
	expect_name("12.9 U1", 28, 208);
	expect_name("13.0", 130000, 216);
	expect_name("13.2 U2", 130202, 224);
	expect_name("13.7 U3", 130703, 0);
}

static bool has(void *library, const char *name)
{
	return library && (!strcmp(library, name) || !strcmp(name, "cuptiActivityEnable_v2"));
}

static void test_symbols(void)
{
	char timestamp[] = "cuptiGetTimestamp_v2", lock[] = "cuptiClockControlLock", none[] = "";

	EXPECT_UINT(facts_cupti_by_symbols(has, NULL), 0);
	EXPECT_UINT(facts_cupti_by_symbols(has, none), 130200);
	EXPECT_UINT(facts_cupti_by_symbols(has, timestamp), 130300);
	EXPECT_UINT(facts_cupti_by_symbols(has, lock), 130400);
	EXPECT(facts_cupti(130200, 0)->facts & FACTS_CUPTI_ENDLESS);
	EXPECT(!(facts_cupti(130300, 0)->facts & FACTS_CUPTI_ENDLESS));
}

static void test_troubles(void)
{
	static const enum facts_cupti_fact told[] = { FACTS_CUPTI_PASSIVE, FACTS_CUPTI_LONG_GRAPHS,
						      FACTS_CUPTI_ENDLESS };
	size_t i;

	for (i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		const struct facts_cupti_trouble *t = facts_cupti_trouble(told[i]);

		REQUIRE(t && t->fact == told[i]);
		EXPECT(strlen(t->what) > 20 && strlen(t->remedy) > 10 && strlen(t->source) > 20);
	}
	EXPECT(!facts_cupti_trouble(FACTS_CUPTI_PICKS_CALLS));
}

int main(void)
{
	return RUN(test_rows, test_found, test_names, test_symbols, test_troubles);
}
