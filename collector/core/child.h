/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that the collector runs beside its own work (`gpustarve report`, a sweep of its store):
 * at low priority, with limits on time, memory and the size of files, in a process group of their
 * own, and ended when the collector ends. What a child writes is kept up to a bound, and the rest
 * is read and dropped; or it is handed on line by line, however much it is. One thread, the loop's.
 */
#ifndef COLL_CHILD_H
#define COLL_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "loop.h"

#define COLL_CHILD_PATH_BYTES 4096

/* A line without its end, of at most output_max bytes: of a longer one, its beginning. */
typedef void coll_child_line(void *owner, const char *line);

struct coll_child_plan {
	const char *const *argv; /* argv[0]: the program's path; NULL: call work() in a fork */
	int (*work)(void *arg); /* its result is the exit status; writes to descriptor 1 */
	void *arg;
	int stdin_fd; /* what it reads, closed by the caller; 0: nothing */
	bool stderr_kept; /* keep stderr (stdout goes nowhere); else stdout (stderr stays ours) */
	size_t output_max; /* bytes kept of it */
	/* gets each whole line as it comes, and none is kept; NULL: all is */
	coll_child_line *line;
	int timeout_s; /* then it is killed; 0: never */
	uint64_t memory; /* bytes of address space; 0: no limit */
	uint64_t file_bytes; /* the largest file that it may write; 0: no limit */
};

struct coll_child;

struct coll_children {
	struct coll_loop *loop; /* borrowed */
	struct coll_child *first;
	size_t count;
};

/* How it ended. */
struct coll_child_end {
	int status; /* of waitpid; see coll_child_ok */
	bool timed_out;
	bool output_cut; /* it wrote more than was kept */
	const char *output; /* ends with a 0 byte; valid during the call */
	size_t output_len;
};

/* Called once, from the loop. The child is gone then, and may be started again from here. */
typedef void coll_child_done(void *owner, const struct coll_child_end *end);

void coll_children_init(struct coll_children *all, struct coll_loop *loop);

/* Kills and reaps all of them; nobody is told. */
void coll_children_fini(struct coll_children *all);

/* To be called about once a second: ends those that took too long. */
void coll_children_tick(struct coll_children *all, int64_t now_ns);

/* 0 or -errno. @plan is not needed afterwards. */
int coll_child_start(struct coll_children *all, const struct coll_child_plan *plan,
		     coll_child_done *done, void *owner);

/* @owner goes away: its children are killed and it will not be called. */
void coll_children_forget(struct coll_children *all, const void *owner);

/* Puts @option and @value behind @n words, if there is a value. How many there are then. */
size_t coll_child_option(const char **argv, size_t n, const char *option, const char *value);

bool coll_child_ok(const struct coll_child_end *end); /* exit status 0, in time */

/* Why it failed, for a log line: "exit status 2: <last line>". Control characters become '?'. */
void coll_child_why(const struct coll_child_end *end, char *out, size_t room);

/* The path of a program that lies beside ours. False: it is not there. */
bool coll_child_beside(char out[COLL_CHILD_PATH_BYTES], const char *name);

#endif
