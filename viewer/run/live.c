/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The row is kept free with the terminal's scrolling region, set when the first pulse is seen: a
 * command that never touches a GPU never meets it.
 */
#include "live.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "live_tail.h"
#include "cost/rates.h"
#include "base/units.h"

#define LINE_BYTES 512

struct view_live {
	struct view_tail tail;
	struct view_rate_options rates;
	struct timespec began;
	unsigned short rows, columns; /* of the region that is set, 0: none */
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

static void put(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return; /* the terminal is gone; so is its reader */
}

/* Scrolling is confined to the rows above the last; setting it moves the cursor, so save it. */
static bool take_row(struct view_live *l)
{
	struct winsize w;
	char text[64];

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) || w.ws_row < 4 || w.ws_col < 40)
		return false;
	if (w.ws_row != l->rows) {
		/* A line feed first: the cursor may stand in the row that we take. */
		snprintf(text, sizeof(text), "%s\0337\033[1;%dr\0338%s", l->rows ? "" : "\n",
			 w.ws_row - 1, l->rows ? "" : "\033[1A");
		put(text);
	}
	l->rows = w.ws_row;
	l->columns = w.ws_col;
	return true;
}

static void give_row_back(struct view_live *l)
{
	char text[64];

	if (!l->rows)
		return;
	snprintf(text, sizeof(text), "\0337\033[%d;1H\033[K\033[r\0338", l->rows);
	put(text);
	l->rows = 0;
}

static void show(const struct view_live *l, const char *line)
{
	char text[LINE_BYTES + 64];

	snprintf(text, sizeof(text), "\0337\033[%d;1H\033[7m%.*s\033[K\033[0m\0338", l->rows,
		 l->columns - 1, line);
	put(text);
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

static void compose(const struct view_live *l, const struct figures *f, char line[LINE_BYTES])
{
	struct timespec now;
	view_unit starved, busy, burn, lost;

	clock_gettime(CLOCK_MONOTONIC, &now);
	int64_t s = now.tv_sec - l->began.tv_sec;
	/* Pulses tell of waits, not of gaps: a wait while the GPU is busy is no starvation. */
	int64_t idle = f->held_ns > f->busy_ns ? f->held_ns - f->busy_ns : 0;
	int64_t waited = least(f->waited_ns, idle);
	int64_t ppm = view_ppm(waited, f->held_ns);
	int n = snprintf(line, LINE_BYTES,
			 " gpustarve %" PRId64 ":%02d:%02d  %zu GPU%s  busy %s %%  starved about "
			 "%s %%",
			 s / 3600, (int)(s / 60 % 60), (int)(s % 60), f->devices,
			 f->devices == 1 ? "" : "s",
			 view_percent(busy, least(view_ppm(f->busy_ns, f->held_ns), 1000000)),
			 view_percent(starved, ppm));
	if (l->burn_nano_usd && n > 0 && n < LINE_BYTES)
		snprintf(line + n, LINE_BYTES - (size_t)n, "  %s/h, of it %s/h for nothing",
			 view_cents(burn, l->burn_nano_usd),
			 view_cents(lost,
				    view_div_even((__int128)l->burn_nano_usd * ppm, 1000000)));
}

void view_live_tick(void *live)
{
	struct view_live *l = live;
	char line[LINE_BYTES];

	/* Not while another job has the terminal: writing could stop us. */
	if (tcgetpgrp(STDERR_FILENO) != getpgrp() || !view_tail_look(&l->tail))
		return;
	struct figures f = sum_up(&l->tail);
	if (!f.devices || f.held_ns <= 0 || !take_row(l))
		return;
	if (f.devices != l->priced) {
		l->burn_nano_usd = burn_rate(l, f.devices);
		l->priced = f.devices;
	}
	compose(l, &f, line);
	show(l, line);
}

void view_live_free(struct view_live *l)
{
	if (!l)
		return;
	give_row_back(l);
	free(l);
}
