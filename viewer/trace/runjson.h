/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.json: what the wrapper knows of a run, in its directory. Made O_EXCL at the start by the
 * first wrapper of the run, replaced as a whole at its end; until then exit_status is null. Further
 * wrappers of the same run make exit-<host>-<their pid>.json of the same shape. Both are made with
 * spaces in them, so that the end can be written over them on a disk that is full by then. No arena
 * is used: writing never ends the process.
 */
#ifndef VIEW_RUNJSON_H
#define VIEW_RUNJSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "core/unit.h"
#include "job/identity.h"

struct view_run_label {
	const char *key, *value;
};

struct view_run_record {
	const char *id;
	char *const *command; /* NULL-terminated */
	int64_t start_unix_ns, wall_ns;
	bool ended;
	int exit_status; /* as a shell would say it: 128 + signal */
	int wait_status; /* as waitpid gave it */
	const struct view_run_label *label;
	size_t labels;
	const char *host;
	pid_t pid; /* of the command */
	const char *user; /* NULL: not known */
	struct view_job_identity job; /* unknown: no scheduler started it */
	const char *price, *price_model, *price_from; /* kept with the run; NULL: none given */
	const struct view_unit *unit; /* --unit */
	size_t units;
};

#define VIEW_PLACE_BYTES 300

/*
 * Where process numbers are each one's own: @host, and in a container its pid namespace with it,
 * for several on one host have the same numbers. @out of VIEW_PLACE_BYTES. For files' names alone.
 */
void view_run_place(char *out, size_t room, const char *host);

/*
 * Makes run.json; *first tells whether we were the first. *path (free()) is the file to complete:
 * run.json or our own exit-<host>-<pid>.json. 0 or negative errno, then *path is NULL.
 */
int view_run_record_begin(const char *dir, const struct view_run_record *r, bool *first,
			  char **path);
int view_run_record_end(const char *path, const struct view_run_record *r);

/* The price that was given to `gpustarve run`, from run.json of a run directory. */
struct view_run_price {
	char price[40], model[16], from[40];
};
void view_run_price_read(const char *dir, struct view_run_price *p);

/* The command's exit status as a shell says it, from there; -1: it goes on, or nobody wrote it. */
int view_run_exit_read(const char *dir);

#endif
