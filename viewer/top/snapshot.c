/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot.h"

#include <stdlib.h>
#include <string.h>

void top_snapshot_fini(struct top_snapshot *l)
{
	free(l->row);
	l->row = NULL;
	l->rows = 0;
}

void top_snapshot_close(struct top_snapshot *l)
{
	size_t gone = 0;

	l->killed = 0;
	l->quiet_ns = -1;
	for (size_t i = 0; i < l->rows; i++) {
		gone += l->row[i].gap >= LIVE_GAP_SILENT;
		l->killed += l->row[i].gap == LIVE_GAP_KILLED;
		if (l->row[i].quiet_ns > l->quiet_ns)
			l->quiet_ns = l->row[i].quiet_ns;
	}
	l->over |= l->rows && gone == l->rows && !l->rows_left_out;
	if (!l->over)
		return;
	l->totals.alive = 0;
	l->totals.now.known = false;
	l->totals.nano_usd_per_hour = l->totals.starved_nano_usd_per_hour = 0;
	l->totals.lag_ns = -1;
	l->totals.unsaved_ns = l->totals.unsaved_for_ns = -1;
}

void top_tame(char *out, size_t room, const char *text)
{
	size_t n = 0;

	for (; text && *text && n + 1 < room; text++)
		out[n++] = *text >= 0x20 && *text < 0x7f ? *text : '?';
	out[n] = '\0';
}

int64_t top_row_waste(const struct top_row *r)
{
	int64_t ppm = r->share.known ? r->share.starved_ppm : 0;

	return r->priced ? (int64_t)((__int128)r->nano_usd_per_hour * ppm / 1000000) : ppm;
}

const char *const top_sort_names[TOP_SORTS] = { "waste", "rank", "busy", "idle" };

static int order(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* What decides where all else is equal, so that rows do not dance. */
static int by_rank(const void *va, const void *vb)
{
	const struct top_row *a = va, *b = vb;
	int o = order(b->has_rank, a->has_rank);

	if (!o)
		o = order(a->rank, b->rank);
	if (!o)
		o = strcmp(a->host, b->host);
	if (!o)
		o = order(a->pid, b->pid);
	return o ? o : order(a->ordinal, b->ordinal);
}

static int by_waste(const void *a, const void *b)
{
	int o = order(top_row_waste(b), top_row_waste(a));

	return o ? o : by_rank(a, b);
}

/* Those of which nothing is known come last. */
static int by_busy(const void *va, const void *vb)
{
	const struct top_row *a = va, *b = vb;
	int o = order(b->share.known, a->share.known);

	if (!o)
		o = order(a->share.busy_ppm, b->share.busy_ppm);
	return o ? o : by_rank(a, b);
}

static int by_idle(const void *va, const void *vb)
{
	const struct top_row *a = va, *b = vb;
	int o = order(b->idle_ns, a->idle_ns);

	return o ? o : by_rank(a, b);
}

void top_sort(struct top_snapshot *l, enum top_sort by)
{
	static int (*const how[TOP_SORTS])(const void *, const void *) = { by_waste, by_rank,
									   by_busy, by_idle };

	if (l->rows)
		qsort(l->row, l->rows, sizeof(*l->row), how[by]);
}
