/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to send next, and what the answer means.
 */
#include "upstream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/files.h"
#include "base/log.h"
#include "batch.h"
#include "clocks.h"
#include "cursor.h"
#include "link.h"
#include "node/server.h"
#include "nodename.h"
#include "store/side.h"

#define NS_PER_MS 1000000LL
#define MORE_AT_ONCE (256u << 10) /* below, the next batch waits for the tick */
#define BEGIN_AGAIN_MAX 3
#define DAMAGED_MAX 8 /* of one frame, one after the other */
#define STRANGE "something that is no collector of ours answers there"

struct coll_upstream {
	struct coll_server *server;
	struct coll_link *link;
	struct coll_outbox box;
	struct coll_batch batch;
	struct coll_clocks clocks;
	char node[COLL_NODE_BYTES];

	/* The side file that is under way. */
	struct coll_out_run *side_run;
	struct coll_out_file *side;
	int64_t side_mtime_ns; /* as it was seen before it was read: */
	uint64_t side_size; /* whatever came since shows at the next look */
	uint8_t *side_bytes;
	size_t side_len;
	char path[1024];

	int64_t wait_ms; /* what the next failure waits */
	int64_t next_ns; /* monotonic: not before then; 0: at the next tick */
	uint64_t seed;
	bool held_too; /* what others were to go before may go now, ... */
	bool frames_first; /* ... these or side files in turn */
	int64_t said_ns, said_refused_ns;
	struct coll_upstream_state state;
};

static void go(struct coll_upstream *u);

/* xorshift: spreads nodes that failed together. */
static uint64_t chance(struct coll_upstream *u, uint64_t below)
{
	u->seed ^= u->seed << 13;
	u->seed ^= u->seed >> 7;
	u->seed ^= u->seed << 17;
	return u->seed % below;
}

/* Says so at the first failure after a success, and then once a minute. */
static void say(struct coll_upstream *u, const char *why, long status)
{
	int64_t now = coll_now_ns();

	if (u->state.failing && now - u->said_ns < 60 * COLL_SECOND_NS)
		return;
	u->said_ns = now;
	if (status)
		coll_log("%s answers %ld: %s; traces stay here until it takes them", u->box.to,
			 status, why);
	else
		coll_log("cannot reach %s: %s; traces stay here until it is back", u->box.to, why);
}

static void failed(struct coll_upstream *u, const struct coll_answer *a)
{
	char text[160];
	int64_t wait = u->wait_ms / 2 + (int64_t)chance(u, (uint64_t)u->wait_ms / 2 + 1);
	int64_t asked = a->retry_after_s;

	snprintf(text, sizeof(text), "%s", a->trouble ? a->trouble : (const char *)a->bytes);
	text[strcspn(text, "\r\n")] = '\0';
	say(u, text, a->trouble ? 0 : a->status);
	u->state.failing = true;
	u->server->count.up_failed++;
	if (asked > COLL_UPSTREAM_RETRY_AFTER_MAX_S)
		asked = COLL_UPSTREAM_RETRY_AFTER_MAX_S;
	if (asked * 1000 > wait)
		wait = asked * 1000;
	u->next_ns = coll_now_ns() + wait * NS_PER_MS;
	u->wait_ms *= 2;
	if (u->wait_ms > COLL_UPSTREAM_LAST_WAIT_MS)
		u->wait_ms = COLL_UPSTREAM_LAST_WAIT_MS;
}

static void succeeded(struct coll_upstream *u)
{
	if (u->state.failing)
		coll_log("%s takes traces again", u->box.to);
	u->state.failing = false;
	u->state.ok_ns = coll_now_ns();
	u->wait_ms = COLL_UPSTREAM_FIRST_WAIT_MS;
	u->next_ns = 0;
	u->server->count.up_requests++;
}

