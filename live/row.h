/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run that goes on, as rows that a store keeps (docs/FORMAT.md, "Rows of pulses"): of each
 * stream its Hello, its first pulse, the newest pulse of each of the last stretches of ten
 * seconds, what it told last of saves, and its Bye, as the frames that came. A frame itself says
 * which row it is and which of two is newer, so it does not matter who puts it, when, in which
 * order or how often: of the rows with one key the one with the highest rank holds. And which
 * alerts fired.
 *
 * As text a row is a line of
 *
 *	TEAM \t RUN \t STREAM \t SLOT \t RANK \t AGE \t FRAME
 *
 * AGE: how many seconds ago the store got it, by the store's own clock; FRAME: hexadecimal. What
 * is read is hostile. Pure functions, any thread.
 */
#ifndef LIVE_ROW_H
#define LIVE_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "fired.h"
#include "frame.h"
#include "wire/buf.h"

#define LIVE_ROW_TEAM_BYTES 64 /* with the end, as the next two */
#define LIVE_ROW_RUN_BYTES 252
#define LIVE_ROW_STREAM_BYTES (2 * WIRE_STREAM_ID_BYTES + 1)
#define LIVE_ROW_FRAME_MAX (32u << 10) /* of a longer one there is no row */
#define LIVE_ROW_LINE (2 * LIVE_ROW_FRAME_MAX + 512)
#define LIVE_ROW_STRETCH_NS (10 * LIVE_SECOND_NS)
#define LIVE_ROW_STRETCHES 6 /* more than LIVE_WINDOW_NS */

enum live_row_slot { /* numbers are part of the format */
	LIVE_ROW_HELLO = 0,
	LIVE_ROW_FIRST = 1, /* the pulse with the lowest number */
	LIVE_ROW_BYE = 2,
	LIVE_ROW_ALERT = 3, /* its stream is a hash of the condition, its frame a line of fired.h */
	LIVE_ROW_MEMORY = 4, /* the newest Facts that tell of GPUs' memory, ... */
	LIVE_ROW_WRITTEN = 5, /* ... and of bytes that were written */
	LIVE_ROW_PULSE = 16, /* and LIVE_ROW_STRETCHES of them */
	LIVE_ROW_SAVE = 32, /* Facts of saves: what was told by its number, ... */
	LIVE_ROW_SAVES = 64, /* ... modulo this. A process counts: what is missing is seen */
	LIVE_ROW_SLOTS = LIVE_ROW_SAVE + LIVE_ROW_SAVES,
};

struct live_row {
	char team[LIVE_ROW_TEAM_BYTES], run[LIVE_ROW_RUN_BYTES];
	char stream[LIVE_ROW_STREAM_BYTES];
	uint32_t slot;
	int64_t rank;
	int64_t age_s; /* not of one that is put */
	const char *hex; /* the frame's digits */
	size_t digits;
};

/* Whether a row of such a slot is wanted for as long as its run goes on. */
bool live_row_stays(uint32_t slot);

/*
 * The row's own columns of a frame with head and body @payload, which of Facts alone is read;
 * @first: a pulse is told as one that may be its stream's first. False: there is no row of it. Not
 * set: team, run, age and the frame's digits.
 */
bool live_row_of(struct live_row *r, struct live_reader *d, const struct wire_frame *f,
		 const uint8_t *payload, bool first);

/* The columns of an alert that fired: each condition has one row in each run. */
void live_row_of_alert(struct live_row *r, const struct live_fired *f);

/* Appends the line with the @len bytes of the frame. 0, -EMSGSIZE or -ENOMEM. */
int live_row_put(struct wire_buf *out, const struct live_row *r, const void *frame, size_t len);

/* Of a line without its end, which it cuts and which must stay. False: it is none of ours. */
bool live_row_get(struct live_row *r, char *line);

/*
 * In which rows of a run are to be applied: streams together, of each the frames by their numbers.
 * For qsort.
 */
int live_row_order(const void *a, const void *b);

/* Rows with one key together, the one that holds first. For qsort. */
int live_row_key_order(const void *a, const void *b);
bool live_row_same_key(const struct live_row *a, const struct live_row *b);

/*
 * What the row says goes into the run, as of @when (its age is the row's). 0, -EBADMSG, or what
 * live_run_frame returns.
 */
int live_row_apply(struct live_run *run, struct live_reader *d, const struct live_row *r,
		   const struct live_when *when);

/* The same of a frame that was decoded: @len bytes, live_row_decode's. */
int live_row_apply_bytes(struct live_run *run, struct live_reader *d, const struct live_row *r,
			 const uint8_t *bytes, size_t len, const struct live_when *when);

/* Its stream's digits. */
void live_row_name_stream(struct live_row *r, const uint8_t id[WIRE_STREAM_ID_BYTES]);

/* The number of its frame. */
int64_t live_row_seq(uint32_t slot, int64_t rank);

/* The frame's bytes, r->digits / 2 of them, at @out. False: these are no digits. */
bool live_row_decode(const struct live_row *r, uint8_t *out);

/* The alert of a row of LIVE_ROW_ALERT. 0 or -EBADMSG. */
int live_row_fired(const struct live_row *r, struct live_fired *f);

#endif
