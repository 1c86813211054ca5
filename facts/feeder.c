/* SPDX-License-Identifier: Apache-2.0 */
#include "feeder.h"

#include <string.h>

const struct facts_feeder_row facts_feeders[FACTS_FEEDERS] = {
#define FEEDER(symbol, where, file, name, knob, maker, call) \
	[FACTS_FEEDER_##symbol] = { FACTS_FEEDER_##where, file, name, knob, maker, call },
#include "feeders.def"
};

enum facts_feeder facts_feeder_of(enum facts_feeder_where where, const char *path, uint32_t len)
{
	int i;

	for (i = FACTS_FEEDER_NONE + 1; i < FACTS_FEEDERS; i++) {
		const struct facts_feeder_row *f = &facts_feeders[i];
		size_t n = strlen(f->file);

		if (f->where == where && len >= n && !memcmp(path, f->file, n))
			return (enum facts_feeder)i;
	}
	return FACTS_FEEDER_NONE;
}

enum facts_feeder facts_feeder_by_name(const char *name)
{
	int i;

	for (i = FACTS_FEEDER_NONE + 1; name && i < FACTS_FEEDERS; i++)
		if (!strcmp(facts_feeders[i].name, name))
			return (enum facts_feeder)i;
	return FACTS_FEEDER_NONE;
}
