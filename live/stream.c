/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One process: its last pulses in a ring, and shares out of them.
 */
#include "run.h"

#include "numbers.h"

#define BUSY_PPM 950000 /* from here on the rest is no gap worth a name */

const char *const live_gap_names[LIVE_GAPS] = {
	[LIVE_GAP_NONE] = "-",		[LIVE_GAP_BUSY] = "busy",
	[LIVE_GAP_INPUT] = "input",	[LIVE_GAP_HOST] = "host",
	[LIVE_GAP_UNKNOWN] = "unknown", [LIVE_GAP_UNSEEN] = "not recorded",
	[LIVE_GAP_SILENT] = "silent",	[LIVE_GAP_ENDED] = "ended",
	[LIVE_GAP_KILLED] = "killed",
};

bool live_stream_uses_gpu(const struct live_stream *s)
{
	for (size_t i = 0; i < s->devices; i++)
		if (s->device[i].used)
			return true;
	return false;
}

bool live_stream_alive(const struct live_stream *s, int64_t now_ns)
{
	return !s->ended && !s->gone && s->pulses && now_ns - s->seen_ns < LIVE_SILENT_NS &&
	       live_stream_uses_gpu(s);
}

/* The latest kept pulse that lies @window_ns before the last one, or else the first kept. */
static uint64_t window_begin(const struct live_stream *s, int64_t window_ns)
{
	uint64_t last = s->pulses - 1, n = last;

	while (n > 0 && last - n < LIVE_POINTS - 1 &&
	       s->t_ns - s->at[n % LIVE_POINTS].t_ns < window_ns)
		n--;
	return n;
}

/* From the device's first operation on, if that came later: what was before is start-up. */
static uint64_t working_from(const struct live_stream *s, const struct live_device *d,
			     uint64_t from)
{
	while (d->busy_ns && from + 2 < s->pulses && !d->busy_at[(from + 1) % LIVE_POINTS])
		from++;
	return from;
}

/* Of one device, from pulse number @from to the last one. */
static struct live_share device_since(const struct live_stream *s, const struct live_device *d,
				      uint64_t from)
{
	const struct live_point *a;
	struct live_share share = { 0 };

	from = working_from(s, d, from);
	a = &s->at[from % LIVE_POINTS];
	share.window_ns = s->t_ns - a->t_ns;

	if (share.window_ns <= 0 || s->unseen || !d->used)
		return share;
	share.known = true;
	share.busy_ppm = live_ppm(d->busy_ns - d->busy_at[from % LIVE_POINTS], share.window_ns);
	share.starved_ppm = base_min(live_ppm(s->wait_ns - a->wait_ns, share.window_ns),
				     1000000 - share.busy_ppm);
	return share;
}

/* The mean of its devices. */
static struct live_share share_since(const struct live_stream *s, uint64_t from)
{
	struct live_share sum = { 0 };
	int64_t used = 0;

	for (size_t i = 0; i < s->devices; i++) {
		struct live_share one = device_since(s, &s->device[i], from);
		if (!one.known)
			continue;
		sum.known = true;
		sum.window_ns = one.window_ns;
		sum.busy_ppm += one.busy_ppm;
		sum.starved_ppm += one.starved_ppm;
		used++;
	}
	sum.busy_ppm /= used ? used : 1;
	sum.starved_ppm /= used ? used : 1;
	return sum;
}

struct live_share live_stream_share(const struct live_stream *s)
{
	if (s->pulses < 2)
		return (struct live_share){ 0 };
	return share_since(s, window_begin(s, LIVE_WINDOW_NS));
}

enum live_gap live_stream_gap(const struct live_stream *s, int64_t now_ns)
{
	if (s->ended)
		return LIVE_GAP_ENDED;
	if (s->gone)
		return LIVE_GAP_KILLED;
	if (!live_stream_alive(s, now_ns))
		return s->pulses && live_stream_uses_gpu(s) ? LIVE_GAP_SILENT : LIVE_GAP_NONE;
	if (s->unseen)
		return LIVE_GAP_UNSEEN;
	if (s->pulses < 2)
		return LIVE_GAP_NONE;
	const struct live_point *before = &s->at[(s->pulses - 2) % LIVE_POINTS];
	struct live_share last = share_since(s, s->pulses - 2);
	if (!last.known)
		return LIVE_GAP_NONE;
	if (last.busy_ppm >= BUSY_PPM)
		return LIVE_GAP_BUSY;
	if (2 * last.starved_ppm >= 1000000 - last.busy_ppm)
		return LIVE_GAP_INPUT;
	/* Level 0 records no launches: that there were none says something only where there are. */
	if (s->launches && s->launches == before->launches && !last.starved_ppm)
		return LIVE_GAP_HOST;
	return LIVE_GAP_UNKNOWN;
}

int64_t live_stream_lag_ns(const struct live_stream *s)
{
	return base_max(0, s->t_ns - s->complete_ns);
}

static struct live_use use_of(const struct live_stream *s, uint32_t ordinal, int64_t now_ns)
{
	const struct live_device *d = &s->device[ordinal];
	struct live_use u = { .stream = s,
			      .ordinal = ordinal,
			      .gpu = d->gpu,
			      .gap = live_stream_gap(s, now_ns),
			      .lag_ns = live_stream_lag_ns(s) };

	if (s->pulses > 1)
		u.share = device_since(s, d, window_begin(s, LIVE_WINDOW_NS));
	u.idle_ns = s->unseen ? 0 : base_max(0, s->complete_ns - d->active_ns);
	return u;
}

static struct live_meter meter_of(const struct live_gpu *g, const struct live_stream *s)
{
	if (!g->metered_ns || s->t_ns - g->metered_ns > LIVE_WINDOW_NS)
		return (struct live_meter){ -1, -1, -1 };
	return g->meter;
}

size_t live_run_uses(const struct live_run *r, int64_t now_ns, struct live_use *out, size_t room)
{
	struct live_unsaved unsaved = live_run_unsaved(r, now_ns);
	size_t n = 0;

	for (size_t i = 0; i < r->streams; i++) {
		const struct live_stream *s = r->stream[i];
		for (uint32_t k = 0; k < s->devices; k++) {
			if (!s->device[k].used)
				continue;
			if (n < room) {
				out[n] = use_of(s, k, now_ns);
				out[n].meter = meter_of(&r->gpu[out[n].gpu], s);
				out[n].unsaved_ns =
					live_gpu_unsaved_ns(&r->gpu[out[n].gpu], &unsaved);
			}
			n++;
		}
	}
	return n;
}
