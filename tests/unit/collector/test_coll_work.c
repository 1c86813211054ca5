/* SPDX-License-Identifier: Apache-2.0 */
/* Marks of workers by their names, and whose run is next. */
#include "harness.h"

#include "work/candidates.h"
#include "work/work_marks.h"

#define LEASE "lease-01794979146000000002-8ffb6657e25a348d-0123456789abcdef"

static void test_names(void)
{
	static const char *const good[] = {
		"digest-01794979146000000002-8ffb6657e25a348d.json",
		"report-00000000000000000000-0000000000000000.html",
		"summary-01794979146000000002-ffffffffffffffff.json",
		"dead-01794979146000000002-8ffb6657e25a348d.txt",
		"fail-01794979146000000002-8ffb6657e25a348d-0123456789abcdef.txt",
		LEASE,
	};
	static const char *const bad[] = {
		"",
		"digest",
		"digest-",
		"digest-1794979146000000002-8ffb6657e25a348d.json",
		"digest-01794979146000000002-8ffb6657e25a348D.json",
		"digest-01794979146000000002-8ffb6657e25a348d.json.json",
		"digest-01794979146000000002-8ffb6657e25a348d-0123456789abcdef.json",
		"digest-99999999999999999999-8ffb6657e25a348d.json",
		"digest-18446744073709551615-8ffb6657e25a348d.json",
		"lease-01794979146000000002-8ffb6657e25a348d",
		(LEASE "0"),
		(LEASE "/x"),
		("x" LEASE),
	};
	static const int kinds[] = { COLL_WORK_DIGEST, COLL_WORK_REPORT, COLL_WORK_SUMMARY,
				     COLL_WORK_DEAD,   COLL_WORK_FAIL,	 COLL_WORK_LEASE };
	char name[COLL_WORK_NAME_BYTES];
	struct coll_work_mark m;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		EXPECT(coll_work_mark_read(&m, good[i]));
		EXPECT_INT(m.kind, kinds[i]);
		coll_work_mark_name(name, &m);
		EXPECT_STR(name, good[i]);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		EXPECT(!coll_work_mark_read(&m, bad[i]));
}

/* Ages are the store's; a lease is another's while it is young, whatever our own clock says. */
static void test_leases(void)
{
	struct coll_work_marks all = { .now_s = 1000 };
	const struct coll_work_mark *last;

	REQUIRE(!coll_work_marks_add(&all, LEASE, 900));
	EXPECT(!coll_work_marks_add(&all, "no mark", 900) && all.n == 1);
	EXPECT(coll_work_marks_other(&all, "fedcba9876543210", 101, 0));
	EXPECT(!coll_work_marks_other(&all, "fedcba9876543210", 100, 0));
	EXPECT(coll_work_marks_other(&all, "fedcba9876543210", 100, 50)); /* its clocks differ */
	EXPECT(coll_work_marks_other(&all, "fedcba9876543210", 0, 0)); /* of any age */
	EXPECT(!coll_work_marks_other(&all, "0123456789abcdef", 0, 0)); /* ours */
	REQUIRE(!coll_work_marks_add(
		&all, "fail-00000000000000000007-00000000000000ff-0000000000000001.txt", 5));
	REQUIRE(!coll_work_marks_add(
		&all, "fail-00000000000000000007-00000000000000ff-0000000000000002.txt", 4));
	REQUIRE(!coll_work_marks_add(
		&all, "fail-00000000000000000007-00000000000000fe-0000000000000003.txt", 9));
	EXPECT_UINT(coll_work_marks_fails(&all, 0xff, &last), 2);
	EXPECT_INT(last->changed_s, 5);
	EXPECT_UINT(coll_work_marks_fails(&all, 1, &last), 0);
	EXPECT(!last);
	EXPECT(!coll_work_marks_find(&all, COLL_WORK_DEAD, 0xff));
	coll_work_marks_fini(&all);
}

static struct coll_work_candidates c;

static void add(const char *team, int runs, bool again)
{
	char run[32];

	for (int i = 0; i < runs; i++) {
		snprintf(run, sizeof(run), "r%d", i);
		coll_work_candidates_add(&c, team, run, again);
	}
}

/* Of two teams each has every other turn; one that others are at waits; memory is bounded. */
static void test_turns(void)
{
	struct coll_work_place p;
	int blue = 0, n;

	add("red", 5000, false);
	add("blue", 5, false);
	EXPECT_UINT(c.runs, COLL_WORK_TEAM_RUNS + 5);
	EXPECT_UINT(c.waiting, 5005);
	for (n = 0; n < 10; n++) {
		REQUIRE(coll_work_candidates_next(&c, &p));
		blue += !strcmp(p.team, "blue");
	}
	EXPECT_INT(blue, 5);
	coll_work_candidates_begin(&c);
	EXPECT(!c.runs && !coll_work_candidates_next(&c, &p));
	add("red", 2, false);
	add("blue", 2, false);
	coll_work_candidates_busy(&c, "blue");
	for (n = 0; n < 4; n++) {
		REQUIRE(coll_work_candidates_next(&c, &p));
		EXPECT_STR(p.team, n < 2 ? "red" : "blue");
	}
	coll_work_candidates_fini(&c);
}

/* Runs that may have grown come after all that have no digest. */
static void test_again(void)
{
	struct coll_work_place p;

	add("red", 1, true);
	add("blue", 1, false);
	add("red", 1, false);
	EXPECT(coll_work_candidates_next(&c, &p) && coll_work_candidates_next(&c, &p));
	REQUIRE(coll_work_candidates_next(&c, &p));
	EXPECT_STR(p.team, "red");
	EXPECT(!coll_work_candidates_next(&c, &p));
	EXPECT_INT(coll_work_candidates_due(&c, &p), 0);
	coll_work_candidates_saw(&c, &p, 77);
	EXPECT_INT(coll_work_candidates_due(&c, &p), 77);
	coll_work_candidates_fini(&c);
}

/* Names that are nobody's runs. */
static void test_places(void)
{
	char name[COLL_WORK_PLACE_BYTES];
	struct coll_work_place p;

	EXPECT(!coll_work_place_of(&p, "a.b", "r") && !coll_work_place_of(&p, "a", ".r") &&
	       !coll_work_place_of(&p, "a", "") && !coll_work_place_of(&p, "a", "r/x") &&
	       !coll_work_place_of(&p, "a", "r s"));
	REQUIRE(coll_work_place_of(&p, "", "r"));
	coll_work_place_run(name, &p);
	EXPECT_STR(name, "r/");
	coll_work_place_marks(name, &p);
	EXPECT_STR(name, ".work/.none/r/");
	REQUIRE(coll_work_place_of(&p, "t", "r"));
	coll_work_place_marks(name, &p);
	EXPECT_STR(name, ".work/t/r/");
	REQUIRE(coll_work_place_of(&p, "t", "c-7.job"));
	coll_work_place_run(name, &p);
	EXPECT_STR(name, "t/c-7.job/");
}

int main(void)
{
	return RUN(test_names, test_leases, test_turns, test_again, test_places);
}
