/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thing at a time: a scan, a claim with its fetch, children (work_steps.h), an end. Each hands
 * over to the next in the loop; beside them the lease is kept (work_keep.h).
 */
#include "work.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#include "core/log.h"
#include "fetch.h"
#include "retain/job_dirs.h"
#include "scratch.h"
#include "work_keep.h"
#include "work_scan.h"
#include "work_steps.h"

#define SCAN_TIMES 20 /* what was found is good for so many times of the scan's own, ... */
#define SCAN_MIN_NS (2 * COLL_SECOND_NS) /* ... from this ... */
#define SCAN_MAX_NS (600 * COLL_SECOND_NS) /* ... to this */
#define IDLE_MIN_NS (5 * COLL_SECOND_NS)
#define IDLE_MAX_NS (300 * COLL_SECOND_NS)
#define ONCE_TROUBLES 5 /* in a row; then --once gives up */
#define LOG_EVERY_NS (60 * COLL_SECOND_NS)
#define BUSY_S 1 /* until we look again at what another came to as well */

struct coll_work {
	const struct coll_work_options *opts;
	const struct coll_limits *limits;
	struct coll_context *context;
	struct objects *store;
	struct coll_work_scratch scratch;
	struct coll_worker hand;
	atomic_bool stop;

	bool at_work; /* a job is on its way, or a child runs */
	int64_t due_ns, idle_ns; /* the next scan, and the pause before the one behind it */
	int64_t scan_ns, scanned_ns; /* when the last one began, and was done */
	unsigned int troubles; /* in a row */
	bool found_none, met_others, over, failed;
	int64_t trouble_logged_ns;

	/* jobs of @hand, one at a time */
	struct coll_job scan_job, take_job, end_job;
	struct coll_work_candidates found;
	struct coll_work_scan scan;
	struct coll_work_claim claim;
	struct objects_trouble trouble;
	int err; /* of the job */
	enum coll_work_got got;
	bool no_room, fetched;

	/* the run that is being analysed */
	char dir[PATH_MAX];
	uint64_t bytes;
	int64_t taken_ns, fetched_ns, fetch_cpu_ns;
	struct coll_work_steps steps;
	struct coll_work_keep keep;
};

static void go_on(struct coll_work *w);

static int64_t limit_s(const struct coll_work *w, enum coll_limit which)
{
	return (int64_t)(w->limits->value[which] / COLL_SECOND_NS);
}

static struct coll_work_rules rules(const struct coll_work *w)
{
	return (struct coll_work_rules){
		.ended_s = limit_s(w, COLL_LIMIT_DIGEST_AFTER),
		.lost_s = limit_s(w, COLL_LIMIT_LOST_AFTER),
		.lease_s = limit_s(w, COLL_LIMIT_WORK_LEASE),
		.pause_s = limit_s(w, COLL_LIMIT_WORK_PAUSE),
		.tries = (unsigned int)w->limits->value[COLL_LIMIT_WORK_TRIES],
	};
}

/* Neither store is to be asked again at once. */
static void in_trouble(struct coll_work *w, const char *what, const char *why)
{
	int64_t pause_ns = (w->opts->once ? COLL_SECOND_NS : IDLE_MIN_NS)
			   << (w->troubles < 5 ? w->troubles : 5);

	w->context->count.work_troubles++;
	w->troubles++;
	w->due_ns = coll_now_ns() + pause_ns;
	if (coll_log_due(&w->trouble_logged_ns, LOG_EVERY_NS))
		coll_log("--work: %s: %s; it is tried again", what, why);
	if (w->opts->once && w->troubles >= ONCE_TROUBLES)
		w->over = w->failed = true;
}

static const char *reason(const struct coll_work *w, int err)
{
	return w->trouble.why[0] ? w->trouble.why : strerror(-err);
}

/* A scan. */

static void scan_work(struct coll_job *job)
{
	struct coll_work *w =
		(struct coll_work *)((char *)job - offsetof(struct coll_work, scan_job));

	w->trouble.why[0] = '\0';
	w->err = coll_work_scan(&w->scan, &w->trouble);
}

static void scan_done(struct coll_job *job)
{
	struct coll_work *w =
		(struct coll_work *)((char *)job - offsetof(struct coll_work, scan_job));

	w->at_work = false;
	if (atomic_load(&w->stop))
		return;
	w->context->count.work_scans++;
	if (w->err) {
		coll_work_candidates_begin(&w->found);
		in_trouble(w, w->opts->url, reason(w, w->err));
		return;
	}
	w->scanned_ns = coll_now_ns();
	w->found_none = !w->found.runs;
	if (w->found_none)
		w->troubles = 0;
	go_on(w);
}

