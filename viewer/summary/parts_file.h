/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VIEW_PARTS_FILE in a run's directory: what the analysis has finished so far, a record for each
 * component, and the last place that those it is walking have reached, so that one that is killed
 * at any moment goes on from there. A record is appended and has a checksum: what is cut or damaged
 * is walked again. Of what is of no use any more the room is given back, and the file is as long.
 * The file holds for the run's files as they were when it was begun and for this version of the
 * program; else it is begun anew, under another name at first. Who has it open holds its lock, and
 * another analysis beside it keeps nothing. It is hostile, as all of a run is: what is in it may be
 * wrong, as the trace may be, and nothing worse.
 *
 * A keeper of ana_options, from any thread.
 */
#ifndef VIEW_PARTS_FILE_H
#define VIEW_PARTS_FILE_H

#include "analysis/ledger.h"

#define VIEW_PARTS_FILE ".digest-parts"

struct view_parts_file;

/* NULL: nothing can be kept there. */
struct view_parts_file *view_parts_file_open(const char *run_dir);
const struct ana_keeper *view_parts_file_keeper(const struct view_parts_file *p);
void view_parts_file_close(struct view_parts_file *p); /* or NULL */

#endif
