/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that read pieces of an event list, each a run of whole rows, and hand them back in the
 * order they were given. Where a list was cut is a guess; that a piece reads well, from its first
 * byte to its last, proves the guess: JSON has one reading only. A piece that does not is handed
 * back as text. One thread fills and collects.
 */
#ifndef VIEW_IMPORT_PIECES_H
#define VIEW_IMPORT_PIECES_H

#include <stdint.h>
#include "merge.h"

struct view_import_piece {
	uint8_t *text; /* rows with commas between them, and one behind the last */
	size_t len, room;
	uint64_t offset; /* in the file */
	/* the pool's own */
	struct view_import_part part;
	int err;
	bool done;
};

struct view_import_pieces;

/* NULL: no memory, or no thread could be started. */
struct view_import_pieces *view_import_pieces_new(unsigned int threads);
void view_import_pieces_free(struct view_import_pieces *p); /* waits for the threads */

/* The piece to fill next; NULL: all are in use, collect first. */
struct view_import_piece *view_import_pieces_next(struct view_import_pieces *p);
/* Gives it to the threads. */
void view_import_pieces_submit(struct view_import_pieces *p);

/*
 * Waits for the oldest piece that was submitted and adds its records to @t. 1; 0: there is none;
 * -EBADMSG: it does not read well, *piece is it, and collecting is over; -ENOMEM, -E2BIG.
 */
int view_import_pieces_collect(struct view_import_pieces *p, struct view_import_trace *t);

/*
 * After -EBADMSG: the text of the pieces from the failed one on, in order, one a call; the last
 * one may be in filling. NULL: no more.
 */
struct view_import_piece *view_import_pieces_take_back(struct view_import_pieces *p);

#endif