/* Of many such frames one a minute. */
static void say_refused(struct coll_upstream *u, const struct coll_batch_part *p, uint64_t at,
			const char *why)
{
	int64_t now = coll_now_ns();

	if (u->said_refused_ns && now - u->said_refused_ns < 60 * COLL_SECOND_NS)
		return;
	u->said_refused_ns = now;
	coll_log("%s/%s: the frame at byte %" PRIu64
		 " is refused by %s and will be missing there: %.*s",
		 p->run->dir, p->file->name, at, u->box.to, (int)strcspn(why, "\r\n"), why);
}

/* A frame that the centre will never take, although it is good here. It must not hold up others. */
static void pass_over(struct coll_upstream *u, struct coll_batch_part *p, uint64_t at,
		      const char *why)
{
	struct wire_frame f;
	size_t in_body = p->body_to - (size_t)(p->to - at);

	if (wire_frame_header_get(&f, u->batch.body.data + in_body))
		return;
	say_refused(u, p, at, why);
	u->server->count.up_refused++;
	u->state.lost += wire_frame_bytes(&f);
	coll_out_file_sent(p->run, p->file, at + wire_frame_bytes(&f));
}

/* A stream that the centre does not know, however often it gets its beginning. */
static void give_up(struct coll_upstream *u, struct coll_batch_part *p, uint64_t at)
{
	say_refused(u, p, at, "it does not know the stream");
	u->server->count.up_refused++;
	u->state.lost += p->to - at;
	coll_out_file_sent(p->run, p->file, p->to);
}

/*
 * The frame was good when it was read, and damaged when it came there: it goes again. Not for ever,
 * for who damages it each time would keep back all that is behind it.
 */
static bool goes_again(struct coll_out_file *f, uint64_t at)
{
	if (f->damaged_at != at)
		f->damaged = 0;
	f->damaged_at = at;
	return ++f->damaged < DAMAGED_MAX;
}

/* Frames before the refused one are stored. */
static void refused(struct coll_upstream *u, const struct coll_answer *a)
{
	struct coll_batch_part *next;
	uint64_t at;

	coll_batch_stored(&u->batch, (uint64_t)a->stored, &next, &at);
	if (!next)
		return;
	if (a->status != 409 && a->damaged && goes_again(next->file, at))
		coll_note("%s answers 400: %.*s", u->box.to,
			  (int)strcspn((const char *)a->bytes, "\r\n"), (const char *)a->bytes);
	else if (a->status != 409)
		pass_over(u, next, at, (const char *)a->bytes);
	else if (next->file->begun_again++ < BEGIN_AGAIN_MAX)
		coll_out_file_sent(next->run, next->file, 0); /* the centre lost it: once more */
	else
		give_up(u, next, at);
}

/* The centre cannot take it now, for reasons that may be the run's own. */
static void hold(struct coll_out_hold *h)
{
	int64_t s = h->times < 6 ? INT64_C(1) << h->times++ : COLL_UPSTREAM_HELD_MAX_S;

	h->until_ns = coll_now_ns() + s * COLL_SECOND_NS;
}

static void release(struct coll_out_hold *h)
{
	*h = (struct coll_out_hold){ .times = 0 };
}

/* Frames before the one that it could not store are stored, if it says so. */
static void could_not(struct coll_upstream *u, const struct coll_answer *a)
{
	struct coll_batch_part *next = &u->batch.part[0];
	uint64_t at;

	if (a->stored >= 0 && coll_batch_is_between(&u->batch, (uint64_t)a->stored))
		coll_batch_stored(&u->batch, (uint64_t)a->stored, &next, &at);
	if (next && (a->status != 413 || !coll_batch_shrink(&u->batch)))
		hold(&next->run->frames);
}

static void all_stored(struct coll_upstream *u)
{
	struct coll_batch_part *next;
	uint64_t at;

	u->server->count.up_bytes += u->batch.body.len;
	for (size_t i = 0; i < u->batch.parts; i++) {
		u->batch.part[i].file->begun_again = 0;
		release(&u->batch.part[i].run->frames);
	}
	coll_batch_stored(&u->batch, u->batch.body.len, &next, &at);
}

