/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The launch table: a ring of records in order of arrival, chained by a hash of the correlation
 * id. Chains run from new to old, so what the ring has left behind needs no unlinking: the first
 * number that is too old ends a chain. Operations mostly come as they were launched, and ids rise
 * by one or a few: a record is looked for where that puts it. Only what is not found there needs
 * chains, which are made when they are asked for.
 *
 * A record that nobody asks for would hold the ring's tail for ever. Where it is far behind it
 * moves to the strays, a small table of its own.
 */
#include "join_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "analysis/archive.h"
#include "analysis/read/name_flags.h"
#include "analysis/time/span.h"
#include "base/vec.h"

#define FIRST_ROOM 4096u
#define KEPT 2048u /* records kept in the ring after they were asked for: one may own several */
#define BEHIND 16384u /* records after which one that was not asked for is a stray */
/*
 * More of them are given up: a driver lets the host run ahead by about a thousand launches of each
 * stream, and calls without an operation (a memset of nothing) come as often as one in forty.
 */
#define STRAYS_MAX (1u << 12)
#define MANY_FOR 8192u /* operations for which a call that owns many stays pending, ... */
#define ANY_FOR 64u /* ... and any other */
#define NEAR 8u /* records looked at before chains are made */
#define LOST_MAX (1u << 16) /* launches of graphs without an operation that are kept */

/*
 * Ids come one after the other, so 64 neighbours share a few cache lines; where such a group
 * lies is secret, so that no file can aim at one place.
 */
static uint32_t *slot_of(const struct ana_join *j, uint64_t corr)
{
	uint64_t group = (corr >> 6) * j->secret;

	return &j->slot[(uint32_t)((corr & 63) | (group >> 32 << 6)) & j->slot_mask];
}

struct ana_join *ana_join_new(bool exact, uint64_t *lost_graphs)
{
	struct ana_join *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->exact = exact;
	j->lost_graphs = lost_graphs;
	j->mask = FIRST_ROOM - 1;
	j->slot_mask = FIRST_ROOM * 2 - 1;
	j->ring = aligned_alloc(64, FIRST_ROOM * sizeof(*j->ring));
	j->slot = calloc(j->slot_mask + 1u, sizeof(*j->slot));
	if (!j->ring || !j->slot) {
		ana_join_free(j);
		return NULL;
	}
	if (getrandom(&j->secret, sizeof(j->secret), GRND_NONBLOCK) != sizeof(j->secret))
		j->secret = (uint64_t)(uintptr_t)j * 0x9e3779b97f4a7c15u;
	j->secret |= 1;
	return j;
}

void ana_join_free(struct ana_join *j)
{
	if (!j)
		return;
	free(j->ring);
	free(j->slot);
	free(j->stray);
	free(j->lost);
	free(j);
}

/* Slots hold numbers plus 1, so that 0, which they begin with, is the number before the first. */
static void chain_in(struct ana_join *j, uint32_t n)
{
	uint32_t *slot = slot_of(j, ana_join_at(j, n)->corr);

	ana_join_at(j, n)->chain = *slot - 1;
	*slot = n + 1;
}

/* The record of this id along the chain that begins with @n; *found: its number. */
static struct ana_join_record *find_from(const struct ana_join *j, uint32_t n, uint64_t corr,
					 uint32_t *found)
{
	uint32_t age = j->end - j->first;

	/* Ever older: after 2^32 records a number that was left behind may look alive again. */
	for (; n - j->first < age; n = ana_join_at(j, n)->chain) {
		*found = n;
		if (ana_join_at(j, n)->corr == corr)
			return ana_join_at(j, n);
		age = n - j->first;
	}
	return NULL;
}

static struct ana_join_record *find_chained(struct ana_join *j, uint64_t corr, uint32_t *found)
{
	for (; j->chained != j->end; j->chained++)
		chain_in(j, j->chained);
	return find_from(j, *slot_of(j, corr) - 1, corr, found);
}

/*
 * Calls that launch nothing take ids, too, so a record lies where its id says or nearer to the one
 * found last.
 */
static struct ana_join_record *find_near(const struct ana_join *j, uint64_t corr, uint32_t *found)
{
	uint32_t n = j->next + (uint32_t)(corr - j->next_corr), i;
	uint32_t step = corr < j->next_corr ? 1 : -1u;

