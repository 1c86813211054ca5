/* SPDX-License-Identifier: Apache-2.0 */
/* The runs of a folder, by when they were last written to. */
#ifndef VIEW_NEWEST_H
#define VIEW_NEWEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/options.h"

/*
 * When something was last written to a run directory, ns since 1970; -1: there is no stream in it.
 */
int64_t view_last_written(const char *dir);

/* The run below @base that was written to last, as a path; false: there is none. */
bool view_newest_run(const char *base, char *out, size_t room);

struct view_run_entry {
	char *path; /* owned */
	int64_t written_ns; /* since 1970 */
};

/* The runs below @base, the newest first; free() each path, then *list. 0 or -errno. */
int view_runs_list(const char *base, struct view_run_entry **list, size_t *count);
void view_runs_free(struct view_run_entry *list, size_t count);

/* The folder of runs where none is named: GPUSTARVE_OUT, else gpustarve-runs. */
const char *view_runs_folder(void);

/* Says that a command wants a run and none was named, and which one that may be. */
void view_say_no_run(const char *command);

/*
 * Operands such as -1 (the newest run of view_runs_folder()) and -2 (the one before) become paths,
 * up to "--"; values of options stay. False: there are not so many, which has been said. The paths
 * stay for the process's life.
 */
bool view_name_runs(const struct base_options *command, int argc, char **argv);

/* The newest run, where a command was given none. NULL: there is none, which has been said. */
char *view_newest_or_say(const char *command);

#endif
