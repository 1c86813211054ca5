/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the walk of one component found, until it is put together with that of the others. Caller-
 * owned; zero-initialise.
 */
#ifndef ANALYSIS_FOUND_H
#define ANALYSIS_FOUND_H

#include "analysis/time/durations.h"
#include "analysis/time/timeline.h"
#include "loaders.h"
#include "hotspots.h"

struct ana_step_lengths {
	struct ana_durations all, fed; /* fed: less what was exposed */
};

struct ana_found {
	struct ana_top top; /* its longest gaps */
	struct ana_quality quality;
	struct ana_hotspots hotspots;
	struct ana_loaders loaders;
	struct ana_step_lengths lengths;
	uint64_t skipped; /* steps */
	enum ana_step_source step_source;
	uint8_t hints; /* enum ana_hint */
	int64_t loader_wait_ns;
	bool forgot; /* what threads did while a GPU idled for long */
};

#endif
