/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy.c - kernel time per millisecond.
 */
#include "busy.h"

#define AHEAD_NS ((uint64_t)(SIM_BUCKETS - 1000) * SIM_BUCKET_NS)

static uint64_t at_most(uint64_t x, uint64_t limit)
{
	return x < limit ? x : limit;
}

static struct sim_bucket *bucket_of(struct sim_device *d, uint64_t index)
{
	struct sim_bucket *b = &d->busy[index % SIM_BUCKETS];

	if (b->index != index) {
		d->busy_past += at_most(b->busy_ns, SIM_BUCKET_NS);
		*b = (struct sim_bucket){ .index = index };
	}
	return b;
}

void sim_busy_add(struct sim_device *d, uint64_t now, uint64_t start, uint64_t end, int32_t owner)
{
	struct sim_bucket *b;

	end = at_most(end, now + AHEAD_NS);
	if (start >= end)
		return;
	b = bucket_of(d, start / SIM_BUCKET_NS);
	b->launches += b->launches < UINT16_MAX;
	while (start < end) {
		uint64_t index = start / SIM_BUCKET_NS, next = (index + 1) * SIM_BUCKET_NS;

		next = at_most(next, end);
		b = bucket_of(d, index);
		b->busy_ns += (uint32_t)(next - start);
		b->owner = (int16_t)owner;
		start = next;
	}
}

uint64_t sim_busy_between(const struct sim_device *d, uint64_t from, uint64_t to, int32_t owner,
			  uint64_t *launches)
{
	uint64_t busy = 0, began = 0, index;

	for (index = from / SIM_BUCKET_NS; index * SIM_BUCKET_NS < to; index++) {
		const struct sim_bucket *b = &d->busy[index % SIM_BUCKETS];
		uint64_t start = index * SIM_BUCKET_NS, end = start + SIM_BUCKET_NS, part;

		if (b->index != index || (owner != SIM_ANYBODY && b->owner != owner))
			continue;
		part = at_most(end, to) - (start > from ? start : from);
		busy += at_most(b->busy_ns, SIM_BUCKET_NS) * part / SIM_BUCKET_NS;
		if (start >= from)
			began += b->launches;
	}
	if (launches)
		*launches = began;
	return busy;
}

uint64_t sim_busy_total(const struct sim_device *d, uint64_t now)
{
	uint64_t busy = d->busy_past, last = now / SIM_BUCKET_NS;
	uint32_t i;

	for (i = 0; i < SIM_BUCKETS; i++)
		if (d->busy[i].index < last)
			busy += at_most(d->busy[i].busy_ns, SIM_BUCKET_NS);
	return busy + sim_busy_between(d, last * SIM_BUCKET_NS, now, SIM_ANYBODY, NULL);
}