/* Something between us and the centre answers for it, or the address is another server's. */
static void failed_strangely(struct coll_upstream *u, const struct coll_answer *a)
{
	struct coll_answer strange = *a;

	strange.trouble = STRANGE;
	failed(u, &strange);
}

static void frames_done(void *owner, const struct coll_answer *a)
{
	struct coll_upstream *u = owner;

	if (a->trouble) {
		failed(u, a);
	} else if (a->status == 200 && coll_batch_is_acked(&u->batch, a->bytes, a->len)) {
		all_stored(u);
		succeeded(u);
	} else if ((a->status == 400 || a->status == 409) && a->stored >= 0 &&
		   coll_batch_is_between(&u->batch, (uint64_t)a->stored)) {
		refused(u, a);
		succeeded(u);
	} else if (a->status == 200) {
		failed_strangely(u, a);
	} else {
		if (a->status >= 500 || a->status == 413)
			could_not(u, a);
		failed(u, a);
	}
	coll_batch_clear(&u->batch);
	if (!u->state.failing && u->box.pending >= MORE_AT_ONCE)
		go(u);
}

static bool says(const struct coll_answer *a, long status, const char *text)
{
	return !a->trouble && a->status == status && a->len == strlen(text) &&
	       !memcmp(a->bytes, text, a->len);
}

static void side_done(void *owner, const struct coll_answer *a)
{
	struct coll_upstream *u = owner;
	bool stored = says(a, 200, COLL_SIDE_STORED);

	if (stored || says(a, 404, COLL_SIDE_NO_NAME)) {
		release(&u->side_run->sides);
		u->side->sent_mtime_ns = u->side_mtime_ns;
		u->side->sent_size = u->side_size;
		coll_out_file_sent(u->side_run, u->side, 0);
		succeeded(u);
		if (!stored)
			coll_log("%s/%s: %s does not take it (%ld)", u->side_run->dir,
				 u->side->name, u->box.to, a->status);
	} else {
		if (!a->trouble && a->status != 401 && a->status != 403 && a->status != 429)
			hold(&u->side_run->sides);
		if (!a->trouble && a->status == 200)
			failed_strangely(u, a);
		else
			failed(u, a);
	}
	free(u->side_bytes);
	u->side_bytes = NULL;
	if (!u->state.failing)
		go(u);
}

static void clock_done(void *owner, const struct coll_answer *a)
{
	struct coll_upstream *u = owner;

	bool good = !a->trouble && a->status == 200;

	if (good && coll_clocks_take(&u->clocks, a)) {
		succeeded(u);
		go(u);
	} else if (good) {
		failed_strangely(u, a);
	} else {
		failed(u, a);
	}
}

static bool start(struct coll_upstream *u, struct coll_request *r)
{
	struct coll_answer a = { .trouble = "cannot send", .stored = -1 };
	int err;

	r->owner = u;
	r->ask_first = u->state.failing || !u->state.ok_ns;
	err = coll_link_send(u->link, r);
	if (err)
		failed(u, &a);
	return !err;
}

static bool send_clock(struct coll_upstream *u)
{
	struct coll_request r = { .method = "GET", .path = "/v1/clock", .done = clock_done };

	return start(u, &r);
}

/* The file is sent as it was read, whatever happens to it meanwhile. */
static bool send_side(struct coll_upstream *u, struct coll_out_run *run, struct coll_out_file *f)
{
	struct coll_request r = { .method = "PUT", .path = u->path, .done = side_done };
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", run->dir, f->name);
	snprintf(u->path, sizeof(u->path), "/v1/runs/%s/files/%s", run->name, f->name);
	if (coll_file_read(path, COLL_SIDE_MAX, &u->side_bytes, &u->side_len)) {
		f->sent_mtime_ns = f->mtime_ns; /* gone, or too long: as it is, it cannot go */
		f->sent_size = f->size;
		return false;
	}
	u->side_run = run;
	u->side = f;
	u->side_mtime_ns = f->mtime_ns;
	u->side_size = f->size;
	r.body = u->side_bytes;
	r.len = u->side_len;
	if (start(u, &r))
		return true;
	free(u->side_bytes);
	u->side_bytes = NULL;
	return true;
}

