/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites: the time of classes by line of code, role and what was waited for. At most ANA_SITES_MAX
 * of them; the time of others is counted together. One thread.
 */
#ifndef ANALYSIS_SITES_H
#define ANALYSIS_SITES_H

#include "cause.h"
#include "analysis/ledger.h"

#define ANA_SITES_MAX 4096u
#define ANA_SITE_THREADS_MAX 256u

struct ana_flames; /* series/series_parts.h */

struct ana_site_row {
	struct ana_site site; /* its texts are owned */
	uint64_t hash;
	int64_t by[ANA_CONFIDENCES];
	int64_t leaf_lead, native_lead; /* how far the text is ahead of all others together */
	uint64_t *thread; /* those seen */
	uint32_t threads, thread_room;
};

struct ana_sites {
	struct ana_site_row *row;
	uint32_t count, room;
	uint32_t *slot; /* by hash, UINT32_MAX: free */
	uint32_t mask;
	int64_t other_ns;
	const struct ana_options *options; /* for on_sight; NULL: nobody listens */
	struct ana_flames *flames; /* series; borrowed; NULL: off */
	uint32_t process; /* whose evidence is booked */
};

void ana_site_fini(struct ana_site *s); /* its texts */
void ana_sites_fini(struct ana_sites *s);

/* Books what a decided piece gave to each class on the lines of its votes. 0 or -ENOMEM. */
int ana_sites_book(struct ana_sites *s, struct ana_evidence *e, const struct ana_cause *b);

/* Adds the sites of another part of the run. 0 or -ENOMEM. */
int ana_sites_merge(struct ana_sites *to, const struct ana_sites *from);

/* The sites, most time first; the texts are now the caller's. 0 or -ENOMEM. */
int ana_sites_finish(struct ana_sites *s, struct ana_site **out, size_t *count);

#endif
