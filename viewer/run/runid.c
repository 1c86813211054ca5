/* SPDX-License-Identifier: Apache-2.0 */
#include "runid.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#include "base/hash.h"

static const char *variable(const char *name)
{
	const char *v = getenv(name);

	return v && *v ? v : NULL;
}

/* Batch and interactive steps carry names or reserved numbers: several commands share them. */
static bool numbered_step(const char *step)
{
	char *end;

	if (!step || strlen(step) > 10)
		return false;
	unsigned long long v = strtoull(step, &end, 10);
	return !*end && step[0] >= '0' && step[0] <= '9' && v < 0xfffffff0ull;
}

static bool from_slurm(char *out, size_t room)
{
	const char *cluster = variable("SLURM_CLUSTER_NAME"), *job = variable("SLURM_JOB_ID");
	const char *step = variable("SLURM_STEP_ID"), *restart = variable("SLURM_RESTART_COUNT");

	if (!job || !numbered_step(step))
		return false;
	snprintf(out, room, "slurm-%s-%s.%s-%s", cluster ? cluster : "cluster", job, step,
		 restart ? restart : "0");
	return true;
}

/* As libprof does (libprof/core/procinfo.c): OpenMPI's namespace alone may come again. */
static bool from_pmix(char *out, size_t room)
{
	const char *space = variable("PMIX_NAMESPACE"), *uri = variable("OMPI_MCA_orte_hnp_uri");

	if (!space)
		return false;
	if (uri)
		snprintf(out, room, "pmix-%s-%06x", space,
			 (unsigned)(base_hash_text(BASE_HASH, uri) & 0xffffff));
	else
		snprintf(out, room, "pmix-%s", space);
	return true;
}

/* One path component; no leading dot, which would hide it. True: it was none. */
static bool make_safe(char *text)
{
	static const char extra[] = "._-+=@";
	bool changed = *text == '.';

	if (changed)
		*text = '_';
	for (; *text; text++) {
		char c = *text, low = (char)(c | 32);
		bool good =
			(low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') || strchr(extra, c);
		if (!good)
			*text = '_';
		changed |= !good;
	}
	return changed;
}

/* As libprof does: what differs where a name may not, or behind its end, is another run. */
static void from_text(char *out, size_t room, const char *prefix, const char *text)
{
	uint64_t h = base_hash_text(base_hash_text(BASE_HASH, prefix), text);
	size_t len = (size_t)snprintf(out, room, "%s%s", prefix, text);
	char hash[16];

	if (!make_safe(out) && len < room)
		return;
	snprintf(hash, sizeof(hash), "-%08x", (unsigned)h);
	size_t most = room - strlen(hash) - 1;
	strcpy(out + (len < most ? len : most), hash);
}

static bool from_environment(char *out, size_t room)
{
	const char *own = variable("GPUSTARVE_RUN_ID");
	const char *elastic = variable("TORCHELASTIC_RUN_ID");

	if (own)
		from_text(out, room, "", own);
	else if (from_slurm(out, room) || from_pmix(out, room))
		return true;
	else if (elastic && strcmp(elastic, "none") != 0)
		from_text(out, room, "torchelastic-", elastic);
	else
		return false;
	return true;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* `python -u train.py` is a run of train. */
static const char *command_name(char *const *command)
{
	const char *name = last_part(command[0]);

	if (strncmp(name, "python", 6) != 0)
		return name;
	for (char *const *p = command + 1; *p; p++) {
		if (!strcmp(*p, "-c"))
			break;
		if (!strcmp(*p, "-m") && p[1])
			return p[1];
		if (**p != '-')
			return last_part(*p);
	}
	return name;
}

static void made_up(char *out, size_t room, char *const *command)
{
	char when[32] = "", name[48];
	time_t now = time(NULL);
	uint32_t random = 0;
	struct tm tm;

	if (gmtime_r(&now, &tm))
		strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm);
	snprintf(name, sizeof(name), "%s", command_name(command));
	size_t len = strlen(name);
	if (len > 3 && !strcmp(name + len - 3, ".py"))
		name[len - 3] = '\0';
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = (uint32_t)getpid() * 2654435761u ^ (uint32_t)now;
	snprintf(out, room, "%s-%s-%06x", when, name, random & 0xffffff);
}

void view_run_id(char *out, size_t room, char *const *command)
{
	if (!from_environment(out, room))
		made_up(out, room, command);
	make_safe(out);
}

/* As the hooks name it (scripts/slurm/taskprolog); a wrapper above has set GPUSTARVE_UNITS. */
static bool from_batch(char *out, size_t room)
{
	const char *cluster = variable("SLURM_CLUSTER_NAME"), *job = variable("SLURM_JOB_ID");
	const char *restart = variable("SLURM_RESTART_COUNT");

	if (!job || variable("SLURM_STEP_ID") || variable("GPUSTARVE_UNITS"))
		return false;
	snprintf(out, room, "slurm-%s-%s.batch-%s", cluster ? cluster : "cluster", job,
		 restart ? restart : "0");
	return true;
}

bool view_run_id_is_slurms(const char *id, bool *batch)
{
	char own[VIEW_RUN_ID_BYTES];

	*batch = variable("GPUSTARVE_RUN_ID") != NULL;
	if (*batch ? !from_batch(own, sizeof(own)) : !from_slurm(own, sizeof(own)))
		return false;
	make_safe(own);
	return !strcmp(own, id);
}
