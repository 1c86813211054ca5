/* SPDX-License-Identifier: Apache-2.0 */
#include "claim.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include "mark_store.h"
#include "retain/job_dirs.h"

#define PAUSE_MAX_S 3600
#define AGAIN_S 60
#define SETTLED_MAX_S 86400
#define GOES_ON_PART 8 /* of its age */
#define GOES_ON_MAX_S 900

static int put_mark(const struct coll_work_claim *c, const struct coll_work_mark *m,
		    const void *bytes, size_t len, struct objects_trouble *t)
{
	return coll_work_mark_put(c->store, &c->place, m, bytes, len, t);
}

static int remove_mark(const struct coll_work_claim *c, const struct coll_work_mark *m)
{
	struct objects_trouble t;

	return coll_work_mark_remove(c->store, &c->place, m, &t);
}

/* Of this run as it lies there, and by this claim of ours. */
static struct coll_work_mark own(const struct coll_work_claim *c, enum coll_work_kind kind)
{
	bool tried = kind == COLL_WORK_LEASE || kind == COLL_WORK_FAIL || kind == COLL_WORK_DEAD;
	struct coll_work_mark m = { .kind = kind,
				    .revision = c->look.revision,
				    .content = tried ? coll_work_trial(c->look.content)
						     : c->look.content };

	memcpy(m.who, c->who, sizeof(m.who));
	return m;
}

static void name_claim(struct coll_work_claim *c)
{
	uint64_t chance = 0;

	if (getrandom(&chance, sizeof(chance), 0) != sizeof(chance))
		chance = (uint64_t)(uintptr_t)c ^ (uint64_t)getpid() << 32;
	snprintf(c->who, sizeof(c->who), "%016" PRIx64, chance);
}

static int put_lease(const struct coll_work_claim *c, struct objects_trouble *t)
{
	struct coll_work_mark m = own(c, COLL_WORK_LEASE);
	char text[300], host[256] = "";

	gethostname(host, sizeof(host) - 1);
	snprintf(text, sizeof(text), "%.200s, process %d\n", host, (int)getpid());
	return put_mark(c, &m, text, strlen(text), t);
}

void coll_work_claim_init(struct coll_work_claim *c, struct objects *store)
{
	*c = (struct coll_work_claim){ .store = store };
	pthread_mutex_init(&c->lock, NULL);
}

void coll_work_claim_fini(struct coll_work_claim *c)
{
	coll_work_look_fini(&c->look);
	coll_work_job_fini(&c->job);
	pthread_mutex_destroy(&c->lock);
}

/* A refresh that came after the lease went would leave one that nobody holds. */
int coll_work_refresh(struct coll_work_claim *c, struct objects_trouble *t)
{
	int err;

	pthread_mutex_lock(&c->lock);
	err = c->held ? put_lease(c, t) : 0;
	pthread_mutex_unlock(&c->lock);
	return err;
}

/* It may be there whatever the call says. */
static int take_lease(struct coll_work_claim *c, struct objects_trouble *t)
{
	int err;

	pthread_mutex_lock(&c->lock);
	c->held = true;
	err = put_lease(c, t);
	pthread_mutex_unlock(&c->lock);
	return err;
}

static void drop_lease(struct coll_work_claim *c)
{
	struct coll_work_mark m = own(c, COLL_WORK_LEASE);

	pthread_mutex_lock(&c->lock);
	if (c->held)
		remove_mark(c, &m);
	c->held = false;
	pthread_mutex_unlock(&c->lock);
}

/*
 * Its holder was not heard of any more: that was an attempt, and whoever finds it writes the
 * same.
 */
static int bury(const struct coll_work_claim *c, const struct coll_work_mark *lease,
		struct objects_trouble *t)
{
	struct coll_work_mark fail = *lease;
	char who[COLL_WORK_MARK_TEXT + 64], text[COLL_WORK_MARK_TEXT];
	int err;

	coll_work_mark_text(text, sizeof(text), c->store, &c->place, lease);
	snprintf(who, sizeof(who), "its worker was not heard of any more (%.300s)\n", text);
	fail.kind = COLL_WORK_FAIL;
	err = put_mark(c, &fail, who, strlen(who), t);
	return err ? err : remove_mark(c, lease);
}

static int bury_all(struct coll_work_claim *c, struct coll_work_marks *all,
		    struct objects_trouble *t)
{
	int err = 0;

	for (size_t i = 0; i < all->n && !err; i++) {
		struct coll_work_mark *m = &all->mark[i];

		if (m->kind != COLL_WORK_LEASE)
			continue;
		err = bury(c, m, t);
		m->kind = COLL_WORK_FAIL; /* as it is now */
		m->changed_s = all->now_s;
		c->left++;
	}
	return err;
}

static int64_t pause_s(const struct coll_work_rules *r, unsigned int fails)
{
	int64_t s = r->pause_s;

	for (unsigned int i = 1; i < fails && s < PAUSE_MAX_S; i++)
		s *= 2;
	return s < PAUSE_MAX_S ? s : PAUSE_MAX_S;
}

