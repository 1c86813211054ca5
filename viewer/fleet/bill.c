/* SPDX-License-Identifier: Apache-2.0 */
#include "bill.h"

#include <stdlib.h>
#include <string.h>
#include "base/units.h"

#define NANO_PER_CENT 10000000LL

struct rest {
	int64_t nano;
	size_t at;
};

static int by_rest(const void *a, const void *b)
{
	const struct rest *x = a, *y = b;

	if (x->nano != y->nano)
		return x->nano > y->nano ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

void fleet_close_cents(const int64_t *amount, size_t n, int64_t total_cents, int64_t *cents)
{
	struct rest *rest = n ? calloc(n, sizeof(*rest)) : NULL;
	int64_t given = 0;

	for (size_t i = 0; i < n; i++) {
		cents[i] = amount[i] / NANO_PER_CENT;
		fleet_add(&given, cents[i]);
		if (rest)
			rest[i] = (struct rest){ amount[i] % NANO_PER_CENT, i };
	}
	if (!rest)
		return;
	qsort(rest, n, sizeof(*rest), by_rest);
	for (size_t i = 0; i < n && given < total_cents; i++, given++)
		cents[rest[i].at]++;
	free(rest);
}

int64_t *fleet_table_cents(const struct fleet_table *t, enum fleet_measure m, int64_t total_usd,
			   struct base_arena *mem)
{
	int64_t *amount = base_arena_array(mem, t->groups + 1, sizeof(*amount));
	int64_t *cents = base_arena_array(mem, t->groups + 1, sizeof(*cents));

	for (size_t i = 0; i < t->groups; i++)
		amount[i] = t->group[i].sums.m[m];
	fleet_close_cents(amount, t->groups, base_div_even(total_usd, NANO_PER_CENT), cents);
	return cents;
}

/* By team, then most dollars first, then by name. */
static int by_team(const void *a, const void *b)
{
	const struct fleet_group *x = a, *y = b;
	int order = strcmp(x->key[0], y->key[0]);

	if (order)
		return order;
	if (x->sums.m[FLEET_USD] != y->sums.m[FLEET_USD])
		return x->sums.m[FLEET_USD] > y->sums.m[FLEET_USD] ? -1 : 1;
	for (int i = 1; i < FLEET_KEYS_MAX && !order; i++)
		order = strcmp(x->key[i], y->key[i]);
	return order;
}

/* Where the team that begins at @from ends, and what it has. */
static size_t team_end(const struct fleet_table *t, size_t from, int64_t *usd)
{
	size_t i = from;

	*usd = 0;
	for (; i < t->groups && !strcmp(t->group[i].key[0], t->group[from].key[0]); i++)
		fleet_add(usd, t->group[i].sums.m[FLEET_USD]);
	return i;
}

static size_t add_up_teams(const struct fleet_table *t, int64_t *usd)
{
	size_t teams = 0;

	for (size_t i = 0; i < t->groups; teams++)
		i = team_end(t, i, &usd[teams]);
	return teams;
}

static void share_out(struct fleet *f, const int64_t *team_cents, const int64_t *amount,
		      int64_t *cents)
{
	const struct fleet_table *t = &f->bill_groups;
	size_t team = 0, end;

	for (size_t i = 0; i < t->groups; i = end, team++) {
		int64_t usd;

		end = team_end(t, i, &usd);
		fleet_close_cents(amount + i, end - i, team_cents[team], cents + i);
		if (!t->group[i].key[0][0])
			f->bill.untagged_cents = team_cents[team];
	}
}

void fleet_bill_make(struct fleet *f)
{
	struct fleet_table *t = &f->bill_groups;
	size_t n = t->groups;
	int64_t *team_usd = base_arena_array(&f->mem, n + 1, sizeof(*team_usd));
	int64_t *team_cents = base_arena_array(&f->mem, n + 1, sizeof(*team_cents));
	int64_t *amount = base_arena_array(&f->mem, n + 1, sizeof(*amount));
	int64_t *cents = base_arena_array(&f->mem, n + 1, sizeof(*cents));

	if (n)
		qsort(t->group, n, sizeof(*t->group), by_team);
	for (size_t i = 0; i < n; i++)
		amount[i] = t->group[i].sums.m[FLEET_USD];
	f->bill.total_usd = f->total.m[FLEET_USD];
	f->bill.total_cents = base_div_even(f->bill.total_usd, NANO_PER_CENT);
	f->bill.unpriced_ns = f->total.m[FLEET_UNPRICED_NS];
	size_t teams = add_up_teams(t, team_usd);
	fleet_close_cents(team_usd, teams, f->bill.total_cents, team_cents);
	share_out(f, team_cents, amount, cents);
	f->bill.line = calloc(n ? n : 1, sizeof(*f->bill.line));
	for (size_t i = 0; f->bill.line && i < n; i++)
		f->bill.line[f->bill.lines++] = (struct fleet_bill_line){ &t->group[i], cents[i] };
}
