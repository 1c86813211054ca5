/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names, by their characters and their end.
 */
#include "run_name.h"

#include <stdio.h>
#include <string.h>
#include "base/hash.h"
#include "base/minmax.h"

#define SUFFIX_BYTES (sizeof(COLL_RUN_SUFFIX) - 1)
#define SCHEDULED "slurm-" /* in front of the names of runs that a scheduler started */
#define HASH_BYTES sizeof("-12345678")
#define DIGITS_MAX 10 /* of a job's number */

void coll_run_name(char out[COLL_RUN_BYTES], const char *run_id)
{
	bool changed = run_id[0] == '.';
	char hash[HASH_BYTES];
	size_t i;

	for (i = 0; i < COLL_RUN_BYTES - 1 && run_id[i]; i++) {
		out[i] = strchr(COLL_NAME_CHARACTERS, run_id[i]) ? run_id[i] : '_';
		changed |= out[i] != run_id[i];
	}
	out[i] = '\0';
	if (out[0] == '.')
		out[0] = '_';
	if (!changed && !run_id[i])
		return;
	snprintf(hash, sizeof(hash), "-%08x", (unsigned)base_hash_text(BASE_HASH, run_id));
	strcpy(out + base_min((int64_t)i, COLL_RUN_BYTES - sizeof(hash)), hash);
}

bool coll_run_dir_is(const char *name)
{
	size_t len = strlen(name);

	return name[0] != '.' && len > SUFFIX_BYTES &&
	       !strcmp(name + len - SUFFIX_BYTES, COLL_RUN_SUFFIX);
}

char *coll_run_id_of(const char *dir)
{
	const char *slash = strrchr(dir, '/'), *name = slash ? slash + 1 : dir;
	size_t len = strlen(name);

	if (len > SUFFIX_BYTES && !coll_job_dir_is(name))
		len -= SUFFIX_BYTES;
	return strndup(name, len);
}

/* How many digits the text of @len ends in, if they are a number after a hyphen; 0: no. */
static size_t number_at_end(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && text[len - n - 1] >= '0' && text[len - n - 1] <= '9')
		n++;
	return n && n <= DIGITS_MAX && len > n + 1 && text[len - n - 1] == '-' ? n : 0;
}

bool coll_job_dir_is(const char *name)
{
	size_t len = strlen(name), end = sizeof(COLL_JOB_SUFFIX) - 1;

	return len < COLL_RUN_BYTES && len > end && name[0] != '.' &&
	       !strcmp(name + len - end, COLL_JOB_SUFFIX) &&
	       strspn(name, COLL_NAME_CHARACTERS) == len && number_at_end(name, len - end);
}

bool coll_job_of_run(char out[COLL_RUN_BYTES], const char *name)
{
	const char *job = name + sizeof(SCHEDULED) - 1, *step;

	if (!coll_run_dir_is(name) || strncmp(name, SCHEDULED, sizeof(SCHEDULED) - 1) != 0)
		return false;
	step = memrchr(job, '.', strlen(job) - SUFFIX_BYTES);
	if (!step || step - job + sizeof(COLL_JOB_SUFFIX) > COLL_RUN_BYTES)
		return false;
	snprintf(out, COLL_RUN_BYTES, "%.*s" COLL_JOB_SUFFIX, (int)(step - job), job);
	return coll_job_dir_is(out);
}

bool coll_job_has_run(const char *job, const char *run)
{
	char dir[COLL_RUN_BYTES + sizeof(COLL_RUN_SUFFIX)], of[COLL_RUN_BYTES];

	snprintf(dir, sizeof(dir), "%s" COLL_RUN_SUFFIX, run);
	return coll_job_of_run(of, dir) && !strcmp(of, job);
}

void coll_job_runs(char *out, size_t room, const char *job)
{
	snprintf(out, room, SCHEDULED "%.*s.", (int)(strlen(job) - sizeof(COLL_JOB_SUFFIX) + 1),
		 job);
}
