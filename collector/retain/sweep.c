/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All runs in one list, oldest first. What costs a look at files is asked last.
 */
#include "sweep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/log.h"
#include "digest_queue.h"
#include "digest_tries.h"
#include "disk_use.h"
#include "job_dirs.h"
#include "removed_mark.h"
#include "run_json.h"
#include "run_dirs.h"
#include "run_view.h"
#include "store/run_name.h"
#include "store/stream_links.h"
#include "sweep_clock.h"
#include "unbilled.h"

#define QUOTA_ROOM 10 /* make room for a tenth, so that the next frames need no sweep */

struct item {
	struct coll_run_dir *run;
	struct team *team;
	bool asked; /* how long it is to be kept: keep_ns; 0: no age */
	int64_t keep_ns;
	bool gone, stuck; /* stuck: open, or it cannot be removed */
	struct item *of; /* a run's job, where that is here */
	uint64_t runs_bytes; /* of a job: of the traces of its runs here, ... */
	int64_t runs_ns; /* ... and their last write; 0: there are none */
	enum {
		NOT_ASKED,
		DISPENSABLE, /* its digest is made, or failed too often, or none is wanted */
		WANTED, /* its digest is still to be made */
	} digest;
};

struct team {
	const char *name;
	int fd; /* its folder */
	uint64_t bytes;
	size_t runs;
	size_t named; /* for digests */
};

struct sweep {
	const struct coll_sweep *plan;
	FILE *out;
	int64_t now_ns;
	struct coll_run_view runs;
	struct item *item;
	struct team *team;
	size_t teams;
	uint64_t bytes, gone_bytes, waiting_bytes;
	size_t count, gone, waiting; /* waiting: to go, once they are forwarded */
	size_t unbilled; /* gone without digest */
	size_t parked; /* without digest, for it failed too often */
	int status;
};

static const char *team_label(const char *team)
{
	return *team ? team : "-";
}

static void log_trouble(struct sweep *s, const char *what, int err)
{
	s->status = 1;
	coll_log("sweep: %s: %s", what, strerror(-err));
}

