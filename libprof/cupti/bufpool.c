/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Free lists per size class and one list of done buffers, all lock-free: heads carry a counter
 * beside the index, so that a buffer that leaves and comes back in between is noticed. A table
 * leads from an address to its buffer.
 *
 * A buffer's state carries the number of its block, so that whoever has read it for one block
 * cannot change it for the next. It becomes OUT by the taker, BACK by who completes it, LOST by who
 * gives it up: whichever of the two comes first. From LOST the sender alone leads on, to EMPTY.
 */
#include "bufpool.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "bufblock.h"

#define KIB ((size_t)1024)
#define DISCARDS 32
#define QUEUED_MANY 24 /* buffers, or ... */
#define QUEUED_BYTES ((size_t)4 << 20) /* ... bytes that wait, and the sender is woken */
#define DISCARD_BYTES (64 * KIB)
#define LISTS (PROF_POOL_CLASSES + 1) /* the last one holds the discards */
#define SLOTS 1024u /* of the table; a power of two */
#define TOMBSTONE UINT32_MAX
#define GONE 4096u /* remembered one by one */
#define SWEEP 64u /* of them looked at each time */
#define LEAST_BLOCKS 12u /* with fewer nothing is begun */
#define FREED 8u /* blocks in one call: where memory is locked, each has 64 MiB of pages */
#define PAUSE 127u /* calls of prof_pool_refill, so about a minute */

struct class
{
	size_t bytes;
	uint32_t count;
	uint32_t ready; /* so many are kept ready while this class is wanted */
};

/* Ascending. All at their largest make PROF_POOL_BYTES. */
static const struct class classes[LISTS] = { { 16 * KIB, 128, 6 },
					     { 64 * KIB, 64, 5 },
					     { 256 * KIB, 32, 3 },
					     { 1024 * KIB, 21, 2 },
					     { DISCARD_BYTES, DISCARDS, 1 } };

#define POOL_BUFFERS (128 + 64 + 32 + 21)
#define BUFFERS (POOL_BUFFERS + DISCARDS)

_Static_assert(128 * 16 * 1024 + 64 * 64 * 1024 + 32 * 256 * 1024 + 21 * 1024 * 1024 +
			       (DISCARDS + 1) * 64 * 1024 <=
		       PROF_POOL_BYTES,
	       "the pool keeps its bound");
_Static_assert(BUFFERS * 2 < SLOTS, "the table stays sparse");

enum state {
	STATE_EMPTY, /* it has no block */
	STATE_FREE,
	STATE_OUT,
	STATE_BACK,
	STATE_DONE,
	STATE_LOST
};
#define STATE_BITS 3
#define STATE_MASK 7u

struct buffer {
	_Atomic(uint8_t *) data; /* kept, so that what checks for leaks finds it reachable */
	size_t bytes, valid;
	uint64_t batch;
	_Atomic int64_t request_ns;
	atomic_uint state; /* the block's number << STATE_BITS | enum state */
	_Atomic uint32_t next;
	uint32_t list; /* of the class, or the discards' */
};

struct list {
	_Atomic uint64_t head; /* counter << 32 | index + 1; low word 0: empty */
};

struct gone {
	uint8_t *block;
	size_t bytes;
};

static struct {
	bool on, may_refuse;
	struct buffer buffer[BUFFERS];
	struct list free[LISTS];
	struct list empty[LISTS]; /* buffers without a block */
	atomic_int ready[LISTS]; /* lengths of free[] */
	atomic_int idle[LISTS]; /* the least of ready since idle_ns */
	int64_t idle_ns; /* sender only */
	struct list done;
	_Atomic uint32_t table[SLOTS]; /* index + 1, TOMBSTONE, or 0 */
	uint32_t room; /* blocks, at most */
	atomic_uint blocks; /* had so far, less those that are known to be freed */
	atomic_bool refused; /* malloc gave none: the sender alone asks again */
	atomic_bool locked; /* -ENOTSUP of the last one: the sender asks rarely */
	uint32_t pause, paused; /* so rarely; sender only */
	uint32_t ready_done; /* reversed done list, sender only: index + 1 */
	atomic_int wanted; /* class */
	atomic_uint_fast64_t requests, discards, lost_bytes, foreign, batch;
	atomic_int shared; /* takers of the shared discard */
	atomic_size_t queued_bytes, limit;
	atomic_uint queued;
	_Atomic int64_t discard_start;
	_Atomic int64_t taken_ns; /* earliest request of those that others freed; INT64_MAX: none */
	uint64_t discards_told;
	int64_t shared_since; /* no taker of the shared one was served before */
	struct gone gone[GONE];
	uint32_t n_gone, swept, more_gone; /* more_gone: beyond what is remembered */
	size_t gone_bytes;
	atomic_uint_fast64_t freed;
} pool;

