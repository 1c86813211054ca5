/* SPDX-License-Identifier: Apache-2.0 */
/* Ways of feeding a GPU: feeders.def as constants. Any thread, any time. */
#ifndef FACTS_FEEDER_H
#define FACTS_FEEDER_H

#include <stdbool.h>
#include <stdint.h>

enum facts_feeder { /* the first that fits is the most telling */
	FACTS_FEEDER_NONE,
#define FEEDER(symbol, where, file, name, knob, maker, call) FACTS_FEEDER_##symbol,
#include "feeders.def"
	FACTS_FEEDERS
};

enum facts_feeder_where {
	FACTS_FEEDER_PACKAGE,
	FACTS_FEEDER_STANDARD,
};

struct facts_feeder_row {
	enum facts_feeder_where where;
	const char *file, *name, *knob, *maker, *call; /* NULL: of FACTS_FEEDER_NONE */
};

extern const struct facts_feeder_row facts_feeders[FACTS_FEEDERS];

/* Which one the file at @path of @len bytes, within @where, belongs to. */
enum facts_feeder facts_feeder_of(enum facts_feeder_where where, const char *path, uint32_t len);
enum facts_feeder facts_feeder_by_name(const char *name); /* NULL, unknown: FACTS_FEEDER_NONE */

#endif
