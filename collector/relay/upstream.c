/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to send next.
 */
#include "upstream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "core/clock.h"
#include "core/log.h"
#include "forward.h"
#include "frames_answer.h"
#include "gone_check.h"
#include "side_files.h"

#define NS_PER_MS 1000000LL
#define MORE_AT_ONCE (256u << 10) /* below, the next batch waits for the tick */

static void send_next(struct coll_upstream *u);

/* Of any good answer of a centre. Who does not ask for it takes frames as they come. */
static void heard_gather(struct coll_upstream *u, const struct coll_answer *a)
{
	if (a->trouble || a->status != 200)
		return;
	u->gather.bytes = a->gather_bytes;
	u->gather.every_ns = a->gather_bytes ? a->gather_s * COLL_SECOND_NS : 0;
	u->batch.usual = (size_t)a->gather_bytes;
}

static void clock_done(void *owner, const struct coll_answer *a)
{
	struct coll_upstream *u = owner;
	bool good = !a->trouble && a->status == 200;

	coll_check_heard(u, a);
	heard_gather(u, a);
	if (good && coll_clock_offset_read(&u->clock, a)) {
		if (!a->epoch[0])
			coll_check_heard_mute(u);
		coll_backoff_succeeded(&u->backoff);
		send_next(u);
	} else if (good) {
		coll_backoff_failed_strangely(&u->backoff, a);
	} else {
		coll_backoff_failed(&u->backoff, a);
	}
}

static void side_file_done(void *owner, const struct coll_answer *a)
{
	struct coll_upstream *u = owner;

	coll_check_heard(u, a);
	coll_side_files_answer(u, a);
	if (!u->backoff.failing)
		send_next(u);
}

static void frames_done(void *owner, const struct coll_answer *a)
{
	struct coll_upstream *u = owner;

	heard_gather(u, a);
	coll_frames_answer(u, a);
	if (!u->backoff.failing && u->box.pending >= MORE_AT_ONCE)
		send_next(u);
}

static void check_done(void *owner, const struct coll_answer *a)
{
	struct coll_upstream *u = owner;
	bool good = !a->trouble && a->status == 200;

	if (coll_check_heard(u, a)) {
		coll_backoff_succeeded(&u->backoff); /* another one than was asked: once more */
	} else if (good && a->epoch[0] && coll_check_answer(u, a)) {
		coll_backoff_succeeded(&u->backoff);
	} else if (good) {
		coll_backoff_failed_strangely(&u->backoff, a);
	} else {
		coll_backoff_failed(&u->backoff, a);
	}
	if (!u->backoff.failing)
		send_next(u);
}

static void gone_done(void *owner, const struct coll_answer *a)
{
	struct coll_upstream *u = owner;
	bool good = !a->trouble && a->status == 200;

	if (coll_check_heard(u, a)) {
		coll_gone_again(&u->gone);
		coll_backoff_succeeded(&u->backoff);
	} else if (good && coll_gone_answer(u, a)) {
		coll_backoff_succeeded(&u->backoff);
	} else {
		coll_gone_again(&u->gone);
		if (good)
			coll_backoff_failed_strangely(&u->backoff, a);
		else
			coll_backoff_failed(&u->backoff, a);
	}
	if (!u->backoff.failing)
		send_next(u);
}

/* False: it failed at once, which backoff knows. */
static bool start(struct coll_upstream *u, struct coll_request *r)
{
	struct coll_answer a = { .trouble = "cannot send", .stored = -1 };
	int err;

	r->owner = u;
	r->ask_first = u->backoff.failing || !u->backoff.ok_ns;
	err = coll_link_send(u->link, r);
	if (err)
		coll_backoff_failed(&u->backoff, &a);
	return !err;
}

static bool send_clock(struct coll_upstream *u)
{
	struct coll_request r = { .method = "GET", .path = "/v1/clock", .done = clock_done };

	return start(u, &r);
}

/* True: there was one to send. */
static bool send_side_file(struct coll_upstream *u)
{
	struct coll_request r = { .done = side_file_done };
	int next = coll_side_files_next(u, &r);

	if (next && (next < 0 || !start(u, &r)))
		coll_side_files_unsent(u);
	return next != 0;
}

