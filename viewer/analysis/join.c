/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The launch table: a pool of records, an open-addressing index by correlation id, and two lists,
 * the pending ones in order of start and the others in the order in which they were asked for.
 */
#include "join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "names.h"

#define NONE UINT32_MAX
#define FIRST_ROOM 1024u
#define RECORDS_MAX (1u << 20) /* of a join that is not exact */
#define DONE_KEPT 8192u /* records kept after they were asked for: one may own several */
#define MANY_FOR 8192u /* operations for which a call that owns many stays pending, ... */
#define ANY_FOR 64u /* ... and any other */

struct list {
	uint32_t head, tail, count;
};

struct ana_join {
	struct ana_launch *record;
	uint32_t used, room; /* of record[] */
	uint32_t free; /* chain through next */
	uint32_t *slot; /* index into record[], NONE: free */
	uint32_t mask;
	uint32_t live;
	uint64_t seed;
	struct list pending, done;
	bool exact;
	uint64_t expired;
};

/*
 * Ids come one after the other, so 64 neighbours share a few cache lines; where such a group
 * lies is secret, so that no file can aim at one place.
 */
static uint32_t slot_of(const struct ana_join *j, uint64_t corr)
{
	uint64_t group = (corr >> 6) ^ j->seed;

	group *= 0x9e3779b97f4a7c15u;
	group ^= group >> 32;
	group *= 0xd6e8feb86659fd93u;
	return (uint32_t)((corr & 63) | (group >> 32 << 6)) & j->mask;
}

struct ana_join *ana_join_new(bool exact)
{
	struct ana_join *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->exact = exact;
	j->room = FIRST_ROOM;
	j->mask = FIRST_ROOM * 4 - 1;
	j->free = NONE;
	j->pending = j->done = (struct list){ NONE, NONE, 0 };
	j->record = malloc(j->room * sizeof(*j->record));
	j->slot = malloc((j->mask + 1u) * sizeof(*j->slot));
	if (!j->record || !j->slot) {
		ana_join_free(j);
		return NULL;
	}
	memset(j->slot, 0xff, (j->mask + 1u) * sizeof(*j->slot));
	if (getrandom(&j->seed, sizeof(j->seed), GRND_NONBLOCK) != sizeof(j->seed))
		j->seed = (uint64_t)(uintptr_t)j * 0x9e3779b97f4a7c15u;
	return j;
}

void ana_join_free(struct ana_join *j)
{
	if (!j)
		return;
	free(j->record);
	free(j->slot);
	free(j);
}

static void list_append(struct ana_join *j, struct list *l, uint32_t i)
{
	j->record[i].prev = l->tail;
	j->record[i].next = NONE;
	if (l->tail != NONE)
		j->record[l->tail].next = i;
	else
		l->head = i;
	l->tail = i;
	l->count++;
}

static void list_remove(struct ana_join *j, struct list *l, uint32_t i)
{
	const struct ana_launch *r = &j->record[i];

	if (r->prev != NONE)
		j->record[r->prev].next = r->next;
	else
		l->head = r->next;
	if (r->next != NONE)
		j->record[r->next].prev = r->prev;
	else
		l->tail = r->prev;
	l->count--;
}

/* The slot that holds @corr, or the free one where it would go. */
static uint32_t find_slot(const struct ana_join *j, uint64_t corr)
{
	uint32_t s = slot_of(j, corr);

	while (j->slot[s] != NONE && j->record[j->slot[s]].corr != corr)
		s = (s + 1) & j->mask;
	return s;
}

/* Moves later entries of the run back over the hole, so that no search stops short. */
static void free_slot(struct ana_join *j, uint32_t hole)
{
	uint32_t s = hole;

	for (;;) {
		uint32_t home;

		s = (s + 1) & j->mask;
		if (j->slot[s] == NONE)
			break;
		home = slot_of(j, j->record[j->slot[s]].corr);
		if (((s - home) & j->mask) < ((s - hole) & j->mask))
			continue;
		j->slot[hole] = j->slot[s];
		hole = s;
	}
	j->slot[hole] = NONE;
}

static void forget(struct ana_join *j, uint32_t i)
{
	struct ana_launch *r = &j->record[i];

	list_remove(j, r->pending ? &j->pending : &j->done, i);
	free_slot(j, find_slot(j, r->corr));
	r->next = j->free;
	j->free = i;
	j->live--;
}

