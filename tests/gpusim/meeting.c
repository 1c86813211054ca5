/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meeting.c - the table of collectives under way, in the shared segment.
 */
#include "meeting.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "place.h"
#include "shm.h"
#include "shown.h"
#include "submit.h"

/* An op's place in one meeting. */
struct sim_seat {
	struct gpusim_meeting m;
	uint32_t sequence;
	int index; /* of the table's entry, -1: none yet */
	int member; /* its place among those who have come */
	int block; /* of what it shows, -1: nothing */
	bool complete;
	uint64_t end;
	const void *from[GPUSIM_RANKS];
};

struct sim_seats {
	bool arrived;
	uint32_t n;
	struct sim_seat seat[];
};

/* ---- which meeting ---- */

/* How many times this process's device has come to a meeting of this key, as this rank. */
struct counter {
	uint64_t key;
	uint32_t physical, rank, calls;
	struct counter *next;
};

static struct counter *counters;

static uint32_t next_sequence(uint64_t key, uint32_t physical, uint32_t rank)
{
	struct counter *c;

	for (c = counters; c; c = c->next)
		if (c->key == key && c->physical == physical && c->rank == rank)
			return c->calls++;
	c = calloc(1, sizeof *c);
	if (!c)
		return 0;
	c->key = key;
	c->physical = physical;
	c->rank = rank;
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

void sim_meeting_open(struct sim_pending *p, const struct sim_work *work)
{
	struct gpusim_meeting by_name = { .key = key_of(p->op.name, p->work.comm),
					  .ranks = p->op.ranks };
	uint32_t i, n = work && work->n_meetings ? work->n_meetings : 1;
	const struct gpusim_meeting *m = work && work->n_meetings ? work->meetings : &by_name;

	p->seats = calloc(1, sizeof *p->seats + n * sizeof p->seats->seat[0]);
	if (!p->seats)
		abort(); /* as pending_new */
	p->seats->n = n;
	for (i = 0; i < n; i++) {
		struct sim_seat *seat = &p->seats->seat[i];

		seat->m = m[i];
		seat->sequence = next_sequence(m[i].key, p->op.physical, m[i].rank);
		seat->index = -1;
		seat->block = -1;
	}
}

/* ---- the table; its lock is held ---- */

static void entry_free(struct sim_shm *shm, struct sim_meeting *m)
{
	int i;

	for (i = 0; i < SIM_MEETING_RANKS; i++)
		if (m->block[i])
			sim_shown_free(shm, m->block[i] - 1);
	memset(m, 0, sizeof *m);
}

/* Everybody who has come and not left is dead. */
static bool deserted(const struct sim_shm *shm, const struct sim_meeting *m)
{
	uint32_t i;

	for (i = 0; i < m->seated; i++) {
		const struct sim_proc *p;

		if (i >= SIM_MEETING_RANKS)
			return false;
		p = m->member[i] ? &shm->proc[m->member[i] - 1] : NULL;
		if (p && p->pid && sim_proc_alive(p))
			return false;
	}
	return true;
}

static void sweep(struct sim_shm *shm)
{
	int i;

	for (i = 0; i < SIM_MAX_MEETINGS; i++)
		if (shm->meeting[i].key && deserted(shm, &shm->meeting[i]))
			entry_free(shm, &shm->meeting[i]);
}

static int find(const struct sim_shm *shm, const struct sim_seat *seat)
{
	int i, free_one = -1;

	for (i = 0; i < SIM_MAX_MEETINGS; i++) {
		const struct sim_meeting *m = &shm->meeting[i];

		if (m->key == seat->m.key && m->sequence == seat->sequence &&
		    m->ranks == seat->m.ranks)
			return i;
		if (!m->key && free_one < 0)
			free_one = i;
	}
	return free_one;
}

/* A place in the meeting; false while the table is full. Without a block nothing is shown. */
static bool sit(struct sim_shm *shm, struct sim_seat *seat)
{
	struct sim_meeting *m;

	seat->index = find(shm, seat);
	if (seat->index < 0) {
		sweep(shm);
		return false;
	}
	m = &shm->meeting[seat->index];
	m->key = seat->m.key;
	m->sequence = seat->sequence;
	m->ranks = seat->m.ranks;
	seat->member = (int)m->seated++;
	if (seat->member < SIM_MEETING_RANKS)
		m->member[seat->member] = (int16_t)(sim_proc_slot() + 1);
	if (seat->m.shown && seat->m.rank < SIM_MEETING_RANKS)
		seat->block = sim_shown_take(shm);
	if (seat->block >= 0)
		m->block[seat->m.rank] = (int16_t)(seat->block + 1);
	return true;
}

static void leave(struct sim_shm *shm, struct sim_seat *seat, bool arrived)
{
	struct sim_meeting *m = &shm->meeting[seat->index];

	if (seat->member < SIM_MEETING_RANKS)
		m->member[seat->member] = 0;
	m->left++;
	if (!arrived || m->arrived != m->ranks)
		m->broken = true;
	if (m->left == m->ranks || (m->broken && m->left == m->seated))
		entry_free(shm, m);
	seat->index = -1;
}

/* ---- the steps of an op, in their order ---- */

static bool begin(struct sim_pending *p)
{
	if (p->placed)
		return true;
	p->slot = sim_place_open(&p->op);
	p->placed = p->slot >= 0;
	return p->placed;
}

static bool sit_down(struct sim_seats *seats)
{
	struct sim_shm *shm = sim_shm();
	bool all = true;
	uint32_t i;

	if (seats->arrived)
		return true;
	sim_shm_lock(shm);
	for (i = 0; i < seats->n; i++)
		all = all && (seats->seat[i].index >= 0 || sit(shm, &seats->seat[i]));
	sim_shm_unlock(shm);
	return all;
}

static size_t to_show(const struct sim_seats *seats)
{
	size_t bytes = 0;
	uint32_t i;

	for (i = 0; i < seats->n; i++)
		bytes += seats->seat[i].m.shown;
	return bytes;
}

/* What cannot be shown is not: a file system is full. */
static void unshow(struct sim_seat *seat)
{
	struct sim_shm *shm = sim_shm();

	sim_shm_lock(shm);
	shm->meeting[seat->index].block[seat->m.rank] = 0;
	sim_shown_free(shm, seat->block);
	sim_shm_unlock(shm);
	seat->block = -1;
}

static void show(struct sim_pending *p)
{
	uint32_t i;

	for (i = 0; i < p->seats->n; i++) {
		struct sim_seat *seat = &p->seats->seat[i];
		void *to = seat->block < 0 ? NULL : sim_shown_at(seat->block, seat->m.shown);

		if (to)
			seat->m.show(&seat->m, to);
		else if (seat->block >= 0)
			unshow(seat);
	}
}

static void arrive(struct sim_pending *p)
{
	struct sim_shm *shm = sim_shm();
	uint32_t i;

	if (p->seats->arrived)
		return;
	sim_shm_lock(shm);
	for (i = 0; i < p->seats->n; i++) {
		struct sim_meeting *m = &shm->meeting[p->seats->seat[i].index];

		m->arrived++;
		m->latest = sim_max(m->latest, p->op.start);
		m->longest = sim_max(m->longest, p->op.duration);
	}
	sim_shm_unlock(shm);
	p->seats->arrived = true;
}

static void ask(const struct sim_shm *shm, struct sim_seat *seat)
{
	const struct sim_meeting *m = &shm->meeting[seat->index];
	uint32_t i;

	if (seat->complete || m->arrived != m->ranks)
		return;
	seat->complete = true;
	seat->end = m->latest + m->longest;
	for (i = 0; i < m->ranks && i < SIM_MEETING_RANKS; i++)
		if (m->block[i])
			seat->from[i] = sim_shown_at(m->block[i] - 1, 0);
}

/* Have all come to all of its meetings? Then op.end is known. */
static bool complete(struct sim_pending *p)
{
	struct sim_shm *shm = sim_shm();
	uint64_t end = 0;
	bool all = true;
	uint32_t i;

	if (p->closed)
		return true;
	sim_shm_lock(shm);
	for (i = 0; i < p->seats->n; i++) {
		struct sim_seat *seat = &p->seats->seat[i];

		ask(shm, seat);
		all = all && seat->complete;
		end = sim_max(end, seat->end);
	}
	sim_shm_unlock(shm);
	if (!all)
		return false;
	p->op.end = end;
	sim_place_close(&p->op, p->slot);
	p->closed = true;
	return true;
}

static size_t to_take(const struct sim_seats *seats)
{
	size_t bytes = 0;
	uint32_t i;

	for (i = 0; i < seats->n; i++)
		bytes += seats->seat[i].m.take ? seats->seat[i].m.taken : 0;
	return bytes;
}

static void take(struct sim_pending *p)
{
	uint32_t i;

	for (i = 0; i < p->seats->n; i++) {
		struct sim_seat *seat = &p->seats->seat[i];

		if (seat->m.take)
			seat->m.take(&seat->m, seat->from);
	}
}

void sim_meeting_close(struct sim_pending *p)
{
	struct sim_shm *shm = sim_shm();
	uint32_t i;

	if (!p->seats)
		return;
	sim_shm_lock(shm);
	for (i = 0; i < p->seats->n; i++)
		if (p->seats->seat[i].index >= 0)
			leave(shm, &p->seats->seat[i], p->seats->arrived);
	sim_shm_unlock(shm);
	free(p->seats);
	p->seats = NULL;
}

static bool give_up(struct sim_pending *p)
{
	p->op.end = sim_max(p->op.start, sim_now());
	sim_place_close(&p->op, p->slot);
	sim_meeting_close(p);
	return true;
}

bool sim_meeting_advance(struct sim_pending *p)
{
	if (!begin(p))
		return false;
	if (p->abandoned && !p->closed)
		return give_up(p);
	if (!sit_down(p->seats) || !sim_pending_part(p, &p->shown, show, to_show(p->seats)))
		return false;
	arrive(p);
	if (!complete(p) || !sim_pending_part(p, &p->taken, take, to_take(p->seats)))
		return false;
	sim_meeting_close(p);
	return true;
}