/* True: there was something to ask. */
static bool send_check(struct coll_upstream *u)
{
	struct coll_request r = { .done = check_done };
	int next;

	if (coll_centre_is_mute(&u->box.centre))
		return false;
	next = coll_check_next(u, &r);
	return next > 0 && start(u, &r);
}

/* The same of what is not here any more; nobody waits for that. */
static bool send_gone(struct coll_upstream *u)
{
	struct coll_request r = { .done = gone_done };
	int next;

	if (coll_centre_is_mute(&u->box.centre))
		return false;
	next = coll_gone_next(u, &r);
	return next > 0 && start(u, &r);
}

static void add_run_to_batch(struct coll_upstream *u, struct coll_out_run *run)
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

/*
 * Who has another store than the one that was asked, or has one that nobody asked, stores nothing.
 */
static void mean_centre(struct coll_upstream *u, struct coll_request *r)
{
	const char *text = u->box.centre.text;

	if (coll_centre_is_mute(&u->box.centre))
		text = COLL_CENTRE_MUTE;
	snprintf(u->epoch, sizeof(u->epoch), COLL_EPOCH_HEADER ": %.*s", (int)strcspn(text, ","),
		 text);
	u->epoch_headers[0] = u->epoch;
	r->headers = u->epoch_headers;
}

/* Once it is time all goes that waits then, in as many bodies as it takes. */
static bool frames_are_due(struct coll_upstream *u)
{
	int64_t now = coll_now_ns();

	if (!u->gather.bytes || u->gather.off || u->gather.urgent || u->gather.left)
		return true;
	if (!u->box.pending)
		return false;
	if (u->box.longest < u->gather.bytes && u->gather.began_ns &&
	    now - u->gather.began_ns < u->gather.every_ns)
		return false;
	u->gather.left = u->box.pending;
	u->gather.began_ns = now;
	return true;
}

