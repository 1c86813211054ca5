/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record is a header and its bytes, padded to 8; it may wrap around the end anywhere.
 */
#include "shmring.h"

#include <errno.h>
#include <string.h>

struct header {
	uint32_t len, kind;
};

static uint64_t padded(uint64_t len)
{
	return (len + 7) & ~UINT64_C(7);
}

static void copy_in(uint8_t *data, uint32_t size, uint64_t at, const void *from, uint32_t len)
{
	uint32_t place = (uint32_t)at & (size - 1);
	uint32_t first = len < size - place ? len : size - place;

	memcpy(data + place, from, first);
	memcpy(data, (const uint8_t *)from + first, len - first);
}

static void copy_out(void *to, const uint8_t *data, uint32_t size, uint64_t at, uint32_t len)
{
	uint32_t place = (uint32_t)at & (size - 1);
	uint32_t first = len < size - place ? len : size - place;

	memcpy(to, data + place, first);
	memcpy((uint8_t *)to + first, data, len - first);
}

bool prof_shmring_push(struct prof_shmring *r, uint8_t *data, uint32_t size, uint32_t kind,
		       const void *record, uint32_t len)
{
	struct header h = { .len = len, .kind = kind };
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
	uint64_t used = head - atomic_load_explicit(&r->tail, memory_order_acquire);

	if (used > size || sizeof(h) + padded(len) > size - used) {
		atomic_fetch_add_explicit(&r->dropped, 1, memory_order_relaxed);
		return false;
	}
	copy_in(data, size, head, &h, sizeof(h));
	copy_in(data, size, head + sizeof(h), record, len);
	atomic_store_explicit(&r->head, head + sizeof(h) + padded(len), memory_order_release);
	return true;
}

ssize_t prof_shmring_pull(struct prof_shmring *r, const uint8_t *data, uint32_t size,
			  uint64_t *tail, uint32_t *kind, void *record, size_t room)
{
	uint64_t head = atomic_load_explicit(&r->head, memory_order_acquire);
	uint64_t used = head - *tail;
	struct header h;

	if (!used)
		return -EAGAIN;
	if (used <= size && used >= sizeof(h) && !(used & 7)) {
		copy_out(&h, data, size, *tail, sizeof(h));
		if (h.len <= room && sizeof(h) + padded(h.len) <= used) {
			copy_out(record, data, size, *tail + sizeof(h), h.len);
			*kind = h.kind;
			*tail += sizeof(h) + padded(h.len);
			atomic_store_explicit(&r->tail, *tail, memory_order_release);
			return (ssize_t)h.len;
		}
	}
	*tail = head;
	atomic_store_explicit(&r->tail, *tail, memory_order_release);
	return -EBADMSG;
}
