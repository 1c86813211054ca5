/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meeting.c - the table of collectives under way, in the shared segment.
 */
#include "meeting.h"

#include <stdlib.h>

#include "clock.h"
#include "place.h"
#include "shm.h"

/* How many times this process's device has called a collective of this key. */
struct counter {
	uint64_t key;
	uint32_t physical, calls;
	struct counter *next;
};

static struct counter *counters;

static uint32_t next_sequence(uint64_t key, uint32_t physical)
{
	struct counter *c;

	for (c = counters; c; c = c->next)
		if (c->key == key && c->physical == physical)
			return c->calls++;
	c = calloc(1, sizeof *c);
	if (!c)
		return 0;
	c->key = key;
	c->physical = physical;
	c->next = counters;
	counters = c;
	return c->calls++;
}

/* FNV-1a over the name, then the communicator; never 0. */
static uint64_t key_of(const char *name, uint64_t comm)
{
	uint64_t h = 0xcbf29ce484222325u ^ comm * 0x9e3779b97f4a7c15u;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 0x100000001b3u;
	return h | 1;
}

void sim_meeting_join(struct sim_op *op, uint64_t comm, uint32_t ranks)
{
	op->nccl = true;
	op->ranks = ranks;
	op->meeting = key_of(op->name, comm);
	op->sequence = next_sequence(op->meeting, op->physical);
}

static int find(struct sim_shm *shm, const struct sim_op *op)
{
	int i, free_one = -1;

	for (i = 0; i < SIM_MAX_MEETINGS; i++) {
		struct sim_meeting *m = &shm->meeting[i];

		if (m->key == op->meeting && m->sequence == op->sequence && m->ranks == op->ranks)
			return i;
		if (!m->key && free_one < 0)
			free_one = i;
	}
	return free_one;
}

/* Index of the meeting, or -1 when the table is full (it is tried again). */
static int arrive(const struct sim_op *op)
{
	struct sim_shm *shm = sim_shm();
	struct sim_meeting *m;
	int i;

	sim_shm_lock(shm);
	i = find(shm, op);
	if (i >= 0) {
		m = &shm->meeting[i];
		m->key = op->meeting;
		m->sequence = op->sequence;
		m->ranks = op->ranks;
		m->arrived++;
		m->latest = sim_max(m->latest, op->start);
		m->longest = sim_max(m->longest, op->duration);
	}
	sim_shm_unlock(shm);
	return i;
}

/* End of the collective, SIM_NEVER while a rank is missing; the last to ask frees the entry. */
static uint64_t ask(int index)
{
	struct sim_shm *shm = sim_shm();
	struct sim_meeting *m = &shm->meeting[index];
	uint64_t end = SIM_NEVER;

	sim_shm_lock(shm);
	if (m->arrived == m->ranks) {
		end = m->latest + m->longest;
		if (++m->left == m->ranks)
			*m = (struct sim_meeting){ 0 };
	}
	sim_shm_unlock(shm);
	return end;
}

bool sim_meeting_advance(struct sim_pending *p)
{
	if (!p->placed) {
		p->slot = sim_place_open(&p->op);
		if (p->slot < 0)
			return false;
		p->placed = true;
		p->meeting = -1;
	}
	if (p->meeting < 0)
		p->meeting = arrive(&p->op);
	if (p->meeting < 0)
		return false;
	p->op.end = ask(p->meeting);
	if (p->op.end == SIM_NEVER)
		return false;
	sim_place_close(&p->op, p->slot);
	return true;
}