	for (i = 0; i < NEAR && n - j->first < j->end - j->first; i++, n += step) {
		*found = n;
		if (ana_join_at(j, n)->corr == corr)
			return ana_join_at(j, n);
	}
	return NULL;
}

static inline struct ana_join_record *find(struct ana_join *j, uint64_t corr)
{
	uint32_t n = j->next;
	struct ana_join_record *r = ana_join_at(j, n);

	if (n - j->first >= j->end - j->first || r->corr != corr) {
		if (corr > j->newest)
			return NULL;
		r = find_near(j, corr, &n);
		r = r ? r : find_chained(j, corr, &n);
		if (!r)
			return NULL;
	}
	j->next = n + 1;
	j->next_corr = corr + 1;
	return r;
}

static int grow_ring(struct ana_join *j)
{
	uint32_t mask = j->mask * 2 + 1, slot_mask = j->slot_mask * 2 + 1, n;
	struct ana_join_record *ring = aligned_alloc(64, ((size_t)mask + 1) * sizeof(*ring));
	uint32_t *slot = calloc((size_t)slot_mask + 1, sizeof(*slot));

	if (!ring || !slot || mask > UINT32_MAX / 8) {
		free(ring);
		free(slot);
		return -ENOMEM;
	}
	for (n = j->first; n != j->end; n++)
		ring[n & mask] = *ana_join_at(j, n);
	free(j->ring);
	free(j->slot);
	j->ring = ring;
	j->mask = mask;
	j->slot = slot;
	j->slot_mask = slot_mask;
	j->chained = j->first;
	return 0;
}

/* --- graphs without an operation: they come in order of their launches, or nearly so --- */

/* The first of them that begins after @t. */
static uint32_t first_lost(const struct ana_join *j, int64_t t)
{
	uint32_t low = 0, high = j->lost_count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (j->lost[mid].start <= t)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int lose(struct ana_join *j, const struct ana_join_record *r)
{
	uint32_t i, k;

	if (r->state != ANA_JOIN_WAITING || !(r->call.flags & ANA_NAME_GRAPH))
		return 0;
	if (j->lost_count == LOST_MAX) { /* half, so that each is moved once */
		j->lost_count /= 2;
		memmove(j->lost, j->lost + j->lost_count, j->lost_count * sizeof(*j->lost));
	}
	if (!base_vec_more(j->lost, j->lost_count, j->lost_room))
		return -ENOMEM;
	i = first_lost(j, r->call.start);
	for (k = i; k && j->lost[k - 1].start == r->call.start; k--)
		if (j->lost[k - 1].order == r->call.order)
			return 0; /* it was told before */
	++*j->lost_graphs;
	memmove(j->lost + i + 1, j->lost + i, (j->lost_count++ - i) * sizeof(*j->lost));
	j->lost[i] = r->call;
	return 0;
}

const struct ana_call *ana_join_lost_graph(const struct ana_join *j, int64_t after, int64_t before)
{
	uint32_t i = j->lost_count ? first_lost(j, after) : 0;

	return i < j->lost_count && j->lost[i].start < before ? &j->lost[i] : NULL;
}

int ana_join_end(struct ana_join *j)
{
	uint32_t n;
	int err = 0;

	for (n = j->stray_first; n != j->strays && !err; n++)
		err = lose(j, &j->stray[n]);
	for (n = j->first; n != j->end && !err; n++)
		err = lose(j, ana_join_at(j, n));
	return err;
}

/* --- strays: few, so a search from the newest will do --- */

static int make_stray(struct ana_join *j, const struct ana_join_record *r)
{
	if (j->strays - j->stray_first == STRAYS_MAX) {
		if (lose(j, &j->stray[j->stray_first]))
			return -ENOMEM;
		j->stray_first++;
		j->expired++;
	}
	if (j->strays == j->stray_room && j->stray_first > j->stray_room / 2) {
		j->strays -= j->stray_first;
		memmove(j->stray, j->stray + j->stray_first, j->strays * sizeof(*j->stray));
		j->stray_first = 0;
	} else if (j->strays == j->stray_room) {
		uint32_t room = j->stray_room ? j->stray_room * 2 : 16;
		struct ana_join_record *p = aligned_alloc(64, room * sizeof(*p));

		if (!p)
			return -ENOMEM;
		if (j->strays)
			memcpy(p, j->stray, j->strays * sizeof(*p));
		free(j->stray);
		j->stray = p;
		j->stray_room = room;
	}
	j->stray[j->strays++] = *r;
	return 0;
}

/* Strays have come in order of their ids or nearly so; 64 of them are looked at. */
ANA_RARE static struct ana_join_record *find_stray(struct ana_join *j, uint64_t corr)
{
	uint32_t low = j->stray_first, high = j->strays, i;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (j->stray[mid].corr < corr)
			low = mid + 1;
		else
			high = mid;
	}
	low = low - j->stray_first > 32 ? low - 32 : j->stray_first;
	for (i = low; i < j->strays && i < low + 64; i++)
		if (j->stray[i].corr == corr)
			return &j->stray[i];
	return NULL;
}

