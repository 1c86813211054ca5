/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a process is not recorded: the first link of the chain that is missing, from what
 * view_process tells of it and of the processes above. The chain: somebody puts libprof.so into
 * LD_PRELOAD, every launcher hands it on, the file is there where the process looks, its loader
 * loads it, CUDA loads no other tool in its place, nothing switches it off, and what it sends is
 * taken. Any thread.
 */
#ifndef VIEW_MISSED_H
#define VIEW_MISSED_H

#include <stdarg.h>
#include <stdbool.h>
#include "process.h"

enum view_missed_link {
	VIEW_MISSED_NOTHING, /* it is recorded, or would be */
	VIEW_MISSED_NO_CUDA, /* so is it, but it has not used a GPU */
	VIEW_MISSED_WRAPPER, /* it is `gpustarve run` itself */
	VIEW_MISSED_NOBODY, /* neither it nor a process above has it in LD_PRELOAD */
	VIEW_MISSED_DROPPED, /* one above has; a launcher dropped it */
	VIEW_MISSED_EMPTIED, /* a wrapper is above, and it did not come down from there */
	VIEW_MISSED_SUDO, /* that launcher is sudo or its like */
	VIEW_MISSED_RAY, /* started by a raylet, whose environment counts */
	VIEW_MISSED_PRIVILEGED, /* setuid, setgid or file capabilities */
	VIEW_MISSED_NO_FILE, /* LD_PRELOAD names a file that is not there for it */
	VIEW_MISSED_UNREADABLE, /* a file that it may not read */
	VIEW_MISSED_LATE, /* the file is there now and was not when it began */
	VIEW_MISSED_STATIC,
	VIEW_MISSED_MUSL,
	VIEW_MISSED_OTHER, /* of another word size */
	VIEW_MISSED_OPT_OUT,
	VIEW_MISSED_NO_PRELOAD, /* GPUSTARVE_PRELOAD=0 and no CUDA yet */
	VIEW_MISSED_SANITIZER,
	VIEW_MISSED_INJECTION, /* CUDA_INJECTION64_PATH is another tool's */
	VIEW_MISSED_TOOL, /* ncu or compute-sanitizer */
	VIEW_MISSED_LOST, /* nobody listens now, and no spool file can be written */
	VIEW_MISSED_TURNED_AWAY, /* the same, by a collector that takes other users' */
	VIEW_MISSED_UNTOLD, /* cannot be told */
	/* of commands alone */
	VIEW_MISSED_NO_COMMAND, /* nothing here that could be started */
	VIEW_MISSED_ELSEWHERE, /* it starts others on another machine or in a container */
	VIEW_MISSED_NO_LIBRARY, /* gpustarve's own is not there */
	VIEW_MISSED_NO_FOLDER, /* no run directory can be made */
	VIEW_MISSED_NO_CUPTI, /* GPUSTARVE_CUPTI names none */
	VIEW_MISSED_UPSTREAM, /* recorded, and does not reach the collector beyond this machine */
};

struct view_missed {
	enum view_missed_link link;
	char what[512]; /* "sudo (pid 77) dropped LD_PRELOAD", fit for a terminal */
	const char *remedy; /* static; "": there is none to give */
};

void view_missed_process(const struct view_process *p, struct view_missed *out);

/*
 * Of a command that was not started: with this process's environment, by `gpustarve run`.
 * @words: it and its arguments, ended by NULL. Launchers of a table are looked through (env, nice).
 */
void view_missed_command(char *const *words, struct view_missed *out);

/* Sets all of @out, for who asks further than this does; what is not printable becomes '?'. */
void view_missed_vtell(struct view_missed *out, enum view_missed_link link, const char *fmt,
		       va_list list) __attribute__((format(printf, 3, 0)));

#endif
