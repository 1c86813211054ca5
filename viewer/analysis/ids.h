/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From string ids, which a stream counts from 1, to numbers: an array, for what is looked up with
 * every sample. Caller-owned; zero-initialise. Nothing is ever taken out. Of ids that a string
 * table has alone: a greater one takes its room.
 */
#ifndef ANALYSIS_IDS_H
#define ANALYSIS_IDS_H

#include <stdint.h>

#define ANA_IDS_NONE 0u

struct ana_ids {
	uint32_t *number; /* plus one, by id; ANA_IDS_NONE: not there */
	uint32_t room;
};

/* The number plus one; ANA_IDS_NONE: not there. */
static inline uint32_t ana_ids_get(const struct ana_ids *m, uint32_t id)
{
	return id < m->room ? m->number[id] : ANA_IDS_NONE;
}

int ana_ids_put(struct ana_ids *m, uint32_t id, uint32_t number); /* 0 or -ENOMEM */
void ana_ids_fini(struct ana_ids *m);

#endif