/* Handed to many at once, and to nobody who takes NULL. Nothing of it is read. */
static uint64_t shared_discard[DISCARD_BYTES / sizeof(uint64_t)];

/*
 * ---- lists ------------------------------------------------------------------------------------
 */

static void push(struct list *l, uint32_t index)
{
	uint64_t head = atomic_load_explicit(&l->head, memory_order_relaxed), new;

	do {
		atomic_store_explicit(&pool.buffer[index].next, (uint32_t)head,
				      memory_order_relaxed);
		new = ((head >> 32) + 1) << 32 | (index + 1);
	} while (!atomic_compare_exchange_weak_explicit(&l->head, &head, new, memory_order_release,
							memory_order_relaxed));
}

static uint32_t pop(struct list *l)
{
	uint64_t head = atomic_load_explicit(&l->head, memory_order_acquire), new;
	uint32_t index;

	do {
		if (!(uint32_t)head)
			return PROF_POOL_NONE;
		index = (uint32_t)head - 1;
		new = ((head >> 32) + 1) << 32 |
		      atomic_load_explicit(&pool.buffer[index].next, memory_order_relaxed);
	} while (!atomic_compare_exchange_weak_explicit(&l->head, &head, new, memory_order_acquire,
							memory_order_acquire));
	return index;
}

/* Takes the whole list at once; returns index + 1 of its newest. */
static uint32_t pop_all(struct list *l)
{
	uint64_t head = atomic_load_explicit(&l->head, memory_order_acquire);

	while (!atomic_compare_exchange_weak_explicit(&l->head, &head, ((head >> 32) + 1) << 32,
						      memory_order_acquire, memory_order_acquire))
		;
	return (uint32_t)head;
}

static void lower(_Atomic int64_t *to, int64_t at)
{
	int64_t seen = atomic_load(to);

	while (at < seen && !atomic_compare_exchange_weak(to, &seen, at))
		;
}

static void lower_int(atomic_int *to, int n)
{
	int seen = atomic_load_explicit(to, memory_order_relaxed);

	while (n < seen && !atomic_compare_exchange_weak_explicit(
				   to, &seen, n, memory_order_relaxed, memory_order_relaxed))
		;
}

static unsigned int state_of(unsigned int word)
{
	return word & STATE_MASK;
}

static void set_state(struct buffer *b, enum state state)
{
	unsigned int word = atomic_load_explicit(&b->state, memory_order_relaxed);

	atomic_store_explicit(&b->state, (word & ~STATE_MASK) | state, memory_order_release);
}

/* The block that had @word is the same yet, and goes from one state to another. */
static bool go(struct buffer *b, unsigned int word, enum state state)
{
	return atomic_compare_exchange_strong(&b->state, &word, (word & ~STATE_MASK) | state);
}

static void make_free(uint32_t index)
{
	struct buffer *b = &pool.buffer[index];

	set_state(b, STATE_FREE);
	push(&pool.free[b->list], index);
	atomic_fetch_add_explicit(&pool.ready[b->list], 1, memory_order_relaxed);
}

static uint32_t take_free(uint32_t list)
{
	uint32_t index = pop(&pool.free[list]);
	int left = 0;

	if (index != PROF_POOL_NONE)
		left = atomic_fetch_sub_explicit(&pool.ready[list], 1, memory_order_relaxed) - 1;
	lower_int(&pool.idle[list], left);
	return index;
}

