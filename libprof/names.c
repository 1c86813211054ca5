/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pointer cache and the hand-over of new names to the sender. The cache and the texts on their way
 * lie in static memory that is only touched as it fills; nothing is allocated in a callback.
 */
#include "names.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_SLOTS 16384u /* a power of two */
#define CACHE_PROBES 16u
#define PENDING_BYTES ((size_t)512 << 10)

/* Written under the lock, read without: what belongs to a number is there before the number is. */
struct slot {
	const char *_Atomic pointer;
	atomic_uint_fast64_t hash;
	_Atomic uint32_t number; /* given out once; 0: the slot is being written */
};

struct pending { /* in front of each text on its way */
	uint32_t number;
	uint32_t length;
};

static struct {
	pthread_mutex_t
		lock; /* writes to cache; pending, used, last; held around no call but memcpy */
	struct slot cache[CACHE_SLOTS];
	uint8_t space[2][PENDING_BYTES];
	uint8_t *pending; /* the half that callbacks fill; the sender reads the other one */
	size_t used;
	uint32_t last; /* number given out last */
	atomic_uint_fast64_t lost;
	atomic_size_t peak;
	uint32_t *string; /* by number; sender only */
	uint32_t room;
} names = { .lock = PTHREAD_MUTEX_INITIALIZER, .pending = names.space[0] };

/* 64-bit words multiplied and folded: every byte counts, for names differ in their last one. */
static uint64_t hash_of(const char *text, size_t length)
{
	uint64_t h = length * 0x9e3779b97f4a7c15u + 1, word;

	for (; length >= 8; text += 8, length -= 8) {
		memcpy(&word, text, 8);
		h = (h ^ word) * 0xd6e8feb86659fd93u;
		h ^= h >> 32;
	}
	word = 0;
	memcpy(&word, text, length);
	h = (h ^ word) * 0xd6e8feb86659fd93u;
	return h ^ h >> 32;
}

static uint32_t slot_of(const char *pointer)
{
	return (uint32_t)((uint64_t)(uintptr_t)pointer * 0x9e3779b97f4a7c15u >> 50) &
	       (CACHE_SLOTS - 1);
}

/* The pointer's slot, else a free one, else the first one of its row, which is forgotten. */
static struct slot *find_slot(const char *pointer)
{
	uint32_t first = slot_of(pointer), i;

	for (i = 0; i < CACHE_PROBES; i++) {
		struct slot *s = &names.cache[(first + i) & (CACHE_SLOTS - 1)];

		const char *there = atomic_load_explicit(&s->pointer, memory_order_relaxed);

		if (there == pointer || !there)
			return s;
	}
	return &names.cache[first];
}

static uint32_t add_pending(const char *text, size_t length)
{
	struct pending head;

	if (length > WIRE_STRING_BYTES_MAX)
		length = WIRE_STRING_BYTES_MAX;
	if (sizeof(head) + length > PENDING_BYTES - names.used || names.last == UINT32_MAX) {
		atomic_fetch_add(&names.lost, 1);
		return 0;
	}
	head.number = ++names.last;
	head.length = (uint32_t)length;
	memcpy(names.pending + names.used, &head, sizeof(head));
	memcpy(names.pending + names.used + sizeof(head), text, length);
	names.used += sizeof(head) + length;
	if (names.used > atomic_load(&names.peak))
		atomic_store(&names.peak, names.used);
	return head.number;
}

/* The number of this text at this address, if the slot has it; else 0. */
static uint32_t number_in(struct slot *s, const char *pointer, uint64_t hash)
{
	uint32_t number = atomic_load_explicit(&s->number, memory_order_acquire);
	bool same = atomic_load_explicit(&s->pointer, memory_order_relaxed) == pointer &&
		    atomic_load_explicit(&s->hash, memory_order_relaxed) == hash;

	atomic_thread_fence(memory_order_acquire);
	if (!same || atomic_load_explicit(&s->number, memory_order_relaxed) != number)
		return 0;
	return number;
}

static void fill_slot(struct slot *s, const char *pointer, uint64_t hash, uint32_t number)
{
	atomic_store_explicit(&s->number, 0, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&s->pointer, pointer, memory_order_relaxed);
	atomic_store_explicit(&s->hash, hash, memory_order_relaxed);
	atomic_store_explicit(&s->number, number, memory_order_release);
}

static uint32_t add(const char *pointer, size_t length, uint64_t hash)
{
	struct slot *s;
	uint32_t number;

	pthread_mutex_lock(&names.lock);
	s = find_slot(pointer);
	number = number_in(s, pointer, hash);
	if (!number) {
		number = add_pending(pointer, length);
		fill_slot(s, pointer, hash, number);
	}
	pthread_mutex_unlock(&names.lock);
	return number;
}

static uint32_t look_up(const char *pointer)
{
	size_t length = strlen(pointer);
	uint64_t hash = hash_of(pointer, length);
	uint32_t number = number_in(find_slot(pointer), pointer, hash);

	return number ? number : add(pointer, length, hash);
}

uint32_t prof_names_see(struct prof_names_recent *recent, const char *pointer)
{
	uint32_t i = slot_of(pointer) % PROF_NAMES_RECENT;

	if (!pointer)
		return 0;
	if (recent->pointer[i] != pointer) {
		recent->pointer[i] = pointer;
		recent->id[i] = look_up(pointer);
	}
	return recent->id[i];
}

static int make_room(uint32_t number)
{
	uint32_t room = names.room ? names.room : 1024;
	uint32_t *string;

	while (room <= number)
		room *= 2;
	if (room == names.room)
		return 0;
	string = realloc(names.string, room * sizeof(*string));
	if (!string)
		return -1;
	memset(string + names.room, 0, (room - names.room) * sizeof(*string));
	names.string = string;
	names.room = room;
	return 0;
}

static void collect_one(struct wire_strtab *table, const struct pending *head, const uint8_t *text)
{
	if (!make_room(head->number))
		names.string[head->number] =
			wire_strtab_intern(table, (const char *)text, head->length);
}

/* Swaps the halves; returns the one to read. */
static const uint8_t *take_pending(size_t *used)
{
	const uint8_t *full;

	pthread_mutex_lock(&names.lock);
	full = names.pending;
	*used = names.used;
	names.pending = full == names.space[0] ? names.space[1] : names.space[0];
	names.used = 0;
	pthread_mutex_unlock(&names.lock);
	return full;
}

void prof_names_collect(struct wire_strtab *table)
{
	struct pending head;
	size_t used, at;
	const uint8_t *full = take_pending(&used);

	for (at = 0; at < used; at += sizeof(head) + head.length) {
		memcpy(&head, full + at, sizeof(head));
		collect_one(table, &head, full + at + sizeof(head));
	}
}

uint32_t prof_names_string(uint32_t number)
{
	return number < names.room ? names.string[number] : 0;
}

uint64_t prof_names_lost(void)
{
	return atomic_load(&names.lost);
}

size_t prof_names_bytes(void)
{
	return sizeof(names.cache) + 2 * atomic_load(&names.peak) +
	       names.room * sizeof(*names.string);
}
