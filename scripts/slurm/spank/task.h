/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the SPANK plugin sets in the environment of a task, and when it leaves the task alone: the
 * rules of ../taskprolog, so that both may be installed and either may come first. All of it runs
 * as the job's user, in the process that becomes the task; nothing fails, what cannot be had is
 * left out.
 */
#ifndef GS_SPANK_TASK_H
#define GS_SPANK_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <slurm/spank.h>

#define GS_PATH_MAX 3000 /* of a folder; libprof takes no longer one */

struct gs_spank {
	bool on; /* the site's default */
	bool given; /* the user's --gpustarve */
	bool off; /* the user's --gpustarve=off */
	bool batch; /* batch shells, too */
	char on_in[GS_PATH_MAX], off_in[GS_PATH_MAX]; /* partitions where @on is otherwise: "a,b" */
	char asked[GS_PATH_MAX]; /* --gpustarve=DIR; "" if none was named */
	char dir[GS_PATH_MAX]; /* the site's folder, %u in it is the user; "" if it has none */
	char lib[GS_PATH_MAX]; /* libprof.so */
	char run[GS_PATH_MAX]; /* where Prolog leaves the collector's socket */
};

/* For task_init. */
void gs_spank_task(spank_t sp, const struct gs_spank *g);

/* Is @path, or another libprof.so, one of the words (blanks or colons between) of @list? */
bool gs_spank_listed(const char *list, const char *path);

/* Is @partition one of those between the commas of @list? */
bool gs_spank_names(const char *list, const char *partition);

/*
 * The folder with its first %u replaced by @user, whose name must do in a path. False: it does not.
 */
bool gs_spank_fill_in(char *out, size_t room, const char *dir, const char *user);

#endif
