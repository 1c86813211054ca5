/* SPDX-License-Identifier: Apache-2.0 */
/* How old a scheduler's job is: what was made of it earlier may not be all of it. Any thread. */
#ifndef FLEET_JOB_AGE_H
#define FLEET_JOB_AGE_H

#include "job/find.h"

/*
 * When something was last written of its runs or of what it was given, ns since 1970; -1: there is
 * neither. It has a folder.
 */
int64_t fleet_job_written(const struct view_job *job);

/* The same of the job whose folder this is; -1 also where it is no such folder. */
int64_t fleet_job_folder_written(const char *folder);

#endif
