/* SPDX-License-Identifier: Apache-2.0 */
#include "whole.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/files.h"
#include "base/minmax.h"
#include "core/log.h"
#include "currency.h"
#include "digest.h"
#include "lines.h"

#define NS INT64_C(1000000000)
#define HOUR_NS ((base_wide)3600 * NS)
#define PICO_PER_NANO 1000
#define PICO_PER_CENT (FLEET_PICO / 100)

const char *const fleet_charge_names[FLEET_CHARGES] = { "recorded", "price_difference",
							"unrecorded", "unallocated",
							"unexplained" };
const char *const fleet_charge_words[FLEET_CHARGES] = {
	"recorded runs, at their own prices", "the invoice's price of these hours, less that",
	"given to jobs and not recorded", "paid and given to no job", "other charges"
};

/* What is told apart while the files are held against the runs. */
struct holding {
	struct fleet_whole *w;
	const struct fleet_currency *currency;
	struct fleet_table jobs; /* by cluster and id: held ns, and what jobs took of it */
	struct fleet_table accounts;
	bool by_cluster;
	base_wide recorded_usd; /* nano-dollars */
	base_wide beyond_ns;
	const char *trouble; /* the first thing that makes the file of no use */
};

/* --- recorded --- */

static void on_line(void *arg, const struct fleet_line_row *l)
{
	struct holding *h = arg;
	struct fleet_whole *w = h->w;
	const char *key[] = { h->by_cluster ? l->name[FLEET_DIM_CLUSTER] : "", l->job };
	struct fleet_sums part;
	base_wide ns;

	if (!strcmp(l->name[FLEET_DIM_KIND], FLEET_UNWRAPPED))
		return; /* it is of what nobody recorded, which is what is left */
	fleet_line_cut(&part, l, w->since_ns, w->until_ns);
	ns = part.m[FLEET_HELD_NS];
	w->invoice.recorded_ns += ns;
	if (!l->priced)
		w->invoice.unpriced_ns += ns;
	h->recorded_usd += part.m[FLEET_USD];
	w->allocated.elsewhere_ns += ns;
	if (ns && l->job[0])
		fleet_table_at(&h->jobs, 2, key)->sums.m[FLEET_HELD_NS] += ns;
}

/* --- what jobs were given --- */

static base_wide given_ns(struct fleet_whole *w, const struct fleet_sacct_job *j)
{
	base_wide whole = (base_wide)j->gpus * j->elapsed_s * NS;

	if (j->start_ns == INT64_MIN) {
		w->allocated.undated++;
		return whole;
	}
	return fleet_part(whole, j->start_ns, j->elapsed_s * NS, w->since_ns, w->until_ns);
}

/* Of one that a cluster is not known of, whatever cluster the scheduler names. */
static base_wide recorded_of(struct holding *h, const struct fleet_sacct_job *j, base_wide most)
{
	const char *key[2][2] = { { h->by_cluster ? j->cluster : "", j->id }, { "", j->id } };
	base_wide taken = 0;

	for (int i = 0; i < (h->by_cluster ? 2 : 1); i++) {
		struct fleet_group *g = fleet_table_at(&h->jobs, 2, key[i]);
		base_wide has = g->sums.m[FLEET_HELD_NS];
		base_wide take = has < most - taken ? has : most - taken;

		g->sums.m[FLEET_HELD_NS] -= take;
		g->sums.m[FLEET_RUNS] = 1; /* a job's: what is left is beyond what it was given */
		taken += take;
	}
	return taken;
}

static void on_job(void *arg, const struct fleet_sacct_job *j)
{
	struct holding *h = arg;
	struct fleet_allocated *a = &h->w->allocated;
	base_wide given = given_ns(h->w, j), recorded;
	struct fleet_group *g;

	if (!given)
		return;
	g = fleet_table_at(&h->accounts, 1, &j->account);
	recorded = recorded_of(h, j, given);
	/* measures of a group stand for what an account has */
	g->sums.m[FLEET_RUNS]++;
	g->sums.m[FLEET_HELD_NS] += given;
	g->sums.m[FLEET_BUSY_NS] += recorded;
	a->total.jobs++;
	a->total.allocated_ns += given;
	a->total.recorded_ns += recorded;
	if (!j->opted_out)
		return;
	g->sums.m[FLEET_WASTED_NS] += given - recorded;
	a->total.opted_out_ns += given - recorded;
}

