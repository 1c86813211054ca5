/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums, over the facts of all streams on the device, the time for which each holds times
 * own / (own + others), in millionths of the held time.
 */
#include "share.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "wire/session.pb-c.h"

#define MILLION 1000000

struct point { /* what one stream's fact says: from t on so many others */
	int64_t t;
	uint32_t others;
};

static void uuid_text(char out[48], const uint8_t u[16])
{
	snprintf(out, 48, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
		 u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12],
		 u[13], u[14], u[15]);
}

/* The ordinal under which a stream knows the GPU, or -1. */
static int64_t ordinal_of(const struct ana_gpu *gpu, const struct view_stream *s)
{
	char text[48];

	if (!s->hello || !gpu->uuid || strcmp(s->hello->host, gpu->host) != 0)
		return -1;
	for (size_t d = 0; d < s->hello->n_devices; d++) {
		const Wire__Device *dev = s->hello->devices[d];
		if (dev->uuid.len != 16)
			continue;
		uuid_text(text, dev->uuid.data);
		if (strstr(gpu->uuid, text))
			return dev->ordinal;
	}
	return -1;
}

static bool others_at(const Wire__Facts *f, int64_t ordinal, uint32_t *others)
{
	for (size_t d = 0; d < f->n_devices; d++) {
		if (f->devices[d]->ordinal == ordinal) {
			*others = f->devices[d]->other_processes;
			return true;
		}
	}
	return false;
}

static int by_time(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	return (x->t > y->t) - (x->t < y->t);
}

/* All facts about the device, in order of time; *own counts the run's processes on it. */
static struct point *collect(const struct ana_gpu *gpu, const struct view_trace *t, size_t *n,
			     uint32_t *own)
{
	size_t room = 0;

	*n = 0;
	*own = 0;
	for (size_t i = 0; i < t->streams; i++)
		room += t->stream[i].fact_count;
	struct point *p = calloc(room ? room : 1, sizeof(*p));
	for (size_t i = 0; p && i < t->streams; i++) {
		const struct view_stream *s = &t->stream[i];
		int64_t ordinal = ordinal_of(gpu, s);
		bool uses = false;
		for (size_t k = 0; ordinal >= 0 && k < s->fact_count; k++) {
			if (!others_at(s->facts[k], ordinal, &p[*n].others))
				continue;
			p[(*n)++].t = s->facts[k]->t_ns;
			uses = true;
		}
		*own += uses;
	}
	return p;
}

static int64_t clamp(int64_t v, int64_t least, int64_t most)
{
	return v < least ? least : v > most ? most : v;
}

void view_share_of(const struct ana_gpu *gpu, const struct view_trace *t, uint32_t *num,
		   uint32_t *den)
{
	int64_t whole = gpu->held_end_ns - gpu->held_start_ns;
	__int128 paid = 0;
	uint32_t own;
	size_t n;

	*num = *den = 1;
	if (!t || !gpu->shared_with || whole <= 0)
		return;
	struct point *p = collect(gpu, t, &n, &own);
	if (p && n && own) {
		qsort(p, n, sizeof(*p), by_time);
		for (size_t i = 0; i < n; i++) {
			/* The first fact also speaks for the time before it, the last for the rest. */
			int64_t from = i ? p[i].t : gpu->held_start_ns;
			int64_t to = i + 1 < n ? p[i + 1].t : gpu->held_end_ns;
			from = clamp(from, gpu->held_start_ns, gpu->held_end_ns);
			to = clamp(to, gpu->held_start_ns, gpu->held_end_ns);
			paid += (__int128)(to - from) * own * MILLION / (own + p[i].others);
		}
		*num = (uint32_t)((paid + whole / 2) / whole);
		*den = MILLION;
	}
	free(p);
	/* Facts come each second or so; a part within their noise of a small fraction is that. */
	for (uint32_t d = 1; *den == MILLION && d <= 8; d++) {
		for (uint32_t k = 1; k <= d; k++) {
			int64_t off = (int64_t)*num * d - (int64_t)k * MILLION;
			if (off > -2 * (int64_t)d && off < 2 * (int64_t)d) {
				*num = k;
				*den = d;
				return;
			}
		}
	}
}
