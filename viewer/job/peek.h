/* SPDX-License-Identifier: Apache-2.0 */
/* Which job a run belongs to, as the least that must be read of it tells. Any thread. */
#ifndef VIEW_JOB_PEEK_H
#define VIEW_JOB_PEEK_H

#include "identity.h"

/* By run.json; true: there is one, whether it tells a job or not. Texts lie in @mem. */
bool view_peek_record(const char *run, struct base_arena *mem, struct view_job_identity *id);

/* By the Hello of its first file, which is among the first frames. */
void view_peek_hello(const char *run, struct base_arena *mem, struct view_job_identity *id);

/* Whether it has that label, by run.json, else by that Hello. */
bool view_peek_labelled(const char *run, const char *key, const char *value);

/* What a Hello's environment says of a variable; NULL: nothing. For view_job_from. */
const char *view_hello_variable(void *hello, const char *name);

#endif