static int grow_slots(struct ana_join *j)
{
	uint32_t mask = j->mask * 2 + 1, old = j->mask, s;
	uint32_t *was = j->slot, *slot = malloc((mask + (size_t)1) * sizeof(*slot));

	if (!slot)
		return -ENOMEM;
	memset(slot, 0xff, (mask + (size_t)1) * sizeof(*slot));
	j->slot = slot;
	j->mask = mask;
	for (s = 0; s <= old; s++)
		if (was[s] != NONE)
			slot[find_slot(j, j->record[was[s]].corr)] = was[s];
	free(was);
	return 0;
}

static int grow_records(struct ana_join *j)
{
	uint32_t room = j->room * 2;
	struct ana_launch *r;

	if (room > UINT32_MAX / 4)
		return -ENOMEM;
	r = reallocarray(j->record, room, sizeof(*r));
	if (!r)
		return -ENOMEM;
	j->record = r;
	j->room = room;
	return j->mask / 4 < room ? grow_slots(j) : 0;
}

/* A free record; the oldest goes where there may not be more. */
static int take_record(struct ana_join *j, uint32_t *i)
{
	int err;

	if (!j->exact && j->live >= RECORDS_MAX) {
		if (j->done.count) {
			forget(j, j->done.head);
		} else {
			forget(j, j->pending.head);
			j->expired++;
		}
	}
	if (j->free != NONE) {
		*i = j->free;
		j->free = j->record[*i].next;
		return 0;
	}
	if (j->used == j->room) {
		err = grow_records(j);
		if (err)
			return err;
	}
	*i = j->used++;
	return 0;
}

int ana_join_add(struct ana_join *j, uint64_t corr, const struct ana_call *call)
{
	uint32_t s = find_slot(j, corr), i;
	int err;

	if (j->slot[s] != NONE) {
		struct ana_launch *r = &j->record[j->slot[s]];

		if (ana_call_before(call, &r->call))
			r->call = *call;
		return 0;
	}
	err = take_record(j, &i);
	if (err)
		return err;
	j->record[i] = (struct ana_launch){ .call = *call, .corr = corr, .pending = true };
	j->slot[find_slot(j, corr)] = i;
	j->live++;
	list_append(j, &j->pending, i);
	return 0;
}

static void settle(struct ana_join *j, uint32_t i)
{
	list_remove(j, &j->pending, i);
	j->record[i].pending = false;
	list_append(j, &j->done, i);
	if (!j->exact && j->done.count > DONE_KEPT)
		forget(j, j->done.head);
}

const struct ana_call *ana_join_ask(struct ana_join *j, uint64_t corr, uint64_t now, bool whole)
{
	uint32_t i = j->slot[find_slot(j, corr)];
	struct ana_launch *r;

	if (i == NONE)
		return NULL;
	r = &j->record[i];
	r->asked = now;
	if (r->pending && (whole || !(r->call.flags & ANA_NAME_MANY)))
		settle(j, i);
	return &j->record[i].call;
}

/* Any call may own another operation right after its last one. */
static int64_t recent(const struct ana_join *j, uint64_t now)
{
	int64_t least = INT64_MAX;
	uint32_t i = j->done.tail, n;

	for (n = 0; n < ANY_FOR && i != NONE; n++, i = j->record[i].prev)
		if (now - j->record[i].asked < ANY_FOR && j->record[i].call.start < least)
			least = j->record[i].call.start;
	return least;
}

int64_t ana_join_pending(struct ana_join *j, uint64_t now)
{
	int64_t least = recent(j, now);

	while (j->pending.head != NONE) {
		const struct ana_launch *r = &j->record[j->pending.head];

		if (!r->asked || now - r->asked < MANY_FOR)
			return r->call.start < least ? r->call.start : least;
		settle(j, j->pending.head);
	}
	return least;
}

void ana_join_give_up(struct ana_join *j, int64_t t)
{
	while (j->pending.head != NONE && j->record[j->pending.head].call.start <= t) {
		j->expired += !j->record[j->pending.head].asked;
		settle(j, j->pending.head);
	}
}

uint64_t ana_join_expired(const struct ana_join *j)
{
	return j->expired;
}
