/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy.c - kernel time per millisecond.
 */
#include "busy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

#define AHEAD_NS ((uint64_t)(SIM_BUCKETS - SIM_PAST_BUCKETS) * SIM_BUCKET_NS)
#define AROUND_NS \
	2300u /* for which an engine is busy around a kernel, unless another is next to it */
/* What a multiprocessor of an H100 holds. */
#define SM_BLOCKS 32
#define SM_WARPS 64
#define WARP 32

static uint64_t at_most(uint64_t x, uint64_t limit)
{
	return x < limit ? x : limit;
}

struct sim_fill sim_busy_fill(uint64_t blocks, uint64_t threads, uint32_t sms)
{
	uint64_t warps = at_most((threads + WARP - 1) / WARP, SM_WARPS), room;
	struct sim_fill fill = { .sms = 1, .warps = 1 };

	if (!blocks || !warps || !sms)
		return fill;
	room = at_most(SM_BLOCKS, SM_WARPS / warps) * sms;
	fill.sms = (double)at_most(blocks, sms) / sms;
	fill.warps = (double)(at_most(blocks, room) * warps) / ((double)SM_WARPS * sms);
	return fill;
}

/* The script is short, and reading it takes less than placing a kernel. */
void sim_busy_use(struct sim_fill *fill, const char *name)
{
	const char *at = getenv("GPUSIM_UNITS");
	char part[128];
	double tensor, dram;
	int len = 0;

	for (; at && name && sscanf(at, "%127[^=]=%lf/%lf%n", part, &tensor, &dram, &len) == 3;
	     at += at[len] == ',' ? len + 1 : len) {
		if (!strstr(name, part))
			continue;
		fill->tensor = tensor / 100;
		fill->dram = dram / 100;
		return;
	}
}

/* A millisecond's part of a sum: kernels that overlap do not make a device busier than busy. */
static void count(struct sim_busy *sum, const struct sim_bucket *b, uint64_t part)
{
	sum->kernel_ns += at_most(b->busy_ns, SIM_BUCKET_NS) * part / SIM_BUCKET_NS;
	sum->engine_ns += at_most(b->busy_ns + b->around_ns, SIM_BUCKET_NS) * part / SIM_BUCKET_NS;
	sum->sm_ns += at_most(b->sm_ns, SIM_BUCKET_NS) * part / SIM_BUCKET_NS;
	sum->tensor_ns += at_most(b->tensor_ns, SIM_BUCKET_NS) * part / SIM_BUCKET_NS;
	sum->dram_ns += at_most(b->dram_ns, SIM_BUCKET_NS) * part / SIM_BUCKET_NS;
	sum->warp_ns += at_most(b->warp_ns, SIM_BUCKET_NS) * part / SIM_BUCKET_NS;
}

static struct sim_bucket *bucket_of(struct sim_device *d, uint64_t index)
{
	struct sim_bucket *b = &d->busy[index % SIM_BUCKETS];

	if (b->index != index) {
		struct sim_busy past = { 0 };

		count(&past, b, SIM_BUCKET_NS);
		d->past_ns += past.kernel_ns;
		d->past_engine_ns += past.engine_ns;
		d->past_sm_ns += past.sm_ns;
		d->past_warp_ns += past.warp_ns;
		d->past_tensor_ns += past.tensor_ns;
		d->past_dram_ns += past.dram_ns;
		d->past_launches += b->launches;
		*b = (struct sim_bucket){ .index = index };
	}
	return b;
}

/* All of it is taken to lie before the kernel. */
static void count_around(struct sim_device *d, uint64_t start, uint64_t end)
{
	uint64_t room = start > d->busy_until ? start - d->busy_until : 0;
	uint64_t around = at_most(room, AROUND_NS);

	if (around)
		bucket_of(d, (start - around) / SIM_BUCKET_NS)->around_ns += (uint32_t)around;
	d->busy_until = sim_max(d->busy_until, end);
}

void sim_busy_add(struct sim_device *d, uint64_t now, uint64_t start, uint64_t end,
		  const struct sim_fill *fill, int32_t owner)
{
	struct sim_bucket *b;

	end = at_most(end, now + AHEAD_NS);
	if (start >= end)
		return;
	count_around(d, start, end);
	b = bucket_of(d, start / SIM_BUCKET_NS);
	b->launches += b->launches < UINT16_MAX;
	while (start < end) {
		uint64_t index = start / SIM_BUCKET_NS, next = (index + 1) * SIM_BUCKET_NS;

		next = at_most(next, end);
		b = bucket_of(d, index);
		b->busy_ns += (uint32_t)(next - start);
		b->sm_ns += (uint32_t)((double)(next - start) * fill->sms + 0.5);
		b->warp_ns += (uint32_t)((double)(next - start) * fill->warps + 0.5);
		b->tensor_ns += (uint32_t)((double)(next - start) * fill->tensor + 0.5);
		b->dram_ns += (uint32_t)((double)(next - start) * fill->dram + 0.5);
		b->owner = (int16_t)owner;
		start = next;
	}
}

struct sim_busy sim_busy_between(const struct sim_device *d, uint64_t from, uint64_t to,
				 int32_t owner)
{
	struct sim_busy sum = { 0 };
	uint64_t index;

	for (index = from / SIM_BUCKET_NS; index * SIM_BUCKET_NS < to; index++) {
		const struct sim_bucket *b = &d->busy[index % SIM_BUCKETS];
		uint64_t start = index * SIM_BUCKET_NS, end = start + SIM_BUCKET_NS;

		if (b->index != index || (owner != SIM_ANYBODY && b->owner != owner))
			continue;
		count(&sum, b, at_most(end, to) - (start > from ? start : from));
		if (end > from && end <= to) /* when no more can come */
			sum.launches += b->launches;
	}
	return sum;
}

struct sim_busy sim_busy_total(const struct sim_device *d, uint64_t now)
{
	uint64_t last = now / SIM_BUCKET_NS;
	struct sim_busy sum = sim_busy_between(d, last * SIM_BUCKET_NS, now, SIM_ANYBODY);
	uint32_t i;

	sum.kernel_ns += d->past_ns;
	sum.engine_ns += d->past_engine_ns;
	sum.sm_ns += d->past_sm_ns;
	sum.warp_ns += d->past_warp_ns;
	sum.tensor_ns += d->past_tensor_ns;
	sum.dram_ns += d->past_dram_ns;
	sum.launches += d->past_launches;
	for (i = 0; i < SIM_BUCKETS; i++)
		if (d->busy[i].index < last) {
			count(&sum, &d->busy[i], SIM_BUCKET_NS);
			sum.launches += d->busy[i].launches;
		}
	return sum;
}
