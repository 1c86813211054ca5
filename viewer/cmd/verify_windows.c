/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One row of what pulses say after the other. A pulse that is lost hides a window and is no reason
 * to complain.
 */
#include "verify_windows.h"

#include <inttypes.h>
#include "wire/windows.h"

#define SHOWN 8
/* So long after a window kernels may still be on: another thread switches, and pulses are apart. */
#define SWITCHED_NS 5000000000ll

static void wrong(struct view_windows_checked *c, FILE *out, const char *what, int64_t t_ns)
{
	if (c->wrong++ < SHOWN)
		fprintf(out, "window of full recording at %" PRId64 ": %s\n", t_ns, what);
}

/* How long after the first stratum's begin the last window began; negative: before it, or never. */
static int64_t after_begin(const struct view_full_window *w)
{
	int64_t after;

	if (!w->number || __builtin_sub_overflow(w->begin_ns, w->since_ns, &after))
		return -1;
	return after;
}

static void check_moment(struct view_windows_checked *c, const struct view_full_window *w,
			 const struct view_full_window *before, FILE *out)
{
	int64_t after = after_begin(w), stratum = after / WIRE_WINDOW_STRATUM_NS;
	int64_t late = after % WIRE_WINDOW_STRATUM_NS - wire_window_draw(w->seed, stratum);
	int64_t last = before ? after_begin(before) : -1;

	c->windows++;
	if (after < 0 || late < 0 || late >= WIRE_WINDOW_LATE_NS)
		wrong(c, out, "its seed draws another moment", w->begin_ns);
	else if (last >= 0 && stratum <= last / WIRE_WINDOW_STRATUM_NS)
		wrong(c, out, "its stratum has had one", w->begin_ns);
}

/* Kernels came back and no step up is what brought them. */
static bool came_back(const struct view_full_window *w, const struct view_full_window *before)
{
	return w->full && before && !before->full && !before->stepped;
}

static bool is_inside(const struct view_full_window *w)
{
	int64_t since;

	return w->number && !__builtin_sub_overflow(w->told_ns, w->begin_ns, &since) &&
	       since >= 0 && since <= WIRE_WINDOW_NS + SWITCHED_NS;
}

/* Before the first look for a window there is no first stratum; pulses may be earlier. */
static bool draws_anew(const struct view_full_window *w, const struct view_full_window *before)
{
	bool begins = !before->since_ns && !before->number;

	return w->seed != before->seed || w->number < before->number ||
	       (w->since_ns != before->since_ns && !begins);
}

void view_verify_windows(struct view_windows_checked *c, const struct view_stream *s, FILE *out)
{
	size_t i;

	for (i = 0; i < s->windows; i++) {
		const struct view_full_window *w = &s->window[i], *before = i ? w - 1 : NULL;

		if (before && draws_anew(w, before))
			wrong(c, out, "its seed is another than before", w->told_ns);
		else if (w->number && (!before || w->number != before->number ||
				       w->begin_ns != before->begin_ns))
			check_moment(c, w, before, out);
		if (came_back(w, before) && !is_inside(w))
			wrong(c, out, "nothing was drawn there", w->told_ns);
	}
}
