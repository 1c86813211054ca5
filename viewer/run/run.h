/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One `gpustarve run` from its options to its end. Shared by cmd_run.c and run_*.c only; there is
 * one per process, and one thread.
 */
#ifndef VIEW_RUN_H
#define VIEW_RUN_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include "run_alerts.h"
#include "child.h"
#include "node.h"
#include "runid.h"
#include "turn.h"
#include "base/options.h"
#include "trace/runjson.h"

#define VIEW_RUN_LABELS 64
#define VIEW_RUN_ENV 17

struct view_run {
	char *const *command;
	const char *upstream; /* URL of a central collector, NULL: none */
	const char *out, *collector, *price, *price_model, *max_overhead, *level, *max_trace;
	struct view_run_label label[VIEW_RUN_LABELS];
	size_t labels;
	bool no_report, no_projection, no_identities, open, quiet;
	char found[2048]; /* values of labels that identities.c found */
	size_t found_used;

	char id[VIEW_RUN_ID_BYTES];
	struct view_turn turn;
	char base[PATH_MAX]; /* absolute */
	char dir[PATH_MAX + VIEW_RUN_ID_BYTES + 8];
	char shown[PATH_MAX + VIEW_RUN_ID_BYTES + 8]; /* as the user would write it */
	char host[256];
	char libprof[3072];
	bool traced; /* there is a place to record to */
	bool first; /* of the wrappers of this run */
	bool failed; /* the command did */
	bool left; /* without a trace so far, processes of the command go on that may make one */
	bool told; /* that something could not be written */
	bool own_socket; /* its collector is a wrapper's, whose words that one passes on */
	char *record; /* path of run.json or of our exit file */
	struct view_run_record about;
	struct view_node node;
	struct view_live *live; /* NULL: there is no status line */
	struct view_follow follow; /* if following */
	struct view_alerts alerts;
	bool following; /* the run is watched while it goes on */
	struct view_child child;
	struct timespec began;
	int64_t began_ns;
	struct view_env env[VIEW_RUN_ENV];
	size_t envs;
	char preload[8192], labels_text[1024];
	struct view_unit unit[VIEW_UNITS_MAX];
	size_t units;
	char counter[2 * PATH_MAX]; /* the file to which the program adds what it counts */
};

extern const struct base_options view_run_options; /* what the command takes */

/* run_options.c. 1: go on, 0: help was shown, -1: wrong usage, which has been said. */
int view_run_parse(int argc, char **argv, struct view_run *r);

/* run_env.c: what the command finds in its environment besides ours. */
void view_run_environment(struct view_run *r);

/* run_room.c. One line tells of a folder that takes no more, whoever of us notices it first. */
bool view_run_is_full(int err);
void view_run_no_room(struct view_run *r, int err); /* negative errno, 0: not known */
/* What the collector says: of a full disk in our words, else in its own. */
void view_run_hear(struct view_run *r);

#endif