static void start_scan(struct coll_work *w)
{
	w->at_work = true;
	w->scan_ns = coll_now_ns();
	w->scan.store = w->store;
	w->scan.rules = rules(w);
	w->scan.ahead_s = w->claim.ahead_s;
	w->scan.found = &w->found;
	w->scan.stop = &w->stop;
	coll_worker_hand(&w->hand, &w->scan_job);
}

/* A claim, and what it gives. */

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * COLL_SECOND_NS + t.tv_nsec;
}

static bool has_room(const struct coll_work *w)
{
	uint64_t room = coll_work_scratch_room(&w->scratch), floor;

	floor = w->limits->value[COLL_LIMIT_FREE_FLOOR];
	return room == UINT64_MAX || (room > floor && room - floor > w->claim.look.bytes);
}

/* Into a folder of its own, @dir. */
static int fetch_one(struct coll_work *w, const struct coll_work_look *l,
		     const struct coll_work_place *p, char dir[PATH_MAX])
{
	char from[COLL_WORK_PLACE_BYTES];
	int err = coll_work_scratch_run(&w->scratch, p->run, dir);

	coll_work_place_run(from, p);
	return err ? err : coll_work_fetch(l, w->store, from, dir, &w->stop, &w->trouble);
}

/* Those of a job lie beside it. */
static int fetch_runs(struct coll_work *w)
{
	const struct coll_work_job *job = &w->claim.job;
	struct coll_work_place p = w->claim.place;
	char dir[PATH_MAX];
	int err = 0;

	for (size_t i = 0; i < job->runs && !err; i++) {
		snprintf(p.run, sizeof(p.run), "%s", job->run[i].name);
		if (job->run[i].look.pieces)
			err = fetch_one(w, &job->run[i].look, &p, dir);
	}
	if (!err && job->lost)
		err = coll_job_mark_unseen(w->scratch.fd, w->claim.place.run);
	return err;
}

static void fetch(struct coll_work *w)
{
	coll_work_scratch_empty(&w->scratch);
	w->no_room = !has_room(w);
	w->err = w->no_room ? -ENOSPC : fetch_one(w, &w->claim.look, &w->claim.place, w->dir);
	if (!w->err)
		w->err = fetch_runs(w);
	w->fetched = !w->err;
	if (w->err)
		coll_work_release(&w->claim);
}

static void take_work(struct coll_job *job)
{
	struct coll_work *w =
		(struct coll_work *)((char *)job - offsetof(struct coll_work, take_job));
	struct coll_work_place place = w->claim.place;
	int64_t began = cpu_ns();

	w->trouble.why[0] = '\0';
	w->err = 0;
	w->no_room = w->fetched = false;
	w->got = coll_work_take(&w->claim, &place, &w->trouble);
	if (w->got != COLL_WORK_TAKEN)
		return;
	fetch(w);
	w->fetch_cpu_ns = cpu_ns() - began;
}

static void name_of(const struct coll_work *w, char out[COLL_WORK_PLACE_BYTES])
{
	coll_work_place_name(out, &w->claim.place);
}

static void told_put_aside(struct coll_work *w)
{
	char name[COLL_WORK_PLACE_BYTES];

	if (!w->claim.put_aside)
		return;
	name_of(w, name);
	w->context->count.work_dead++;
	coll_log("%s is put aside: %s; --again %s takes it up again", name, w->claim.why, name);
}

static void saw(struct coll_work *w, int64_t s)
{
	coll_work_candidates_saw(&w->found, &w->claim.place, coll_now_ns() + s * COLL_SECOND_NS);
}

/* Of one run, which is not to keep us from others. */
static void in_trouble_with(struct coll_work *w, const char *name, const char *why)
{
	if (!w->opts->once)
		saw(w, 60);
	in_trouble(w, name, why);
}

static void not_taken(struct coll_work *w)
{
	char name[COLL_WORK_PLACE_BYTES];

	name_of(w, name);
	told_put_aside(w);
	if (w->got == COLL_WORK_TROUBLE) {
		in_trouble_with(w, name, reason(w, -EIO));
		return;
	}
	w->met_others |= w->got == COLL_WORK_BUSY;
	saw(w, w->got == COLL_WORK_BUSY ? BUSY_S : w->claim.wait_s);
	go_on(w);
}

