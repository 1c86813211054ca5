/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of a result as bytes, and back: one function for both directions, so that what is written
 * and what is read cannot differ. What is read is hostile: whoever reads a number by which
 * something is found gives its bound. Numbers lie as in memory; who keeps the bytes sees to it that
 * the same program reads them.
 *
 * The first error stays in err (-ENOMEM, -EBADMSG); from there on nothing is read, and what would
 * have been is zero. One thread.
 */
#ifndef ANALYSIS_ARCHIVE_H
#define ANALYSIS_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define ANA_ARCHIVE_TEXT_MAX 65536u
#define ANA_ARCHIVE_TIME_MAX (INT64_C(1) << 61) /* as ana_clamp_time has it */

struct ana_archive {
	bool reading;
	uint8_t *at; /* written: to be freed; read: borrowed, and never written to */
	size_t len, room; /* of what is written, or read from */
	size_t pos; /* reading */
	int err;
};

void ana_archive_bytes(struct ana_archive *a, void *bytes, size_t n);

/* A plain object without pointers, bools and enums. */
#define ana_archive_field(a, x) ana_archive_bytes((a), &(x), sizeof(x))

/* The same in four bytes. */
uint32_t ana_archive_small(struct ana_archive *a, uint32_t v, uint32_t most);

void ana_archive_bool(struct ana_archive *a, bool *b);

/* A number of any width up to @most. */
uint64_t ana_archive_number(struct ana_archive *a, uint64_t v, uint64_t most);

/* A time or a length: never so large that a difference of two could overflow. */
void ana_archive_time(struct ana_archive *a, int64_t *ns);

/* The same, or INT64_MIN or INT64_MAX, which stand for no time. */
void ana_archive_stamp(struct ana_archive *a, int64_t *t);

/* Allocated where it is read; NULL stays NULL. */
void ana_archive_text(struct ana_archive *a, char **text);

/*
 * @array and its @count elements, both lvalues: where it is read the array becomes a new one,
 * zeroed, of as
 * many as were written, which are @most at most. The elements are the caller's to write or read.
 */
#define ana_archive_vec(a, array, count, most)                                               \
	({                                                                                   \
		size_t vec_n = (count);                                                      \
		(array) = ana_archive_array((a), (array), &vec_n, sizeof(*(array)), (most)); \
		(count) = (__typeof__(count))vec_n;                                          \
	})
void *ana_archive_array(struct ana_archive *a, void *array, size_t *count, size_t size,
			size_t most);

/*
 * The same of an array whose elements [@head, @tail) are alive (window.h): where it is read, head
 * is 0 and there is no room for more.
 */
#define ana_archive_window(a, array, head, tail, room, most)                                      \
	({                                                                                        \
		__typeof__(array) window_at = (a)->reading || !(array) ? NULL : (array) + (head); \
		size_t window_n = (a)->reading ? 0 : (tail) - (head);                             \
		window_at =                                                                       \
			ana_archive_array((a), window_at, &window_n, sizeof(*(array)), (most));   \
		if ((a)->reading) {                                                               \
			free(array);                                                              \
			(array) = window_at;                                                      \
			(head) = 0;                                                               \
			(tail) = (room) = (__typeof__(room))window_n;                             \
		}                                                                                 \
	})

/*
 * A ring of @all elements of @size bytes, or NULL, where there is none yet: all of it is kept, as
 * plain bytes, and which of it are alive. Returns the ring, where it is read a new one.
 */
void *ana_archive_ring(struct ana_archive *a, void *ring, size_t size, uint32_t all, uint32_t *head,
		       uint32_t *count);

/* What was read cannot be: -EBADMSG unless @fine. */
void ana_archive_check(struct ana_archive *a, bool fine);

#endif