static void set_accounts(struct holding *h)
{
	struct fleet_whole *w = h->w;
	struct fleet_allocated *a = &w->allocated;

	fleet_table_sort(&h->accounts);
	a->account = base_arena_array(&w->mem, h->accounts.groups + 1, sizeof(*a->account));
	for (size_t i = 0; i < h->accounts.groups; i++) {
		const struct fleet_group *g = &h->accounts.group[i];

		a->account[a->accounts++] = (struct fleet_account){
			.name = base_arena_text(&w->mem, g->key[0]),
			.jobs = g->sums.m[FLEET_RUNS],
			.allocated_ns = g->sums.m[FLEET_HELD_NS],
			.recorded_ns = g->sums.m[FLEET_BUSY_NS],
			.opted_out_ns = g->sums.m[FLEET_WASTED_NS],
		};
	}
	for (size_t i = 0; i < h->jobs.groups; i++)
		if (h->jobs.group[i].sums.m[FLEET_RUNS])
			a->beyond_ns += h->jobs.group[i].sums.m[FLEET_HELD_NS];
	a->elsewhere_ns -= a->total.recorded_ns + a->beyond_ns;
}

/* --- what was charged --- */

static void on_span(void *arg, const struct fleet_charge_row *r)
{
	struct fleet_whole *w = arg;

	w->since_ns = base_min(w->since_ns, r->start_ns);
	w->until_ns = base_max(w->until_ns, base_max(r->end_ns, r->start_ns + 1));
}

static base_wide inside(const struct fleet_whole *w, const struct fleet_charge_row *r,
			base_wide whole)
{
	return fleet_part(whole, r->start_ns, r->end_ns - r->start_ns, w->since_ns, w->until_ns);
}

/* Is it in the stretch at all? */
static bool touches(const struct fleet_whole *w, const struct fleet_charge_row *r)
{
	return r->start_ns < w->until_ns && base_max(r->end_ns, r->start_ns + 1) > w->since_ns;
}

static void note_cut(struct holding *h, const struct fleet_charge_row *r)
{
	struct fleet_whole *w = h->w;
	struct fleet_invoice *i = &w->invoice;

	if (r->start_ns >= w->since_ns && r->end_ns <= w->until_ns)
		return;
	i->cut_rows++;
	i->cut += r->pico;
	i->outside += r->pico - inside(w, r, r->pico);
	i->outside_ns += r->gpu_ns - inside(w, r, r->gpu_ns);
	if (base_wide_size(i->cut) > BASE_WIDE_MAX || base_wide_size(i->outside) > BASE_WIDE_MAX ||
	    base_wide_size(i->outside_ns) > BASE_WIDE_MAX)
		h->trouble = "its charges are too large";
}

static void on_charge(void *arg, const struct fleet_charge_row *r)
{
	struct holding *h = arg;
	struct fleet_invoice *i = &h->w->invoice;
	base_wide pico = inside(h->w, r, r->pico);

	if (!touches(h->w, r))
		return;
	if (!i->currency[0])
		snprintf(i->currency, sizeof(i->currency), "%s", r->currency);
	else if (strcasecmp(i->currency, r->currency) != 0)
		h->trouble = "its charges are in several currencies; give a file of one";
	i->rows++;
	i->total += pico;
	note_cut(h, r);
	if (base_wide_size(i->total) > BASE_WIDE_MAX)
		h->trouble = "its charges are too large";
	if (r->gpu_ns <= 0)
		return;
	i->gpu_rows++;
	i->gpu += pico;
	i->gpu_ns += inside(h->w, r, r->gpu_ns);
	if (i->gpu_ns > BASE_WIDE_MAX || base_wide_size(i->gpu) > BASE_WIDE_MAX)
		h->trouble = "its hours are too many";
}

