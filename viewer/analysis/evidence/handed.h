/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When each thing that others may wait for was last seen with who could hand it (links.h): of what
 * nobody had, nobody needs to be asked. One thread.
 */
#ifndef ANALYSIS_HANDED_H
#define ANALYSIS_HANDED_H

#include <stdbool.h>
#include <stdint.h>
#include "analysis/map.h"
#include "links.h"

struct ana_handed { /* zero-initialised */
	struct ana_map of; /* numbers by an id's hash */
	int64_t *last;
	uint32_t count, room;
};

void ana_handed_fini(struct ana_handed *h);

/* A sample at @t with these links. 0 or -ENOMEM. */
int ana_handed_add(struct ana_handed *h, const struct ana_links *l, int64_t t);

/*
 * False: no sample at @since or later, of those that were read, hands anything that @who awaits.
 */
bool ana_handed_since(const struct ana_handed *h, const struct ana_links *who, int64_t since);

#endif
