/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the line says, and when it is drawn: not before the first pulse, so that a command that
 * never touches a GPU never meets it.
 */
#include "live.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "live_row.h"
#include "base/amounts.h"

#define LINE_BYTES 512

struct view_live {
	struct timespec began;
	struct view_row row;
};

struct view_live *view_live_new(const struct timespec *began)
{
	const char *term = getenv("TERM");

	if (!isatty(STDERR_FILENO) || !term || !term[0] || !strcmp(term, "dumb"))
		return NULL;
	struct view_live *l = calloc(1, sizeof(*l));
	if (!l)
		return NULL;
	l->began = *began;
	return l;
}

/* Parts of the line, in the order in which they stand in it. */
enum part {
	ELAPSED,
	GPUS,
	BUSY,
	STARVED,
	BURN,
	NOTHING,
	SO_FAR,
	ALERT,
	PARTS
};
typedef char words[PARTS][80];

static void say(const struct view_live *l, const struct live_totals *t, const char *alert, words w)
{
	struct timespec now;
	base_unit a;

	clock_gettime(CLOCK_MONOTONIC, &now);
	int64_t s = now.tv_sec - l->began.tv_sec;
	snprintf(w[ELAPSED], sizeof(w[0]), "gpustarve %" PRId64 ":%02d:%02d", s / 3600,
		 (int)(s / 60 % 60), (int)(s % 60));
	snprintf(w[GPUS], sizeof(w[0]), "%zu GPU%s", t->gpus, t->gpus == 1 ? "" : "s");
	snprintf(w[BUSY], sizeof(w[0]), "busy %s %%", base_percent(a, live_totals_busy_ppm(t)));
	/* Pulses tell of waits, not of gaps: it is the most that can have been starvation. */
	snprintf(w[STARVED], sizeof(w[0]), "starved ~%s %%",
		 base_percent(a, live_totals_starved_ppm(t)));
	if (alert)
		snprintf(w[ALERT], sizeof(w[0]), "alert %.70s", alert);
	if (!t->priced)
		return;
	int64_t burn = t->nano_usd_per_hour, ppm = live_totals_starved_ppm(t);
	snprintf(w[BURN], sizeof(w[0]), "%s/h", base_money_ascii(a, burn));
	snprintf(w[NOTHING], sizeof(w[0]), "%s/h of it wasted",
		 base_money_ascii(a, base_div_even((__int128)burn * ppm, 1000000)));
	snprintf(w[SO_FAR], sizeof(w[0]), "%s so far", base_money_ascii(a, t->nano_usd));
}

/* As much as fits into @columns, what matters most first. */
static void compose(const words w, int columns, char line[LINE_BYTES])
{
	static const enum part order[] = { ELAPSED, STARVED, ALERT, SO_FAR,
					   BURN,    GPUS,    BUSY,  NOTHING };
	bool in[PARTS] = { false };
	int room = columns + 1;
	size_t n = 0;

	for (size_t i = 0; i < PARTS; i++) {
		int need = (int)strlen(w[order[i]]) + 2;
		in[order[i]] = need > 2 && need <= room;
		room -= in[order[i]] ? need : 0;
	}
	line[0] = '\0';
	for (int k = 0; k < PARTS; k++)
		if (in[k])
			n += (size_t)snprintf(line + n, LINE_BYTES - n, "%s%s", n ? "  " : " ",
					      w[k]);
}

void view_live_draw(struct view_live *l, const struct view_follow *f, const char *alert)
{
	words w = { { 0 } };
	char line[LINE_BYTES];

	if (!f->totals.gpus || f->totals.held_ns <= 0 || !f->totals.busy_ns ||
	    !view_row_take(&l->row))
		return;
	say(l, &f->totals, alert, w);
	compose((const char(*)[80])w, l->row.columns - 1, line);
	view_row_show(&l->row, line);
}

void view_live_resized(struct view_live *l)
{
	view_row_resized(&l->row);
}

void view_live_pause(struct view_live *l)
{
	view_row_give_back(&l->row);
}

void view_live_free(struct view_live *l)
{
	if (!l)
		return;
	view_row_give_back(&l->row);
	free(l);
}
