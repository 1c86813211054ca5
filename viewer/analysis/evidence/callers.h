/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a whole run's samples tell of sockets, known before its first piece is decided: with which
 * stacks threads wait for who calls, and which connections have an end in processes beside the
 * stream's own. Links tell it only some time after a connection was made, and connections may be
 * shorter than that. One per stream; one thread.
 */
#ifndef ANALYSIS_CALLERS_H
#define ANALYSIS_CALLERS_H

#include <stdbool.h>
#include <stdint.h>
#include "analysis/map.h"
#include "links.h"
#include "wire/evidence.h"

struct ana_callers {
	struct ana_map stacks; /* string ids */
	struct ana_map ends; /* hashes of connections */
};

void ana_callers_init(struct ana_callers *c);
void ana_callers_fini(struct ana_callers *c);

/* Whether any text of the table speaks of sockets: if not, no sample can tell anything. */
bool ana_callers_any(const struct wire_strtab *table);

/* Takes in a sample with these links; @pid: the stream's process. 0 or -ENOMEM. */
int ana_callers_add(struct ana_callers *c, const struct wire_sample *s, const struct ana_links *l,
		    uint32_t pid);

/* Whether somebody was seen, with this stack, to wait for an accepted connection, or to listen. */
bool ana_callers_place(const struct ana_callers *c, uint32_t stack);

/* Whether a process beside the stream's own has, at some time, an end of what @l awaits. */
bool ana_callers_beside(const struct ana_callers *c, const struct ana_links *l);

#endif
