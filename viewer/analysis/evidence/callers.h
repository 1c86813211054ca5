/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which threads wait at connections that the other end began, by the stacks with which they wait:
 * of a connection links tell it some time after it was made, and connections may be shorter than
 * that. A stack that was seen to wait for a caller waits for callers again. One per stream; one
 * thread.
 */
#ifndef ANALYSIS_CALLERS_H
#define ANALYSIS_CALLERS_H

#include <stdbool.h>
#include <stdint.h>
#include "analysis/map.h"
#include "links.h"
#include "wire/evidence.h"

struct ana_callers {
	struct ana_map of; /* by the stack's string id */
	int64_t *since; /* when it was seen first */
	uint32_t count, room;
};

void ana_callers_init(struct ana_callers *c);
void ana_callers_fini(struct ana_callers *c);

/* Takes in a sample with these links. 0 or -ENOMEM. */
int ana_callers_add(struct ana_callers *c, const struct wire_sample *s, const struct ana_links *l);

/*
 * Whether a blocked sample waits for a caller: by its own links; of a socket of which they tell
 * nothing, by samples before @stop with its stack.
 */
bool ana_callers_of(const struct ana_callers *c, const struct wire_sample *s,
		    const struct ana_links *l, int64_t stop);

#endif
