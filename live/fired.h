/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alerts.jsonl in a run directory: a line of JSON for each alert that fired, and one for each
 * command that was started for it and has ended. Here the lines are made and read; live/hook.h
 * writes them. Whoever reads them takes each as hostile. docs/OPERATIONS.md
 * has the members.
 */
#ifndef LIVE_FIRED_H
#define LIVE_FIRED_H

#include <dirent.h>
#include "condition.h"

#define LIVE_FIRED_FILE "alerts.jsonl" /* of whoever watches here: it says what has fired already */
#define LIVE_FIRED_OTHERS "alerts-node" /* ...-NODE.jsonl: of a node that sent it */
#define LIVE_FIRED_SCHEMA "gpustarve.alert/1"
#define LIVE_FIRED_LINE 4096 /* bytes of a line at most, newline and end included */
#define LIVE_FIRED_LINES 1024 /* of a file that are read at most */
#define LIVE_FIRED_TEXT 512

struct live_fired {
	char by[16]; /* who watched: "run" or "collector" */
	char condition[LIVE_CONDITION_BYTES];
	bool ended; /* this line tells how its command ended: of what follows only @status holds */
	int status; /* as a shell would say it */
	enum live_metric metric;
	int64_t value, threshold;
	int64_t t_unix_ns, since_unix_ns; /* when it fired, when it began to hold */
	int budget_pct; /* 80 or 100; 0: no budget */
	char exec[LIVE_FIRED_TEXT]; /* the command, cut; "": none */
	char exec_error[128]; /* why it could not be started, "": it was; not in the line */
};

/* Whether a file of a run directory holds the alerts of a node. For scandir. */
int live_fired_is_of_node(const struct dirent *e);

/* The line with its newline; its length, or -EMSGSIZE. @out has LIVE_FIRED_LINE bytes. */
int live_fired_put(const struct live_fired *f, char *out);

/* 0, or -EBADMSG: not a line of ours. @len without the newline. */
int live_fired_get(struct live_fired *f, const char *line, size_t len);

/* "GPUs idle for 15 m 3 s (idle_for>15m)", "80 % of the budget used: $40.01 of $50". */
#define LIVE_WORDS_BYTES 256
const char *live_fired_words(char *out, const struct live_fired *f);

#endif
