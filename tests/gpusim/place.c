/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.c - finds the time of an op on the engines that the node's processes share.
 */
#include "place.h"

#include "busy.h"
#include "clock.h"
#include "config.h"
#include "shm.h"

#define REAP_NS 1000000 /* a wait for another process longer than this asks if it lives */
#define REAP_EVERY 100000000 /* but not more often than this */
#define OPEN_LENGTH ((uint64_t)1 << 62)

/* The first slot that can take the kernel earliest, while no other process has the engine. */
static int fit_compute(const struct sim_device *d, uint64_t ready, uint64_t length, int32_t me,
		       uint64_t *start)
{
	uint32_t i, n = sim_config()->concurrency;
	int best = -1;

	*start = SIM_NEVER;
	for (i = 0; i < n; i++) {
		uint64_t t = ready, u;

		do {
			u = sim_line_fit(&d->slot[i], t, length);
			t = u;
			if (u != SIM_NEVER && !sim_config()->mps)
				t = sim_line_fit_owner(&d->owner, u, length, me);
		} while (t != u);
		if (t < *start)
			*start = t, best = (int)i;
		if (t == ready)
			break;
	}
	return best;
}

/* Grid and block say what it takes; what has none fills the device. */
static void count_busy(struct sim_device *d, const struct sim_op *op, int32_t me, uint64_t now)
{
	uint64_t blocks = (uint64_t)op->grid[0] * op->grid[1] * op->grid[2];
	uint64_t threads = (uint64_t)op->block[0] * op->block[1] * op->block[2];
	struct sim_fill fill = sim_busy_fill(blocks, threads, sim_multiprocessors(op->physical));

	sim_busy_use(&fill, op->name);
	sim_busy_add(d, now, op->start, op->end, &fill, me);
}

static bool place_compute(struct sim_device *d, struct sim_op *op, int32_t me, uint64_t now)
{
	uint64_t start;
	int slot = fit_compute(d, op->ready, op->duration, me, &start);

	if (slot < 0)
		return false;
	op->start = start;
	op->end = start + op->duration;
	sim_line_take(&d->slot[slot], now, op->start, op->end, me);
	sim_line_take(&d->owner, now, op->start, op->end, me);
	count_busy(d, op, me, now);
	return true;
}

static bool place_copy(struct sim_device *d, struct sim_op *op, int32_t me, uint64_t now)
{
	struct sim_line *line = &d->copy[op->engine];

	op->start = sim_line_fit(line, op->ready, op->duration);
	if (op->start == SIM_NEVER)
		return false;
	op->end = op->start + op->duration;
	sim_line_take(line, now, op->start, op->end, me);
	return true;
}

/*
 * Work that waited for a host function or a collective gets its time after the fact; not so long
 * after that the lines know nothing any more.
 */
static uint64_t not_before(const struct sim_device *d, uint64_t ready, uint64_t now)
{
	return sim_max(ready, sim_max(d->floor, now - SIM_HISTORY_NS));
}

static bool place_locked(struct sim_device *d, struct sim_op *op, int32_t me, uint64_t now)
{
	op->ready = not_before(d, op->ready, now);
	if (!(op->engine == SIM_ENGINE_COMPUTE ? place_compute : place_copy)(d, op, me, now))
		return false;
	d->last_end = sim_max(d->last_end, op->end);
	return true;
}

/* A process that died with work queued must not hold up the others. */
static void reap_holder(struct sim_device *d, const struct sim_op *op, int32_t me, uint64_t now)
{
	static uint64_t last;
	int32_t other;

	if (now - last < REAP_EVERY)
		return;
	other = sim_line_holder(&d->owner, op->ready + REAP_NS, me);
	if (other < 0)
		return;
	last = now;
	sim_device_unlock(d);
	sim_proc_reap(other);
	sim_device_lock(d);
}

bool sim_place(struct sim_op *op)
{
	struct sim_device *d = &sim_shm()->device[op->physical];
	int32_t me = sim_proc_slot();
	bool placed;

	sim_device_lock(d);
	reap_holder(d, op, me, sim_now());
	placed = place_locked(d, op, me, sim_now());
	sim_device_unlock(d);
	return placed;
}

int sim_place_open(struct sim_op *op)
{
	struct sim_device *d = &sim_shm()->device[op->physical];
	int32_t me = sim_proc_slot();
	uint64_t start, ready;
	int slot;

	sim_device_lock(d);
	ready = not_before(d, op->ready, sim_now());
	slot = fit_compute(d, ready, OPEN_LENGTH, me, &start);
	if (slot >= 0) {
		op->start = start;
		sim_line_take(&d->slot[slot], sim_now(), start, SIM_NEVER, me);
	}
	sim_device_unlock(d);
	return slot;
}

void sim_place_close(const struct sim_op *op, int slot)
{
	struct sim_device *d = &sim_shm()->device[op->physical];
	int32_t me = sim_proc_slot();

	sim_device_lock(d);
	sim_line_close(&d->slot[slot], op->start, op->end, me);
	sim_line_take(&d->owner, sim_now(), op->start, op->end, me);
	count_busy(d, op, me, sim_now());
	d->last_end = sim_max(d->last_end, op->end);
	sim_device_unlock(d);
}
