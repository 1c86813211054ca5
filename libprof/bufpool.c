/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Free lists per size class and one list of done buffers, all lock-free: heads carry a counter
 * beside the index, so that a buffer that leaves and comes back in between is noticed.
 */
#include "bufpool.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#define KIB ((size_t)1024)
#define DISCARDS 32
#define QUEUED_MANY 24 /* buffers, or ... */
#define QUEUED_BYTES ((size_t)4 << 20) /* ... bytes that wait, and the sender is woken */
#define DISCARD_BYTES (64 * KIB)

struct class
{
	size_t bytes;
	uint32_t count;
};

/* Ascending. All at their largest make PROF_POOL_BYTES. */
static const struct class classes[PROF_POOL_CLASSES] = {
	{ 16 * KIB, 128 }, { 64 * KIB, 64 }, { 256 * KIB, 32 }, { 1024 * KIB, 21 }
};

#define POOL_BUFFERS (128 + 64 + 32 + 21)
#define SHARED (POOL_BUFFERS + DISCARDS) /* a discard for many takers at once */
#define BUFFERS (SHARED + 1)

_Static_assert(128 * 16 * 1024 + 64 * 64 * 1024 + 32 * 256 * 1024 + 21 * 1024 * 1024 +
			       (DISCARDS + 1) * 64 * 1024 <=
		       PROF_POOL_BYTES,
	       "the pool keeps its bound");

enum state {
	STATE_FREE,
	STATE_OUT,
	STATE_DONE,
	STATE_GONE
};

struct buffer {
	uint8_t *data;
	size_t bytes, valid, touched;
	uint64_t batch;
	_Atomic int64_t request_ns;
	atomic_int state;
	_Atomic uint32_t next;
	uint32_t list; /* of the class, or the discards' */
};

struct list {
	_Atomic uint64_t head; /* counter << 32 | index + 1; low word 0: empty */
};

static struct {
	uint8_t *base;
	struct buffer buffer[BUFFERS];
	struct list free[PROF_POOL_CLASSES + 1]; /* the last one holds the discards */
	struct list done;
	uint32_t ready; /* reversed done list, sender only: index + 1 */
	atomic_int wanted; /* class */
	atomic_uint_fast64_t requests, discards, lost_bytes, foreign, batch;
	atomic_int shared; /* takers of the last discard, once the others are out */
	atomic_size_t queued_bytes, limit;
	atomic_uint queued;
	_Atomic int64_t discard_start;
	uint64_t discards_told;
	int64_t shared_since; /* no taker of the shared one was served before */
} pool;

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

static uint8_t *lay_out(uint8_t *at, uint32_t first, uint32_t count, size_t bytes, uint32_t list)
{
	uint32_t i;

	for (i = count; i-- > 0;) { /* so that the first one is taken first */
		struct buffer *b = &pool.buffer[first + i];

		b->data = at + i * bytes;
		b->bytes = bytes;
		b->list = list;
		push(&pool.free[list], first + i);
	}
	return at + count * bytes;
}

int prof_pool_init(void)
{
	uint32_t first = 0, i;
	uint8_t *at;

	at = mmap(NULL, PROF_POOL_BYTES, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return -ENOMEM;
	/* A page of 2 MiB where 16 KiB are used would break the bound and stall a launch. */
	madvise(at, PROF_POOL_BYTES, MADV_NOHUGEPAGE);
	pool.base = at;
	atomic_store(&pool.discard_start, INT64_MAX);
	pool.shared_since = INT64_MAX;
	for (i = 0; i < PROF_POOL_CLASSES; i++) {
		at = lay_out(at, first, classes[i].count, classes[i].bytes, i);
		first += classes[i].count;
	}
	at = lay_out(at, first, DISCARDS, DISCARD_BYTES, PROF_POOL_CLASSES);
	pool.buffer[SHARED].data = at;
	pool.buffer[SHARED].bytes = DISCARD_BYTES;
	return 0;
}

static void lower_discard_start(int64_t now_ns)
{
	int64_t seen = atomic_load(&pool.discard_start);

	while (now_ns < seen && !atomic_compare_exchange_weak(&pool.discard_start, &seen, now_ns))
		;
}

static uint32_t take_discard(int64_t now_ns)
{
	uint32_t index = pop(&pool.free[PROF_POOL_CLASSES]);

	atomic_fetch_add(&pool.discards, 1);
	lower_discard_start(now_ns);
	if (index != PROF_POOL_NONE)
		return index;
	atomic_fetch_add(&pool.shared, 1);
	return SHARED;
}

/* The class asked for, then larger ones, then smaller ones. */
static uint32_t take_real(void)
{
	int wanted = atomic_load_explicit(&pool.wanted, memory_order_relaxed), i;
	uint32_t index = PROF_POOL_NONE;

	for (i = wanted; i < PROF_POOL_CLASSES && index == PROF_POOL_NONE; i++)
		index = pop(&pool.free[i]);
	for (i = wanted - 1; i >= 0 && index == PROF_POOL_NONE; i--)
		index = pop(&pool.free[i]);
	return index;
}

static size_t at_most(size_t bytes, size_t limit)
{
	return limit && limit < bytes ? limit : bytes;
}

void prof_pool_limit(size_t bytes)
{
	atomic_store_explicit(&pool.limit, bytes, memory_order_relaxed);
}

uint8_t *prof_pool_take(int64_t request_ns, size_t *size)
{
	uint32_t index = take_real();
	struct buffer *b;

	atomic_fetch_add_explicit(&pool.requests, 1, memory_order_relaxed);
	if (index == PROF_POOL_NONE)
		index = take_discard(request_ns);
	b = &pool.buffer[index];
	atomic_store_explicit(&b->request_ns, request_ns, memory_order_relaxed);
	atomic_store_explicit(&b->state, STATE_OUT, memory_order_release);
	*size = at_most(b->bytes, atomic_load_explicit(&pool.limit, memory_order_relaxed));
	return b->data;
}

static uint32_t index_of(const uint8_t *data)
{
	size_t offset = (size_t)(data - pool.base);
	uint32_t first = 0, i;

	for (i = 0; i < PROF_POOL_CLASSES; i++) {
		if (offset < classes[i].bytes * classes[i].count)
			return first + (uint32_t)(offset / classes[i].bytes);
		offset -= classes[i].bytes * classes[i].count;
		first += classes[i].count;
	}
	return first + (uint32_t)(offset / DISCARD_BYTES);
}

/* All buffers are zero when they are handed out, this one too. */
static void return_discard(uint32_t index, size_t valid)
{
	struct buffer *b = &pool.buffer[index];

	atomic_fetch_add(&pool.lost_bytes, valid);
	if (index == SHARED) {
		atomic_fetch_sub(&pool.shared, 1);
		return;
	}
	lower_discard_start(atomic_load(&b->request_ns));
	memset(b->data, 0, valid < b->bytes ? valid : b->bytes);
	atomic_store(&b->state, STATE_FREE);
	push(&pool.free[PROF_POOL_CLASSES], index);
}

uint32_t prof_pool_find(const uint8_t *buffer, size_t valid)
{
	uint32_t index;

	if (!pool.base || buffer < pool.base || buffer >= pool.base + PROF_POOL_BYTES) {
		atomic_fetch_add(&pool.foreign, 1);
		return PROF_POOL_NONE;
	}
	index = index_of(buffer);
	if (index < POOL_BUFFERS)
		return index;
	if (index < BUFFERS)
		return_discard(index, valid);
	return PROF_POOL_NONE;
}

bool prof_pool_queue(uint32_t id, size_t valid)
{
	struct buffer *b = &pool.buffer[id];
	bool many;

	b->valid = valid < b->bytes ? valid : b->bytes;
	if (b->valid > b->touched)
		b->touched = b->valid;
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
		atomic_store_explicit(&b->next, pool.ready, memory_order_relaxed);
		pool.ready = at;
	}
}

