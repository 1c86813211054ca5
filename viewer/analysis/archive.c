/* SPDX-License-Identifier: Apache-2.0 */
#include "archive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void fail(struct ana_archive *a, int err)
{
	if (!a->err)
		a->err = err;
}

void ana_archive_check(struct ana_archive *a, bool fine)
{
	if (!fine)
		fail(a, -EBADMSG);
}

static void put(struct ana_archive *a, const void *bytes, size_t n)
{
	if (a->room - a->len < n) {
		size_t room = a->room * 2 > a->len + n ? a->room * 2 : a->len + n + 4096;
		uint8_t *at = realloc(a->at, room);

		if (!at) {
			fail(a, -ENOMEM);
			return;
		}
		a->at = at;
		a->room = room;
	}
	memcpy(a->at + a->len, bytes, n);
	a->len += n;
}

void ana_archive_bytes(struct ana_archive *a, void *bytes, size_t n)
{
	if (!n || (a->err && !a->reading))
		return;
	if (!a->reading) {
		put(a, bytes, n);
		return;
	}
	ana_archive_check(a, a->len - a->pos >= n);
	if (a->err) {
		memset(bytes, 0, n);
		return;
	}
	memcpy(bytes, a->at + a->pos, n);
	a->pos += n;
}

uint64_t ana_archive_number(struct ana_archive *a, uint64_t v, uint64_t most)
{
	ana_archive_field(a, v);
	if (a->reading && v > most) {
		fail(a, -EBADMSG);
		return 0;
	}
	return v;
}

uint32_t ana_archive_small(struct ana_archive *a, uint32_t v, uint32_t most)
{
	ana_archive_field(a, v);
	if (a->reading && v > most) {
		fail(a, -EBADMSG);
		return 0;
	}
	return v;
}

void ana_archive_bool(struct ana_archive *a, bool *b)
{
	*b = ana_archive_number(a, *b, 1) != 0;
}

void ana_archive_time(struct ana_archive *a, int64_t *ns)
{
	ana_archive_field(a, *ns);
	if (!a->reading || (*ns >= -ANA_ARCHIVE_TIME_MAX && *ns <= ANA_ARCHIVE_TIME_MAX))
		return;
	fail(a, -EBADMSG);
	*ns = 0;
}

void ana_archive_stamp(struct ana_archive *a, int64_t *t)
{
	ana_archive_field(a, *t);
	if (!a->reading || (*t >= -ANA_ARCHIVE_TIME_MAX && *t <= ANA_ARCHIVE_TIME_MAX) ||
	    *t == INT64_MIN || *t == INT64_MAX)
		return;
	fail(a, -EBADMSG);
	*t = 0;
}

void ana_archive_text(struct ana_archive *a, char **text)
{
	size_t len = ana_archive_number(a, !a->reading && *text ? strlen(*text) + 1 : 0,
					ANA_ARCHIVE_TEXT_MAX);

	if (!a->reading) {
		ana_archive_bytes(a, *text, len);
		return;
	}
	*text = NULL;
	ana_archive_check(a, a->len - a->pos >= len);
	if (a->err || !len)
		return;
	*text = strndup((const char *)a->at + a->pos, len);
	if (!*text)
		fail(a, -ENOMEM);
	a->pos += len;
}

void *ana_archive_array(struct ana_archive *a, void *array, size_t *count, size_t size, size_t most)
{
	*count = ana_archive_number(a, *count, most);
	if (!a->reading)
		return array;
	/*
	 * each element is read from a byte at least: no file makes us allocate much more than it
	 * has
	 */
	ana_archive_check(a, *count <= a->len - a->pos);
	if (a->err)
		*count = 0;
	array = calloc(*count ? *count : 1, size);
	if (array)
		return array;
	fail(a, -ENOMEM);
	*count = 0;
	return NULL;
}

void *ana_archive_ring(struct ana_archive *a, void *ring, size_t size, uint32_t all, uint32_t *head,
		       uint32_t *count)
{
	size_t kept = ring ? all : 0;

	ring = ana_archive_array(a, ring, &kept, size, all);
	ana_archive_check(a, !kept || kept == all);
	if (a->reading && kept != all) { /* an array of nothing is no ring */
		free(ring);
		ring = NULL;
		kept = 0;
	}
	ana_archive_bytes(a, ring, kept * size);
	ana_archive_field(a, *head);
	ana_archive_field(a, *count);
	ana_archive_check(a, *count <= kept && *head < all);
	return ring;
}
