/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sweeps in children, their sums in memory.
 */
#include "retention.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include "core/clock.h"
#include "core/log.h"
#include "sweep.h"
#include "sweep_clock.h"

#define SWEEP_EVERY_NS (COLL_SWEEP_EVERY_S * COLL_SECOND_NS)
#define SWEEP_SOON_NS (10 * COLL_SECOND_NS) /* between two that a quota asks for */
#define SWEEP_TIMEOUT_S 3600
#define LINE_MAX_BYTES 700
#define FLOOR_SHARE 8 /* a part of a small disk, not all of it */
#define USES_MAX 4096
#define TIDY_EVERY_NS (86400 * COLL_SECOND_NS) /* and with the first, and after one that failed */

void coll_retention_init(struct coll_retention *k, const char *base,
			 const struct coll_limits *limits, struct coll_context *context)
{
	*k = (struct coll_retention){
		.base = base, .limits = limits, .context = context, .rules = 1
	};
}

void coll_retention_fini(struct coll_retention *k)
{
	if (k->context)
		coll_children_forget(&k->context->children, k);
	free(k->plan);
	k->plan = NULL;
	while (k->team) {
		struct coll_use *u = k->team;

		k->team = u->next;
		free(u);
	}
}

struct coll_use *coll_retention_use(struct coll_retention *k, const char *team)
{
	struct coll_use *u = k->team;
	size_t count = 0;

	for (; u; u = u->next, count++)
		if (!strcmp(u->team, team))
			return u;
	if (strlen(team) >= sizeof(u->team) || count >= USES_MAX)
		return NULL;
	u = calloc(1, sizeof(*u));
	if (!u)
		return NULL;
	memcpy(u->team, team, strlen(team) + 1);
	u->next = k->team;
	k->team = u;
	return u;
}

static void read_team(struct coll_retention *k, const char *name, uint64_t bytes, uint64_t runs)
{
	struct coll_use *u = coll_retention_use(k, strcmp(name, "-") ? name : "");

	if (!u)
		return;
	u->found_bytes = bytes;
	u->found_runs = runs;
}

/*
 * The last line. Teams that the sweep did not name have nothing any more. What came since it began
 * it may have seen or not: it counts as not, so that a quota is never exceeded.
 */
static void read_total(struct coll_retention *k, const uint64_t sum[4])
{
	for (struct coll_use *u = k->team; u; u = u->next) {
		u->bytes = u->found_bytes + u->appended;
		u->runs = u->found_runs;
		u->found_bytes = u->found_runs = 0;
	}
	k->bytes = sum[0] + k->appended;
	k->runs = sum[1];
	k->context->count.runs_removed += sum[3];
	k->context->count.bytes_removed += sum[2];
	k->known = k->told = true;
}

/* Else a full disk, or frames refused for a quota, would have no reason that one can see. */
static void log_waiting(struct coll_retention *k, uint64_t runs, uint64_t bytes)
{
	if (!coll_log_due(&k->waiting_logged_ns, SWEEP_EVERY_NS / 2))
		return;
	coll_log("%" PRIu64 " runs (%" PRIu64
		 " bytes) are to be removed, but the upstream does not "
		 "have all of them: they stay; see Retention in docs/OPERATIONS.md",
		 runs, bytes);
}

/* TEAM RUN and what follows, of a line about a run's files, which are not what they were. */
static void read_changed(struct coll_retention *k, const char *line)
{
	char team[COLL_USE_TEAM_BYTES], run[300];

	if (sscanf(line, "%*s %255s %299s", team, run) == 2)
		coll_run_index_touch_run(k->index, strcmp(team, "-") ? team : "", run);
}

static void read_removed(struct coll_retention *k, const char *line)
{
	read_changed(k, line);
	coll_log("%s", line);
}

static void read_keep(struct coll_retention *k, const char *line)
{
	struct coll_run_kept kept;
	char team[COLL_USE_TEAM_BYTES], run[300];

	if (sscanf(line, "keep %255s %299s %" SCNd64 " %u %" SCNd64, team, run, &kept.newest_ns,
		   &kept.rules, &kept.keep_ns) == 5)
		coll_run_index_keep(k->index, strcmp(team, "-") ? team : "", run, &kept);
}

static void read_job(struct coll_retention *k, const char *line)
{
	char team[COLL_USE_TEAM_BYTES], job[300];
	int64_t runs_ns;
	uint64_t bytes;

	if (k->digests &&
	    sscanf(line, "job %255s %299s %" SCNu64 " %" SCNd64, team, job, &bytes, &runs_ns) == 4)
		coll_digests_add_job(k->digests, strcmp(team, "-") ? team : "", job, bytes,
				     runs_ns);
}

/* With each sweep: else nobody would know why nothing goes. */
static void log_jump(struct coll_retention *k, uint64_t seconds)
{
	k->clock_jump_s = seconds;
	if (seconds)
		coll_log("since the last sweep the clock has jumped by %" PRIu64
			 " days: nothing is "
			 "removed. Set it right; or if it is, remove %s/" COLL_SWEEP_CLOCK,
			 seconds / 86400, k->base);
}