/*
 * ---- the table --------------------------------------------------------------------------------
 */

/* No two blocks begin within the bytes of one, so that neighbours get places of their own. */
static uint32_t place_of(const uint8_t *data)
{
	return (uint32_t)((uintptr_t)data / PROF_BLOCK_BYTES);
}

static void table_add(uint32_t index)
{
	uint32_t at = place_of(atomic_load(&pool.buffer[index].data)), seen;

	for (;; at++) {
		_Atomic uint32_t *slot = &pool.table[at % SLOTS];

		seen = atomic_load_explicit(slot, memory_order_relaxed);
		if ((!seen || seen == TOMBSTONE) &&
		    atomic_compare_exchange_strong(slot, &seen, index + 1))
			return;
	}
}

static void table_remove(uint32_t index)
{
	uint32_t at = place_of(atomic_load(&pool.buffer[index].data)), i;

	for (i = 0; i < SLOTS; i++) {
		_Atomic uint32_t *slot = &pool.table[(at + i) % SLOTS];

		if (atomic_load_explicit(slot, memory_order_relaxed) != index + 1)
			continue;
		atomic_store(slot, TOMBSTONE); /* never 0: a search may have to go on from it */
		return;
	}
}

/*
 * ---- blocks -----------------------------------------------------------------------------------
 */

static bool overlap(const uint8_t *a, const uint8_t *b)
{
	return (a < b ? (uintptr_t)b - (uintptr_t)a : (uintptr_t)a - (uintptr_t)b) <
	       PROF_BLOCK_BYTES;
}

/*
 * malloc has given memory that a buffer of ours lies in which is out: somebody has freed that, so
 * it was in another client's hands. Any thread.
 */
static void lose_overlapped(const uint8_t *block)
{
	uint32_t i;

	for (i = 0; i < BUFFERS; i++) {
		struct buffer *b = &pool.buffer[i];
		unsigned int word = atomic_load(&b->state);
		const uint8_t *data = atomic_load(&b->data);

		if (state_of(word) == STATE_OUT && data && overlap(data, block) &&
		    go(b, word, STATE_LOST))
			lower(&pool.taken_ns, atomic_load(&b->request_ns));
	}
}

/* Gives the buffer a block, under a number of its own. Any thread. */
static bool equip(uint32_t index)
{
	struct buffer *b = &pool.buffer[index];
	unsigned int word = atomic_load(&b->state);
	uint8_t *block;
	int err;

	if (atomic_fetch_add(&pool.blocks, 1) >= pool.room)
		goto refused;
	err = prof_block_new(b->bytes, &block);
	atomic_store(&pool.locked, err == -ENOTSUP);
	if (err)
		goto refused;
	lose_overlapped(block);
	atomic_store(&b->data, block);
	atomic_store(&b->state, ((word >> STATE_BITS) + 1) << STATE_BITS | STATE_EMPTY);
	table_add(index);
	return true;
refused:
	atomic_fetch_sub(&pool.blocks, 1);
	atomic_store(&pool.refused, true);
	return false;
}

/* One of this list that has a new block; PROF_POOL_NONE: there is none. */
static uint32_t take_new(uint32_t list)
{
	uint32_t index = pop(&pool.empty[list]);

	if (index == PROF_POOL_NONE || equip(index))
		return index;
	push(&pool.empty[list], index);
	return PROF_POOL_NONE;
}

static void fill(uint32_t list)
{
	uint32_t index;

	while (atomic_load(&pool.ready[list]) < (int)classes[list].ready &&
	       (index = take_new(list)) != PROF_POOL_NONE)
		make_free(index);
}

static void lay_out(void)
{
	uint32_t list, i, index = BUFFERS;

	for (list = LISTS; list-- > 0;) /* so that the first one is taken first */
		for (i = classes[list].count; i-- > 0;) {
			struct buffer *b = &pool.buffer[--index];

			b->bytes = classes[list].bytes;
			b->list = list;
			push(&pool.empty[list], index);
		}
}

/* Before any was handed out. */
static void free_all(void)
{
	uint32_t i;

	for (i = 0; i < BUFFERS; i++)
		free(atomic_exchange(&pool.buffer[i].data, NULL));
}