static bool may_go(const struct coll_upstream *u, const struct coll_out_hold *h)
{
	return u->held_too || !h->until_ns || coll_now_ns() >= h->until_ns;
}

static bool send_a_side(struct coll_upstream *u)
{
	struct coll_out_run *run;
	struct coll_out_file *f;

	for (run = u->box.runs; run; run = run->next)
		for (f = may_go(u, &run->sides) ? run->files : NULL; f; f = f->next)
			if (f->kind == COLL_OUT_SIDE && coll_out_file_pending(f) &&
			    send_side(u, run, f))
				return true;
	return false;
}

static void fill(struct coll_upstream *u, struct coll_out_run *run)
{
	struct coll_out_file *f;

	for (f = run->files; f && !coll_batch_full(&u->batch); f = f->next) {
		int err = 0;

		if (f->kind != COLL_OUT_SIDE && coll_out_file_pending(f))
			err = coll_batch_add(&u->batch, run, f);
		if (err && err != -ENOENT)
			coll_note("%s/%s: %s", run->dir, f->name, strerror(-err));
	}
}

static bool send_frames(struct coll_upstream *u)
{
	struct coll_request r = { .method = "POST", .path = "/v1/frames", .done = frames_done };
	struct coll_out_run *run;
	uint64_t damaged = u->batch.damaged;

	coll_batch_clear(&u->batch);
	coll_outbox_turn(&u->box);
	for (run = u->box.runs; run && !coll_batch_full(&u->batch); run = run->next)
		if (may_go(u, &run->frames))
			fill(u, run);
	if (u->batch.damaged != damaged) {
		coll_log("%" PRIu64 " damaged bytes are left out of what is forwarded",
			 u->batch.damaged - damaged);
		u->server->count.up_damaged += u->batch.damaged - damaged;
		u->state.lost += u->batch.damaged - damaged;
	}
	if (!u->batch.parts)
		return false;
	r.body = u->batch.body.data;
	r.len = u->batch.body.len;
	u->box.pending -= r.len < u->box.pending ? r.len : u->box.pending;
	start(u, &r);
	return true;
}

static bool any_held(const struct coll_upstream *u)
{
	const struct coll_out_run *run = u->box.runs;

	while (run && !run->frames.until_ns && !run->sides.until_ns)
		run = run->next;
	return run != NULL;
}

/* The next request, if there is one to make. */
static void go(struct coll_upstream *u)
{
	int64_t now = coll_now_ns();

	if (coll_link_busy(u->link) || now < u->next_ns)
		return;
	u->next_ns = 0;
	if (coll_clocks_due(&u->clocks, now) && send_clock(u))
		return;
	u->held_too = false;
	if (send_a_side(u) || send_frames(u) || !any_held(u))
		return;
	u->held_too = true;
	u->frames_first = !u->frames_first;
	if ((u->frames_first && send_frames(u)) || send_a_side(u) || u->frames_first)
		return;
	send_frames(u);
}

static void look(struct coll_upstream *u)
{
	bool was_full = u->box.full;

	coll_outbox_look(&u->box, coll_now_ns());
	u->state.pending = u->box.pending;
	u->state.full = u->box.full;
	if (u->box.full != was_full)
		coll_log(was_full
				 ? "%s catches up; frames are kept again"
				 : "more waits for %s than --outbox-max allows; frames are dropped "
				   "and counted until it takes some",
			 u->box.to);
	coll_clocks_write(&u->clocks, &u->box);
}

void coll_upstream_tick(struct coll_upstream *u)
{
	if (!u)
		return;
	look(u);
	if (!coll_link_busy(u->link)) {
		go(u);
		coll_outbox_save(&u->box);
		if (!coll_link_busy(u->link)) /* what is under way names runs and files */
			u->server->count.up_removed += coll_outbox_retire(&u->box);
	} else {
		coll_outbox_save(&u->box);
	}
}