void coll_retention_read_line(struct coll_retention *k, const char *line)
{
	char team[COLL_USE_TEAM_BYTES], run[300];
	uint64_t n[4];

	if (sscanf(line, "team %255s %" SCNu64 " %" SCNu64, team, &n[0], &n[1]) == 3)
		read_team(k, team, n[0], n[1]);
	else if (sscanf(line, "total %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &n[0], &n[1],
			&n[2], &n[3]) == 4)
		read_total(k, n);
	else if (sscanf(line, "waiting %" SCNu64 " %" SCNu64, &n[0], &n[1]) == 2)
		log_waiting(k, n[0], n[1]);
	else if (k->digests && sscanf(line, "digest %255s %299s", team, run) == 2)
		coll_digests_add(k->digests, strcmp(team, "-") ? team : "", run);
	else if (k->digests && sscanf(line, "parked %" SCNu64, &n[0]) == 1)
		coll_digests_found_parked(k->digests, n[0]);
	else if (sscanf(line, "clock %" SCNu64, &n[0]) == 1)
		log_jump(k, n[0]);
	else if (sscanf(line, "unbilled %" SCNu64, &n[0]) == 1)
		k->context->count.runs_unbilled += n[0];
	else if (!strncmp(line, "keep ", 5))
		read_keep(k, line);
	else if (!strncmp(line, "job ", 4))
		read_job(k, line);
	else if (!strncmp(line, "changed ", 8))
		read_changed(k, line);
	else if (!strncmp(line, "removed ", 8))
		read_removed(k, line);
	else
		coll_note("sweep: %s", line);
}

static void sweep_line(void *owner, const char *line)
{
	coll_retention_read_line(owner, line);
}

static void sweep_done(void *owner, const struct coll_child_end *end)
{
	struct coll_retention *k = owner;
	char why[400];

	free(k->plan);
	k->plan = NULL;
	if (end->timed_out || !k->told) {
		coll_child_why(end, why, sizeof(why));
		coll_log("a sweep of %s failed: %s; it is tried again", k->base, why);
		k->tidy_ns = 0;
		k->context->count.children_failed++;
	}
	k->next_ns = coll_now_ns() + (k->again ? 0 : SWEEP_EVERY_NS);
	k->again = false;
}

static int sweep_work(void *arg)
{
	return coll_sweep(arg, 1);
}

/* From now on a sweep counts. */
static void count_anew(struct coll_retention *k)
{
	struct coll_use *u;

	k->told = false;
	k->need = k->appended = 0;
	for (u = k->team; u; u = u->next)
		u->need = u->appended = u->found_bytes = u->found_runs = 0;
}

static void start(struct coll_retention *k, int64_t now_ns)
{
	struct coll_child_plan plan = { .work = sweep_work,
					.line = sweep_line,
					.output_max = LINE_MAX_BYTES,
					.timeout_s = SWEEP_TIMEOUT_S };
	int err = -ENOMEM;

	k->plan = malloc(sizeof(*k->plan));
	if (k->plan) {
		*k->plan = (struct coll_sweep){
			.base = k->base,
			.limits = k->limits,
			.digests = k->digests != NULL,
			.dispensable = k->dispensable,
			.need = k->need,
			.uses = k->team,
			.index = k->index,
			.rules = k->rules,
			.tidy = now_ns >= k->tidy_ns,
		};
		plan.arg = k->plan;
		k->began_ns = now_ns;
		err = coll_child_start(&k->context->children, &plan, sweep_done, k);
	}
	if (!err) {
		if (k->plan->tidy)
			k->tidy_ns = now_ns + TIDY_EVERY_NS;
		count_anew(k);
		return;
	}
	free(k->plan);
	k->plan = NULL;
	k->next_ns = now_ns + SWEEP_SOON_NS;
	coll_log("cannot start a sweep of %s: %s; it is tried again", k->base, strerror(-err));
}

bool coll_retention_wanted(const struct coll_retention *k)
{
	const struct coll_limits *l = k->limits;

	return l->value[COLL_LIMIT_QUOTA] || l->value[COLL_LIMIT_TEAM_QUOTA] || l->keep.keep_ns ||
	       l->keep.count || k->digests;
}

static void look_at_disk(struct coll_retention *k)
{
	uint64_t floor = k->limits->value[COLL_LIMIT_FREE_FLOOR], all, left;
	struct statvfs fs;

	k->free_known = floor && !statvfs(k->base, &fs);
	if (!k->free_known)
		return;
	all = (uint64_t)fs.f_blocks * fs.f_frsize;
	left = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (floor > all / FLOOR_SHARE)
		floor = all / FLOOR_SHARE;
	k->free_floor = floor;
	k->free_bytes = left > floor ? left - floor : 0;
}

void coll_retention_tick(struct coll_retention *k, int64_t now_ns)
{
	look_at_disk(k);
	if (!k->plan && now_ns >= k->next_ns && coll_retention_wanted(k))
		start(k, now_ns);
}

void coll_retention_reloaded(struct coll_retention *k)
{
	k->rules++;
	k->next_ns = 0;
	k->again = k->plan != NULL;
}

/* A sweep, but not one after the other for a quota that they cannot make room for. */
void coll_retention_make_room(struct coll_retention *k)
{
	int64_t soon = k->began_ns + SWEEP_SOON_NS;

	if (!k->plan && k->next_ns > soon)
		k->next_ns = soon;
}
