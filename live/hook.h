/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions watched for one run, and what an alert does when it fires: a line in the run's
 * alerts.jsonl, and a command. With command.h the only part of live/ that touches files
 * and processes.
 *
 * The command is left alone when its watcher ends (command.h), and it may hang, fork or fail: that
 * is between it and its system; a watcher starts each one once. It finds in its environment:
 * GPUSTARVE_ALERT_CONDITION, _METRIC, _VALUE (integer) and _UNIT of it, _TEXT (a sentence), _BY,
 * _TIME_NS (Unix time), _RUN (the run directory) and _RUN_ID.
 *
 * One thread per watch.
 */
#ifndef LIVE_HOOK_H
#define LIVE_HOOK_H

#include <sys/types.h>
#include "fired.h"

#define LIVE_ALERTS_MAX 32 /* conditions of one watch */

struct live_watch { /* caller-owned; zero but for @by at first */
	const char *by; /* "run" or "collector" */
	struct live_watch_entry {
		struct live_alert alert;
		const char *exec; /* the caller's; NULL: no command */
		int budget_pct; /* 80 or 100; 0: no budget */
		pid_t pid; /* of its command while that runs, else 0 */
	} entry[LIVE_ALERTS_MAX];
	size_t entries;
};

/* One more condition. 0 or -ENOSPC. */
int live_watch_add(struct live_watch *w, const struct live_condition *c, const char *exec,
		   int budget_pct);

/* Calls @each for every line of the run directory's alerts.jsonl; the first 4 MiB. */
void live_alerts_each(const char *dir, void (*each)(void *arg, const struct live_fired *f),
		      void *arg);

/* The same of that file and of those that nodes sent of theirs: what is shown of a run. */
void live_alerts_each_anywhere(const char *dir, void (*each)(void *arg, const struct live_fired *f),
			       void *arg);

/*
 * Takes note of what the run directory says has fired already, so that nothing fires twice. No
 * such file is fine; what is no line of ours is passed over.
 */
void live_watch_restore(struct live_watch *w, const char *dir);

/* The run that is watched, and who hears of each alert that fires. */
struct live_watched {
	const char *dir; /* the run directory */
	const char *id; /* the run's name */
	/* NULL: nobody. @written: 0, or negative errno of the line in the file. */
	void (*fired)(void *arg, const struct live_fired *f, int written);
	/*
	 * Asked, instead of doing anything, of whoever decides who of several watchers does it: he
	 * calls live_watch_start, or says that it may fire again. NULL: this watcher does it.
	 */
	void (*claim)(void *arg, size_t entry, const struct live_fired *f);
	void *arg;
};

/*
 * Looks at every condition. What fires is written down first and then done, so that a watcher that
 * is killed in between starts no command twice.
 */
void live_watch_check(struct live_watch *w, const struct live_watched *run,
		      const struct live_totals *t, const struct live_when *when);

/* The watcher is to do it: starts the command, if there is one, and says so. No line is written. */
void live_watch_start(struct live_watch *w, size_t entry, const struct live_fired *f,
		      const struct live_watched *run);

/* Takes note of commands that have ended, in the file of @dir, if any. Never waits. */
void live_watch_reap(struct live_watch *w, const char *dir);

/* How many have fired, in this process or before. */
size_t live_watch_fired(const struct live_watch *w);

#endif