int coll_upstream_timeout(const struct coll_upstream *u)
{
	int64_t left;

	if (!u || !u->next_ns || coll_link_busy(u->link))
		return -1;
	left = (u->next_ns - coll_now_ns() + NS_PER_MS - 1) / NS_PER_MS;
	return left < 0 ? 0 : left > 1000 ? 1000 : (int)left;
}

void coll_upstream_turn(struct coll_upstream *u)
{
	if (u && u->next_ns && coll_now_ns() >= u->next_ns)
		go(u);
}

void coll_upstream_note(struct coll_upstream *u, const struct coll_stream *s)
{
	if (u)
		coll_outbox_note(&u->box, s->dir);
}

bool coll_upstream_drops(struct coll_upstream *u, const struct wire_frame *f)
{
	if (!u || !coll_outbox_drops(&u->box, f->type))
		return false;
	u->server->count.up_dropped++;
	u->state.lost += wire_frame_bytes(f);
	return true;
}

void coll_upstream_look(const struct coll_upstream *u, struct coll_upstream_state *out)
{
	*out = u ? u->state : (struct coll_upstream_state){ .pending = 0 };
}

static bool all_sent(struct coll_upstream *u)
{
	/* The shortest run, too, is to say how far its node's clock is from others'. */
	if (coll_link_busy(u->link) || (u->box.runs && u->clocks.asked < COLL_CLOCKS_FIRST))
		return false;
	look(u);
	return !u->box.pending && !u->box.pending_files;
}

void coll_upstream_linger(struct coll_upstream *u, int seconds)
{
	int64_t until = coll_now_ns() + seconds * COLL_SECOND_NS;

	if (!u)
		return;
	u->state.failing = false;
	u->next_ns = 0;
	while (!all_sent(u) && !u->state.failing && coll_now_ns() < until) {
		go(u);
		if (coll_loop_turn(&u->server->loop, 20))
			break;
	}
	if (!all_sent(u))
		coll_log("%" PRIu64
			 " bytes of traces and %zu files are not forwarded yet; the next "
			 "collector with --dir %s and this --upstream goes on",
			 u->box.pending, u->box.pending_files, u->box.store->base);
	coll_outbox_save(&u->box);
}

int coll_upstream_open(struct coll_upstream **out, struct coll_server *sv)
{
	const struct coll_options *o = sv->opts;
	struct coll_upstream *u;
	int err;

	*out = NULL;
	if (!o->upstream)
		return 0;
	if (!coll_link_url_ok(o))
		return -EINVAL;
	u = calloc(1, sizeof(*u));
	if (!u)
		return -ENOMEM;
	u->server = sv;
	u->wait_ms = COLL_UPSTREAM_FIRST_WAIT_MS;
	u->seed = ((uint64_t)coll_clock_ns(CLOCK_REALTIME) ^ (uint64_t)getpid() << 32) | 1;
	coll_node_name(u->node);
	u->box.max = o->outbox_max;
	u->box.remove = o->forwarded_remove;
	coll_clocks_init(&u->clocks, u->node, o->upstream);
	err = coll_outbox_init(&u->box, &sv->store, o->upstream);
	if (!err) {
		u->link = coll_link_new(&sv->loop, o, u->node);
		err = u->link ? 0 : -ENOMEM;
	}
	if (!err) {
		u->next_ns = coll_now_ns(); /* the clocks, at once */
		*out = u;
		return 0;
	}
	coll_log("cannot forward to %s: %s", o->upstream, strerror(-err));
	coll_upstream_close(u);
	return err;
}

void coll_upstream_close(struct coll_upstream *u)
{
	if (!u)
		return;
	coll_link_free(u->link);
	coll_outbox_save(&u->box);
	coll_outbox_fini(&u->box);
	coll_batch_fini(&u->batch);
	free(u->side_bytes);
	free(u);
}
