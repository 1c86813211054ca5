/* SPDX-License-Identifier: Apache-2.0 */
#include "reprice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/evidence/split.h"
#include "base/minmax.h"
#include "core/log.h"
#include "cost/amount.h"

#define MINUTE_NS INT64_C(60000000000)
#define BATCH 200

/* A price that a person gave, without saying of which model it is. */
static bool is_given(const struct fleet_line *l)
{
	return !strcmp(l->model, "given");
}

/* As its price is, as was asked for where none was known, else as all are that nobody asks for. */
static const char *model_of(const struct fleet_line *l)
{
	const char *model = l->priced ? l->model : l->asked;

	return model[0] && !is_given(l) ? model : "on-demand";
}

static const struct view_price *price_of(const struct view_prices *p, const struct fleet_line *l)
{
	struct view_price_query q = {
		.gpu = l->gpu, .provider = "", .instance_type = "", .price_model = model_of(l)
	};
	bool assumed;

	return strcasestr(l->gpu, "MIG ") ? NULL : view_prices_find(p, &q, &assumed);
}

static void reprice_line(struct fleet_line *l, const struct view_price *row)
{
	int64_t price = row->nano_usd_per_hour;

	l->priced = true;
	l->nano_usd_per_hour = price;
	l->usd = view_cost_amount(price, l->held_ns);
	l->starved_usd = view_cost_amount(price, l->starved_ns);
	l->wasted_usd = view_cost_amount(price, l->wasted_ns);
	l->idle_usd = view_cost_amount(price, l->minutes[ANA_BAND_IDLE] * MINUTE_NS);
	fleet_tame(l->model, sizeof(l->model), row->price_model);
	snprintf(l->label, sizeof(l->label), "%s%s%s", row->provider,
		 row->instance_type[0] ? " " : "", row->instance_type);
	fleet_tame(l->label, sizeof(l->label), l->label[0] ? l->label : "site");
	fleet_tame(l->source, sizeof(l->source), row->source);
	fleet_tame(l->date, sizeof(l->date), row->date);
}

/* Of time on GPUs of any of the lines: at the run's price on average. */
static int64_t share(const struct fleet_digest *d, int64_t ns)
{
	int64_t held = fleet_digest_held_ns(d), usd = fleet_digest_usd(d);

	if (d->lines == 1)
		return view_cost_amount(d->line[0].nano_usd_per_hour, ns);
	return held > 0 ? base_div_even((__int128)usd * ns, held) : 0;
}

/* What the class costs, in parts as its time is. */
static void reprice_vacancy(struct fleet_digest *d)
{
	struct fleet_vacancy *v = &d->vacancy;
	int64_t ns = 0;

	for (int p = 0; p < ANA_VACANTS; p++)
		view_cost_add(&ns, v->ns[p]);
	ana_split(share(d, ns), v->ns, ANA_VACANTS, v->usd);
}

/* What moves is what the part has less. */
static void reprice_mark(const struct fleet_digest *d, struct saves_mark *m)
{
	static const enum saves_part of[SAVES_MOVED] = { SAVES_DURABLE, SAVES_UNKNOWN };

	for (int p = 0; p < SAVES_MOVED; p++) {
		int64_t had = d->saves.ns[of[p]], moved = base_clamp(m->ns[p], -had, had);

		m->usd[p] = share(d, had) - share(d, had - moved);
	}
}

size_t fleet_reprice(struct fleet_digest *d, const struct view_prices *p, size_t *given)
{
	size_t n = 0;

	for (size_t i = 0; i < d->lines; i++) {
		const struct view_price *row = price_of(p, &d->line[i]);

		if (!row)
			continue;
		*given += is_given(&d->line[i]);
		reprice_line(&d->line[i], row);
		n++;
	}
	for (size_t i = 0; n && i < d->shares; i++)
		d->share[i].usd = share(d, d->share[i].ns);
	for (size_t i = 0; n && i < d->hotspots; i++)
		d->hotspot[i].usd = share(d, d->hotspot[i].ns);
	for (size_t i = 0; n && i < d->fixes; i++)
		d->fix[i].usd = share(d, d->fix[i].ns);
	for (int i = 0; n && i < FLEET_SAVES_PARTS; i++)
		d->saves.usd[i] = share(d, d->saves.ns[i]);
	if (n)
		reprice_vacancy(d);
	for (size_t i = 0; n && i < d->chain.marks; i++)
		reprice_mark(d, &d->chain.mark[i]);
	return n;
}

struct moving {
	struct fleet_store *to;
	struct view_prices prices;
	struct fleet_digest *digest; /* BATCH of them */
	size_t n, lines, kept, given, bad;
	int err;
};

static void flush(struct moving *m)
{
	size_t waiting = 0;

	if (!m->err && m->n)
		m->err = fleet_store_put(m->to, m->digest, m->n, &waiting);
	m->n = 0;
}

static void on_digest(void *arg, const struct fleet_cell *cell)
{
	struct moving *m = arg;
	struct fleet_digest *d = &m->digest[m->n];
	const char *why;

	if (m->err || fleet_digest_read(d, cell[0].text, strlen(cell[0].text), &why)) {
		m->bad += !m->err;
		return;
	}
	m->lines += d->lines;
	m->kept += d->lines - fleet_reprice(d, &m->prices, &m->given);
	if (++m->n == BATCH)
		flush(m);
}

static int read_prices(struct view_prices *p, const char *file)
{
	const char *why = NULL;
	int err = view_prices_read(p, file, &why);

	if (err)
		view_error("%s: %s; see gpustarve-prices(1)", file, why ? why : strerror(-err));
	for (size_t i = 0; i < p->bads; i++)
		view_note("%s: %s: left out", file, p->bad[i]);
	return err;
}

int fleet_store_reprice(struct fleet_store **to, struct fleet_store *from, const char *file)
{
	const struct fleet_query all = { .since_ns = INT64_MIN, .until_ns = INT64_MAX };
	struct moving m = { .digest = calloc(BATCH, sizeof(*m.digest)) };
	int err = m.digest ? read_prices(&m.prices, file) : -ENOMEM;

	if (!err)
		err = fleet_store_open(&m.to, FLEET_STORE_MEMORY, true);
	if (!err)
		err = fleet_store_read(from, FLEET_VIEW_DIGESTS, &all, on_digest, &m);
	flush(&m);
	if (!err)
		err = m.err;
	if (!err && m.kept)
		view_note(
			"%s has no price for %zu of %zu kinds of GPU and price model of the runs, "
			"which keep theirs",
			file, m.kept, m.lines);
	if (!err && m.given)
		view_note("%zu of %zu kinds of GPU had a price that was given without its model: "
			  "they are repriced as on-demand",
			  m.given, m.lines);
	if (!err && m.bad)
		view_note("%zu digests cannot be read and are left out", m.bad);
	view_prices_fini(&m.prices);
	free(m.digest);
	if (err) {
		fleet_store_close(m.to);
		m.to = NULL;
	}
	*to = m.to;
	return err;
}
