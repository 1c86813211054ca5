/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines that lie in several months, as ClickHouse's SQL: lines.c cuts each by itself. They are few,
 * and stored beside the sums of all others, so that nobody looks for them among all rows.
 */
#include <inttypes.h>
#include "clickhouse_priv.h"

static void put_from(FILE *f, const struct click_asked *a)
{
	fprintf(f, " FROM %s", a->from);
	click_put_line_arrays(f);
	click_put_filter(f, a, false); /* those that began before since may reach into it */
	fputs(" AND " CLICK_IS_OVER, f);
}

void click_put_over(FILE *f, const struct click_asked *a)
{
	fputs("SELECT " CLICK_SPANS ", toInt64(n) - 1, start_ns, wall_ns", f);
	click_put_measures(f, ", toInt64(", ")");
	put_from(f, a);
}

/* What is stored of them: by these names. */
#define RUN "k0"
#define TENANT "k1"
#define SPANS "k2"
#define NUMBER "k3"
#define START "k4"
#define WALL "k5"

static void put_stored(FILE *f, const struct click_parts *p)
{
	fputs("SELECT " SPANS ", toInt64(" NUMBER "), toInt64(" START "), toInt64(" WALL ")", f);
	for (int m = 0; m < FLEET_MEASURES; m++)
		fprintf(f, ", toInt64(m%d)", m);
	click_put_stored(f, CLICK_OVER, p, false);
	if (*p->t->twice)
		fprintf(f, " AND (" TENANT ", " RUN ") NOT IN (%s)", p->t->twice);
}

void click_put_rolled_over(FILE *f, const struct click_parts *p)
{
	static const enum click_part rows[] = { CLICK_SINCE, CLICK_LATEST };

	put_stored(f, p);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!p->of[rows[i]].from)
			continue;
		fputs(" UNION ALL ", f);
		click_put_over(f, &p->of[rows[i]]);
	}
}

static void put_roll(FILE *f, uint64_t gen, const struct click_asked *a)
{
	fprintf(f,
		"SELECT %" PRIu64 ", %d, 0, " CLICK_DAY " AS day, " CLICK_FIRST ", " CLICK_BEHIND
		", team, run, tenant, " CLICK_SPANS
		", toString(toInt64(n) - 1), toString(start_ns), toString(wall_ns)",
		gen, CLICK_OVER);
	click_put_measures(f, ", toDecimal128(", ", 0)");
	put_from(f, a);
}

void click_put_roll_over(FILE *f, uint64_t gen, const struct click_asked a[2])
{
	fputs("INSERT INTO gpustarve_rolled (gen, shape, level, day, first, behind, team, " RUN
	      ", " TENANT ", " SPANS ", " NUMBER ", " START ", " WALL,
	      f);
	for (int m = 0; m < FLEET_MEASURES; m++)
		fprintf(f, ", m%d", m);
	fputs(") ", f);
	put_roll(f, gen, &a[0]);
	if (a[1].from) {
		fputs(" UNION ALL ", f);
		put_roll(f, gen, &a[1]);
	}
}
