/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of a snapshot: lines that a narrow terminal can cut at its right end, what matters
 * first.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/minmax.h"
#include "base/amounts.h"
#include "snapshot.h"

#define QUIET_NS (10 * LIVE_SECOND_NS) /* pulses come each second, through collectors some later */

struct line {
	char *out;
	size_t room, at;
	bool full; /* a piece did not fit, so nothing more is put */
};

/* A piece is put whole or not at all, for half a number is another one; but the first is cut. */
__attribute__((format(printf, 2, 3))) static void put(struct line *l, const char *fmt, ...)
{
	va_list ap;
	size_t left = l->room - l->at, blanks = 0;
	int n;

	if (l->full)
		return;
	va_start(ap, fmt);
	n = vsnprintf(l->out + l->at, left, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < left) {
		l->at += (size_t)n;
		return;
	}
	l->full = true;
	/* Blanks at its end may be cut. */
	while (left > 1 + blanks && l->out[l->at + left - 2 - blanks] == ' ')
		blanks++;
	if (l->at && !blanks)
		l->out[l->at] = '\0';
}

static struct line begin(char *out, size_t room)
{
	out[0] = '\0';
	return (struct line){ .out = out, .room = room };
}

void top_head(const struct top_snapshot *l, char *out, size_t room)
{
	struct line w = begin(out, room);
	const struct live_totals *t = &l->totals;
	size_t hosts = 0;

	for (size_t i = 0; i < l->rows; i++) {
		size_t k = 0;
		while (k < i && strcmp(l->row[k].host, l->row[i].host))
			k++;
		hosts += k == i;
	}
	put(&w, "%s  ", l->run);
	if (t->alive != t->gpus && t->gpus)
		put(&w, "%zu of ", t->alive);
	put(&w, "%zu GPU%s", t->gpus, t->gpus == 1 ? "" : "s");
	if (t->streams > 1)
		put(&w, ", %zu processes", t->streams);
	if (hosts > 1)
		put(&w, ", %zu hosts", hosts);
	if (l->over && l->exit_status > 128)
		put(&w, "  ended by signal %d", l->exit_status - 128);
	else if (l->over && l->exit_status > 0)
		put(&w, "  ended with %d", l->exit_status);
	else if (l->over)
		put(&w, "  ended");
	if (l->killed && !(l->over && l->exit_status > 128))
		put(&w, "%s %zu killed", l->over ? "," : " ", l->killed);
}

static void put_judged(struct line *w, const struct top_snapshot *l)
{
	base_unit a;

	put(w, "%s. ", l->verdict);
	put(w, "%s  ", l->lead);
	if (l->judged_priced)
		put(w, "%s in all", base_money_ascii(a, l->judged_nano_usd));
}

void top_sums(const struct top_snapshot *l, char *out, size_t room)
{
	struct line w = begin(out, room);
	const struct live_totals *t = &l->totals;
	base_unit a;

	if (l->over && l->judged) {
		put_judged(&w, l);
		return;
	}
	if (t->now.known) {
		put(&w, "busy %s %%  ", base_percent(a, t->now.busy_ppm));
		put(&w, "starved ~%s %%  ", base_percent(a, t->now.starved_ppm));
	} else {
		put(&w, "run: busy %s %%  ", base_percent(a, live_totals_busy_ppm(t)));
		put(&w, "starved ~%s %%  ", base_percent(a, live_totals_starved_ppm(t)));
	}
	if (!t->priced) {
		put(&w, "no price (--price USD)");
		return;
	}
	if (!l->over) { /* afterwards nothing is paid any more */
		put(&w, "%s/h", base_money_ascii(a, t->nano_usd_per_hour));
		put(&w, ", %s/h starved  ", base_money_ascii(a, t->starved_nano_usd_per_hour));
	}
	put(&w, "%s %s", base_money_ascii(a, t->nano_usd), l->over ? "in all" : "so far");
	put(&w, ", ~%s starved", base_money_ascii(a, t->starved_nano_usd));
}

