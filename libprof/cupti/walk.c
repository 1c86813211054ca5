/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What CUPTI says is checked: it lies in the buffer, and further on.
 */
#include "walk.h"

bool prof_record_ask(struct prof_record_walk *w)
{
	const uint8_t *end = w->data + w->valid;
	void *at = w->record;
	int rc = w->cupti->GetNextRecord(w->data, w->valid, &at);

	if (!rc && (uint8_t *)at > w->record && (uint8_t *)at >= w->data &&
	    (uint8_t *)at + 8 <= end) {
		w->record = at;
		w->size = prof_record_size(w, at, (size_t)(end - w->record));
		return true;
	}
	w->cut = rc != CUPTI_MAX_LIMIT_REACHED;
	return false;
}
