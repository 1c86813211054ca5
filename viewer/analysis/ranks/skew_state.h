/* SPDX-License-Identifier: Apache-2.0 */
/* What attributing skew keeps from collective to collective, of GPUs and of groups. */
#ifndef ANALYSIS_SKEW_STATE_H
#define ANALYSIS_SKEW_STATE_H

#include "straggler_test.h"
#include "group.h"

struct ana_exposed;
struct ana_recent_waits;
struct ana_baselines;
struct ana_paths;

struct ana_skew_row { /* of one GPU */
	uint64_t matched, late, refused;
	uint64_t sent; /* sends and receives that were matched */
	int64_t refused_ns; /* exposed */
	int64_t waited_ns, causes_waited[ANA_CLASSES]; /* its comm.skew, by cause */
	int64_t caused_ns, causes[ANA_CLASSES]; /* what it cost others */
	int64_t last_end; /* of what was matched last, common clock */
	struct ana_lateness lateness;
	struct ana_exposed *exposed; /* recent collective time, not attributed yet */
	struct ana_recent_waits *recent_waits; /* its own waits of late, and who caused them */
};

struct ana_skew_group {
	uint64_t matched, refused;
	int64_t waited_ns;
	int64_t last_end; /* common clock */
	struct ana_baselines *baselines; /* of each member; of sends and receives none */
	struct ana_straggler_test *straggler; /* the same, in this group alone */
	bool even; /* all members were equally far once (above), ... */
	int64_t even_at; /* ... last then, common clock */
	int64_t aged_at; /* when ana_baselines.aged was taken, common clock */
};

struct ana_skew_attribution {
	const struct ana_groups *groups;
	const struct ana_align *align;
	size_t gpus;
	int64_t step_ns;
	int64_t late_ns; /* who comes so much after the median rank is late */
	int64_t slack_ns; /* what two hosts' clocks may differ by: less than that is no wait */
	struct ana_skew_row *row;
	struct ana_skew_group *group;
	struct ana_straggler_test *straggler;
	struct ana_paths *paths; /* NULL: nobody sends */
	int64_t *pair_ns; /* [waiting * gpus + late]; NULL: too many */
	uint64_t matched;
	int64_t first_ns, last_ns; /* of what was matched, common clock */
	/* Tells of every stretch that becomes comm.skew, on the GPU's own clock. */
	void (*skew)(void *arg, uint32_t gpu, int64_t start, int64_t end);
	void *arg;
	int err;
};

#endif