/*
 * a x b / c, half to even, bit by bit: the product of two sums of an invoice may be too wide. All
 * >= 0, a <= c, c below 2^87.
 */
static base_wide mul_div(base_wide a, base_wide b, base_wide c)
{
	base_wide q = 0, r = 0;

	for (int bit = 90; bit >= 0; bit--) {
		q *= 2;
		r = 2 * r + (b >> bit & 1 ? a : 0);
		while (r >= c) {
			r -= c;
			q++;
		}
	}
	return q + (2 * r > c || (2 * r == c && (q & 1)));
}

/* What the invoice charged for so many of its hours: at its own price, on average. */
static base_wide at_invoice(const struct fleet_invoice *i, base_wide ns)
{
	base_wide all = mul_div(ns, base_wide_size(i->gpu), i->gpu_ns);

	return i->gpu < 0 ? -all : all;
}

/* In the invoice's currency, which is dollars' or the one that was chosen. */
static base_wide recorded_usd(const struct holding *h)
{
	bool same = fleet_currency_chosen(h->currency) &&
		    !strcasecmp(h->w->invoice.currency, h->currency->code);

	return same ? fleet_currency_of(h->currency, h->recorded_usd) : h->recorded_usd;
}

static const char *judge_currency(const struct holding *h)
{
	const char *is = h->w->invoice.currency;

	if (!is[0] || !strcasecmp(is, "USD") ||
	    (fleet_currency_chosen(h->currency) && !strcasecmp(is, h->currency->code)))
		return NULL;
	return "its charges are not in dollars; give that currency's rate with --currency";
}

static void set_charges(struct holding *h)
{
	struct fleet_invoice *i = &h->w->invoice;
	const struct fleet_allocated *a = &h->w->allocated;
	base_wide left = i->gpu_ns, recorded, given;

	i->charge[FLEET_CHARGE_RECORDED] = recorded_usd(h) * PICO_PER_NANO;
	if (i->gpu_ns > 0) {
		recorded = i->recorded_ns < left ? i->recorded_ns : left;
		i->charge[FLEET_CHARGE_PRICE] =
			at_invoice(i, recorded) - i->charge[FLEET_CHARGE_RECORDED];
		left -= recorded;
		given = a->asked ? a->total.allocated_ns - a->total.recorded_ns : 0;
		given = given < left ? given : left;
		i->charge[FLEET_CHARGE_UNRECORDED] = at_invoice(i, given);
		i->charge[FLEET_CHARGE_UNALLOCATED] = at_invoice(i, left - given);
	}
	i->charge[FLEET_CHARGE_UNEXPLAINED] = i->total;
	for (int c = 0; c < FLEET_CHARGE_UNEXPLAINED; c++)
		i->charge[FLEET_CHARGE_UNEXPLAINED] -= i->charge[c];
	i->cut_cents = base_div_even(i->cut, PICO_PER_CENT);
	i->outside_cents = base_div_even(i->outside, PICO_PER_CENT);
	i->total_cents = base_div_even(i->total, PICO_PER_CENT);
	fleet_close_signed(i->charge, FLEET_CHARGES, i->total_cents, PICO_PER_CENT, i->cents);
}

struct rest {
	base_wide is;
	size_t at;
};

