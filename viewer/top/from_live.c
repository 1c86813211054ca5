/* SPDX-License-Identifier: Apache-2.0 */
/* A snapshot's parts, as a run tells them by itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "source.h"

static void fill_row(struct top_row *row, const struct live_use *u, const struct live_run *r,
		     int64_t now_ns)
{
	const struct live_gpu *g = &r->gpu[u->gpu];

	*row = (struct top_row){ .has_rank = u->stream->has_rank,
				 .rank = u->stream->rank,
				 .pid = u->stream->pid,
				 .ordinal = u->ordinal,
				 .gpu = u->gpu,
				 .share = u->share,
				 .meter = u->meter,
				 .gap = u->gap,
				 .idle_ns = u->idle_ns,
				 .lag_ns = u->lag_ns,
				 .unsaved_ns = u->unsaved_ns,
				 .quiet_ns = -1,
				 .priced = g->nano_usd_per_hour >= 0,
				 .nano_usd_per_hour = g->nano_usd_per_hour };
	if (u->gap < LIVE_GAP_ENDED && u->stream->pulses)
		row->quiet_ns = now_ns - u->stream->seen_ns;
	top_tame(row->host, sizeof(row->host), u->stream->host);
	top_tame(row->name, sizeof(row->name), g->name);
	snprintf(row->uuid, sizeof(row->uuid), "%s", g->uuid);
}

void top_take_run(struct top_snapshot *l, const struct live_run *r, int64_t now_ns)
{
	size_t n = live_run_uses(r, now_ns, NULL, 0);
	struct live_use *use = calloc(n ? n : 1, sizeof(*use));

	l->row = calloc(n ? n : 1, sizeof(*l->row));
	if (!use || !l->row)
		goto out;
	live_run_uses(r, now_ns, use, n);
	l->over = n > 0;
	for (size_t i = 0; i < n; i++) {
		l->over &= use[i].gap >= LIVE_GAP_SILENT;
		if (l->rows == TOP_ROWS_MAX)
			l->rows_left_out++;
		else
			fill_row(&l->row[l->rows++], &use[i], r, now_ns);
	}
out:
	free(use);
}

/* Dollars at another price than those of the totals above them, perhaps. */
static const char *whose(const struct live_fired *f)
{
	bool theirs = !strcmp(f->by, "collector") && live_metrics[f->metric].unit == LIVE_NANO_USD;

	return theirs ? ", at the collector's price" : "";
}

void top_take_alert(struct top_snapshot *l, const struct live_fired *f)
{
	char words[LIVE_WORDS_BYTES];
	size_t kept = l->alerts < TOP_ALERTS_MAX ? l->alerts : TOP_ALERTS_MAX, at = 0;
	struct top_alert *a;

	if (f->ended)
		return;
	l->alerts++;
	while (at < kept && l->alert[at].t_unix_ns > f->t_unix_ns)
		at++;
	if (at == TOP_ALERTS_MAX)
		return;
	a = &l->alert[at];
	memmove(a + 1, a, ((kept < TOP_ALERTS_MAX ? kept : kept - 1) - at) * sizeof(*a));
	*a = (struct top_alert){ .t_unix_ns = f->t_unix_ns, .budget = f->budget_pct > 0 };
	live_fired_words(words, f);
	top_tame(a->text, sizeof(a->text), words);
	at = strlen(a->text);
	snprintf(a->text + at, sizeof(a->text) - at, "%s", whose(f));
}
