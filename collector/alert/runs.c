/* SPDX-License-Identifier: Apache-2.0 */
#include "runs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "core/clock.h"
#include "core/log.h"

#define OVER_NS (60 * COLL_SECOND_NS) /* all of its processes have said goodbye */
#define LOG_EVERY_NS (60 * COLL_SECOND_NS)
#define FORGOTTEN_NS (48 * 3600 * COLL_SECOND_NS) /* nothing was heard of it */

int coll_runs_init(struct coll_runs *r, const struct coll_conditions *conditions)
{
	*r = (struct coll_runs){ .conditions = conditions, .reader = live_reader_new() };
	return r->reader ? 0 : -ENOMEM;
}

static void run_free(struct coll_run *run)
{
	live_run_fini(&run->live);
	coll_kept_rows_fini(&run->rows);
	free(run->dir);
	free(run->id);
	free(run->alert);
	free(run);
}

void coll_runs_fini(struct coll_runs *r)
{
	for (size_t i = 0; i < COLL_RUNS_BUCKETS; i++) {
		for (struct coll_run *run = r->bucket[i], *next; run; run = next) {
			next = run->next;
			run_free(run);
		}
	}
	live_reader_free(r->reader);
	*r = (struct coll_runs){ 0 };
}

static size_t bucket_of(const char *dir)
{
	return base_hash_text(BASE_HASH, dir) % COLL_RUNS_BUCKETS;
}

struct coll_run *coll_runs_find(const struct coll_runs *r, const char *dir)
{
	struct coll_run *run = r->bucket[bucket_of(dir)];

	while (run && strcmp(run->dir, dir))
		run = run->next;
	return run;
}

struct coll_run *coll_runs_next(const struct coll_runs *r, const struct coll_run *run)
{
	size_t i = 0;

	if (run && run->next)
		return run->next;
	if (run)
		i = bucket_of(run->dir) + 1;
	for (; i < COLL_RUNS_BUCKETS; i++)
		if (r->bucket[i])
			return r->bucket[i];
	return NULL;
}

static size_t streams_of(const struct coll_runs *r)
{
	size_t n = 0;

	for (struct coll_run *run = NULL; (run = coll_runs_next(r, run));)
		n += run->live.streams;
	return n;
}

static struct coll_run *run_new(struct coll_runs *r, const char *dir, bool of_store)
{
	struct coll_run *run = calloc(1, sizeof(*run)), **at = &r->bucket[bucket_of(dir)];

	if (!run)
		return NULL;
	run->dir = strdup(dir);
	run->id = coll_run_id_of(dir);
	if (!run->dir || !run->id) {
		run_free(run);
		return NULL;
	}
	live_run_init(&run->live);
	run->live.nano_usd_per_hour = r->conditions->nano_usd_per_hour;
	run->watch = r->conditions->watch;
	run->of_store = of_store;
	run->all = r;
	if (run->watch.entries && !of_store)
		live_watch_restore(&run->watch, dir);
	run->next = *at;
	*at = run;
	r->count++;
	return run;
}

static struct coll_run *run_of(struct coll_runs *r, const struct coll_stream *s)
{
	struct coll_run *run = coll_runs_find(r, s->dir);

	if (!run && r->count < COLL_RUNS_MAX)
		run = run_new(r, s->dir, false);
	if (!run)
		return NULL;
	if (live_run_stream(&run->live, s->id))
		return run;
	if (r->streams >= COLL_RUNS_STREAMS_MAX)
		return NULL;
	r->streams++;
	return run;
}

static struct live_when now(bool history)
{
	return (struct live_when){ .now_ns = coll_now_ns(),
				   .wall_ns = coll_clock_ns(CLOCK_REALTIME),
				   .history = history };
}

static void take_frame(struct coll_runs *r, const struct coll_stream *s, const struct wire_frame *f,
		       const uint8_t *payload, const struct live_when *when)
{
	struct coll_run *run;

	if (!live_frame_wanted(f))
		return;
	run = run_of(r, s);
	if (!run || live_run_frame(&run->live, r->reader, f, payload, when)) {
		r->unwatched++;
		return;
	}
	run->heard_ns = when->now_ns;
}

void coll_runs_frame(struct coll_runs *r, const struct coll_stream *s, const struct wire_frame *f,
		     const uint8_t *payload)
{
	struct live_when when = now(false);

	take_frame(r, s, f, payload, &when);
}

static void take_alert(struct coll_run *run, const struct live_row *row)
{
	struct live_fired *more, f;

	if (live_row_fired(row, &f) || run->alerts == COLL_RUN_ALERTS_MAX)
		return;
	for (size_t i = 0; i < run->alerts; i++)
		if (!strcmp(run->alert[i].condition, f.condition) &&
		    run->alert[i].budget_pct == f.budget_pct)
			return;
	for (size_t i = 0; i < run->watch.entries; i++)
		if (!strcmp(run->watch.entry[i].alert.condition.text, f.condition) &&
		    run->watch.entry[i].budget_pct == f.budget_pct)
			run->watch.entry[i].alert.fired = true;
	more = reallocarray(run->alert, run->alerts + 1, sizeof(f));
	if (!more)
		return;
	run->alert = more;
	run->alert[run->alerts++] = f;
}

static void count_rows(struct coll_runs *r)
{
	r->rows = r->row_bytes = 0;
	for (struct coll_run *run = NULL; (run = coll_runs_next(r, run));) {
		r->rows += run->rows.rows;
		r->row_bytes += run->rows.bytes;
	}
}

