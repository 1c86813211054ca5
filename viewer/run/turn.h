/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several commands of one step of Slurm, each with a wrapper of its own, are runs of their own: the
 * second wrapper of a rank makes the run id with "-2" behind it, the third "-3". Ranks belong
 * together that count alike, so each counts for itself, on its own node: a byte per wrapper in
 * <folder of runs>/.<run id>.rank-<SLURM_PROCID>, written as one append whose end is the count,
 * so wrappers that begin at once have different ones.
 *
 * Not counted, and so all of one run as ever, are wrappers below another one, those whose id was
 * given, and ranks that another launcher within the step numbers (torchrun, mpirun): which of those
 * belong together Slurm's numbers do not tell. Whatever fails counts as the first.
 */
#ifndef VIEW_TURN_H
#define VIEW_TURN_H

#include <limits.h>
#include <stddef.h>

struct view_turn {
	char file[PATH_MAX]; /* "": nothing was counted */
};

/* Adds this wrapper's number to the run's @id in @room, unless it is the first. */
void view_turn_take(struct view_turn *t, const char *base, char *id, size_t room);

/* The file goes with the wrapper that is all of its task. */
void view_turn_end(const struct view_turn *t);

#endif