static void not_fetched(struct coll_work *w)
{
	char name[COLL_WORK_PLACE_BYTES];

	name_of(w, name);
	if (w->no_room) {
		if (coll_log_due(&w->trouble_logged_ns, LOG_EVERY_NS))
			coll_log("--work: %s is larger than the room in %s; it is left to others",
				 name, w->scratch.path);
		saw(w, 60);
		go_on(w);
	} else {
		in_trouble_with(w, name, reason(w, w->err));
	}
}

static void take_done(struct coll_job *job)
{
	struct coll_work *w =
		(struct coll_work *)((char *)job - offsetof(struct coll_work, take_job));

	w->at_work = false;
	if (atomic_load(&w->stop))
		return;
	w->context->count.work_left += w->claim.left;
	if (w->got != COLL_WORK_TAKEN) {
		coll_work_keep_end(&w->keep);
		not_taken(w);
		return;
	}
	w->context->count.work_taken++;
	if (!w->fetched) {
		coll_work_keep_end(&w->keep);
		not_fetched(w);
		return;
	}
	w->bytes = w->claim.look.bytes;
	w->context->count.work_bytes += w->bytes;
	w->at_work = true;
	w->fetched_ns = coll_now_ns();
	coll_work_steps_start(&w->steps);
}

static bool start_take(struct coll_work *w)
{
	if (!coll_work_candidates_next(&w->found, &w->claim.place))
		return false;
	w->at_work = true;
	w->taken_ns = coll_now_ns();
	coll_work_keep_begin(&w->keep, w->taken_ns);
	w->claim.rules = rules(w);
	coll_worker_hand(&w->hand, &w->take_job);
	return true;
}

/* The end. */

static void steps_done(struct coll_work_steps *s)
{
	struct coll_work *w = (struct coll_work *)((char *)s - offsetof(struct coll_work, steps));

	coll_worker_hand(&w->hand, &w->end_job);
}

static void end_work(struct coll_job *job)
{
	struct coll_work *w =
		(struct coll_work *)((char *)job - offsetof(struct coll_work, end_job));
	bool made = w->steps.result == COLL_WORK_MADE;

	w->trouble.why[0] = '\0';
	w->err = made ? coll_work_steps_put(&w->steps, &w->claim, &w->trouble) : 0;
	if (w->steps.result == COLL_WORK_FAILED)
		coll_work_failed(&w->claim, w->steps.why);
	else if (made && !w->err)
		coll_work_settle(&w->claim);
	else
		coll_work_release(&w->claim);
	coll_work_scratch_empty(&w->scratch);
}

static void tell_made(struct coll_work *w, const char *name)
{
	int64_t now = coll_now_ns();

	w->context->count.work_digests++;
	w->troubles = 0;
	coll_log("analysed %s: %" PRIu64
		 " bytes, fetched in %.3f s (CPU %.3f s), analysed in %.3f s",
		 name, w->bytes, (double)(w->fetched_ns - w->taken_ns) / 1e9,
		 (double)w->fetch_cpu_ns / 1e9, (double)(now - w->fetched_ns) / 1e9);
	saw(w, 60);
}

static void end_done(struct coll_job *job)
{
	struct coll_work *w =
		(struct coll_work *)((char *)job - offsetof(struct coll_work, end_job));
	char name[COLL_WORK_PLACE_BYTES];

	w->at_work = false;
	coll_work_keep_end(&w->keep);
	if (atomic_load(&w->stop))
		return;
	name_of(w, name);
	if (w->steps.result == COLL_WORK_FAILED) {
		w->context->count.work_failures++;
		w->troubles = 0;
		coll_log("analysis of %s failed: %s", name, w->steps.why);
		told_put_aside(w);
	} else if (w->steps.result == COLL_WORK_MADE && !w->err) {
		tell_made(w, name);
	} else {
		in_trouble_with(w, name, w->err ? reason(w, w->err) : w->steps.why);
		return;
	}
	go_on(w);
}

/* What comes next. */

/* Nothing is to be taken. Of what another was just at, and let go, we do not know yet. */
static void idle(struct coll_work *w, int64_t now_ns)
{
	if (w->opts->once && w->met_others) {
		w->met_others = false;
		w->due_ns = now_ns + 2 * COLL_SECOND_NS;
		return;
	}
	w->over |= w->opts->once;
	if (w->opts->once && w->scan.empty) {
		coll_log("--work: " COLL_WORK_EMPTY, w->opts->url);
		w->failed = true;
	}
	w->idle_ns = w->idle_ns ? w->idle_ns * 2 : IDLE_MIN_NS;
	if (w->idle_ns > IDLE_MAX_NS)
		w->idle_ns = IDLE_MAX_NS;
	w->due_ns = now_ns + w->idle_ns;
}

