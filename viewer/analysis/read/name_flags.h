/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a name means to the rules: of an API function, a kernel, a range. Looked at once per name
 * of a stream. One thread at a time.
 */
#ifndef ANALYSIS_NAME_FLAGS_H
#define ANALYSIS_NAME_FLAGS_H

#include <stdint.h>
#include "analysis/ledger.h"
#include "wire/strtab.h"

enum ana_name_flag {
	ANA_NAME_SEEN = 1 << 0, /* the others are valid */
	ANA_NAME_COMM = 1 << 1, /* a kernel of this name is a collective */
	ANA_NAME_SYNC = 1 << 2, /* the API function blocks the host until work is done, ... */
	ANA_NAME_ALLOC = 1 << 3, /* ... allocates or frees, ... */
	ANA_NAME_LOAD = 1 << 4, /* ... loads code; at most one of these three */
	ANA_NAME_LAUNCH = 1 << 5, /* contains "Launch" */
	ANA_NAME_GRAPH = 1 << 6, /* contains "GraphLaunch" */
	ANA_NAME_MANY = 1 << 7, /* one call may own several operations */
	ANA_NAME_NO_OP = 1 << 8, /* such a call never owns an operation */
	ANA_NAME_CHECKPOINT = 1 << 9, /* a user range of this name saves a checkpoint, ... */
	ANA_NAME_PHASE = 1 << 10, /* ... or is evaluation or logging; at most one of these */
	ANA_NAME_INPUT = 1 << 11, /* a kernel of this name works on input (facts/kernels.def) */
	ANA_NAME_GROUP_BEGIN = 1 << 12, /* a user range of this name: NCCL begins, ... */
	ANA_NAME_GROUP_END = 1 << 13, /* ... or ends a group of calls */
};

struct ana_names {
	const struct wire_strtab *table; /* borrowed */
	uint16_t *flag;
	uint8_t *work; /* plus 1; 0: not looked at */
	uint32_t count;
	uint8_t hints; /* enum ana_hint (ledger.h), by all that were looked at */
};

int ana_names_init(struct ana_names *n, const struct wire_strtab *table); /* 0 or -ENOMEM */
void ana_names_fini(struct ana_names *n);

/* The flags of a text, by the rules. Pure. */
uint16_t ana_name_flags(const char *text);

uint16_t ana_names_look(struct ana_names *n, uint32_t id);

static inline uint16_t ana_names_flags(struct ana_names *n, uint32_t id)
{
	if (id <= n->count && n->flag[id])
		return n->flag[id];
	return ana_names_look(n, id);
}

uint8_t ana_names_look_work(struct ana_names *n, uint32_t id);

/* What a kernel of this name does: its place among work (ledger.h). */
static inline uint8_t ana_names_work(struct ana_names *n, uint32_t id)
{
	if (id <= n->count && n->work[id])
		return n->work[id] - 1;
	return ana_names_look_work(n, id);
}

#endif