/* --- */

/* An operation may still ask for it. */
static inline bool holds(const struct ana_join_record *r, uint32_t now)
{
	uint32_t ago = now - r->asked;

	if (r->state != ANA_JOIN_ASKED)
		return r->state == ANA_JOIN_WAITING;
	return ago < ANY_FOR || (ago < MANY_FOR && r->call.flags & ANA_NAME_MANY);
}

/* Of those before the first that is pending nothing has to be asked. */
static void leave_settled(struct ana_join *j)
{
	uint32_t most = j->end - j->first > KEPT ? j->end - j->first - KEPT : 0;
	uint32_t n = j->pending - j->first < most ? j->pending - j->first : most;

	if (j->exact)
		return;
	if (j->chained - j->first < n)
		j->chained = j->first + n;
	j->first += n;
}

/* Leaves the oldest records behind where the ring is full of them. */
static int make_room(struct ana_join *j)
{
	int err = 0;

	leave_settled(j);
	while (!j->exact && j->end - j->first > KEPT && !err) {
		const struct ana_join_record *r = ana_join_at(j, j->first);

		if (r->state == ANA_JOIN_WAITING && j->end - j->first < BEHIND)
			break;
		if (r->state == ANA_JOIN_WAITING)
			err = make_stray(j, r);
		if (j->pending == j->first)
			j->pending++;
		if (j->chained == j->first)
			j->chained++;
		j->first++;
	}
	return err;
}

ANA_RARE static int room_for_one(struct ana_join *j)
{
	int err = make_room(j);

	if (!err && j->end - j->first > j->mask / 2)
		err = grow_ring(j);
	return err;
}

struct ana_call *ana_join_put(struct ana_join *j, uint64_t corr, bool *fresh)
{
	uint32_t n;
	struct ana_join_record *r = corr > j->newest ? NULL : find_chained(j, corr, &n);

	*fresh = !r;
	if (r)
		return &r->call;
	if (j->end - j->first > j->mask && room_for_one(j))
		return NULL;
	r = ana_join_at(j, j->end++);
	r->corr = corr;
	r->state = ANA_JOIN_WAITING;
	if (corr > j->newest)
		j->newest = corr;
	return &r->call;
}

const struct ana_call *ana_join_ask(struct ana_join *j, uint64_t corr, uint32_t now, bool whole)
{
	struct ana_join_record *r = find(j, corr);

	if (!r && corr <= j->newest && j->strays != j->stray_first)
		r = find_stray(j, corr);
	if (!r)
		return NULL;
	r->asked = now;
	r->state = whole ? ANA_JOIN_SETTLED : ANA_JOIN_ASKED;
	return &r->call;
}

/* The first record from @n on that holds; those before it are settled. */
static uint32_t settle(struct ana_join *j, uint32_t n, uint32_t now)
{
	struct ana_join_record *ring = j->ring;
	const uint32_t end = j->end, mask = j->mask;

	for (; n != end && !holds(&ring[n & mask], now); n++)
		ring[n & mask].state = ANA_JOIN_SETTLED;
	return n;
}

int64_t ana_join_pending(struct ana_join *j, uint32_t now)
{
	while (j->stray_first != j->strays && !holds(&j->stray[j->stray_first], now))
		j->stray_first++;
	j->pending = settle(j, j->pending, now);
	if (j->stray_first != j->strays)
		return j->stray[j->stray_first].call.start;
	return j->pending != j->end ? ana_join_at(j, j->pending)->call.start : INT64_MAX;
}