/* Others take up what we have found; where it is dear to find, that is waited for. */
static bool is_fresh(const struct coll_work *w, int64_t now_ns)
{
	int64_t good_ns = (w->scanned_ns - w->scan_ns) * SCAN_TIMES;

	if (good_ns < SCAN_MIN_NS)
		good_ns = SCAN_MIN_NS;
	return now_ns - w->scanned_ns < (good_ns < SCAN_MAX_NS ? good_ns : SCAN_MAX_NS);
}

static void go_on(struct coll_work *w)
{
	int64_t now = coll_now_ns();

	if (w->at_work || w->over || atomic_load(&w->stop))
		return;
	if (is_fresh(w, now) && start_take(w))
		w->idle_ns = 0;
	else if (w->found_none)
		idle(w, now);
	else
		start_scan(w);
}

void coll_work_tick(struct coll_work *w, int64_t now_ns)
{
	if (!w)
		return;
	coll_work_keep_tick(&w->keep, now_ns);
	if (!w->at_work && !w->over && now_ns >= w->due_ns)
		start_scan(w);
}

bool coll_work_over(const struct coll_work *w, bool *failed)
{
	*failed = w && w->failed;
	return w && w->over;
}

uint64_t coll_work_waiting(const struct coll_work *w)
{
	return w ? w->found.waiting : 0;
}

uint64_t coll_work_dead(const struct coll_work *w)
{
	return w ? w->scan.dead : 0;
}

/* Beginning and end. */

/* Children read what others made: they are to know nothing that opens a store of objects. */
static void forget_credentials(void)
{
	static const char *const names[] = { "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
					     "AWS_SESSION_TOKEN" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
}

static int open_all(struct coll_work *w, const char *base)
{
	int err = objects_open(&w->store, w->opts->url, &w->trouble);

	if (err) {
		coll_log("--work %s: %s", w->opts->url, reason(w, err));
		return err;
	}
	coll_work_claim_init(&w->claim, w->store);
	err = coll_work_keep_init(&w->keep);
	if (!err)
		err = coll_worker_init(&w->hand, &w->context->loop);
	if (!err)
		err = coll_work_steps_init(&w->steps);
	if (err) {
		coll_log("--work: %s", err == -ENOENT ? "there is no gpustarve beside this program"
						      : strerror(-err));
		return err;
	}
	err = coll_work_scratch_open(&w->scratch, base);
	if (err)
		coll_log("--work: cannot make a folder in %s: %s; give another --dir", base,
			 strerror(-err));
	return err;
}

int coll_work_open(struct coll_work **out, const struct coll_work_options *o,
		   const struct coll_digest_to *to, const char *base,
		   const struct coll_limits *limits, struct coll_context *context)
{
	struct coll_work *w;
	unsigned int chance = 1;
	int err;

	*out = NULL;
	if (!o->url)
		return 0;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->opts = o;
	w->limits = limits;
	w->context = context;
	w->hand.source.fd = -1;
	w->keep.claim = &w->claim;
	w->steps.claim = &w->claim;
	w->keep.limits = limits;
	w->keep.context = context;
	w->steps.children = &context->children;
	w->steps.to = to;
	w->steps.dir = w->dir;
	w->steps.reports = o->reports;
	w->steps.done = steps_done;
	w->scan_job = (struct coll_job){ .work = scan_work, .done = scan_done };
	w->take_job = (struct coll_job){ .work = take_work, .done = take_done };
	w->end_job = (struct coll_job){ .work = end_work, .done = end_done };
	if (getrandom(&chance, sizeof(chance), GRND_NONBLOCK) > 0)
		srandom(chance); /* workers are not to choose alike */
	err = open_all(w, base);
	if (err) {
		coll_work_close(w);
		return err;
	}
	forget_credentials();
	start_scan(w);
	*out = w;
	return 0;
}

void coll_work_close(struct coll_work *w)
{
	if (!w)
		return;
	atomic_store(&w->stop, true);
	if (w->store) {
		coll_work_steps_stop(&w->steps);
		coll_worker_drain(&w->hand);
		coll_work_keep_fini(&w->keep);
		coll_work_release(&w->claim);
		coll_work_claim_fini(&w->claim);
		coll_worker_fini(&w->hand);
	}
	coll_work_candidates_fini(&w->found);
	coll_work_scratch_close(&w->scratch);
	objects_close(w->store);
	free(w);
}