static int put_aside(struct coll_work_claim *c, const char *why, struct objects_trouble *t)
{
	struct coll_work_mark dead = own(c, COLL_WORK_DEAD);
	char text[sizeof(c->why) + 64];
	int err;

	snprintf(c->why, sizeof(c->why), "%s", why);
	snprintf(text, sizeof(text), "%s\n%u attempts failed\n", c->why, c->fails);
	err = put_mark(c, &dead, text, strlen(text), t);
	c->put_aside = !err;
	return err;
}

/* What earlier attempts say. */
static enum coll_work_got ask_attempts(struct coll_work_claim *c, struct coll_work_marks *all,
				       struct objects_trouble *t)
{
	uint64_t trial = coll_work_trial(c->look.content);
	const struct coll_work_mark *last;
	char why[COLL_WORK_MARK_TEXT];

	if (bury_all(c, all, t))
		return COLL_WORK_TROUBLE;
	c->fails = coll_work_marks_fails(all, trial, &last);
	if (!c->fails)
		return COLL_WORK_TAKEN;
	if (c->rules.tries && c->fails >= c->rules.tries) {
		coll_work_mark_text(why, sizeof(why), c->store, &c->place, last);
		return put_aside(c, why, t) ? COLL_WORK_TROUBLE : COLL_WORK_SETTLED;
	}
	c->wait_s = pause_s(&c->rules, c->fails) - coll_work_mark_age(all, last, 0);
	return c->wait_s > 0 ? COLL_WORK_NOT_YET : COLL_WORK_TAKEN;
}

/* A run that has gone on for long is not asked for often. */
static int64_t patience_s(const struct coll_work_claim *c)
{
	int64_t s = (c->look.now_s - c->look.oldest_s) / GOES_ON_PART;

	return s < GOES_ON_MAX_S ? s : GOES_ON_MAX_S;
}

