/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who this process is: run id, stream id, rank, command line, start time. Filled once at arm.
 */
#ifndef PROF_PROCINFO_H
#define PROF_PROCINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROF_COMMAND_BYTES 4096
#define PROF_COMMAND_WORDS 64
#define PROF_VARIABLES 24

struct prof_variable {
	const char *name, *value;
};

struct prof_process {
	uint8_t stream[16]; /* drawn at random: execv keeps pid and start time */
	char host[65];
	char user[64];
	char boot_id[40];
	int64_t pid, parent_pid;
	int64_t start_ns; /* of the fork, on the trace's clock */
	int64_t program_start_ns; /* the same; 0: libprof was loaded later */
	int rank, local_rank;
	bool has_rank;
	uint32_t world_size; /* 0: unknown */
	char command_text[PROF_COMMAND_BYTES];
	char *command[PROF_COMMAND_WORDS]; /* into command_text */
	size_t words;
	struct prof_variable variable[PROF_VARIABLES]; /* scheduler ids */
	size_t variables;
	char environment_text[4096];
	bool notebook; /* JPY_PARENT_PID is set: a notebook may be an ancestor */
	char instance_type[64], provider[32]; /* of the cloud's machine, "" if not known */
};

/* From the constructor, where libprof is loaded with the program. Forked children keep it. */
void prof_process_begins(void);

/*
 * Never fails: what cannot be read stays empty. Reads the environment, so it must run on a thread
 * of the program, as any getenv.
 */
void prof_process_read(struct prof_process *p);

/*
 * The run id, from the first of these that is set (gpustarve-run(1)): GPUSTARVE_RUN_ID; SLURM
 * cluster, job, step and restart of a numbered step; PMIX_NAMESPACE; TORCHELASTIC_RUN_ID unless
 * "none". False when none of these is set (out is then ""). Made fit for a file name.
 */
bool prof_run_id_from_env(char *out, size_t size);

/* <utc>-<command>-<random>: what the constructor sets where no id is to be had. */
void prof_run_id_make(char *out, size_t size, int argc, char **argv);

#endif
