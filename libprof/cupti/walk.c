/* SPDX-License-Identifier: Apache-2.0 */
/*
 * By the sizes that the probe found; CUPTI itself is asked where it must be.
 */
#include "walk.h"

#include "record.h"

/* Size of the record there by the probe; 0 if it is unknown or would not fit. */
static size_t known_size(const struct prof_walk *w, const uint8_t *record, size_t left)
{
	uint32_t kind, size;

	if (left < 8)
		return 0;
	kind = rec_u32(record, REC_KIND);
	size = kind < CUPTI_KIND_PROBED ? w->cupti->record_bytes[kind] : 0;
	return size <= left ? size : 0;
}

static bool ask_cupti(struct prof_walk *w)
{
	const uint8_t *end = w->data + w->valid;
	void *at = w->record;
	int rc = w->cupti->GetNextRecord(w->data, w->valid, &at);

	if (!rc && (uint8_t *)at > w->record && (uint8_t *)at >= w->data &&
	    (uint8_t *)at + 8 <= end) {
		w->record = at;
		w->size = known_size(w, at, (size_t)(end - w->record));
		return true;
	}
	w->cut = rc != CUPTI_MAX_LIMIT_REACHED;
	return false;
}

/* CUPTI wrote the buffer on another core: some records ahead are on their way meanwhile. */
static inline void fetch_ahead(const uint8_t *record)
{
	__builtin_prefetch(record + 1024);
	__builtin_prefetch(record + 1088);
	__builtin_prefetch(record + 1152);
}

bool prof_walk_next(struct prof_walk *w)
{
	size_t left, size;

	if (!w->size)
		return w->valid && ask_cupti(w);
	fetch_ahead(w->record);
	left = w->valid - (size_t)(w->record - w->data) - w->size;
	if (!left)
		return false;
	size = known_size(w, w->record + w->size, left);
	if (!size)
		return ask_cupti(w);
	w->record += w->size;
	w->size = size;
	return true;
}
