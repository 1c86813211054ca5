/* SPDX-License-Identifier: Apache-2.0 */
/* What it means for a batch that a thread which makes it is blocked. Pure. */
#ifndef ANALYSIS_MAKER_H
#define ANALYSIS_MAKER_H

#include "analysis/ledger.h"
#include "wire/evidence.h"

/* Who makes the awaited batch. */
enum ana_producer {
	ANA_PRODUCER_WORKER, /* a worker of torch's loader, or a thread found by links */
	ANA_PRODUCER_TRAINER, /* within its own next() */
};

enum ana_class ana_maker_class(const struct wire_sample *s, enum ana_producer producer);

/* Whether so much of somebody's time is enough to be at work on what is awaited: a tenth. */
static inline bool ana_works(int64_t work, int64_t all)
{
	return (__int128)work * 10 >= all;
}

#endif
