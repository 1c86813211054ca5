/* SPDX-License-Identifier: Apache-2.0 */
#include "budget_periods.h"

#include <stdlib.h>
#include <time.h>
#include "base/minmax.h"
#include "digest.h"
#include "lines.h"
#include "rollup.h"

#define NS_PER_S 1000000000LL
#define WEEK_NS (604800 * NS_PER_S)
#define FEW 53 /* weeks: a year of them */

/* Where it begins that a moment lies in, with what it is called; and the one behind it. */
static int64_t period_of(enum fleet_period kind, int64_t at_ns, char name[24], int64_t *next)
{
	struct tm tm = { 0 };

	if (kind == FLEET_MONTH) {
		fleet_month(name, at_ns, next);
		return fleet_month_begin(at_ns, 0);
	}
	fleet_week(name, at_ns);
	if (!strptime(name, "%Y-%m-%d", &tm))
		return *next = INT64_MAX;
	*next = timegm(&tm) * NS_PER_S + WEEK_NS;
	return *next - WEEK_NS;
}

void fleet_budget_period_now(struct fleet_budget_period *p, enum fleet_period kind, int64_t now_ns)
{
	p->from_ns = period_of(kind, now_ns, p->name, &p->until_ns);
	p->is_last = p->is_running = true;
}

static void on_week(void *arg, const struct fleet_cell *cell)
{
	struct fleet_budget_periods *a = arg;
	struct tm tm = { 0 };

	if (!cell[1].text || !strptime(cell[1].text, "%Y-%m-%d", &tm))
		return;
	a->week_ns = fleet_widened(a->week_ns, a->weeks, &a->room, sizeof(*a->week_ns));
	a->week_ns[a->weeks++] = timegm(&tm) * NS_PER_S;
}

static int ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int read_weeks(struct fleet_budget_periods *a, struct fleet_store *s)
{
	int err = fleet_store_read(s, FLEET_VIEW_WEEKS, a->query, on_week, a);

	if (a->weeks)
		qsort(a->week_ns, a->weeks, sizeof(*a->week_ns), ascending);
	return err;
}

/* The first moment from @at on in a week in which a run began; INT64_MAX: there is none. */
static int64_t next_run(const struct fleet_budget_periods *a, int64_t at)
{
	for (size_t i = 0; i < a->weeks; i++)
		if (a->week_ns[i] + WEEK_NS > at)
			return base_max(a->week_ns[i], at);
	return INT64_MAX;
}

static void turn_to(struct fleet_budget_periods *a, int64_t at_ns)
{
	struct fleet_budget_period *p = &a->at;

	a->over = at_ns > a->last_ns;
	if (a->over)
		return;
	p->from_ns = period_of(a->kind, at_ns, p->name, &a->next_ns);
	p->is_last = a->next_ns > a->last_ns;
	p->is_running = p->from_ns <= a->now_ns && a->now_ns < a->next_ns;
	p->until_ns = base_min(a->next_ns, a->query->until_ns);
}

/* Many, as without --since, and with a run of 1970 among them, are not asked one by one. */
int fleet_budget_periods_begin(struct fleet_budget_periods *a, struct fleet_store *s)
{
	int64_t until_ns = a->query->until_ns;
	int err;

	a->last_ns = until_ns < a->now_ns ? until_ns - 1 : a->now_ns;
	a->few = a->since_ns > 0 && a->last_ns - a->since_ns < FEW * WEEK_NS;
	err = a->few ? 0 : read_weeks(a, s);
	turn_to(a, a->since_ns > 0 ? a->since_ns : next_run(a, INT64_MIN));
	return err;
}

void fleet_budget_periods_next(struct fleet_budget_periods *a, bool goes_on)
{
	turn_to(a, a->few || goes_on ? a->next_ns : next_run(a, a->next_ns));
}

void fleet_budget_periods_fini(struct fleet_budget_periods *a)
{
	free(a->week_ns);
}
