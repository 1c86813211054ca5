/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of runs and of their directories, RUN.gst, and of what lies beside them: a scheduler's job,
 * CLUSTER-JOB.job, whose runs are slurm-CLUSTER-JOB.STEP-RESTART.gst, of a step's second command
 * with -2 behind RESTART. Any thread.
 */
#ifndef COLL_RUN_NAME_H
#define COLL_RUN_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define COLL_RUN_BYTES 252 /* with the end; a file name has 255 characters, four are .gst */
#define COLL_RUN_SUFFIX ".gst" /* of a run's directory, and of a stream's file in it */
#define COLL_JOB_SUFFIX ".job"
#define COLL_NAME_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-+=@"

/*
 * A run id as a file name: at most 251 characters of A-Z a-z 0-9 . _ - + = @; others and a leading
 * dot become _, and where that changed it, or cut it, "-" and the lower 32 bits of its FNV-1a follow
 * as eight digits: other texts are other runs. As in libprof and the wrapper, so that all mean one
 * directory. "" stays "".
 */
void coll_run_name(char out[COLL_RUN_BYTES], const char *run_id);

/* Whether a directory of that name is a run's: something before .gst, and no dot in front. */
bool coll_run_dir_is(const char *name);

/*
 * The run id: the last part of the directory's path without .gst, to be freed; NULL: no memory. Of
 * a job all of the last part.
 */
char *coll_run_id_of(const char *dir);

/* Whether it is the name of a job's folder, of our characters, with the job's number. */
bool coll_job_dir_is(const char *name);

/*
 * The folder of the job whose run's directory is called @name, as that name tells. False: it tells
 * none.
 */
bool coll_job_of_run(char out[COLL_RUN_BYTES], const char *name);

/* Whether a run of that name, without its end, is of the job whose folder is called @job. */
bool coll_job_has_run(const char *job, const char *run);

/* How the names of the runs of a job begin, whose folder is called @job; others' may, too. */
void coll_job_runs(char *out, size_t room, const char *job);

#endif
