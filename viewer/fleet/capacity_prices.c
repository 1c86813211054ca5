/* SPDX-License-Identifier: Apache-2.0 */
/* By which prices a plan is made: of lists, with their source and date; or of what is given. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/amounts.h"
#include "base/units.h"
#include "core/log.h"
#include "cost/price_list.h"
#include "capacity.h"

enum list {
	FILE_GIVEN,
	SITE,
	BUILT_IN,
	LISTS
};

struct fleet_plan_lists {
	struct view_prices of[LISTS];
};

/* That of --prices was read before, and what is wrong with it said. */
static void read_list(struct view_prices *p, const char *path, bool quiet)
{
	const char *why = NULL;
	int err = view_prices_read(p, path, &why);

	if (quiet)
		return;
	if (err && err != -ENOENT)
		view_note("%s: %s; no price is taken from it", path, why ? why : strerror(-err));
	for (size_t i = 0; i < p->bads && i < 3; i++)
		view_note("%s: %s; the row is left out", path, p->bad[i]);
}

struct fleet_plan_lists *fleet_plan_lists_open(const char *file)
{
	struct fleet_plan_lists *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	if (file)
		read_list(&l->of[FILE_GIVEN], file, true);
	read_list(&l->of[SITE], view_prices_site(), false);
	view_prices_builtin(&l->of[BUILT_IN]);
	return l;
}

static struct fleet_plan_price of_row(const struct view_price *row, bool assumed,
				      struct base_arena *mem)
{
	const char *what = base_arena_printf(mem, "%s%s%s", row->provider,
					     row->provider[0] && row->instance_type[0] ? " " : "",
					     row->instance_type);

	return (struct fleet_plan_price){ .known = true,
					  .assumed = assumed && row->provider[0],
					  .num = row->nano_usd_per_hour,
					  .den = 1,
					  .what = what[0] ? what : "any provider",
					  .source = base_arena_text(mem, row->source),
					  .date = base_arena_text(mem, row->date) };
}

/* A part of a GPU is of no list. */
struct fleet_plan_price fleet_plan_price_of(const struct fleet_plan_lists *l,
					    const struct fleet_plan_type *t, const char *model,
					    struct base_arena *mem)
{
	const struct view_price_query q = { t->gpu, t->provider, "", model };
	bool assumed;

	for (int i = 0; i < LISTS && !strcasestr(t->gpu, "MIG "); i++) {
		const struct view_price *row = view_prices_find(&l->of[i], &q, &assumed);

		if (row)
			return of_row(row, assumed, mem);
	}
	return (struct fleet_plan_price){ 0 };
}

void fleet_plan_lists_close(struct fleet_plan_lists *l)
{
	for (int i = 0; l && i < LISTS; i++)
		view_prices_fini(&l->of[i]);
	free(l);
}

struct fleet_plan_price fleet_plan_own_price(const struct fleet_plan_own *own,
					     struct base_arena *mem)
{
	int64_t hours = own->years * FLEET_PLAN_YEAR_HOURS;
	base_unit usd, running;

	return (struct fleet_plan_price){
		.known = true,
		.num = own->nano_usd + (base_wide)own->running * hours,
		.den = hours,
		.what = base_arena_printf(mem, "%s over %s of 8,760 hours, and %s an hour",
					  base_money(usd, own->nano_usd),
					  own->years == 1 ? "a year"
							  : base_arena_printf(mem, "%d years",
									      (int)own->years),
					  base_price_text(running, own->running)),
		.source = "--own",
		.date = "",
	};
}
