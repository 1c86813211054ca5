/* SPDX-License-Identifier: Apache-2.0 */
#include "who.h"

#include <pwd.h>
#include <stdio.h>
#include <sys/stat.h>
#include "run/missed.h"
#include "run/process.h"

static void name_user(struct view_holder *h)
{
	char path[48];
	const struct passwd *p;
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)h->pid);
	if (stat(path, &st))
		return;
	p = getpwuid(st.st_uid);
	if (p)
		snprintf(h->user, sizeof(h->user), "%s", p->pw_name);
	else
		snprintf(h->user, sizeof(h->user), "%u", (unsigned int)st.st_uid);
}

static void take(char *out, size_t room, const struct view_process *p, const char *name)
{
	const char *v = view_process_env(p, name);

	snprintf(out, room, "%s", v ? v : "");
}

/*
 * Spool files are a run as well: they are read later. A collector that is away for now takes it in
 * later, as far as the process keeps it until then.
 */
static enum view_holder_kind kind_of(const struct view_process *p)
{
	struct view_missed m;

	if (!p->maps_read)
		return VIEW_HOLDER_UNKNOWN;
	if (!p->has_library)
		return VIEW_HOLDER_UNWRAPPED;
	view_missed_process(p, &m);
	switch (m.link) {
	case VIEW_MISSED_NOTHING:
	case VIEW_MISSED_NO_CUDA:
	case VIEW_MISSED_UNTOLD:
	case VIEW_MISSED_LOST:
		return VIEW_HOLDER_RECORDED;
	default:
		return VIEW_HOLDER_UNWRAPPED;
	}
}

static void describe(struct view_holder *h)
{
	struct view_process p;

	h->kind = VIEW_HOLDER_UNKNOWN;
	name_user(h);
	if (view_process_read(&p, h->pid))
		return;
	h->kind = kind_of(&p);
	snprintf(h->command, sizeof(h->command), "%s", p.name);
	take(h->job, sizeof(h->job), &p, "SLURM_JOB_ID");
	take(h->account, sizeof(h->account), &p, "SLURM_JOB_ACCOUNT");
	take(h->partition, sizeof(h->partition), &p, "SLURM_JOB_PARTITION");
	take(h->cluster, sizeof(h->cluster), &p, "SLURM_CLUSTER_NAME");
	view_process_fini(&p);
}

const struct view_holder_source view_who = { .began = view_process_began, .describe = describe };
