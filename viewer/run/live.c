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
#include "live_tail.h"
#include "cost/rates.h"
#include "base/units.h"

#define LINE_BYTES 512

struct view_live {
	struct view_tail tail;
	struct view_rate_options rates;
	struct timespec began;
	struct view_row row;
	size_t priced; /* devices whose prices have been looked up */
	int64_t burn_nano_usd; /* per hour, of all of them; 0: not known */
};

struct figures {
	size_t devices;
	int64_t held_ns, busy_ns, waited_ns; /* summed over devices */
};

struct view_live *view_live_new(const char *dir, const char *price, const char *price_model,
				const struct timespec *began)
{
	const char *term = getenv("TERM");

	if (!isatty(STDERR_FILENO) || !term || !term[0] || !strcmp(term, "dumb"))
		return NULL;
	struct view_live *l = calloc(1, sizeof(*l));
	if (!l)
		return NULL;
	l->tail.dir = dir;
	l->rates = (struct view_rate_options){ price, price_model, "--price" };
	l->began = *began;
	return l;
}

static struct figures sum_up(const struct view_tail *t)
{
	struct figures f = { 0 };

	for (size_t i = 0; i < t->streams; i++) {
		const struct view_tail_stream *s = &t->stream[i];
		for (size_t d = 0; d < s->devices; d++) {
			if (!s->device[d].busy_ns)
				continue;
			f.devices++;
			f.held_ns += s->t_ns - s->first_ns;
			f.busy_ns += (int64_t)s->device[d].busy_ns;
			f.waited_ns += (int64_t)s->loader_wait_ns;
		}
	}
	return f;
}

/* Dollars per hour of all devices in use, or 0 if one has no price. */
static int64_t burn_rate(const struct view_live *l, size_t devices)
{
	struct ana_gpu *gpu = calloc(devices ? devices : 1, sizeof(*gpu));
	struct ana_result r = { .gpu = gpu };
	struct view_rate *rate = NULL;
	int64_t sum = 0;

	for (size_t i = 0; gpu && i < l->tail.streams; i++) {
		const struct view_tail_stream *s = &l->tail.stream[i];
		for (size_t d = 0; d < s->devices && r.gpus < devices; d++) {
			if (!s->device[d].busy_ns)
				continue;
			gpu[r.gpus].host = (char *)s->device[d].host;
			gpu[r.gpus++].name = (char *)s->device[d].name;
		}
	}
	bool known = gpu && !view_rates_find(&r, NULL, &l->rates, &rate);
	for (size_t i = 0; known && i < r.gpus; i++) {
		known = rate[i].known;
		sum += rate[i].nano_usd_per_hour;
	}
	free(rate);
	free(gpu);
	return known ? sum : 0;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
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
	PARTS
};
typedef char words[PARTS][80];

static void say(const struct view_live *l, const struct figures *f, words w)
{
	struct timespec now;
	view_unit a;

	clock_gettime(CLOCK_MONOTONIC, &now);
	int64_t s = now.tv_sec - l->began.tv_sec;
	/* Pulses tell of waits, not of gaps: a wait while the GPU is busy is no starvation. */
	int64_t idle = f->held_ns > f->busy_ns ? f->held_ns - f->busy_ns : 0;
	int64_t ppm = view_ppm(least(f->waited_ns, idle), f->held_ns);
	snprintf(w[ELAPSED], sizeof(w[0]), "gpustarve %" PRId64 ":%02d:%02d", s / 3600,
		 (int)(s / 60 % 60), (int)(s % 60));
	snprintf(w[GPUS], sizeof(w[0]), "%zu GPU%s", f->devices, f->devices == 1 ? "" : "s");
	snprintf(w[BUSY], sizeof(w[0]), "busy %s %%",
		 view_percent(a, least(view_ppm(f->busy_ns, f->held_ns), 1000000)));
	snprintf(w[STARVED], sizeof(w[0]), "starved ~%s %%", view_percent(a, ppm));
	if (!l->burn_nano_usd)
		return;
	snprintf(w[BURN], sizeof(w[0]), "%s/h", view_cents(a, l->burn_nano_usd));
	snprintf(w[NOTHING], sizeof(w[0]), "%s/h of it for nothing",
		 view_cents(a, view_div_even((__int128)l->burn_nano_usd * ppm, 1000000)));
	snprintf(w[SO_FAR], sizeof(w[0]), "%s so far",
		 view_cents(a, view_div_even((__int128)l->burn_nano_usd * f->held_ns,
					     (__int128)f->devices * 3600 * 1000000000)));
}

/* As much as fits into @columns, what matters most first. */
static void compose(const words w, int columns, char line[LINE_BYTES])
{
	static const enum part order[] = { ELAPSED, STARVED, SO_FAR, BURN, GPUS, BUSY, NOTHING };
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

void view_live_tick(void *live)
{
	struct view_live *l = live;
	words w = { { 0 } };
	char line[LINE_BYTES];

	if (!view_tail_look(&l->tail))
		return;
	struct figures f = sum_up(&l->tail);
	if (!f.devices || f.held_ns <= 0 || !view_row_take(&l->row))
		return;
	if (f.devices != l->priced) {
		l->burn_nano_usd = burn_rate(l, f.devices);
		l->priced = f.devices;
	}
	say(l, &f, w);
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