int prof_pool_init(bool may_refuse)
{
	pool.room = prof_block_room();
	if (pool.room < LEAST_BLOCKS)
		return -ENOSPC;
	pool.may_refuse = may_refuse;
	atomic_store(&pool.discard_start, INT64_MAX);
	atomic_store(&pool.taken_ns, INT64_MAX);
	pool.shared_since = INT64_MAX;
	lay_out();
	fill(0);
	fill(PROF_POOL_CLASSES);
	pool.on = !atomic_load(&pool.refused);
	if (!pool.on)
		free_all();
	return pool.on ? 0 : -ENOMEM;
}

/*
 * ---- taking -----------------------------------------------------------------------------------
 */

/* Of the list, or one that gets its block now, unless malloc has refused. */
static uint32_t take_from(uint32_t list)
{
	uint32_t index = take_free(list);

	if (index == PROF_POOL_NONE && !atomic_load_explicit(&pool.refused, memory_order_relaxed))
		index = take_new(list);
	return index;
}

/* The class asked for, then larger ones, then smaller ones. */
static uint32_t take_real(void)
{
	uint32_t wanted = (uint32_t)atomic_load_explicit(&pool.wanted, memory_order_relaxed), i;
	uint32_t index = PROF_POOL_NONE;

	for (i = wanted; i < PROF_POOL_CLASSES && index == PROF_POOL_NONE; i++)
		index = take_from(i);
	for (i = wanted; i-- > 0 && index == PROF_POOL_NONE;)
		index = take_from(i);
	return index;
}

static uint32_t take_discard(int64_t now_ns)
{
	atomic_fetch_add(&pool.discards, 1);
	lower(&pool.discard_start, now_ns);
	return take_from(PROF_POOL_CLASSES);
}

static size_t at_most(size_t bytes, size_t limit)
{
	return limit && limit < bytes ? limit : bytes;
}

void prof_pool_limit(size_t bytes)
{
	atomic_store_explicit(&pool.limit, bytes, memory_order_relaxed);
}

static uint8_t *take_shared(size_t *size)
{
	*size = pool.may_refuse ? 0 : sizeof(shared_discard);
	if (pool.may_refuse)
		return NULL;
	atomic_fetch_add(&pool.shared, 1);
	return (uint8_t *)shared_discard;
}

uint8_t *prof_pool_take(int64_t request_ns, size_t *size)
{
	uint32_t index = take_real();
	struct buffer *b;

	atomic_fetch_add_explicit(&pool.requests, 1, memory_order_relaxed);
	if (index == PROF_POOL_NONE)
		index = take_discard(request_ns);
	if (index == PROF_POOL_NONE)
		return take_shared(size);
	b = &pool.buffer[index];
	atomic_store_explicit(&b->request_ns, request_ns, memory_order_relaxed);
	*size = at_most(b->bytes, atomic_load_explicit(&pool.limit, memory_order_relaxed));
	set_state(b, STATE_OUT);
	return atomic_load_explicit(&b->data, memory_order_relaxed);
}

/*
 * ---- completing -------------------------------------------------------------------------------
 */

/* All buffers are zero when they are handed out, this one too. */
static void return_discard(uint32_t index, size_t valid)
{
	struct buffer *b = &pool.buffer[index];

	atomic_fetch_add(&pool.lost_bytes, valid);
	lower(&pool.discard_start, atomic_load(&b->request_ns));
	memset(atomic_load(&b->data), 0, valid < b->bytes ? valid : b->bytes);
	make_free(index);
}

static void return_shared(size_t valid)
{
	int takers = atomic_load(&pool.shared);

	atomic_fetch_add(&pool.lost_bytes, valid);
	while (takers > 0 && !atomic_compare_exchange_weak(&pool.shared, &takers, takers - 1))
		;
}

/* Is this its block, and was it not given up? Then it is BACK. */
static bool claim(struct buffer *b, const uint8_t *data)
{
	unsigned int word = atomic_load(&b->state);

	/* In this order: the state counts only for the block that is there now. */
	return atomic_load(&b->data) == data && state_of(word) == STATE_OUT &&
	       go(b, word, STATE_BACK);
}

