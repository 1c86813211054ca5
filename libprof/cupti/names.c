/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pointers to numbers, texts to numbers, and the hand-over of new texts to the sender. All of it
 * lies in static memory that is only touched as it fills; nothing is allocated in a callback.
 */
#include "names.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "core/clockpoll.h"
#include "nametext.h"

#define CACHE_SLOTS 16384u /* a power of two */
#define CACHE_PROBES 16u
#define TEXT_SLOTS 65536u /* a power of two, a quarter of it always empty */
#define PENDING_BYTES ((size_t)512 << 10)
#define NONE UINT32_MAX /* in place of a number: it has none, until it is looked at again */
#define RENEW_NS 100000000

/* Written under the lock, read without: what belongs to a number is there before the number is. */
struct slot {
	const char *_Atomic pointer;
	_Atomic uint32_t number; /* 0: the slot is being written */
	_Atomic uint32_t age; /* names.age when the text was looked at */
};

struct text { /* by hash, for 64 bits of it are as good as the text; none is ever taken out */
	uint64_t hash;
	uint32_t number; /* 0: free */
};

struct pending { /* in front of each text on its way */
	uint32_t number;
	uint32_t length;
};

static struct {
	/* writes to cache; text, pending, used, last; held around no call but memcpy */
	pthread_mutex_t lock;
	struct slot cache[CACHE_SLOTS];
	struct text text[TEXT_SLOTS];
	uint8_t space[2][PENDING_BYTES];
	uint8_t *pending; /* the half that callbacks fill; the sender reads the other one */
	size_t used;
	uint32_t last; /* number given out last */
	_Atomic uint32_t age; /* what is older is looked at again */
	int64_t renewed_ns; /* by time; sender only */
	atomic_uint_fast64_t lost;
	atomic_size_t peak;
	uint32_t string[PROF_NAMES_MAX + 1]; /* by number; sender only */
	uint32_t collected; /* highest number in it */
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

	if (sizeof(head) + length > PENDING_BYTES - names.used)
		return 0;
	head.number = ++names.last;
	head.length = (uint32_t)length;
	memcpy(names.pending + names.used, &head, sizeof(head));
	memcpy(names.pending + names.used + sizeof(head), text, length);
	names.used += sizeof(head) + length;
	if (names.used > atomic_load(&names.peak))
		atomic_store(&names.peak, names.used);
	return head.number;
}

/* NONE: there are as many as there may be; 0: no room now, perhaps later. */
static uint32_t number_of(const char *text, size_t length)
{
	uint64_t hash = hash_of(text, length);
	uint32_t i = (uint32_t)hash & (TEXT_SLOTS - 1);

	for (; names.text[i].number; i = (i + 1) & (TEXT_SLOTS - 1))
		if (names.text[i].hash == hash)
			return names.text[i].number;
	if (names.last == PROF_NAMES_MAX)
		return NONE;
	names.text[i].hash = hash;
	names.text[i].number = add_pending(text, length);
	return names.text[i].number;
}

/*
 * Who reads a pointer or an age that was written here (release, acquire) reads the 0 before it, or
 * a later number, too, when it reads the number once more: so it takes no half of two names for
 * one.
 */
static void fill_slot(struct slot *s, const char *pointer, uint32_t number, uint32_t age)
{
	atomic_store_explicit(&s->number, 0, memory_order_relaxed);
	atomic_store_explicit(&s->pointer, pointer, memory_order_release);
	atomic_store_explicit(&s->age, age, memory_order_release);
	atomic_store_explicit(&s->number, number, memory_order_release);
}

/* Its number, if its text need not be looked at; else 0. */
static uint32_t remembered(const char *pointer)
{
	struct slot *s = find_slot(pointer);
	uint32_t number = atomic_load_explicit(&s->number, memory_order_acquire);
	bool same = atomic_load_explicit(&s->pointer, memory_order_acquire) == pointer &&
		    atomic_load_explicit(&s->age, memory_order_acquire) ==
			    atomic_load_explicit(&names.age, memory_order_relaxed);

	if (!same || atomic_load_explicit(&s->number, memory_order_relaxed) != number)
		return 0;
	return number;
}

/* On the program's thread, but rarely: once per pointer and age. */
static uint32_t look_at(const char *pointer)
{
	uint32_t age = atomic_load(&names.age), number = NONE; /* before the text is read */
	char text[WIRE_STRING_BYTES_MAX];
	ssize_t length = prof_nametext_read(pointer, text, sizeof(text));

	pthread_mutex_lock(&names.lock);
	if (length >= 0)
		number = number_of(text, (size_t)length);
	if (number)
		fill_slot(find_slot(pointer), pointer, number, age);
	pthread_mutex_unlock(&names.lock);
	return number;
}

uint32_t prof_names_number(const char *pointer)
{
	uint32_t number;

	if (!pointer)
		return 0;
	number = remembered(pointer);
	if (!number)
		number = look_at(pointer);
	if (number && number != NONE)
		return number;
	atomic_fetch_add_explicit(&names.lost, 1, memory_order_relaxed);
	return 0;
}

void prof_names_renew(void)
{
	atomic_fetch_add(&names.age, 1);
}

static void collect_one(struct wire_strtab *table, const struct pending *head, const uint8_t *text)
{
	uint32_t id = wire_strtab_intern(table, (const char *)text, head->length);

	if (!id && head->length)
		atomic_fetch_add_explicit(&names.lost, 1, memory_order_relaxed);
	names.string[head->number] = id;
	names.collected = head->number;
}

/* Swaps the halves; returns the one to read. */
static const uint8_t *swap_pending(size_t *used)
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
	int64_t now = prof_mono_ns();
	struct pending head;
	size_t used, at;
	const uint8_t *full = swap_pending(&used);

	for (at = 0; at < used; at += sizeof(head) + head.length) {
		memcpy(&head, full + at, sizeof(head));
		collect_one(table, &head, full + at + sizeof(head));
	}
	if (now - names.renewed_ns < RENEW_NS)
		return;
	names.renewed_ns = now;
	prof_names_renew();
}

uint32_t prof_names_string(uint32_t number)
{
	return number <= names.collected ? names.string[number] : 0;
}

uint64_t prof_names_lost(void)
{
	return atomic_load(&names.lost);
}

size_t prof_names_bytes(void)
{
	return sizeof(names.cache) + sizeof(names.text) + 2 * atomic_load(&names.peak) +
	       names.collected * sizeof(names.string[0]);
}
