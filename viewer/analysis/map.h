/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small hash map from 64-bit keys to numbers. Caller-owned; zero-initialise. Nothing is ever
 * taken out.
 */
#ifndef ANALYSIS_MAP_H
#define ANALYSIS_MAP_H

#include <stdint.h>
#include "wire/keyed_hash.h"

#define ANA_MAP_NONE UINT32_MAX

struct ana_map {
	uint64_t *key;
	uint32_t *value; /* ANA_MAP_NONE: free */
	uint32_t mask, count;
	struct wire_secret secret; /* keys come from files */
};

uint32_t ana_map_get(const struct ana_map *m, uint64_t key); /* ANA_MAP_NONE: not there */
int ana_map_put(struct ana_map *m, uint64_t key, uint32_t value); /* a new key; 0 or -ENOMEM */
void ana_map_fini(struct ana_map *m);

struct ana_archive; /* archive.h */
/* Read into a zeroed one. @most: the greatest number in it. */
void ana_map_archive(struct ana_map *m, uint32_t most, struct ana_archive *a);

#endif