/* One that was given up may lie in the table beside the one that has its memory by now. */
static uint32_t find_and_claim(const uint8_t *data)
{
	uint32_t at = place_of(data), i, seen;

	for (i = 0; i < SLOTS; i++) {
		seen = atomic_load_explicit(&pool.table[(at + i) % SLOTS], memory_order_acquire);
		if (!seen)
			break;
		if (seen != TOMBSTONE && claim(&pool.buffer[seen - 1], data))
			return seen - 1;
	}
	return PROF_POOL_NONE;
}

uint32_t prof_pool_find(const uint8_t *buffer, size_t valid)
{
	uint32_t index;

	if (buffer == (uint8_t *)shared_discard) {
		return_shared(valid);
		return PROF_POOL_NONE;
	}
	index = find_and_claim(buffer);
	if (index == PROF_POOL_NONE) {
		atomic_fetch_add(&pool.foreign, 1);
	} else if (index >= POOL_BUFFERS) {
		return_discard(index, valid);
		return PROF_POOL_NONE;
	}
	return index;
}

bool prof_pool_queue(uint32_t id, size_t valid)
{
	struct buffer *b = &pool.buffer[id];
	bool many;

	b->valid = valid < b->bytes ? valid : b->bytes;
	b->batch = atomic_fetch_add(&pool.batch, 1) + 1;
	many = atomic_fetch_add(&pool.queued, 1) >= QUEUED_MANY;
	many |= atomic_fetch_add(&pool.queued_bytes, b->valid) >= QUEUED_BYTES;
	push(&pool.done, id);
	return many;
}

/* Newest first, as it was pushed, becomes oldest first. */
static void fetch_done(void)
{
	uint32_t at = pop_all(&pool.done), next;

	for (; at; at = next) {
		struct buffer *b = &pool.buffer[at - 1];

		next = atomic_load_explicit(&b->next, memory_order_relaxed);
		atomic_store_explicit(&b->next, pool.ready_done, memory_order_relaxed);
		pool.ready_done = at;
	}
}

bool prof_pool_next(struct prof_pool_done *d)
{
	struct buffer *b;

	if (!pool.ready_done)
		fetch_done();
	if (!pool.ready_done)
		return false;
	d->id = pool.ready_done - 1;
	b = &pool.buffer[d->id];
	pool.ready_done = atomic_load_explicit(&b->next, memory_order_relaxed);
	set_state(b, STATE_DONE);
	d->data = atomic_load(&b->data);
	d->valid = b->valid;
	d->request_ns = atomic_load(&b->request_ns);
	d->batch = b->batch;
	atomic_fetch_sub(&pool.queued, 1);
	atomic_fetch_sub(&pool.queued_bytes, b->valid);
	return true;
}

void prof_pool_give_back(const struct prof_pool_done *d)
{
	memset(d->data, 0, d->valid);
	make_free(d->id);
}

/*
 * ---- sizes ------------------------------------------------------------------------------------
 */

void prof_pool_want(size_t bytes)
{
	int i = PROF_POOL_CLASSES - 1;

	while (i > 0 && classes[i].bytes > bytes)
		i--;
	atomic_store_explicit(&pool.wanted, i, memory_order_relaxed);
}

size_t prof_pool_wanted(void)
{
	return classes[atomic_load(&pool.wanted)].bytes;
}

/*
 * ---- what is out ------------------------------------------------------------------------------
 */

static bool is_out(const struct buffer *b)
{
	unsigned int state = state_of(atomic_load_explicit(&b->state, memory_order_acquire));

	return state == STATE_OUT || state == STATE_BACK;
}

static bool is_lost(const struct buffer *b)
{
	return state_of(atomic_load_explicit(&b->state, memory_order_acquire)) == STATE_LOST;
}

