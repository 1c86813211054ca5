/* SPDX-License-Identifier: Apache-2.0 */
#include "bill.h"

#include <stdlib.h>
#include <string.h>
#include "base/units.h"
#include "fleet_out.h"

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

void fleet_close(const base_wide *amount, size_t n, int64_t total, int64_t quantum, int64_t *quanta)
{
	struct rest *rest = n ? calloc(n, sizeof(*rest)) : NULL;
	int64_t given = 0;

	for (size_t i = 0; i < n; i++) {
		quanta[i] = (int64_t)(amount[i] / quantum);
		given += quanta[i];
		if (rest)
			rest[i] = (struct rest){ (int64_t)(amount[i] % quantum), i };
	}
	if (!rest)
		return;
	qsort(rest, n, sizeof(*rest), by_rest);
	for (size_t i = 0; i < n && given < total; i++, given++)
		quanta[rest[i].at]++;
	free(rest);
}

int64_t *fleet_table_quanta(const struct fleet_table *t, enum fleet_measure m, base_wide total_usd,
			    int64_t quantum, struct base_arena *mem)
{
	base_wide *amount = base_arena_array(mem, t->groups + 1, sizeof(*amount));
	int64_t *quanta = base_arena_array(mem, t->groups + 1, sizeof(*quanta));

	for (size_t i = 0; i < t->groups; i++)
		amount[i] = t->group[i].sums.m[m];
	fleet_close(amount, t->groups, base_div_even(total_usd, quantum), quantum, quanta);
	return quanta;
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
static size_t team_end(const struct fleet_table *t, size_t from, base_wide *usd)
{
	size_t i = from;

	*usd = 0;
	for (; i < t->groups && !strcmp(t->group[i].key[0], t->group[from].key[0]); i++)
		*usd += t->group[i].sums.m[FLEET_USD];
	return i;
}

static size_t add_up_teams(const struct fleet_table *t, base_wide *usd)
{
	size_t teams = 0;

	for (size_t i = 0; i < t->groups; teams++)
		i = team_end(t, i, &usd[teams]);
	return teams;
}

/* Returns what is of no team. */
static int64_t share_out(const struct fleet_table *t, const int64_t *team_quanta,
			 const base_wide *amount, int64_t quantum, int64_t *quanta)
{
	size_t team = 0, end;
	int64_t untagged = 0;

	for (size_t i = 0; i < t->groups; i = end, team++) {
		base_wide usd;

		end = team_end(t, i, &usd);
		fleet_close(amount + i, end - i, team_quanta[team], quantum, quanta + i);
		if (!t->group[i].key[0][0])
			untagged = team_quanta[team];
	}
	return untagged;
}

/* Quanta of the bill's lines; their sum and the part of no team behind the last of them. */
static int64_t *close_bill(struct fleet *f, int64_t quantum)
{
	const struct fleet_table *t = &f->bill_groups;
	size_t n = t->groups;
	base_wide *team_usd = base_arena_array(&f->mem, n + 1, sizeof(*team_usd));
	int64_t *team_quanta = base_arena_array(&f->mem, n + 1, sizeof(*team_quanta));
	base_wide *amount = base_arena_array(&f->mem, n + 1, sizeof(*amount));
	int64_t *quanta = base_arena_array(&f->mem, n + 2, sizeof(*quanta));

	for (size_t i = 0; i < n; i++)
		amount[i] = t->group[i].sums.m[FLEET_USD];
	quanta[n] = base_div_even(f->bill.total_usd, quantum);
	size_t teams = add_up_teams(t, team_usd);
	fleet_close(team_usd, teams, quanta[n], quantum, team_quanta);
	quanta[n + 1] = share_out(t, team_quanta, amount, quantum, quanta);
	return quanta;
}

void fleet_bill_make(struct fleet *f)
{
	struct fleet_table *t = &f->bill_groups;
	size_t n = t->groups;
	const int64_t *cents, *quanta;

	if (n)
		qsort(t->group, n, sizeof(*t->group), by_team);
	f->bill.total_usd = f->total.m[FLEET_USD];
	f->bill.unpriced_ns = f->total.m[FLEET_UNPRICED_NS];
	cents = close_bill(f, FLEET_CENT);
	quanta = close_bill(f, fleet_money_scale(f).quantum);
	f->bill.total_cents = cents[n];
	f->bill.untagged_cents = cents[n + 1];
	f->bill.total_quanta = quanta[n];
	f->bill.untagged_quanta = quanta[n + 1];
	f->bill.line = calloc(n ? n : 1, sizeof(*f->bill.line));
	for (size_t i = 0; f->bill.line && i < n; i++)
		f->bill.line[f->bill.lines++] =
			(struct fleet_bill_line){ &t->group[i], cents[i], quanta[i] };
}
