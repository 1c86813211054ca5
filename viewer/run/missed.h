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

#include <stdbool.h>
#include "process.h"

enum view_missed_link {
	VIEW_MISSED_NOTHING, /* it is recorded, or would be */
	VIEW_MISSED_NO_CUDA, /* so is it, but it has not used a GPU */
	VIEW_MISSED_NOBODY, /* neither it nor a process above has it in LD_PRELOAD */
	VIEW_MISSED_DROPPED, /* one above has; a launcher dropped it */
	VIEW_MISSED_SUDO, /* that launcher is sudo or its like */
	VIEW_MISSED_RAY, /* started by a raylet, whose environment counts */
	VIEW_MISSED_PRIVILEGED, /* setuid, setgid or file capabilities */
	VIEW_MISSED_NO_FILE, /* LD_PRELOAD names a file that is not there for it */
	VIEW_MISSED_LATE, /* the file is there now and was not when it began */
	VIEW_MISSED_STATIC,
	VIEW_MISSED_MUSL,
	VIEW_MISSED_OTHER, /* of another word size */
	VIEW_MISSED_OPT_OUT,
	VIEW_MISSED_NO_PRELOAD, /* GPUSTARVE_PRELOAD=0 and no CUDA yet */
	VIEW_MISSED_SANITIZER,
	VIEW_MISSED_INJECTION, /* CUDA_INJECTION64_PATH is another tool's */
	VIEW_MISSED_TOOL, /* ncu or compute-sanitizer */
	VIEW_MISSED_SOCKET, /* nobody listens, or it is not let in: spool files */
};

struct view_missed {
	enum view_missed_link link;
	char what[512]; /* "sudo (pid 77) dropped LD_PRELOAD", without control characters */
	const char *remedy; /* static; "": there is none to give */
};

void view_missed_process(const struct view_process *p, struct view_missed *out);

/* Of a command that was not started: with this process's environment, by `gpustarve run`. */
void view_missed_command(const char *command, struct view_missed *out);

#endif