static int64_t oldest_of(uint32_t first, uint32_t end)
{
	int64_t oldest = INT64_MAX, at;
	uint32_t i;

	for (i = first; i < end; i++) {
		if (!is_out(&pool.buffer[i]) && !is_lost(&pool.buffer[i]))
			continue;
		at = atomic_load_explicit(&pool.buffer[i].request_ns, memory_order_relaxed);
		if (at < oldest)
			oldest = at;
	}
	return oldest;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int64_t prof_pool_oldest_out(void)
{
	return least(oldest_of(0, POOL_BUFFERS), atomic_load(&pool.taken_ns));
}

int64_t prof_pool_discards(uint64_t *count)
{
	uint64_t all = atomic_load(&pool.discards);
	int64_t start = atomic_exchange(&pool.discard_start, INT64_MAX);

	start = least(start, oldest_of(POOL_BUFFERS, BUFFERS));
	*count = all - pool.discards_told;
	pool.discards_told = all;
	/*
	 * The shared one's takers are only counted, so the first one's time holds until all left.
	 */
	if (atomic_load(&pool.shared) > 0 && pool.shared_since < start)
		start = pool.shared_since;
	if (atomic_load(&pool.shared) <= 0)
		pool.shared_since = INT64_MAX;
	else if (start < pool.shared_since)
		pool.shared_since = start;
	return start;
}

/*
 * ---- what others have -------------------------------------------------------------------------
 */

void prof_pool_disown(void)
{
	uint32_t i;

	for (i = 0; i < BUFFERS; i++) {
		unsigned int word = atomic_load(&pool.buffer[i].state);

		if (state_of(word) == STATE_OUT)
			go(&pool.buffer[i], word, STATE_LOST);
	}
	atomic_store(&pool.shared, 0);
	atomic_store(&pool.taken_ns, INT64_MAX);
}

/* Only the address is kept, and the buffer waits for a new block. */
static void forget_block(uint32_t index)
{
	struct buffer *b = &pool.buffer[index];

	if (pool.n_gone < GONE)
		pool.gone[pool.n_gone++] = (struct gone){ atomic_load(&b->data), b->bytes };
	else
		pool.more_gone++;
	pool.gone_bytes += b->bytes;
	table_remove(index);
	atomic_store(&b->data, NULL);
	set_state(b, STATE_EMPTY);
	push(&pool.empty[b->list], index);
}

static uint32_t forget_lost(void)
{
	uint32_t i, n = 0;

	for (i = 0; i < BUFFERS; i++) {
		if (!is_lost(&pool.buffer[i]))
			continue;
		forget_block(i);
		n++;
	}
	return n;
}

uint32_t prof_pool_abandon(int64_t *oldest_ns)
{
	*oldest_ns = least(oldest_of(0, BUFFERS), atomic_load(&pool.taken_ns));
	prof_pool_disown();
	return forget_lost();
}

/* malloc gave its memory to us again, or it is not there any more. */
static bool is_freed(const uint8_t *block)
{
	uint32_t i;

	for (i = 0; i < BUFFERS; i++) {
		const uint8_t *data = atomic_load(&pool.buffer[i].data);

		if (data && overlap(data, block))
			return true;
	}
	return prof_block_freed(block);
}

/* Some of those that are gone, in turn. */
static void sweep(void)
{
	uint32_t left = pool.n_gone < SWEEP ? pool.n_gone : SWEEP;

	for (; left > 0 && pool.n_gone; left--) {
		struct gone *g;

		pool.swept %= pool.n_gone;
		g = &pool.gone[pool.swept];
		if (!is_freed(g->block)) {
			pool.swept++;
			continue;
		}
		pool.gone_bytes -= g->bytes;
		atomic_fetch_add(&pool.freed, 1);
		atomic_fetch_sub(&pool.blocks, 1);
		*g = pool.gone[--pool.n_gone];
	}
}

/* A third of what is kept ready. */
bool prof_pool_low(void)
{
	int wanted = atomic_load_explicit(&pool.wanted, memory_order_relaxed);

	return pool.on &&
	       atomic_load_explicit(&pool.ready[wanted], memory_order_relaxed) * 3 <=
		       (int)classes[wanted].ready &&
	       !atomic_load_explicit(&pool.refused, memory_order_relaxed);
}

/* Where each question costs 64 MiB of pages, it is asked less and less often. */
static bool may_ask(void)
{
	if (!atomic_load(&pool.locked))
		pool.pause = pool.paused = 0;
	if (pool.paused < pool.pause) {
		pool.paused++;
		return false;
	}
	return true;
}

/* The program's threads do not ask at all then. */
static void asked(void)
{
	if (!atomic_load(&pool.locked))
		return;
	atomic_store(&pool.refused, true);
	pool.pause = pool.pause < PAUSE ? 2 * pool.pause + 1 : PAUSE;
	pool.paused = 0;
}

void prof_pool_refill(void)
{
	if (!pool.on)
		return;
	forget_lost();
	sweep();
	if (!may_ask())
		return;
	atomic_store(&pool.refused, false);
	fill((uint32_t)atomic_load(&pool.wanted));
	if (!atomic_load(&pool.locked))
		fill(PROF_POOL_CLASSES);
	asked();
}

/*
 * ---- giving back to malloc --------------------------------------------------------------------
 */

static int kept_ready(uint32_t list)
{
	bool wanted = list == PROF_POOL_CLASSES || list == (uint32_t)atomic_load(&pool.wanted);

	return wanted ? (int)classes[list].ready : 0;
}

/*
 * It is out of every list, so nobody else has it. Its address is found no more before it is freed.
 */
static void free_block(uint32_t index)
{
	struct buffer *b = &pool.buffer[index];
	uint8_t *block = atomic_load(&b->data);

	table_remove(index);
	atomic_store(&b->data, NULL);
	set_state(b, STATE_EMPTY);
	push(&pool.empty[b->list], index);
	atomic_fetch_sub(&pool.blocks, 1);
	free(block);
}

/* Returns how many, at most @most. */
static uint32_t trim_list(uint32_t list, uint32_t most)
{
	uint32_t index, n;

	for (n = 0; n < most && atomic_load(&pool.idle[list]) > kept_ready(list); n++) {
		index = pop(&pool.free[list]);
		if (index == PROF_POOL_NONE)
			break;
		atomic_fetch_sub(&pool.ready[list], 1);
		atomic_fetch_sub(&pool.idle[list], 1);
		free_block(index);
	}
	return n;
}

void prof_pool_trim(int64_t mono_ns)
{
	uint32_t list, left = FREED;

	if (!pool.on || mono_ns - pool.idle_ns < PROF_POOL_IDLE_NS)
		return;
	for (list = 0; list < LISTS; list++)
		left -= trim_list(list, left);
	if (!left)
		return; /* there may be more, which is for the next call */
	for (list = 0; list < LISTS; list++)
		atomic_store(&pool.idle[list], atomic_load(&pool.ready[list]));
	pool.idle_ns = mono_ns;
}

/*
 * ---- figures ----------------------------------------------------------------------------------
 */

static void count_buffers(struct prof_pool_stats *s)
{
	uint32_t i;

	for (i = 0; i < BUFFERS; i++) {
		const struct buffer *b = &pool.buffer[i];
		bool out = is_out(b) && i < POOL_BUFFERS;

		s->touched_bytes += atomic_load(&b->data) ? b->bytes : 0;
		s->out += out;
		s->out_bytes += out ? b->bytes : 0;
	}
	if (atomic_load(&pool.shared) > 0)
		s->touched_bytes += sizeof(shared_discard);
}

void prof_pool_stats(struct prof_pool_stats *s)
{
	memset(s, 0, sizeof(*s));
	s->requests = atomic_load(&pool.requests);
	s->discards = atomic_load(&pool.discards);
	s->lost_bytes = atomic_load(&pool.lost_bytes);
	s->foreign = atomic_load(&pool.foreign);
	s->queued = atomic_load(&pool.queued);
	s->completed = atomic_load(&pool.batch);
	s->gone = pool.n_gone + pool.more_gone;
	s->gone_bytes = pool.gone_bytes;
	s->freed = atomic_load(&pool.freed);
	s->taken = atomic_load(&pool.taken_ns) < INT64_MAX;
	count_buffers(s);
}