static bool send_frames(struct coll_upstream *u)
{
	struct coll_request r = { .method = "POST", .path = "/v1/frames", .done = frames_done };
	struct coll_out_run *run;
	uint64_t damaged = u->batch.damaged;

	if (!frames_are_due(u))
		return false;
	coll_batch_clear(&u->batch);
	coll_outbox_rotate(&u->box);
	for (run = u->box.runs; run && !coll_batch_full(&u->batch); run = run->next)
		if (coll_forward_may(u, &run->frames) && coll_out_run_is_sure(run, &u->box.centre))
			add_run_to_batch(u, run);
	if (u->batch.damaged != damaged) {
		coll_log("%" PRIu64 " damaged bytes are left out of what is forwarded",
			 u->batch.damaged - damaged);
		u->context->count.up_damaged += u->batch.damaged - damaged;
	}
	if (!u->batch.parts) {
		u->gather.left = 0;
		return false;
	}
	mean_centre(u, &r);
	r.body = u->batch.body.data;
	r.len = u->batch.body.len;
	u->box.pending -= r.len < u->box.pending ? r.len : u->box.pending;
	u->gather.left -= r.len < u->gather.left ? r.len : u->gather.left;
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

/* The next request, if there is one to make now. */
static void send_next(struct coll_upstream *u)
{
	int64_t now = coll_now_ns();

	if (coll_link_busy(u->link) || now < u->backoff.next_ns)
		return;
	u->backoff.next_ns = 0;
	if (coll_clock_offset_due(&u->clock, now) && send_clock(u))
		return;
	if (send_check(u) || send_gone(u))
		return;
	u->held_too = false;
	if (send_side_file(u) || send_frames(u) || !any_held(u))
		return;
	u->held_too = true;
	u->frames_first = !u->frames_first;
	if ((u->frames_first && send_frames(u)) || send_side_file(u) || u->frames_first)
		return;
	send_frames(u);
}

/* A collector of one run alone has no business with what others left in the folder. */
static void scan_unsent(struct coll_upstream *u)
{
	if (!u->opts->one_run)
		coll_unsent_runs_scan(&u->unsent, &u->box, coll_now_ns());
}

static void tell_full(struct coll_upstream *u)
{
	if (u->box.full != u->told_full)
		coll_log(u->told_full
				 ? "%s catches up; frames are kept again"
				 : "more waits for %s than --outbox-max allows; frames are dropped "
				   "and counted until it takes some",
			 u->box.to);
	u->told_full = u->box.full;
}

static void scan_outbox(struct coll_upstream *u)
{
	scan_unsent(u);
	coll_outbox_scan(&u->box, coll_now_ns());
	tell_full(u);
	/* What is written is new, too: who asks next whether all is sent is to hear of it. */
	if (coll_clock_offset_write(&u->clock, &u->box))
		coll_outbox_scan(&u->box, coll_now_ns());
}

void coll_upstream_tick(struct coll_upstream *u)
{
	if (!u)
		return;
	coll_behind_tick(&u->behind, u->box.to);
	scan_outbox(u);
	if (!coll_link_busy(u->link)) {
		send_next(u);
		coll_outbox_save(&u->box);
		if (!coll_link_busy(u->link)) /* what is under way names runs and files */
			u->context->count.up_removed += coll_outbox_retire(&u->box);
	} else {
		coll_outbox_save(&u->box);
	}
}

int coll_upstream_timeout(const struct coll_upstream *u)
{
	int64_t left;

	if (!u || !u->backoff.next_ns || coll_link_busy(u->link))
		return -1;
	left = (u->backoff.next_ns - coll_now_ns() + NS_PER_MS - 1) / NS_PER_MS;
	return left < 0 ? 0 : left > 1000 ? 1000 : (int)left;
}

void coll_upstream_turn(struct coll_upstream *u)
{
	if (u && u->backoff.next_ns && coll_now_ns() >= u->backoff.next_ns)
		send_next(u);
}

void coll_upstream_follow(struct coll_upstream *u, const struct coll_stream *s)
{
	if (u)
		coll_outbox_follow(&u->box, s->dir);
}

bool coll_upstream_drops(struct coll_upstream *u, const struct wire_frame *f)
{
	if (!u || !coll_outbox_drops(&u->box, f->type, wire_frame_bytes(f)))
		return false;
	tell_full(u);
	u->context->count.up_dropped++;
	return true;
}

static bool all_sent(struct coll_upstream *u)
{
	/* The shortest run, too, is to say how far its node's clock is from others'. */
	if (coll_link_busy(u->link) || (u->box.runs && u->clock.asked < COLL_CLOCK_OFFSET_FIRST))
		return false;
	scan_outbox(u);
	return !u->box.pending && !u->box.pending_files && !u->box.unchecked;
}

void coll_upstream_linger(struct coll_upstream *u)
{
	int64_t until;

	if (!u)
		return;
	until = coll_now_ns() + u->opts->linger_s * COLL_SECOND_NS;
	u->backoff.failing = false;
	u->backoff.next_ns = 0;
	u->gather.off = true;
	while (!all_sent(u) && !u->backoff.failing && coll_now_ns() < until) {
		send_next(u);
		if (coll_loop_turn(&u->context->loop, 20))
			break;
	}
	if (!all_sent(u))
		coll_log("%" PRIu64
			 " bytes of traces and %zu files are not forwarded yet; the next "
			 "collector with --dir %s and this --upstream goes on",
			 u->box.pending, u->box.pending_files, u->box.store->base);
	coll_outbox_save(&u->box);
}

int coll_upstream_open(struct coll_upstream **out, const struct coll_upstream_options *o,
		       struct coll_context *context, struct coll_store *store)
{
	struct coll_upstream *u;
	int err;

	*out = NULL;
	if (!o->url)
		return 0;
	if (!coll_link_url_ok(o) || (!o->one_run && !coll_link_files_ok(o)))
		return -EINVAL;
	u = calloc(1, sizeof(*u));
	if (!u)
		return -ENOMEM;
	u->context = context;
	u->opts = o;
	u->behind.exec = o->exec;
	coll_backoff_init(&u->backoff, o->url, &context->count);
	coll_node_name(u->node);
	u->box.max = o->outbox_max;
	u->box.remove = o->remove_forwarded;
	coll_clock_offset_init(&u->clock, u->node, o->url);
	err = coll_outbox_init(&u->box, store, o->url);
	if (!err) {
		u->link = coll_link_new(&context->loop, o, u->node);
		err = u->link ? 0 : -ENOMEM;
	}
	if (!err) {
		scan_unsent(u);
		*out = u;
		return 0;
	}
	coll_log("cannot forward to %s: %s", o->url, strerror(-err));
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
	coll_unsent_runs_fini(&u->unsent);
	coll_batch_fini(&u->batch);
	free(u->side.bytes);
	wire_buf_fini(&u->check.body);
	coll_gone_fini(&u->gone);
	free(u);
}
