/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The other wrappers and processes of a run: is anybody still at it? Judged by what lies in the
 * run directory, and for processes of this host by asking the kernel.
 */
#ifndef VIEW_OTHERS_H
#define VIEW_OTHERS_H

#include <stdbool.h>

/* Whether a process recorded: true if the folder holds a stream or a spool, be it empty. */
bool view_run_has_streams(const char *dir);

/* Whether anything of it reached the disk. */
bool view_run_has_data(const char *dir);

/* Removes what a full disk left of streams. Only once nobody of the run writes any more. */
void view_run_drop_empty_streams(const char *dir);

/* True while a stream has no end or another wrapper than that of @own_record has not ended. */
bool view_others_go_on(const char *dir, const char *own_record);

/* True if the folder holds the record of another wrapper than the first. */
bool view_run_has_more_wrappers(const char *dir);

/*
 * Waits until they have ended: @seconds while other wrappers are at it, for their launcher waits
 * for them too; a fifth of that for processes that a command left behind in our session, and not at
 * all for those of this host that have left it, as daemons do. True: there is none to wait for.
 */
bool view_others_wait(const char *dir, const char *own_record, int seconds);

#endif