int ana_join_give_up(struct ana_join *j, int64_t t)
{
	for (; j->stray_first != j->strays; j->stray_first++) {
		if (j->stray[j->stray_first].call.start > t)
			return 0;
		if (lose(j, &j->stray[j->stray_first]))
			return -ENOMEM;
		j->expired += j->stray[j->stray_first].state == ANA_JOIN_WAITING;
	}
	for (; j->pending != j->end; j->pending++) {
		struct ana_join_record *r = ana_join_at(j, j->pending);

		if (r->call.start > t)
			return 0;
		if (lose(j, r))
			return -ENOMEM;
		j->expired += r->state == ANA_JOIN_WAITING;
		r->state = ANA_JOIN_SETTLED;
	}
	return 0;
}

int64_t ana_join_unanswered(const struct ana_join *j)
{
	uint32_t n;

	for (n = j->end; n != j->first; n--) {
		const struct ana_join_record *r = ana_join_at(j, n - 1);

		if (r->state == ANA_JOIN_WAITING && r->call.flags & ANA_NAME_LAUNCH)
			return r->call.start;
	}
	return INT64_MIN;
}

uint64_t ana_join_expired(const struct ana_join *j)
{
	return j->expired;
}

/* --- kept --- */

#define KEPT_ROOM_MAX (1u << 20) /* records: a ring that is not exact stays far below */

void ana_call_archive(struct ana_call *c, uint32_t processes, struct ana_archive *a)
{
	ana_archive_time(a, &c->start);
	ana_archive_time(a, &c->end);
	c->process = ana_archive_small(a, c->process, processes - 1);
	ana_archive_field(a, c->tid);
	ana_archive_field(a, c->order);
	ana_archive_field(a, c->flags);
}

static void archive_record(struct ana_join_record *r, uint32_t processes, struct ana_archive *a)
{
	ana_call_archive(&r->call, processes, a);
	ana_archive_field(a, r->corr);
	ana_archive_field(a, r->asked);
	r->state = (uint8_t)ana_archive_small(a, r->state, ANA_JOIN_SETTLED);
}

/* Room for so many: what the ring leaves behind depends on it. */
static void make_ring(struct ana_join *j, uint32_t room, struct ana_archive *a)
{
	ana_archive_check(a, room >= FIRST_ROOM && !(room & (room - 1)));
	while (!a->err && j->mask < room - 1)
		a->err = grow_ring(j);
}

static void archive_ring(struct ana_join *j, uint32_t processes, struct ana_archive *a)
{
	uint32_t room = ana_archive_small(a, j->mask + 1, KEPT_ROOM_MAX), i;
	uint32_t n = ana_archive_small(a, j->end - j->first, room);
	uint32_t pending = ana_archive_small(a, j->pending - j->first, n);

	if (a->reading)
		make_ring(j, room, a);
	for (i = 0; i < n && !a->err; i++) {
		archive_record(ana_join_at(j, j->first + i), processes, a);
		if (!a->reading)
			continue;
		if (ana_join_at(j, j->end)->corr > j->newest)
			j->newest = ana_join_at(j, j->end)->corr;
		j->end++;
	}
	if (a->reading && !a->err)
		j->pending = j->first + pending;
}

static void archive_strays(struct ana_join *j, uint32_t processes, struct ana_archive *a)
{
	uint32_t n = ana_archive_small(a, j->strays - j->stray_first, STRAYS_MAX), i;
	struct ana_join_record r;

	for (i = 0; i < n && !a->err; i++) {
		if (!a->reading) {
			archive_record(&j->stray[j->stray_first + i], processes, a);
			continue;
		}
		memset(&r, 0, sizeof(r));
		archive_record(&r, processes, a);
		if (r.corr > j->newest)
			j->newest = r.corr;
		if (!a->err)
			a->err = make_stray(j, &r);
	}
}

static void archive_lost(struct ana_join *j, uint32_t processes, struct ana_archive *a)
{
	ana_archive_vec(a, j->lost, j->lost_count, LOST_MAX);
	if (a->reading)
		j->lost_room = j->lost_count;
	for (uint32_t i = 0; i < j->lost_count; i++) {
		ana_call_archive(&j->lost[i], processes, a);
		ana_archive_check(a, !i || j->lost[i - 1].start <= j->lost[i].start);
	}
}

void ana_join_archive(struct ana_join *j, uint32_t processes, struct ana_archive *a)
{
	archive_ring(j, processes, a);
	archive_strays(j, processes, a);
	ana_archive_field(a, j->expired);
	archive_lost(j, processes, a);
}