static int64_t more(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Of a job, whether its GPUs were given back. */
static int says_end(struct coll_work_claim *c, struct objects_trouble *t)
{
	char folder[COLL_WORK_PLACE_BYTES];

	if (c->look.job)
		return !c->look.goes_on;
	coll_work_place_run(folder, &c->place);
	return coll_work_look_ended(&c->look, c->store, folder, t);
}

/* Whether it has ended, as far as one can tell. */
static enum coll_work_got ask_end(struct coll_work_claim *c, struct objects_trouble *t)
{
	/* Swift rounds up when something was written. */
	int64_t quiet_s = more(c->look.now_s - c->look.newest_s, 0);
	int64_t lost_s = (c->look.job ? COLL_JOB_LOST_S : c->rules.lost_s) - quiet_s;
	int ended;

	if (quiet_s < c->rules.ended_s) {
		c->wait_s = more(c->rules.ended_s - quiet_s, patience_s(c));
		return COLL_WORK_NOT_YET;
	}
	if (lost_s <= 0)
		return COLL_WORK_TAKEN;
	ended = says_end(c, t);
	if (ended)
		return ended > 0 ? COLL_WORK_TAKEN : COLL_WORK_TROUBLE;
	c->wait_s = more(patience_s(c), AGAIN_S);
	c->wait_s = c->wait_s < lost_s ? c->wait_s : lost_s;
	return COLL_WORK_NOT_YET;
}

/* Ours is there now: is it the only one, and is nothing done meanwhile? */
static enum coll_work_got ask_again(struct coll_work_claim *c, struct objects_trouble *t)
{
	struct coll_work_mark lease = own(c, COLL_WORK_LEASE);
	enum coll_work_got got = COLL_WORK_TAKEN;
	struct coll_work_marks all;

	if (coll_work_marks_list(&all, c->store, &c->place, t))
		got = COLL_WORK_TROUBLE;
	for (size_t i = 0; i < all.n; i++)
		if (all.mark[i].kind == COLL_WORK_LEASE && !strcmp(all.mark[i].who, lease.who))
			c->ahead_s = all.now_s - all.mark[i].changed_s;
	if (got == COLL_WORK_TAKEN &&
	    coll_work_marks_other(&all, c->who, c->rules.lease_s, c->ahead_s))
		got = COLL_WORK_BUSY;
	if (got == COLL_WORK_TAKEN && coll_work_marks_find(&all, COLL_WORK_DIGEST, c->look.content))
		got = COLL_WORK_SETTLED;
	coll_work_marks_fini(&all);
	return got;
}

/* What has had its digest for long is not asked for often, either. */
static enum coll_work_got settled(struct coll_work_claim *c, const struct coll_work_marks *all,
				  const struct coll_work_mark *m)
{
	int64_t age_s = coll_work_mark_age(all, m, 0);

	c->wait_s = more(age_s < SETTLED_MAX_S ? age_s : SETTLED_MAX_S, AGAIN_S);
	return COLL_WORK_SETTLED;
}

/* Nobody will read it; as far as it was listed it is told by its content as others are. */
static enum coll_work_got too_much(struct coll_work_claim *c, struct objects_trouble *t)
{
	char why[OBJECTS_WHY];

	snprintf(why, sizeof(why), "%s", t->why);
	c->wait_s = SETTLED_MAX_S;
	return put_aside(c, why, t) ? COLL_WORK_TROUBLE : COLL_WORK_SETTLED;
}

static enum coll_work_got take_listed(struct coll_work_claim *c, struct coll_work_marks *all,
				      struct objects_trouble *t)
{
	const struct coll_work_mark *m;
	enum coll_work_got got;

	if (coll_work_marks_other(all, c->who, c->rules.lease_s, c->ahead_s))
		return COLL_WORK_BUSY;
	m = coll_work_marks_find(all, COLL_WORK_DIGEST, c->look.content);
	if (!m)
		m = coll_work_marks_find(all, COLL_WORK_DEAD, coll_work_trial(c->look.content));
	if (m)
		return settled(c, all, m);
	got = ask_attempts(c, all, t);
	if (got != COLL_WORK_TAKEN)
		return got;
	return take_lease(c, t) ? COLL_WORK_TROUBLE : ask_again(c, t);
}

static enum coll_work_got take(struct coll_work_claim *c, struct coll_work_marks *all,
			       struct objects_trouble *t)
{
	int err = coll_work_job_look(&c->look, &c->job, c->store, &c->place, t);
	enum coll_work_got got;

	if (err)
		return err == -E2BIG ? too_much(c, t) : COLL_WORK_TROUBLE;
	if (c->look.job ? !c->look.allocations : !c->look.segments)
		return COLL_WORK_NOTHING;
	got = ask_end(c, t);
	if (got != COLL_WORK_TAKEN)
		return got;
	if (coll_work_marks_list(all, c->store, &c->place, t))
		return COLL_WORK_TROUBLE;
	return take_listed(c, all, t);
}

enum coll_work_got coll_work_take(struct coll_work_claim *c, const struct coll_work_place *place,
				  struct objects_trouble *t)
{
	struct coll_work_marks all = { .n = 0 };
	enum coll_work_got got;

	c->place = *place;
	c->wait_s = AGAIN_S;
	c->left = c->fails = 0;
	c->put_aside = false;
	name_claim(c);
	got = take(c, &all, t);
	coll_work_marks_fini(&all);
	if (got != COLL_WORK_TAKEN)
		coll_work_release(c);
	return got;
}

int coll_work_put(struct coll_work_claim *c, enum coll_work_kind kind, const void *bytes,
		  size_t len, struct objects_trouble *t)
{
	struct coll_work_mark m = own(c, kind);

	return put_mark(c, &m, bytes, len, t);
}

/*
 * Of a lower revision, and what was tried at this one. A worker that wakes after others have gone
 * on has a lower revision than theirs, and takes nothing of it away.
 */
static bool is_over(const struct coll_work_claim *c, const struct coll_work_mark *m)
{
	if (m->kind == COLL_WORK_LEASE)
		return false; /* whose it is will see to it, or who finds that it has run out */
	if (m->revision < c->look.revision)
		return true;
	return m->revision == c->look.revision &&
	       (m->kind == COLL_WORK_FAIL || m->kind == COLL_WORK_DEAD);
}

void coll_work_settle(struct coll_work_claim *c)
{
	struct coll_work_marks all;
	struct objects_trouble t;

	if (!coll_work_marks_list(&all, c->store, &c->place, &t))
		for (size_t i = 0; i < all.n; i++)
			if (is_over(c, &all.mark[i]))
				remove_mark(c, &all.mark[i]);
	coll_work_marks_fini(&all);
	coll_work_release(c);
}

void coll_work_failed(struct coll_work_claim *c, const char *why)
{
	struct coll_work_mark m = own(c, COLL_WORK_FAIL);
	struct objects_trouble t;
	char text[sizeof(c->why) + 2];

	snprintf(c->why, sizeof(c->why), "%s", why);
	snprintf(text, sizeof(text), "%s\n", c->why);
	c->put_aside = false;
	if (!put_mark(c, &m, text, strlen(text), &t) && c->rules.tries &&
	    ++c->fails >= c->rules.tries)
		put_aside(c, why, &t);
	coll_work_release(c);
}

void coll_work_release(struct coll_work_claim *c)
{
	drop_lease(c);
	coll_work_look_fini(&c->look);
	coll_work_job_fini(&c->job);
}

int coll_work_again(struct coll_work_claim *c, const struct coll_work_place *place,
		    struct objects_trouble *t)
{
	struct coll_work_marks all;
	int err, gone = 0;

	c->place = *place;
	err = coll_work_marks_list(&all, c->store, place, t);
	for (size_t i = 0; i < all.n && !err; i++) {
		const struct coll_work_mark *m = &all.mark[i];

		if (m->kind != COLL_WORK_FAIL && m->kind != COLL_WORK_DEAD)
			continue;
		err = remove_mark(c, m);
		gone += !err;
	}
	coll_work_marks_fini(&all);
	return err ? err : gone;
}
