/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How busy a GPU was in each whole minute from when it was first held. What a monitor would have
 * drawn, but exact: busy time comes from operations, not from samples.
 */
#ifndef ANALYSIS_MINUTES_H
#define ANALYSIS_MINUTES_H

#include "analysis/ledger.h"
#include "span.h"

struct ana_minutes { /* of one GPU; zero: off */
	int64_t start;
	size_t count; /* whole ones; what comes after them goes to a slot of its own */
	size_t at;
	int64_t *busy_ns; /* [count + 1] */
};

/* Lays whole minutes over [start, end); more than two years of them are left out. 0 or -ENOMEM. */
int ana_minutes_init(struct ana_minutes *m, int64_t start, int64_t end);
void ana_minutes_fini(struct ana_minutes *m);

struct ana_archive; /* archive.h */
/* What was added. Read into ones laid over the same time. */
void ana_minutes_archive(struct ana_minutes *m, struct ana_archive *a);

/* Goes to the minute of @t; where it ends, INT64_MAX behind the last whole one. */
int64_t ana_minutes_go(struct ana_minutes *m, int64_t t);

/* Adds busy time to the minute it went to. */
static inline void ana_minutes_add(struct ana_minutes *m, int64_t ns)
{
	if (m->busy_ns)
		m->busy_ns[m->at] += ns;
}

/*
 * Counts them by how busy they were. Left out are minutes not held from end to end (@held empty:
 * all are) and those in which something was lost or not observed.
 */
void ana_minutes_count(const struct ana_minutes *m, struct ana_spans *held, struct ana_spans *lost,
		       struct ana_spans *unobserved, int64_t band[ANA_BANDS]);

#endif