/* What is beyond the bounds is not told of by anybody else. */
static void log_unwatched(struct coll_runs *r)
{
	if (r->unwatched == r->logged || !coll_log_due(&r->logged_ns, LOG_EVERY_NS))
		return;
	coll_log("%" PRIu64
		 " frames or rows of runs that go on are not looked at, for want of room "
		 "(%zu runs, %zu processes, %zu rows) or of sense; /metrics and alerts lack them",
		 r->unwatched - r->logged, r->count, r->streams, r->rows);
	r->logged = r->unwatched;
}

void coll_runs_row(struct coll_runs *r, const struct live_row *row)
{
	char dir[LIVE_ROW_TEAM_BYTES + LIVE_ROW_RUN_BYTES + sizeof(COLL_RUN_SUFFIX)];
	struct coll_run *run;
	int64_t now_ns = coll_now_ns(), heard_ns = now_ns - row->age_s * COLL_SECOND_NS;

	snprintf(dir, sizeof(dir), "%s/%s" COLL_RUN_SUFFIX, row->team, row->run);
	run = coll_runs_find(r, dir);
	if (!run && r->count < COLL_RUNS_MAX)
		run = run_new(r, dir, true);
	if (run && row->slot == LIVE_ROW_ALERT) {
		take_alert(run, row);
		return;
	}
	if (!run || r->row_bytes >= COLL_RUNS_ROW_BYTES_MAX ||
	    coll_kept_rows_add(&run->rows, row, now_ns)) {
		r->unwatched++;
		return;
	}
	r->rows++;
	r->row_bytes += sizeof(*run->rows.row) + row->digits / 2;
	run->heard_ns = heard_ns > run->heard_ns ? heard_ns : run->heard_ns;
}

void coll_runs_rows_end(struct coll_runs *r)
{
	struct live_when when = now(true);

	for (struct coll_run *run = NULL; (run = coll_runs_next(r, run));)
		if (run->rows.fresh)
			r->unwatched +=
				coll_kept_rows_make(&run->rows, &run->live, r->reader, &when);
	count_rows(r);
}

static void on_recovered(void *arg, const struct coll_stream *s, const struct wire_frame *f,
			 const uint8_t *payload, bool thinned)
{
	struct live_when when = now(true);

	when.thinned = thinned;
	take_frame(arg, s, f, payload, &when);
}

void coll_runs_watch(struct coll_runs *r, struct coll_store *st)
{
	st->recovered = (struct coll_recovery_listener){ .frame = on_recovered, .arg = r };
}

static void log_alert(void *arg, const struct live_fired *f, int written)
{
	const struct coll_run *run = arg;
	char words[LIVE_WORDS_BYTES];

	coll_log("alert: %s: %s", run->id, live_fired_words(words, f));
	if (f->exec_error[0])
		coll_log("alert: %s: its command could not be started: %s", run->id, f->exec_error);
	if (written)
		coll_log("alert: %s: alerts.jsonl: %s; it is not remembered", run->id,
			 strerror(-written));
}

void coll_runs_claimed(struct coll_run *run, size_t entry, const struct live_fired *f,
		       const char *where, int err)
{
	struct live_watched watched = {
		.dir = where, .id = run->id, .fired = log_alert, .arg = run
	};

	run->claims--;
	if (!err)
		live_watch_start(&run->watch, entry, f, &watched);
	else if (err != -EEXIST)
		run->watch.entry[entry].alert.fired = false;
}

static void claim(void *arg, size_t entry, const struct live_fired *f)
{
	struct coll_run *run = arg;

	run->claims++;
	run->all->fires(run->all->fires_arg, run, entry, f);
}

/* Of a store: what fires is claimed, and no file is here. */
static void watch_of_store(struct coll_run *run, const struct live_when *when)
{
	struct live_watched watched = { .id = run->id, .claim = claim, .arg = run };

	if (run->all->fires && run->all->sure && !run->rows.fresh)
		live_watch_check(&run->watch, &watched, &run->totals, when);
	live_watch_reap(&run->watch, NULL);
}

static bool is_over(const struct coll_run *run, int64_t now_ns)
{
	int64_t quiet = now_ns - run->heard_ns;

	if (run->claims)
		return false;

	for (size_t i = 0; i < run->watch.entries; i++)
		if (run->watch.entry[i].pid && quiet < FORGOTTEN_NS)
			return false;
	for (size_t i = 0; i < run->live.streams; i++)
		if (!run->live.stream[i]->ended)
			return quiet >= FORGOTTEN_NS;
	return quiet >= OVER_NS;
}

static void update_run(struct coll_run *run)
{
	struct live_watched watched = {
		.dir = run->dir, .id = run->id, .fired = log_alert, .arg = run
	};
	struct live_when when = now(false);

	live_run_totals(&run->live, when.now_ns, &run->totals);
	run->totals.step_slower_ppm = run->step_slower_ppm;
	if (!run->watch.entries)
		return;
	if (run->of_store) {
		watch_of_store(run, &when);
		return;
	}
	live_watch_check(&run->watch, &watched, &run->totals, &when);
	live_watch_reap(&run->watch, run->dir);
}

void coll_runs_tick(struct coll_runs *r)
{
	int64_t now_ns = coll_now_ns();

	r->streams = streams_of(r);
	log_unwatched(r);
	for (size_t i = 0; i < COLL_RUNS_BUCKETS; i++) {
		struct coll_run **at = &r->bucket[i];
		while (*at) {
			struct coll_run *run = *at;
			update_run(run);
			if (!is_over(run, now_ns)) {
				at = &run->next;
				continue;
			}
			*at = run->next;
			run_free(run);
			r->count--;
		}
	}
}
