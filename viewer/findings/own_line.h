/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user's own line that a piece of advice is about, and what it would be with the value that is
 * advised: read from the source files that the run names, where they are still what they were. Text
 * alone: nothing of it is run or believed, and a trace may name any file. Taken are regular files
 * of at most a megabyte whose name ends in .py, that were not written since the run began, and of
 * these only a line of the call itself: that which the loader told it was made at; where it told
 * nothing, one that stands there once.
 */
#ifndef VIEW_OWN_LINE_H
#define VIEW_OWN_LINE_H

#include "model/model.h"

#define VIEW_OWN_LINE_MAX 200 /* bytes; a longer line tells nothing */

struct view_own { /* of advice; not part of summary.json */
	const char *file;
	uint32_t line;
	const char *before, *after; /* without the white space around them */
};

/*
 * What the line has where the change has a value, if that is a name and no value ("args.workers"):
 * whoever runs the program may give it there. NULL: it is a value, or was not there.
 */
const char *view_own_name(struct base_arena *mem, const struct view_own *own);

/* Fills own of all advice whose call is found, where files may be opened for it (core/local.h). */
void view_own_lines_add(struct view_summary *s);

/*
 * @line, or several of them, with the argument that @change ("DataLoader(..., num_workers=4)")
 * names set, if it has the
 * whole of one such call; NULL: it has not. Pure.
 */
const char *view_own_line_changed(struct base_arena *mem, const char *line, const char *change);

#endif
