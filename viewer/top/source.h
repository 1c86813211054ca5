/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a snapshot comes from: a run directory that is followed, or a collector that is asked. What
 * is read is hostile. One thread.
 */
#ifndef VIEW_TOP_SOURCE_H
#define VIEW_TOP_SOURCE_H

#include "cost/rates.h"
#include "live/fired.h"
#include "snapshot.h"

struct top_source_options {
	const char *store; /* URL of a store of pulses; NULL: none */
	const char *what; /* run directory, folder of them, unix:PATH, URL; NULL: the newest run */
	const char *run; /* of a collector: this one; NULL: the one heard of last */
	const char *token_file, *ca_file;
	struct view_rate_options rates;
	bool kind; /* what a run directory's is so far matters: totals.serving */
};

struct top_source {
	/* Fills *l anew. 0, or negative errno where not even the first can be had; said. */
	int (*fetch)(struct top_source *s, struct top_snapshot *l);
	void (*free)(struct top_source *s);
};

/* NULL: cannot be; said on stderr. @o must stay. */
struct top_source *top_source_open(const struct top_source_options *o);

/* source_http.c */
struct top_source *top_source_http(const struct top_source_options *o);
/* source_store.c */
struct top_source *top_source_store(const struct top_source_options *o);

/* from_live.c: what a run tells by itself, as of @now_ns: its rows, and whether all are over. */
void top_take_run(struct top_snapshot *l, const struct live_run *r, int64_t now_ns);
/* One more alert of the snapshot's run. */
void top_take_alert(struct top_snapshot *l, const struct live_fired *f);

#endif
