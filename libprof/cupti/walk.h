/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of a complete buffer, one after the other.
 */
#ifndef PROF_WALK_H
#define PROF_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cuda_api.h"
#include "record.h"

struct prof_record_walk { /* over the records of one complete buffer */
	const struct prof_cupti *cupti;
	uint8_t *data;
	size_t valid;
	uint8_t *record; /* NULL before the first */
	size_t size; /* of the record; 0: only CUPTI knows */
	bool cut; /* it ended before the buffer did: something unreadable follows */
};

/* The next record as CUPTI itself sees it: where only it knows. False at the end. */
bool prof_record_ask(struct prof_record_walk *w);

/* Size of the record there by the probe; 0 if it is unknown or would not fit. */
static inline size_t prof_record_size(const struct prof_record_walk *w, const uint8_t *record,
				      size_t left)
{
	uint32_t kind, size;

	if (left < 8)
		return 0;
	kind = rec_u32(record, REC_KIND);
	size = kind < CUPTI_KIND_PROBED ? w->cupti->record_bytes[kind] : 0;
	return size <= left ? size : 0;
}

/* CUPTI wrote the buffer on another core: some records ahead are on their way meanwhile. */
static inline void prof_record_fetch_ahead(const uint8_t *record)
{
	__builtin_prefetch(record + 1024);
	__builtin_prefetch(record + 1088);
	__builtin_prefetch(record + 1152);
}

/*
 * Steps to the next record: by the probed sizes, and by asking CUPTI where a kind is not known.
 * False at the end. Any thread. Inline: the callbacks pay for each record on a thread of the
 * program.
 */
static inline bool prof_record_next(struct prof_record_walk *w)
{
	size_t left, size;

	if (!w->size)
		return w->valid && prof_record_ask(w);
	prof_record_fetch_ahead(w->record);
	left = w->valid - (size_t)(w->record - w->data) - w->size;
	if (!left)
		return false;
	size = prof_record_size(w, w->record + w->size, left);
	if (!size)
		return prof_record_ask(w);
	w->record += w->size;
	w->size = size;
	return true;
}

#endif
