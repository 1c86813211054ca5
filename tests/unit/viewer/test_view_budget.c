/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budgets at the border of a month: what stored runs and runs that go on spent in the month of now,
 * of each what it held its GPUs there, in time zones where clocks are set, too.
 */
#include <stdlib.h>
#include <time.h>
#include "fleet/budget.h"
#include "fleet/lines.h"
#include "harness.h"

#define NS 1000000000LL
#define HOUR (3600 * NS)
#define DAY (24 * HOUR)
#define USD 1000000000LL

static const char *const zones[] = { "UTC", "Europe/Berlin", "America/New_York",
				     "Australia/Lord_Howe", "Pacific/Auckland" };
#define ZONES (sizeof(zones) / sizeof(zones[0]))

static void move_to(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

static int64_t utc(int year, int month, int day, int hour, int minute)
{
	struct tm tm = { .tm_year = year - 1900,
			 .tm_mon = month - 1,
			 .tm_mday = day,
			 .tm_hour = hour,
			 .tm_min = minute };

	return (int64_t)timegm(&tm) * NS;
}

static void expect_period(enum fleet_period kind, int64_t now_ns, const char *name, int64_t from_ns,
			  int64_t until_ns)
{
	for (size_t z = 0; z < ZONES; z++) {
		struct fleet_budget_period p;

		move_to(zones[z]);
		fleet_budget_period_now(&p, kind, now_ns);
		EXPECT_STR(p.name, name);
		EXPECT_INT(p.from_ns, from_ns);
		EXPECT_INT(p.until_ns, until_ns);
	}
}

/* Moments of another month by some clock, and hours that some clock has twice or never. */
static void test_periods(void)
{
	int64_t oct = utc(2026, 10, 1, 0, 0), nov = utc(2026, 11, 1, 0, 0);
	int64_t dec = utc(2026, 12, 1, 0, 0), mar = utc(2026, 3, 1, 0, 0);

	expect_period(FLEET_MONTH, nov - 1, "2026-10", oct, nov);
	expect_period(FLEET_MONTH, nov, "2026-11", nov, dec);
	expect_period(FLEET_MONTH, utc(2026, 11, 1, 5, 30), "2026-11", nov, dec); /* New York, */
	expect_period(FLEET_MONTH, utc(2026, 11, 1, 6, 30), "2026-11", nov, dec); /* again 1:30 */
	expect_period(FLEET_MONTH, utc(2026, 3, 29, 1, 30), "2026-03", mar, utc(2026, 4, 1, 0, 0));
	expect_period(FLEET_MONTH, utc(2026, 12, 31, 23, 59), "2026-12", dec,
		      utc(2027, 1, 1, 0, 0));
	expect_period(FLEET_WEEK, utc(2026, 10, 25, 23, 59), "2026-10-19", utc(2026, 10, 19, 0, 0),
		      utc(2026, 10, 26, 0, 0));
	expect_period(FLEET_WEEK, nov, "2026-10-26", utc(2026, 10, 26, 0, 0),
		      utc(2026, 11, 2, 0, 0));
}

/* ---- what was spent in the month of now ---- */

static void put(struct fleet_store *s, const char *run, int64_t start_ns, int64_t wall_ns,
		int64_t usd)
{
	struct fleet_digest *d = calloc(1, sizeof(*d));
	size_t waiting;

	REQUIRE(d);
	snprintf(d->run, sizeof(d->run), "%s", run);
	snprintf(d->team, sizeof(d->team), "a");
	d->revision = 1;
	d->start_unix_ns = start_ns;
	d->wall_ns = wall_ns;
	d->lines = 1;
	d->line[0] = (struct fleet_line){ .gpu = "GPU", .priced = true, .gpus = 1 };
	d->line[0].held_ns = wall_ns;
	d->line[0].usd = usd;
	snprintf(d->line[0].model, sizeof(d->line[0].model), "spot");
	EXPECT_INT(fleet_store_put(s, d, 1, &waiting), 0);
	free(d);
}

struct going {
	const struct fleet_going *run;
	size_t runs;
};

static int answer(void *arg, struct fleet_going **run, size_t *runs)
{
	const struct going *g = arg;

	*run = calloc(g->runs + 1, sizeof(**run));
	REQUIRE(*run);
	if (g->runs)
		memcpy(*run, g->run, g->runs * sizeof(**run));
	*runs = g->runs;
	return 0;
}

/* Of team a in this month. */
static base_wide spent(struct fleet_store *s, const struct fleet_going *run, size_t runs)
{
	struct fleet f = { .options.query = { .until_ns = INT64_MAX } };
	struct going g = { run, runs };
	struct fleet_budgets b = { 0 };
	base_wide usd = -1;

	EXPECT(fleet_budgets_add(&b, "team:a=1000000/month"));
	EXPECT_INT(fleet_budgets_with(&f, s, &b, answer, &g), 0);
	EXPECT_UINT(f.budgets, 1);
	if (f.budgets)
		usd = f.budget[0].usd;
	fleet_fini(&f);
	return usd;
}

static void expect_going(struct fleet_store *s, base_wide stored, int64_t start_ns, int64_t end_ns,
			 base_wide want)
{
	const struct fleet_going one = { "a", start_ns, end_ns, 3 * USD + 1 };

	EXPECT_INT((int64_t)(spent(s, &one, 1) - stored), (int64_t)want);
}

static void over_the_border(const char *zone)
{
	struct fleet_budget_period now;
	struct fleet_store *s;
	base_wide stored;

	move_to(zone);
	fleet_budget_period_now(&now, FLEET_MONTH, (int64_t)time(NULL) * NS);
	REQUIRE(!fleet_store_open(&s, FLEET_STORE_MEMORY, true));
	put(s, "within", now.from_ns, HOUR, 5 * USD);
	put(s, "before", now.from_ns - DAY, DAY, 7 * USD); /* it ends at the border */
	put(s, "over", now.from_ns - 3 * HOUR, 4 * HOUR, 4 * USD + 3);
	put(s, "both", now.from_ns - 10 * DAY, now.until_ns - now.from_ns + 30 * DAY, 40 * USD);
	stored = 5 * USD + (4 * USD + 3 - (4 * USD + 3) * 3 / 4) +
		 fleet_part(40 * USD, now.from_ns - 10 * DAY, now.until_ns - now.from_ns + 30 * DAY,
			    now.from_ns, now.until_ns);
	EXPECT_INT((int64_t)spent(s, NULL, 0), (int64_t)stored);
	expect_going(s, stored, now.from_ns, now.from_ns + HOUR, 3 * USD + 1);
	/* As its digest will have it: what is before is cut, what is behind has the rest. */
	expect_going(s, stored, now.from_ns - 2 * HOUR, now.from_ns + HOUR, USD + 1);
	expect_going(s, stored, now.from_ns - 2 * HOUR, now.from_ns, 0);
	/* Our clock is behind: what lies in the next month is not of this one. */
	expect_going(s, stored, now.until_ns - HOUR, now.until_ns + 2 * HOUR, USD);
	expect_going(s, stored, now.until_ns, now.until_ns + HOUR, 0);
	/* Nobody said when it began: it is of its last word's month. */
	expect_going(s, stored, 0, now.from_ns + HOUR, 3 * USD + 1);
	expect_going(s, stored, 0, now.from_ns - HOUR, 0);
	fleet_store_close(s);
}

static void test_border(void)
{
	for (size_t z = 0; z < ZONES; z++)
		over_the_border(zones[z]);
}

int main(void)
{
	return RUN(test_periods, test_border);
}
