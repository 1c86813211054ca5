/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unbilled.jsonl in a team's folder: a line for each run that a quota removed before its digest was
 * made, with the time it held GPUs as far as its pulses tell (held_time.h). docs/OPERATIONS.md has
 * the members. Written by sweeps, one process at a time per line.
 */
#ifndef COLL_UNBILLED_H
#define COLL_UNBILLED_H

#include "run_dirs.h"

#define COLL_UNBILLED "unbilled.jsonl"

/* Appends the line, durably, before the run goes. @folder_fd: the team's. 0 or -errno. */
int coll_unbilled_note(int folder_fd, const struct coll_run_dir *run, const char *why);

#endif
