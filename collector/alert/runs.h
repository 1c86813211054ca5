/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that go on, as their pulses describe them: a model (live/run.h) per run directory, updated
 * from frames as they arrive, evaluated each second for alerts, and read by /metrics and /v1/live.
 * Only Hello, Pulse, Facts and Bye are read, and storing never waits for it. Bounded: what is
 * beyond the limits is stored as ever and not watched. One thread.
 */
#ifndef COLL_RUNS_H
#define COLL_RUNS_H

#include "conditions.h"
#include "kept_rows.h"
#include "store/store.h"

#define COLL_RUNS_MAX 16384u
#define COLL_RUNS_STREAMS_MAX 32768u /* all runs together; 2 to 17 KiB each, with saves */
#define COLL_RUNS_BUCKETS 4096u
#define COLL_RUN_ALERTS_MAX 64u
#define COLL_RUNS_ROW_BYTES_MAX (512u << 20) /* of stores' rows, of all runs together */

struct coll_run { /* read only for others */
	char *dir; /* of the run; of a store's TEAM/RUN.gst, which is no place */
	bool of_store; /* known by rows of a store: these */
	struct coll_kept_rows rows;
	char *id; /* its name, without .gst */
	struct live_run live;
	struct live_totals totals; /* as of the last second */
	struct live_watch watch;
	int64_t heard_ns; /* monotonic: last frame */
	/* of steps.h: once its GPUs were held for so long it is looked at (0: not begun) ... */
	int64_t steps_due_ns;
	int64_t step_slower_ppm; /* ... and what was found then; 0: nothing */
	struct live_fired *alert; /* of a store's: which fired, COLL_RUN_ALERTS_MAX at most */
	size_t alerts;
	unsigned int claims; /* that are not answered: until then it stays */
	struct coll_runs *all;
	struct coll_run *next; /* in its bucket */
};

struct coll_runs {
	const struct coll_conditions *conditions;
	struct live_reader *reader;
	struct coll_run *bucket[COLL_RUNS_BUCKETS];
	size_t count;
	size_t streams; /* of all of them, as of the last second, and those that came since */
	size_t rows, row_bytes; /* of stores, of all of them */
	/*
	 * An alert of a store's run holds: to be answered by coll_runs_claimed. NULL: of such none
	 * fires.
	 */
	void (*fires)(void *arg, struct coll_run *run, size_t entry, const struct live_fired *f);
	void *fires_arg;
	bool sure; /* what is known of stores' runs is as new as it can be: alerts are looked at */
	uint64_t unwatched; /* frames and rows not looked at, for want of room or sense */
	int64_t logged_ns; /* when that was last said, 0: never */
	uint64_t logged;
};

/* 0 or -ENOMEM. */
int coll_runs_init(struct coll_runs *r, const struct coll_conditions *conditions);
void coll_runs_fini(struct coll_runs *r);

/*
 * A frame of a stream whose sums are good and that is new. Other types than those above are
 * ignored.
 */
void coll_runs_frame(struct coll_runs *r, const struct coll_stream *s, const struct wire_frame *f,
		     const uint8_t *payload);

/* A row of a store, which anybody may have put there. Its team may be "". */
void coll_runs_row(struct coll_runs *r, const struct live_row *row);

/*
 * What came of an alert: 0: it is ours to fire, with the run at @where; -EEXIST: another has fired
 * it; else it is asked again while it holds.
 */
void coll_runs_claimed(struct coll_run *run, size_t entry, const struct live_fired *f,
		       const char *where, int err);

/* All rows have come that there are: the runs say what these tell. */
void coll_runs_rows_end(struct coll_runs *r);

/* What the store reads back from its files is of interest, too. */
void coll_runs_watch(struct coll_runs *r, struct coll_store *st);

/* Each second: sums, alerts, and what can be forgotten is. */
void coll_runs_tick(struct coll_runs *r);

/* NULL: nothing of it was heard since the collector began, or it is long over. */
struct coll_run *coll_runs_find(const struct coll_runs *r, const char *dir);

/* All of them: @run NULL gives the first; NULL: there are no more. */
struct coll_run *coll_runs_next(const struct coll_runs *r, const struct coll_run *run);

#endif