bool prof_pool_next(struct prof_pool_done *d)
{
	struct buffer *b;

	if (!pool.ready)
		fetch_done();
	if (!pool.ready)
		return false;
	d->id = pool.ready - 1;
	b = &pool.buffer[d->id];
	pool.ready = atomic_load_explicit(&b->next, memory_order_relaxed);
	atomic_store(&b->state, STATE_DONE); /* also one that was given up for gone */
	d->data = b->data;
	d->valid = b->valid;
	d->request_ns = atomic_load(&b->request_ns);
	d->batch = b->batch;
	atomic_fetch_sub(&pool.queued, 1);
	atomic_fetch_sub(&pool.queued_bytes, b->valid);
	return true;
}

void prof_pool_give_back(const struct prof_pool_done *d)
{
	struct buffer *b = &pool.buffer[d->id];

	memset(b->data, 0, b->valid);
	atomic_store(&b->state, STATE_FREE);
	push(&pool.free[b->list], d->id);
}

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

static bool is_out(const struct buffer *b)
{
	return atomic_load_explicit(&b->state, memory_order_acquire) == STATE_OUT;
}

int64_t prof_pool_oldest_out(void)
{
	int64_t oldest = INT64_MAX, at;
	uint32_t i;

	for (i = 0; i < POOL_BUFFERS; i++) {
		if (!is_out(&pool.buffer[i]))
			continue;
		at = atomic_load_explicit(&pool.buffer[i].request_ns, memory_order_relaxed);
		if (at < oldest)
			oldest = at;
	}
	return oldest;
}

int64_t prof_pool_discards(uint64_t *count)
{
	uint64_t all = atomic_load(&pool.discards);
	int64_t start = atomic_exchange(&pool.discard_start, INT64_MAX), at;
	uint32_t i;

	*count = all - pool.discards_told;
	pool.discards_told = all;
	for (i = POOL_BUFFERS; i < SHARED; i++) {
		at = atomic_load(&pool.buffer[i].request_ns);
		if (is_out(&pool.buffer[i]) && at < start)
			start = at;
	}
	/* The shared one's takers are only counted, so the first one's time holds until all left. */
	if (atomic_load(&pool.shared) > 0 && pool.shared_since < start)
		start = pool.shared_since;
	if (atomic_load(&pool.shared) <= 0)
		pool.shared_since = INT64_MAX;
	else if (start < pool.shared_since)
		pool.shared_since = start;
	return start;
}

uint32_t prof_pool_abandon(int64_t *oldest_ns)
{
	uint32_t gone = 0, i;
	int expected;

	*oldest_ns = prof_pool_oldest_out();
	for (i = 0; i < POOL_BUFFERS; i++) {
		expected = STATE_OUT;
		gone += atomic_compare_exchange_strong(&pool.buffer[i].state, &expected,
						       STATE_GONE);
	}
	return gone;
}

static void count_buffers(struct prof_pool_stats *s)
{
	uint32_t i;

	for (i = 0; i < BUFFERS; i++) {
		const struct buffer *b = &pool.buffer[i];
		bool out = is_out(b);

		s->touched_bytes += out ? b->bytes : b->touched;
		s->out += out && i < POOL_BUFFERS;
		s->out_bytes += out && i < POOL_BUFFERS ? b->bytes : 0;
	}
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
	count_buffers(s);
}
