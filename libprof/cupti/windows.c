/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One look after the other: is the drawn moment here, and is there room?
 */
#include "windows.h"

#include <string.h>

#include "wire/windows.h"

#define FIVE_MINUTES_NS 300000000000ll

void prof_windows_init(struct prof_windows *w, uint64_t seed, uint64_t limit)
{
	memset(w, 0, sizeof(*w));
	w->seed = seed;
	w->limit = limit;
	w->stratum = -1;
}

/* What windows may cost in so long. */
static uint64_t share(const struct prof_windows *w, int64_t ns)
{
	return (uint64_t)((unsigned __int128)w->limit * (uint64_t)ns / 1000000 /
			  PROF_WINDOWS_SHARE);
}

/* One that costs more than half of the limit of five minutes is too dear, whatever was earned. */
static bool too_dear(const struct prof_windows *w, uint64_t ns)
{
	return ns > PROF_WINDOWS_SHARE / 2 * share(w, FIVE_MINUTES_NS);
}

static bool has_room(const struct prof_windows *w, const struct prof_windows_input *in)
{
	if (too_dear(w, in->ahead_ns))
		return false;
	return !w->begun || w->cost_ns <= share(w, in->now_ns - w->begin_ns);
}

/* The number of the one in which a look is; -1: before the first, for the clock was set back. */
static int64_t stratum_of(const struct prof_windows *w, int64_t now_ns)
{
	return now_ns < w->since_ns ? -1 : (now_ns - w->since_ns) / WIRE_WINDOW_STRATUM_NS;
}

/* Is this the drawn moment of a stratum that has had no window yet? */
static bool is_drawn(const struct prof_windows *w, int64_t now_ns)
{
	int64_t stratum = stratum_of(w, now_ns), late;

	if (stratum <= w->stratum)
		return false;
	late = now_ns - w->since_ns - stratum * WIRE_WINDOW_STRATUM_NS -
	       wire_window_draw(w->seed, stratum);
	return late >= 0 && late < WIRE_WINDOW_LATE_NS;
}

static void begin(struct prof_windows *w, const struct prof_windows_input *in)
{
	w->stratum = stratum_of(w, in->now_ns);
	w->begin_ns = in->now_ns;
	w->spent_ns = in->drawn_ns;
	w->begun++;
	w->open = true;
}

/* Over, or too dear, or there may be none any more: the governor took a step, or the clock one. */
static bool is_over(const struct prof_windows *w, const struct prof_windows_input *in)
{
	return in->now_ns - w->begin_ns >= WIRE_WINDOW_NS || in->now_ns < w->begin_ns ||
	       too_dear(w, w->cost_ns) || in->ahead_ns == UINT64_MAX;
}

bool prof_windows_feed(struct prof_windows *w, const struct prof_windows_input *in)
{
	if (w->begun)
		w->cost_ns = in->drawn_ns - w->spent_ns;
	if (w->open) {
		w->open = !is_over(w, in);
		return w->open;
	}
	if (in->ahead_ns == UINT64_MAX)
		return false;
	if (!w->since_ns)
		w->since_ns = in->now_ns;
	if (is_drawn(w, in->now_ns) && has_room(w, in))
		begin(w, in);
	return w->open;
}
