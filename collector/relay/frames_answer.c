/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the centre's answer to a batch of frames means: what it has, what goes again, what never
 * will.
 */
#include "frames_answer.h"

#include <inttypes.h>
#include <string.h>
#include "check.h"
#include "core/clock.h"
#include "core/log.h"

#define BEGIN_AGAIN_MAX 3
#define DAMAGED_MAX 8 /* of one frame, one after the other */

/* Of many such frames one a minute. */
static void log_refused(struct coll_upstream *u, const struct coll_batch_part *p, uint64_t at,
			const char *why)
{
	if (!coll_log_due(&u->refused_logged_ns, 60 * COLL_SECOND_NS))
		return;
	coll_log("%s/%s: the frame at byte %" PRIu64
		 " is refused by %s and will be missing there: %.*s",
		 p->run->dir, p->file->name, at, u->box.to, (int)strcspn(why, "\r\n"), why);
}

/* A frame that the centre will never take, although it is good here. It must not hold up others. */
static void skip_frame(struct coll_upstream *u, struct coll_batch_part *p, uint64_t at,
		       const char *why)
{
	struct wire_frame f;
	size_t in_body = p->body_to - (size_t)(p->to - at);

	if (wire_frame_header_get(&f, u->batch.body.data + in_body))
		return;
	log_refused(u, p, at, why);
	u->context->count.up_refused++;
	coll_out_file_sent(p->run, p->file, at + wire_frame_bytes(&f));
}

/* A stream that the centre does not know, however often it gets its beginning. */
static void skip_stream(struct coll_upstream *u, struct coll_batch_part *p, uint64_t at)
{
	log_refused(u, p, at, "it does not know the stream");
	u->context->count.up_refused++;
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
		skip_frame(u, next, at, (const char *)a->bytes);
	else if (next->file->begun_again++ < BEGIN_AGAIN_MAX)
		coll_out_file_sent(next->run, next->file, 0); /* the centre lost it: once more */
	else
		skip_stream(u, next, at);
}

/* Frames before the one that it could not store are stored, if it says so. */
static void not_stored(struct coll_upstream *u, const struct coll_answer *a)
{
	struct coll_batch_part *next = &u->batch.part[0];
	uint64_t at;

	if (a->stored >= 0 && coll_batch_is_between(&u->batch, (uint64_t)a->stored))
		coll_batch_stored(&u->batch, (uint64_t)a->stored, &next, &at);
	if (next && (a->status != 413 || !coll_batch_shrink(&u->batch)))
		coll_out_hold_longer(&next->run->frames);
}

/*
 * What it said of itself in between may have moved the file back: then this is not all before
 * p->to.
 */
static void part_stored(struct coll_upstream *u, struct coll_batch_part *p,
			const struct coll_answer *a)
{
	struct coll_out_file *f = p->file;
	struct coll_ack ack = { .extents = false };

	coll_batch_ack_of(a->bytes, a->len, f->stream, &ack);
	if (ack.extents)
		coll_check_fell_back(u, p->run, f, ack.had);
	if (p->from <= f->at && f->at < p->to) {
		coll_out_file_sent(p->run, f, p->to);
		coll_out_file_extent(f, ack.extents ? ack.has : COLL_OUT_UNKNOWN, &u->box.centre);
	}
	if (f->again)
		coll_check_leave_out(p->run, f, ack.top);
	f->begun_again = 0;
	coll_out_hold_end(&p->run->frames);
}

static void all_stored(struct coll_upstream *u, const struct coll_answer *a)
{
	u->context->count.up_bytes += u->batch.body.len;
	for (size_t i = 0; i < u->batch.parts; i++)
		part_stored(u, &u->batch.part[i], a);
}

/*
 * Of a body that was stored in part it is not said how long streams are now. They are asked for
 * before more of them goes.
 */
static void extents_unknown(struct coll_upstream *u)
{
	if (coll_centre_is_mute(&u->box.centre))
		return;
	for (size_t i = 0; i < u->batch.parts; i++) {
		struct coll_batch_part *p = &u->batch.part[i];

		if (p->file->at == p->from)
			continue;
		coll_out_file_extent(p->file, p->file->at ? COLL_OUT_UNKNOWN : 0, &u->box.centre);
		p->file->sure = 0;
		p->run->start = 0;
	}
}

void coll_frames_answer(struct coll_upstream *u, const struct coll_answer *a)
{
	bool other = coll_check_heard(u, a);

	if (a->trouble) {
		coll_backoff_failed(&u->backoff, a);
	} else if (a->status == 412 && other) {
		coll_backoff_succeeded(&u->backoff); /* nothing is stored; it is asked first */
	} else if (a->status == 200 && coll_batch_is_acked(&u->batch, a->bytes, a->len)) {
		if (!a->epoch[0])
			coll_check_heard_mute(u);
		all_stored(u, a);
		coll_backoff_succeeded(&u->backoff);
	} else if ((a->status == 400 || a->status == 409) && a->stored >= 0 &&
		   coll_batch_is_between(&u->batch, (uint64_t)a->stored)) {
		refused(u, a);
		extents_unknown(u);
		coll_backoff_succeeded(&u->backoff);
	} else if (a->status == 200) {
		coll_backoff_failed_strangely(&u->backoff, a);
	} else {
		if (a->status >= 500 || a->status == 413)
			not_stored(u, a);
		extents_unknown(u);
		coll_backoff_failed(&u->backoff, a);
	}
	coll_batch_clear(&u->batch);
}