static int by_age(const void *a, const void *b)
{
	const struct coll_run_dir *x = *(struct coll_run_dir *const *)a;
	const struct coll_run_dir *y = *(struct coll_run_dir *const *)b;

	if (x->newest_ns != y->newest_ns)
		return x->newest_ns < y->newest_ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

static struct team *team_of(struct sweep *s, const char *name)
{
	size_t i = 0;

	while (i < s->teams && strcmp(s->team[i].name, name))
		i++;
	return i < s->teams ? &s->team[i] : NULL;
}

static int add_team(struct sweep *s, const char *name)
{
	struct team *more = reallocarray(s->team, s->teams + 1, sizeof(*more));
	char path[4096];

	if (!more)
		return -ENOMEM;
	s->team = more;
	if (snprintf(path, sizeof(path), "%s/%s", s->plan->base, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	s->team[s->teams] = (struct team){ .name = name };
	s->team[s->teams].fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->team[s->teams].fd < 0)
		return -errno;
	s->teams++;
	return 0;
}

/* By the rules; 0: no age. */
static int64_t read_keep(const struct sweep *s, const struct item *it)
{
	const struct coll_keep_rules *rules = &s->plan->limits->keep;
	int64_t keep_ns = rules->keep_ns;
	struct coll_run_json labels = { .root = NULL };
	int fd = openat(it->team->fd, it->run->name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return keep_ns;
	coll_run_json_read(&labels, fd);
	close(fd);
	for (unsigned int i = 0; i < rules->count; i++) {
		if (!coll_run_json_has_label(&labels, rules->rule[i].key, rules->rule[i].value))
			continue;
		keep_ns = rules->rule[i].keep_ns;
		break;
	}
	coll_run_json_fini(&labels);
	return keep_ns;
}

static int64_t keep_of(struct sweep *s, struct item *it)
{
	const struct coll_run_dir *run = it->run;

	if (it->asked)
		return it->keep_ns;
	it->asked = true;
	if (!s->plan->limits->keep.count) {
		it->keep_ns = s->plan->limits->keep.keep_ns;
	} else if (s->runs.indexed && run->rules == s->plan->rules) {
		it->keep_ns = run->keep_ns;
	} else {
		it->keep_ns = read_keep(s, it);
		if (s->runs.indexed)
			fprintf(s->out, "keep %s %s %" PRId64 " %u %" PRId64 "\n",
				team_label(it->team->name), run->name, run->newest_ns,
				s->plan->rules, it->keep_ns);
	}
	return it->keep_ns;
}

/* Nothing younger is too old, whatever its labels; 0: nothing is. */
static int64_t least_keep(const struct coll_keep_rules *rules)
{
	int64_t least = rules->keep_ns;

	for (unsigned int i = 0; i < rules->count; i++)
		if (rules->rule[i].keep_ns && (!least || rules->rule[i].keep_ns < least))
			least = rules->rule[i].keep_ns;
	return least == COLL_KEEP_FOREVER ? 0 : least;
}

static int list_items(struct sweep *s)
{
	size_t i;
	int err;

	s->item = calloc(s->runs.count + 1, sizeof(*s->item));
	if (!s->item)
		return -ENOMEM;
	for (i = 0; i < s->runs.count; i++)
		if (!team_of(s, s->runs.run[i]->team) && (err = add_team(s, s->runs.run[i]->team)))
			return err;
	for (i = 0; i < s->runs.count; i++) {
		struct item *it = &s->item[i];

		it->run = s->runs.run[i];
		it->team = team_of(s, it->run->team);
		if (!it->team)
			return -ENOENT;
		it->team->bytes += it->run->bytes;
		it->team->runs++;
		s->bytes += it->run->bytes;
		s->count++;
	}
	return 0;
}

static int by_team_and_name(const void *a, const void *b)
{
	const struct item *x = *(struct item *const *)a, *y = *(struct item *const *)b;

	if (x->team != y->team)
		return x->team < y->team ? -1 : 1;
	return strcmp(x->run->name, y->run->name);
}

/* A run's name tells its job. */
static void join(struct item *it, struct item **job, size_t jobs)
{
	char name[COLL_RUN_BYTES];
	struct coll_run_dir like_run = { .name = name };
	struct item like = { .run = &like_run, .team = it->team }, *key = &like, **of;

	if (!coll_job_of_run(name, it->run->name))
		return;
	of = bsearch(&key, job, jobs, sizeof(*job), by_team_and_name);
	if (!of)
		return;
	it->of = *of;
	it->of->runs_bytes += it->run->trace_bytes;
	if (it->of->runs_ns < it->run->newest_ns)
		it->of->runs_ns = it->run->newest_ns;
}

static int join_jobs(struct sweep *s)
{
	struct item **job = calloc(s->runs.count + 1, sizeof(*job));
	size_t jobs = 0;

	if (!job)
		return -ENOMEM;
	for (size_t i = 0; i < s->runs.count; i++)
		if (s->item[i].run->job)
			job[jobs++] = &s->item[i];
	qsort(job, jobs, sizeof(*job), by_team_and_name);
	for (size_t i = 0; i < s->runs.count && jobs; i++)
		join(&s->item[i], job, jobs);
	free(job);
	return 0;
}

/* Of a job, of its runs, too. */
static int64_t newest_ns(const struct item *it)
{
	return it->run->newest_ns > it->runs_ns ? it->run->newest_ns : it->runs_ns;
}

static int64_t age_ns(const struct sweep *s, const struct item *it)
{
	return s->now_ns - newest_ns(it);
}

static bool undigested(const struct sweep *s, const struct item *it)
{
	return s->plan->digests && it->run->trace_bytes && it->run->digest_ns < newest_ns(it);
}

/* A job that has its GPUs. */
static bool goes_on(const struct sweep *s, const struct item *it)
{
	return it->run->goes_on && age_ns(s, it) < COLL_JOB_LOST_S * COLL_SECOND_NS;
}

/* What the index has may be old where others have written: then its turn is with another sweep. */
static int look_again(const struct item *it)
{
	struct coll_run_dir now;
	int err = coll_run_dir_measure(&now, it->team->fd, it->run->name);

	if (err)
		return err == -ENOENT ? -ESTALE : err;
	return now.newest_ns == it->run->newest_ns && now.trace_bytes == it->run->trace_bytes &&
			       now.digest_ns == it->run->digest_ns
		       ? 0
		       : -ESTALE;
}

/* One without digest leaves a line, and stays where that cannot be written. */
static int remove_one(const struct sweep *s, const struct item *it, const char *why)
{
	int err = -EBUSY;

	if (age_ns(s, it) >= COLL_SWEEP_YOUNG_S * COLL_SECOND_NS && !goes_on(s, it))
		err = s->runs.indexed ? look_again(it) : 0;
	if (!err)
		err = coll_run_may_go(it->team->fd, it->run->name, s->plan->dispensable);
	if (err || s->plan->dry)
		return err;
	if (undigested(s, it))
		err = coll_unbilled_note(it->team->fd, it->run, why);
	if (!err && it->of)
		err = coll_job_mark_unseen(it->team->fd, it->of->run->name);
	if (!err)
		err = coll_remove_run(it->team->fd, it->run->name, s->plan->dispensable);
	if (!err && coll_removed_mark(it->team->fd, it->run->name))
		coll_log("sweep: %s: cannot be marked as removed; nodes may send it again",
			 it->run->name);
	return err;
}

static const char *why_kept(int err)
{
	if (err == -EBUSY)
		return "it is being written";
	return err == -EINPROGRESS ? "the upstream does not have all of it" : strerror(-err);
}

static void keep_run(struct sweep *s, struct item *it, int err)
{
	it->stuck = true;
	if (err == -ESTALE) {
		fprintf(s->out, "changed %s %s\n", team_label(it->team->name), it->run->name);
		return;
	}
	fprintf(s->out, "kept %s %s: %s\n", team_label(it->team->name), it->run->name,
		why_kept(err));
	if (err == -EINPROGRESS) {
		s->waiting++;
		s->waiting_bytes += it->run->bytes;
	} else if (err != -EBUSY) {
		log_trouble(s, it->run->name, err);
	}
}

static void remove_item(struct sweep *s, struct item *it, const char *why)
{
	int err = remove_one(s, it, why);

	if (err) {
		keep_run(s, it, err);
		return;
	}
	it->gone = true;
	it->team->bytes -= it->run->bytes;
	it->team->runs--;
	s->bytes -= it->run->bytes;
	s->count--;
	s->gone_bytes += it->run->bytes;
	s->gone++;
	s->unbilled += undigested(s, it);
	fprintf(s->out, "removed %s %s %" PRIu64 ": %s%s\n", team_label(it->team->name),
		it->run->name, it->run->bytes, why,
		undigested(s, it) ? "; it has no digest: see " COLL_UNBILLED : "");
}

/* What its directory remembers of the digest; of a job, of one with all of these runs. */
static struct coll_digest_tries tries_of(const struct item *it)
{
	struct coll_digest_tries tries = { .attempts = it->run->attempts,
					   .next_ns = it->run->next_ns };
	int fd = -1;

	if (it->runs_ns > it->run->newest_ns)
		fd = openat(it->team->fd, it->run->name,
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return tries;
	coll_digest_tries_read(&tries, fd, newest_ns(it));
	close(fd);
	return tries;
}

/*
 * Whoever sends runs that cannot be digested is not to have others' go first: parked ones are not.
 */
static bool is_undone(const struct sweep *s, struct item *it)
{
	struct coll_digest_tries tries;

	if (it->digest != NOT_ASKED)
		return it->digest == WANTED;
	it->digest = DISPENSABLE;
	if (undigested(s, it)) {
		tries = tries_of(it);
		it->digest = coll_digest_tries_parked(&tries) ? DISPENSABLE : WANTED;
	}
	return it->digest == WANTED;
}

/* Its own digest, or its job's, which is made of it and takes that one's place. */
static bool is_wanted(const struct sweep *s, struct item *it)
{
	return is_undone(s, it) || (it->of && !it->of->gone && is_undone(s, it->of));
}

static void by_rules(struct sweep *s)
{
	int64_t least_ns = least_keep(&s->plan->limits->keep), keep_ns;

	for (size_t i = 0; i < s->runs.count; i++) {
		struct item *it = &s->item[i];

		if (!least_ns || age_ns(s, it) <= least_ns || undigested(s, it) || is_wanted(s, it))
			continue;
		keep_ns = keep_of(s, it);
		if (keep_ns && keep_ns != COLL_KEEP_FOREVER && age_ns(s, it) > keep_ns)
			remove_item(s, it, "older than it is to be kept");
	}
}

/*
 * The oldest of the team that may go; @wanted: of those whose digest is still to be made. NULL:
 * none.
 */
static struct item *oldest(struct sweep *s, const struct team *team, bool wanted)
{
	for (size_t i = 0; i < s->runs.count; i++) {
		struct item *it = &s->item[i];

		if (!it->gone && !it->stuck && it->team == team && is_wanted(s, it) == wanted &&
		    keep_of(s, it) != COLL_KEEP_FOREVER)
			return it;
	}
	return NULL;
}

/* How much may be left, so that @need bytes fit: all there is, unless that is too much. */
static uint64_t target(uint64_t quota, uint64_t used, uint64_t need)
{
	uint64_t left = quota - quota / QUOTA_ROOM;

	if (need > quota) /* no room will do */
		need = 0;
	if (!quota || used <= quota - need)
		return used;
	return left < quota - need ? left : quota - need;
}

static uint64_t need_of(const struct sweep *s, const struct team *t)
{
	const struct coll_use *u = s->plan->uses;

	while (u && strcmp(u->team, t->name))
		u = u->next;
	return u ? u->need : 0;
}

static void by_team_quota(struct sweep *s)
{
	uint64_t quota = s->plan->limits->value[COLL_LIMIT_TEAM_QUOTA];
	struct item *it;

	for (size_t i = 0; i < s->teams; i++) {
		struct team *t = &s->team[i];
		uint64_t left = target(quota, t->bytes, need_of(s, t));

		while (t->bytes > left && ((it = oldest(s, t, false)) || (it = oldest(s, t, true))))
			remove_item(s, it, "the team's quota is used up");
	}
}

/* From the team that uses most and has something that may go; of two alike the older run. */
static struct item *next_for_quota(struct sweep *s, bool wanted)
{
	struct item *best = NULL, *it;

	for (size_t i = 0; i < s->teams; i++) {
		it = oldest(s, &s->team[i], wanted);
		if (it && (!best || it->team->bytes > best->team->bytes ||
			   (it->team->bytes == best->team->bytes && it < best)))
			best = it;
	}
	return best;
}

static void by_quota(struct sweep *s)
{
	uint64_t quota = s->plan->limits->value[COLL_LIMIT_QUOTA];
	uint64_t left = target(quota, s->bytes, s->plan->need);
	struct item *it;

	while (s->bytes > left &&
	       ((it = next_for_quota(s, false)) || (it = next_for_quota(s, true))))
		remove_item(s, it, "the quota is used up");
}

/*
 * Parked ones are counted, and named where they lack a provisional row; whose next try is not near
 * will be named by a later sweep.
 */
static bool digest_is_due(struct sweep *s, const struct item *it)
{
	struct coll_digest_tries tries = tries_of(it);

	if (coll_digest_tries_parked(&tries)) {
		s->parked++;
		return !it->run->job && it->run->row_ns < it->run->newest_ns;
	}
	return coll_digest_tries_wait_ns(&tries, s->now_ns) < COLL_SWEEP_EVERY_S * COLL_SECOND_NS;
}

static void print_undigested(const struct sweep *s, const struct item *it)
{
	const char *team = team_label(it->team->name);

	if (it->run->job)
		fprintf(s->out, "job %s %s %" PRIu64 " %" PRId64 "\n", team, it->run->name,
			it->runs_bytes, it->runs_ns);
	else
		fprintf(s->out, "digest %s %s\n", team, it->run->name);
}

/* More than are ever waited for are not named. */
static void name_undigested(struct sweep *s)
{
	int64_t after_ns = (int64_t)s->plan->limits->value[COLL_LIMIT_DIGEST_AFTER];

	for (size_t i = 0; i < s->runs.count; i++) {
		const struct item *it = &s->item[i];

		if (it->gone || !undigested(s, it) || age_ns(s, it) < after_ns || goes_on(s, it) ||
		    !digest_is_due(s, it) || it->team->named >= COLL_DIGESTS_MAX ||
		    coll_run_is_open(it->team->fd, it->run->name))
			continue;
		it->team->named++;
		print_undigested(s, it);
	}
	if (s->plan->digests)
		fprintf(s->out, "parked %zu\n", s->parked);
	if (s->unbilled)
		fprintf(s->out, "unbilled %zu\n", s->unbilled);
}

static void print_sums(struct sweep *s)
{
	for (size_t i = 0; i < s->teams; i++)
		fprintf(s->out, "team %s %" PRIu64 " %zu\n", team_label(s->team[i].name),
			s->team[i].bytes, s->team[i].runs);
	if (s->waiting)
		fprintf(s->out, "waiting %zu %" PRIu64 "\n", s->waiting, s->waiting_bytes);
	fprintf(s->out, "total %" PRIu64 " %zu %" PRIu64 " %zu\n", s->bytes, s->count,
		s->gone_bytes, s->gone);
}

/*
 * Whether the clock may be believed; else nothing is removed, which is said each time. Not written
 * where it went back: then the later time is what the next one has to be compared with.
 */
static bool clock_is_good(struct sweep *s)
{
	struct coll_sweep_clock last, now;
	int64_t jump;
	int err = 0;

	coll_sweep_clock_read(&last, s->plan->base);
	coll_sweep_clock_now(&now);
	jump = coll_sweep_clock_jump(&last, &now);
	fprintf(s->out, "clock %" PRId64 "\n", jump / COLL_SECOND_NS);
	if (!jump && !s->plan->dry && now.real_ns >= last.real_ns)
		err = coll_sweep_clock_write(&now, s->plan->base);
	if (err)
		log_trouble(s, COLL_SWEEP_CLOCK, err);
	return !jump;
}

static void remove_items(struct sweep *s)
{
	if (!clock_is_good(s))
		return;
	by_rules(s);
	by_team_quota(s);
	by_quota(s);
}

/* Folders of teams may hold nothing else any more, so they are looked for by themselves. */
static void clean_up(struct sweep *s)
{
	int fd = open(s->plan->base, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err, sub;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d)
		return;
	err = coll_remove_leftovers(fd);
	coll_removed_clean(fd);
	coll_stream_links_clean(fd, s->now_ns);
	while (!err && (e = readdir(d))) {
		if (e->d_name[0] == '.' || coll_run_dir_name_ok(e->d_name))
			continue;
		sub = openat(fd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (sub < 0)
			continue;
		err = coll_remove_leftovers(sub);
		coll_removed_clean(sub);
		coll_stream_links_clean(sub, s->now_ns);
		close(sub);
	}
	closedir(d);
	if (err)
		log_trouble(s, "what an earlier sweep has left", err);
}

/* After somebody has removed them, streams are looked for in all runs until there are new ones. */
static void make_links(struct sweep *s)
{
	for (size_t i = 0; i < s->teams; i++)
		if (!coll_stream_links_whole(s->team[i].fd))
			coll_stream_links_clean(s->team[i].fd, s->now_ns);
}

static void sweep_fini(struct sweep *s)
{
	for (size_t i = 0; i < s->teams; i++)
		close(s->team[i].fd);
	free(s->team);
	free(s->item);
	coll_run_view_fini(&s->runs);
	if (fclose(s->out))
		s->status = 1;
}

int coll_sweep(const struct coll_sweep *plan, int out)
{
	struct sweep s = { .plan = plan, .now_ns = coll_clock_ns(CLOCK_REALTIME) };
	int fd = dup(out), err;

	s.out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!s.out)
		return 1;
	err = coll_run_view_make(&s.runs, plan->index, plan->base, NULL);
	if (s.runs.count)
		qsort(s.runs.run, s.runs.count, sizeof(*s.runs.run), by_age);
	if (!err)
		err = list_items(&s);
	if (!err)
		err = join_jobs(&s);
	if (err) {
		log_trouble(&s, plan->base, err);
	} else {
		if (!plan->dry && plan->tidy)
			clean_up(&s);
		else if (!plan->dry)
			make_links(&s);
		remove_items(&s);
		name_undigested(&s);
		print_sums(&s);
	}
	sweep_fini(&s);
	return s.status;
}
