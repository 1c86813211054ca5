/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The string table: texts in chunks that never move, entries by id, and an open hash of ids.
 */
#include "strtab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "keyed_hash.h"

#define IDS_MAX (1u << 24)
#define CHUNK_FIRST (4u << 10) /* a run of many ranks has a table for each of them */
#define CHUNK_BYTES (64u << 10)
#define SLOTS_FIRST 64u

struct chunk {
	struct chunk *older;
	size_t used, room;
	char text[];
};

struct entry {
	const char *text; /* NULL: id not set */
	uint32_t len;
	uint32_t hash;
};

struct wire_strtab {
	struct chunk *chunk; /* newest */
	struct entry *entry; /* by id; entry[0] is unused */
	uint32_t count; /* highest id */
	uint32_t room; /* entries allocated */
	uint32_t *slot; /* ids by hash, 0: free */
	uint32_t slots; /* power of two */
	uint32_t hashed; /* slots used */
	size_t bytes;
	struct wire_secret secret;
};

static uint32_t hash_of(const struct wire_strtab *t, const char *text, size_t len)
{
	return (uint32_t)wire_keyed_hash(text, len, &t->secret);
}

struct wire_strtab *wire_strtab_new(void)
{
	struct wire_strtab *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->slot = calloc(SLOTS_FIRST, sizeof(*t->slot));
	if (!t->slot) {
		free(t);
		return NULL;
	}
	t->secret = (struct wire_secret){ 0, 0x9e3779b97f4a7c15u };
	t->slots = SLOTS_FIRST;
	t->bytes = sizeof(*t) + SLOTS_FIRST * sizeof(*t->slot);
	return t;
}

struct wire_strtab *wire_strtab_new_guarded(void)
{
	struct wire_strtab *t = wire_strtab_new();

	if (t)
		t->secret = wire_secret();
	return t;
}

void wire_strtab_free(struct wire_strtab *t)
{
	if (!t)
		return;
	while (t->chunk) {
		struct chunk *older = t->chunk->older;

		free(t->chunk);
		t->chunk = older;
	}
	free(t->entry);
	free(t->slot);
	free(t);
}

/* The slot of the text, or the free one where it belongs. */
static uint32_t *find_slot(const struct wire_strtab *t, const char *text, size_t len, uint32_t hash)
{
	uint32_t at = hash & (t->slots - 1);

	for (;; at = (at + 1) & (t->slots - 1)) {
		uint32_t id = t->slot[at];
		const struct entry *e;

		if (!id)
			break;
		e = &t->entry[id];
		if (e->hash == hash && e->len == len && !memcmp(e->text, text, len))
			break;
	}
	return &t->slot[at];
}

static int grow_slots(struct wire_strtab *t)
{
	uint32_t slots = t->slots * 2, i;
	uint32_t *slot;

	if (t->hashed < t->slots / 2)
		return 0;
	slot = calloc(slots, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	for (i = 0; i < t->slots; i++) {
		uint32_t id = t->slot[i], at;

		if (!id)
			continue;
		for (at = t->entry[id].hash & (slots - 1); slot[at];)
			at = (at + 1) & (slots - 1);
		slot[at] = id;
	}
	free(t->slot);
	t->bytes += (slots - t->slots) * sizeof(*slot);
	t->slot = slot;
	t->slots = slots;
	return 0;
}

/*
 * Entries up to @id exist, the new ones unset. Not realloc and memset: a hostile id then costs
 * address space, which calloc hands out untouched, and no memory.
 */
static int grow_entries(struct wire_strtab *t, uint32_t id)
{
	uint32_t room = t->room ? t->room : 64;
	struct entry *entry;

	if (id < t->room)
		return 0;
	while (room <= id)
		room *= 2;
	entry = calloc(room, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	if (t->count)
		memcpy(entry, t->entry, (t->count + 1) * sizeof(*entry));
	free(t->entry);
	t->bytes += (room - t->room) * sizeof(*entry);
	t->entry = entry;
	t->room = room;
	return 0;
}

/* Twice as large as the one before, in which a text of @len bytes has room. */
static struct chunk *new_chunk(struct wire_strtab *t, size_t len)
{
	size_t room = t->chunk ? t->chunk->room * 2 : CHUNK_FIRST;
	struct chunk *c;

	if (room > CHUNK_BYTES)
		room = CHUNK_BYTES;
	while (room <= len)
		room *= 2;
	c = malloc(sizeof(*c) + room);
	if (!c)
		return NULL;
	*c = (struct chunk){ .older = t->chunk, .room = room };
	t->chunk = c;
	t->bytes += sizeof(*c) + room;
	return c;
}

/* A copy of the text that never moves, NUL-terminated. */
static const char *keep_text(struct wire_strtab *t, const char *text, size_t len)
{
	struct chunk *c = t->chunk;
	char *copy;

	if (!c || c->room - c->used <= len) {
		c = new_chunk(t, len);
		if (!c)
			return NULL;
	}
	copy = c->text + c->used;
	if (len)
		memcpy(copy, text, len);
	copy[len] = '\0';
	c->used += len + 1;
	return copy;
}

static size_t cut_len(size_t len)
{
	return len < WIRE_STRING_BYTES_MAX ? len : WIRE_STRING_BYTES_MAX;
}

static int add(struct wire_strtab *t, uint32_t id, const char *text, size_t len, uint32_t hash)
{
	const char *copy;
	uint32_t *slot;

	if (grow_slots(t) || grow_entries(t, id))
		return -ENOMEM;
	copy = keep_text(t, text, len);
	if (!copy)
		return -ENOMEM;
	t->entry[id] = (struct entry){ copy, (uint32_t)len, hash };
	if (id > t->count)
		t->count = id;
	slot = find_slot(t, text, len, hash);
	if (!*slot) { /* two ids with one text, given by a reader: the first keeps the slot */
		*slot = id;
		t->hashed++;
	}
	return 0;
}

uint32_t wire_strtab_find(const struct wire_strtab *t, const char *text, size_t len)
{
	len = cut_len(len);
	return *find_slot(t, text, len, hash_of(t, text, len));
}

uint32_t wire_strtab_intern(struct wire_strtab *t, const char *text, size_t len)
{
	uint32_t hash, id;

	len = cut_len(len);
	hash = hash_of(t, text, len);
	id = *find_slot(t, text, len, hash);
	if (id)
		return id;
	if (t->count >= IDS_MAX || add(t, t->count + 1, text, len, hash))
		return 0;
	return t->count;
}

int wire_strtab_set(struct wire_strtab *t, uint32_t id, const char *text, size_t len)
{
	len = cut_len(len);
	if (!id || id > IDS_MAX)
		return -EINVAL;
	if (id <= t->count && t->entry[id].text) {
		const struct entry *e = &t->entry[id];

		/* A spool segment repeats all names: the first text of an id stays. */
		return e->len == len && !memcmp(e->text, text, len) ? 0 : -EEXIST;
	}
	return add(t, id, text, len, hash_of(t, text, len));
}

const char *wire_strtab_get(const struct wire_strtab *t, uint32_t id, size_t *len)
{
	const struct entry *e = id && id <= t->count ? &t->entry[id] : NULL;

	if (len)
		*len = e && e->text ? e->len : 0;
	return e && e->text ? e->text : "";
}

uint32_t wire_strtab_count(const struct wire_strtab *t)
{
	return t->count;
}

size_t wire_strtab_bytes(const struct wire_strtab *t)
{
	return t->bytes;
}