/* In dollars where they are known. */
static void put_unsaved(struct line *w, const struct live_totals *t)
{
	const char *most = t->unsure ? "at most " : "";
	base_unit a;

	if (t->unsaved_ns < 0 || t->serving)
		return;
	if (t->priced)
		put(w, "  a kill now loses %s%s", most, base_money_ascii(a, t->unsaved_nano_usd));
	else
		put(w, "  a kill now loses %s%s of GPU time", most,
		    base_duration(a, t->unsaved_ns));
}

void top_state(const struct top_snapshot *l, char *out, size_t room)
{
	struct line w = begin(out, room);
	const struct live_totals *t = &l->totals;
	base_unit a;

	if (l->trouble[0]) {
		put(&w, "%s", l->trouble);
		return;
	}
	if (l->quiet_ns >= QUIET_NS)
		put(&w, "no sign for %s  ", base_duration(a, l->quiet_ns));
	if (t->lag_ns >= 0)
		put(&w, "known up to %s ago  ",
		    base_duration(a, t->lag_ns + base_max(0, t->quiet_ns)));
	put(&w, "own cost %s %% of a core  ",
	    base_percent(a, base_ppm((int64_t)t->own_cpu_ns, t->life_ns)));
	if (t->dropped)
		put(&w, "%s lost", base_count(a, t->dropped));
	else
		put(&w, "nothing lost");
	put_unsaved(&w, t);
	if (l->rows_left_out)
		put(&w, "  %zu more rows", l->rows_left_out);
}

void top_alert_line(const struct top_alert *a, char *out, size_t room)
{
	base_unit when;

	/* The day is known to who looks on; the time of it matters. */
	base_moment(when, a->t_unix_ns);
	snprintf(out, room, "%s %.8s %s", a->budget ? "budget" : "alert", when + 11, a->text);
}

static void put_metered(struct line *w, int64_t ppm)
{
	base_unit a;

	put(w, " %6s", ppm >= 0 ? base_percent(a, ppm) : "-");
}

void top_row_line(const struct top_row *row, int columns, char *out, size_t room)
{
	struct line w = begin(out, room);
	bool wide = columns >= 100;
	bool now = row && row->gap < LIVE_GAP_ENDED;
	base_unit a;

	if (!row) {
		put(&w, "%5s %3s", "RANK", "GPU");
		put(&w, " %6s", "BUSY%");
		put(&w, " %7s", "STARVED");
		put(&w, " %-12s", "LAST GAP");
		put(&w, " %8s", "IDLE");
		put(&w, " %8s", "UNSAVED");
		put(&w, " %8s", "WASTE/H");
		if (wide)
			put(&w, " %6s %6s %6s", "NVML%", "TENS%", "DRAM%");
		put(&w, " %-14s", "HOST");
		if (wide)
			put(&w, " %8s", "PID");
		if (wide)
			put(&w, " %s", "NAME");
		return;
	}
	if (row->has_rank)
		put(&w, "%5" PRId32 " %3u", row->rank, row->ordinal);
	else
		put(&w, "%5s %3u", "-", row->ordinal);
	put(&w, " %6s", row->share.known ? base_percent(a, row->share.busy_ppm) : "-");
	char starved[BASE_UNIT_BYTES + 1] = "-";
	if (row->share.known && now)
		snprintf(starved, sizeof(starved), "~%s", base_percent(a, row->share.starved_ppm));
	put(&w, " %7s", starved);
	put(&w, " %-12s", live_gap_names[row->gap]);
	put(&w, " %8s", row->idle_ns > 0 ? base_duration(a, row->idle_ns) : "-");
	put(&w, " %8s", now && row->unsaved_ns >= 0 ? base_duration(a, row->unsaved_ns) : "-");
	put(&w, " %8s",
	    row->priced && row->share.known && now ? base_money_ascii(a, top_row_waste(row)) : "-");
	if (wide) {
		put_metered(&w, now ? row->meter.busy_ppm : -1);
		put_metered(&w, now ? row->meter.tensor_ppm : -1);
		put_metered(&w, now ? row->meter.dram_ppm : -1);
	}
	put(&w, " %-14.14s", row->host);
	if (wide)
		put(&w, " %8" PRId64, row->pid);
	if (wide)
		put(&w, " %s", row->name);
}
