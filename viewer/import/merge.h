/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records that were read into a trace of their own, piece by piece, join those of the whole file.
 * A part is filled by one thread and joined by another, never both at once; it may be filled
 * again afterwards, and keeps the ids that it knows.
 */
#ifndef VIEW_IMPORT_MERGE_H
#define VIEW_IMPORT_MERGE_H

#include "records.h"

struct view_import_part {
	struct view_import_trace t;
	/* what the part's numbers are in the whole; as many as were there at the last joining */
	uint32_t *text, texts;
	uint32_t *id[VIEW_IMPORT_IDS], ids[VIEW_IMPORT_IDS];
};

int view_import_part_init(struct view_import_part *p); /* 0 or -ENOMEM */
void view_import_part_fini(struct view_import_part *p);

/* Appends the part's records to @t and empties it. 0, -ENOMEM or -E2BIG. */
int view_import_merge(struct view_import_trace *t, struct view_import_part *p);

#endif