static int by_rest(const void *a, const void *b)
{
	const struct rest *x = a, *y = b;

	if (x->is != y->is)
		return x->is > y->is ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Each is cut downwards; what is missing goes to the largest fractions. */
void fleet_close_signed(const base_wide *amount, size_t n, int64_t total, base_wide quantum,
			int64_t *quanta)
{
	struct rest rest[16];
	int64_t given = 0;

	for (size_t i = 0; i < n && i < 16; i++) {
		base_wide q = amount[i] / quantum, is = amount[i] % quantum;

		if (is < 0) {
			q--;
			is += quantum;
		}
		quanta[i] = (int64_t)q;
		given += quanta[i];
		rest[i] = (struct rest){ is, i };
	}
	qsort(rest, n, sizeof(*rest), by_rest);
	for (size_t i = 0; i < n && given < total; i++, given++)
		quanta[rest[i].at]++;
}

/* --- all of it --- */

struct files {
	char *sacct, *invoice;
	size_t sacct_len, invoice_len;
};

static int read_one(const char *path, char **text, size_t *len)
{
	int err = path ? base_file_read(path, text, len) : 0;

	if (err)
		view_error("%s: %s; name a file of at most 64 MiB", path, strerror(-err));
	return err;
}

static bool has_clusters(const char *text, size_t len)
{
	const char *nl = text ? memchr(text, '\n', len) : NULL;

	return nl && memmem(text, (size_t)(nl - text), "Cluster", 7);
}

/* Says what is wrong. */
static int refuse(const char *path, const char *why)
{
	view_error("%s: %s", path, why);
	return -EBADMSG;
}

/* Of an invoice alone, where nobody said: what its rows span. */
static int set_span(struct fleet_whole *w, const struct fleet_query *q, const struct files *file,
		    const char *path)
{
	const char *why = NULL;

	w->since_ns = q->since_ns > 0 ? q->since_ns : INT64_MIN / 4;
	w->until_ns = q->until_ns;
	if (!file->invoice || q->since_ns > 0 || q->until_ns < INT64_MAX)
		return 0;
	w->since_ns = INT64_MAX;
	w->until_ns = INT64_MIN;
	fleet_invoice_read(file->invoice, file->invoice_len, on_span, w, &w->invoice.bad, &why);
	if (!why && w->since_ns >= w->until_ns)
		why = "it has no charges that can be read";
	return why ? refuse(path, why) : 0;
}

static int hold_jobs(struct holding *h, const struct files *file, const char *path)
{
	const char *why;

	if (!file->sacct)
		return 0;
	if (fleet_sacct_read(file->sacct, file->sacct_len, on_job, h, &h->w->allocated.bad, &why))
		return refuse(path, why);
	set_accounts(h);
	return 0;
}

static int hold_charges(struct holding *h, const struct files *file, const char *path)
{
	const char *why;

	if (!file->invoice)
		return 0;
	if (fleet_invoice_read(file->invoice, file->invoice_len, on_charge, h, &h->w->invoice.bad,
			       &why))
		return refuse(path, why);
	if (!h->trouble)
		h->trouble = judge_currency(h);
	if (h->trouble)
		return refuse(path, h->trouble);
	set_charges(h);
	return 0;
}

static int hold(struct holding *h, struct fleet_store *s, const struct fleet_query *q,
		const struct files *file, const char *sacct, const char *invoice)
{
	struct fleet_query all = *q;
	int err;

	all.since_ns = INT64_MIN;
	all.until_ns = h->w->until_ns;
	h->by_cluster = has_clusters(file->sacct, file->sacct_len);
	err = fleet_each_line(s, &all, on_line, h);
	if (!err)
		err = hold_jobs(h, file, sacct);
	return err ? err : hold_charges(h, file, invoice);
}

int fleet_whole_collect(struct fleet_whole *w, struct fleet_store *s, const struct fleet_query *q,
			const char *sacct, const char *invoice,
			const struct fleet_currency *currency)
{
	struct holding h = { .w = w, .currency = currency };
	struct files file = { 0 };
	int err;

	if (!sacct && !invoice)
		return 0;
	w->allocated.asked = sacct != NULL;
	w->invoice.asked = invoice != NULL;
	err = read_one(sacct, &file.sacct, &file.sacct_len);
	if (!err)
		err = read_one(invoice, &file.invoice, &file.invoice_len);
	if (!err)
		err = set_span(w, q, &file, invoice);
	if (!err)
		err = hold(&h, s, q, &file, sacct, invoice);
	fleet_table_fini(&h.jobs);
	fleet_table_fini(&h.accounts);
	free(file.sacct);
	free(file.invoice);
	return err;
}

void fleet_whole_fini(struct fleet_whole *w)
{
	base_arena_fini(&w->mem);
}
