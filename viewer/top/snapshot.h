/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `gpustarve top` shows at one moment, whoever told it: a run directory or a collector. Plain
 * data; all text in it is fit for a terminal (printable ASCII, everything else became '?').
 */
#ifndef VIEW_TOP_SNAPSHOT_H
#define VIEW_TOP_SNAPSHOT_H

#include "live/run.h"

#define TOP_ROWS_MAX 4096u
#define TOP_ALERTS_MAX 16u

struct top_row { /* a process's use of a GPU */
	bool has_rank, priced;
	int32_t rank;
	int64_t pid;
	uint32_t ordinal;
	size_t gpu; /* of the run */
	char host[64], name[96];
	char uuid[40]; /* of the GPU; "": not known */
	struct live_share share;
	struct live_meter meter;
	enum live_gap gap;
	int64_t idle_ns, lag_ns;
	int64_t unsaved_ns; /* of the GPU, that a kill now would lose; -1: not known */
	int64_t quiet_ns; /* since the process was heard of; -1: it has ended, or was never */
	int64_t nano_usd_per_hour; /* of the GPU */
};

struct top_snapshot {
	char run[256];
	struct live_totals totals;
	struct top_row *row; /* owned */
	size_t rows;
	size_t rows_left_out; /* beyond TOP_ROWS_MAX */
	struct top_alert {
		int64_t t_unix_ns;
		bool budget;
		char text[256];
	} alert[TOP_ALERTS_MAX]; /* the last to fire first */
	size_t alerts; /* that fired, of which the first TOP_ALERTS_MAX are here */
	bool over; /* all of its processes have ended, or been silent for long */
	size_t killed; /* rows whose process ended without a goodbye */
	int64_t quiet_ns; /* the most of any row; -1 */
	/*
	 * Of a run that is over and was judged: what its summary says, which outdoes what was seen
	 * live.
	 */
	bool judged, judged_priced;
	char verdict[96];
	/* the share of the training time that the verdict is about, as a sentence */
	char lead[128];
	int64_t judged_nano_usd;
	int exit_status; /* of the command, as a shell says it; -1: it goes on, or nobody knows */
	char trouble[256]; /* why there is nothing newer; "": fine */
};

void top_snapshot_fini(struct top_snapshot *l);

/* From the rows: killed, quiet_ns, and whether all is over. Of what is over nothing is "now". */
void top_snapshot_close(struct top_snapshot *l);

/* Printable ASCII of @text, cut. */
void top_tame(char *out, size_t room, const char *text);

/* Dollars an hour that the row's GPU costs while it starves; without a price, its share. */
int64_t top_row_waste(const struct top_row *r);

enum top_sort {
	TOP_BY_WASTE, /* most first */
	TOP_BY_RANK,
	TOP_BY_BUSY, /* least first */
	TOP_BY_IDLE, /* longest first */
	TOP_SORTS
};
extern const char *const top_sort_names[TOP_SORTS];
void top_sort(struct top_snapshot *l, enum top_sort by);

/*
 * Pieces of text that the screen and plain lines share. Each writes at most @room bytes.
 * head: who and how much; sums: shares and dollars; state: what is known and at what cost.
 */
void top_head(const struct top_snapshot *l, char *out, size_t room);
void top_sums(const struct top_snapshot *l, char *out, size_t room);
void top_state(const struct top_snapshot *l, char *out, size_t room);
void top_alert_line(const struct top_alert *a, char *out, size_t room);
/* The table's head (@row NULL) or a row, for a terminal of @columns. */
void top_row_line(const struct top_row *row, int columns, char *out, size_t room);

#endif
