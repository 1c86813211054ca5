/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue of frames that are not yet safe, and the two ways out of it.
 *
 * Frames that define what others need (Hello, Strings) are kept in a log of their own as well: a
 * spool segment begins with those of them that the queue no longer holds, byte for byte, so that
 * each file can be read alone and sequence numbers still ascend in it.
 */
#include "transport.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collink.h"
#include "core/clockpoll.h"
#include "core/config.h"
#include "core/errtext.h"
#include "core/log.h"
#include "core/notes.h"
#include "spool.h"
#include "wire/buf.h"
#include "wire/frame.h"
#include "writer.h"

#define STATE_MAX ((size_t)6 << 20)
#define FRAMES_MAX 16384u /* in the queue; a power of two */
#define BYE_BYTES 8192u /* kept free below the limit for Bye, ... */
#define MESSAGES_BYTES (64u << 10) /* ... and for pulses and losses */
#define RETRY_FIRST_NS 1000000000
#define RETRY_LAST_NS 30000000000
#define ACK_NS 300000000 /* a round trip to the collector at the end */

struct queued {
	uint64_t seq;
	int64_t t0_ns, t1_ns;
	uint32_t bytes;
	uint16_t type;
};

static struct {
	struct prof_link link;
	struct prof_spool spool;
	bool want_link;
	int64_t retry_at_ns, retry_ns;

	struct wire_buf queue; /* frames, oldest first; the first queue_at bytes are gone */
	size_t queue_at, queue_max;
	uint64_t bytes_max;
	size_t sent; /* bytes of the queue that this connection has taken */
	struct queued frame[FRAMES_MAX];
	uint32_t first, count;

	struct wire_buf state; /* all Hello and Strings frames so far */
	bool state_cut;

	int64_t lost_t0_ns, lost_t1_ns;
	uint64_t lost_frames, frames_dropped, bytes, written;
	int error, spool_error;
} tp;

void prof_transport_init(const struct prof_transport_opts *o)
{
	wire_buf_fini(&tp.queue); /* of a transport before, in tests */
	wire_buf_fini(&tp.state);
	memset(&tp, 0, sizeof(tp));
	prof_spool_init(&tp.spool, o->out, o->run_id, o->stream);
	prof_link_init(&tp.link, o->socket);
	tp.want_link = o->socket && *o->socket;
	tp.queue_max = o->queue_bytes ? o->queue_bytes : PROF_TRANSPORT_QUEUE;
	tp.bytes_max = o->max_bytes;
	tp.retry_ns = RETRY_FIRST_NS;
	tp.lost_t0_ns = INT64_MAX;
	tp.lost_t1_ns = INT64_MIN;
}

static size_t queue_len(void)
{
	return tp.queue.len - tp.queue_at;
}

static struct queued *frame_at(uint32_t i)
{
	return &tp.frame[(tp.first + i) & (FRAMES_MAX - 1)];
}

/* Forgets the oldest frame. */
static void pop_front(void)
{
	tp.queue_at += frame_at(0)->bytes;
	tp.sent = tp.sent > frame_at(0)->bytes ? tp.sent - frame_at(0)->bytes : 0;
	tp.first++;
	tp.count--;
	if (!tp.count)
		tp.queue.len = tp.queue_at = tp.sent = 0;
}

static void count_lost(const struct queued *f)
{
	tp.frames_dropped++;
	tp.lost_frames++;
	if (f->t0_ns < tp.lost_t0_ns && f->t0_ns <= f->t1_ns)
		tp.lost_t0_ns = f->t0_ns;
	if (f->t1_ns > tp.lost_t1_ns && f->t0_ns <= f->t1_ns)
		tp.lost_t1_ns = f->t1_ns;
}

static void drop_front(void)
{
	struct queued *f = frame_at(0);

	count_lost(f);
	if (f->type == WIRE_FRAME_HELLO || f->type == WIRE_FRAME_STRINGS)
		prof_spool_new_segment(&tp.spool); /* which repeats it from the log */
	pop_front();
}

/* Gone, or not to be had: tried again later and later. */
static void lose_link(void)
{
	if (prof_link_up(&tp.link))
		prof_spool_new_segment(&tp.spool);
	prof_link_close(&tp.link);
	tp.sent = 0;
	tp.retry_at_ns = prof_mono_ns() + tp.retry_ns;
	tp.retry_ns = tp.retry_ns * 2 < RETRY_LAST_NS ? tp.retry_ns * 2 : RETRY_LAST_NS;
}

static void give_link_up(void *unused)
{
	(void)unused;
	lose_link();
}

static bool is_full(size_t len)
{
	return tp.count && (queue_len() + len > tp.queue_max || tp.count == FRAMES_MAX);
}

/* Room for one more frame of @len bytes, at the cost of the oldest ones. */
static bool make_room(size_t len)
{
	if (len > tp.queue_max)
		return false;
	if (is_full(len))
		prof_transport_pump(0);
	if (is_full(len)) {
		if (prof_link_up(&tp.link)) /* it takes nothing: the spool must */
			prof_writer_call(give_link_up, NULL);
		prof_transport_pump(0);
	}
	while (is_full(len))
		drop_front();
	if (tp.queue_at && tp.queue.len + len > tp.queue_max) {
		memmove(tp.queue.data, tp.queue.data + tp.queue_at, queue_len());
		tp.queue.len -= tp.queue_at;
		tp.queue_at = 0;
	}
	return !wire_buf_reserve(&tp.queue, len);
}

/* Does it fit into what the trace may grow to, with room left for what matters more? */
static bool within_limit(const struct queued *q)
{
	uint64_t kept = q->type == WIRE_FRAME_BYE ? 0 : BYE_BYTES;

	if (q->t0_ns <= q->t1_ns)
		kept += tp.bytes_max / 8 < MESSAGES_BYTES ? tp.bytes_max / 8 : MESSAGES_BYTES;
	return !tp.bytes_max || tp.bytes + q->bytes + kept <= tp.bytes_max;
}

bool prof_transport_fits(size_t bytes)
{
	struct queued q = { .bytes = (uint32_t)bytes };

	return within_limit(&q);
}

static void keep_state(const uint8_t *frame, size_t len)
{
	if (!tp.state_cut && tp.state.len + len <= STATE_MAX &&
	    !wire_buf_append(&tp.state, frame, len))
		return;
	if (!tp.state_cut)
		prof_note("so many names that files begun later lack some: kernels there may be "
			  "without a name");
	tp.state_cut = true;
}

void prof_transport_push(const uint8_t *frame, size_t len, int64_t t0_ns, int64_t t1_ns)
{
	struct queued q = { .t0_ns = t0_ns, .t1_ns = t1_ns, .bytes = (uint32_t)len };
	struct wire_frame f;

	if (len < WIRE_FRAME_HEADER_BYTES || wire_frame_header_get(&f, frame))
		return;
	q.seq = f.seq;
	q.type = f.type;
	if (!within_limit(&q)) {
		count_lost(&q);
		return;
	}
	tp.bytes += len;
	if (f.type == WIRE_FRAME_HELLO || f.type == WIRE_FRAME_STRINGS)
		keep_state(frame, len);
	if (!make_room(len)) {
		count_lost(&q);
		return;
	}
	wire_buf_append(&tp.queue, frame, len);
	tp.count++;
	*frame_at(tp.count - 1) = q;
}

/* Bytes of the state log that are older than the queue's first frame. */
static size_t state_before_queue(void)
{
	uint64_t first = tp.count ? frame_at(0)->seq : UINT64_MAX;
	struct wire_frame f;
	size_t at = 0;

	while (at + WIRE_FRAME_HEADER_BYTES <= tp.state.len &&
	       !wire_frame_header_get(&f, tp.state.data + at) && f.seq < first)
		at += (size_t)wire_frame_bytes(&f);
	return at;
}

static void spool_queue(void)
{
	bool start;
	size_t head;
	int err;

	if (!tp.count)
		return;
	start = prof_spool_at_start(&tp.spool);
	head = start ? state_before_queue() : 0;
	err = prof_spool_write(&tp.spool, tp.state.data, head, tp.queue.data + tp.queue_at,
			       queue_len());
	tp.error = -err;
	if (err) {
		tp.spool_error = -err;
		return;
	}
	tp.written += head + queue_len();
	while (tp.count)
		pop_front();
}

/* Sender: the writer has no stderr. */
static void complain_once(void)
{
	static const char at_floor[] = "No space left on device beyond the 64 MiB, or the eighth "
				       "of a small disk, that stay free";

	if (tp.spool_error && !prof_config()->quiet_errors)
		prof_complain("cannot write the trace below %s: %s; make room or set GPUSTARVE_OUT "
			      "(the job goes on, this part of its trace may be lost)",
			      tp.spool.base,
			      tp.spool.at_floor ? at_floor : prof_error_text(tp.spool_error));
	tp.spool_error = 0;
}

static void forget_acknowledged(void)
{
	uint64_t acked = prof_link_acked(&tp.link);

	while (tp.count && frame_at(0)->seq <= acked)
		pop_front();
}

/*
 * The collector must see a stream begin with Hello. One that comes late, or whose predecessor's
 * frames went to the spool, gets the log first; it drops what it has.
 */
static void connect_link(void)
{
	if (prof_mono_ns() < tp.retry_at_ns)
		return;
	if (prof_link_open(&tp.link)) {
		lose_link();
		return;
	}
	tp.sent = 0;
}

static int send_state(int64_t deadline_ns)
{
	size_t len = state_before_queue();

	return len ? prof_link_send_whole(&tp.link, tp.state.data, len, deadline_ns) : 0;
}

static int send_queue(int64_t deadline_ns)
{
	ssize_t n;

	while (tp.sent < queue_len()) {
		n = prof_link_send(&tp.link, tp.queue.data + tp.queue_at + tp.sent,
				   queue_len() - tp.sent, deadline_ns);
		if (n < 0)
			return n == -EAGAIN ? 0 : (int)n;
		tp.sent += (size_t)n;
		tp.written += (size_t)n;
	}
	return 0;
}

static void use_link(int64_t deadline_ns)
{
	bool was_up = prof_link_up(&tp.link);

	if (!was_up && deadline_ns > prof_mono_ns()) /* the log must follow at once */
		connect_link();
	if (!prof_link_up(&tp.link))
		return;
	if ((!was_up && send_state(deadline_ns)) || send_queue(deadline_ns) ||
	    prof_link_listen(&tp.link)) {
		lose_link();
		return;
	}
	tp.retry_ns = RETRY_FIRST_NS;
	tp.error = 0;
	forget_acknowledged();
}

static void pump(void *deadline_ns)
{
	if (tp.want_link)
		use_link(*(int64_t *)deadline_ns);
	if (!prof_link_up(&tp.link))
		spool_queue();
}

void prof_transport_pump(int64_t deadline_ns)
{
	if (!tp.count && (!tp.want_link || !deadline_ns))
		return;
	prof_writer_call(pump, &deadline_ns);
	complain_once();
}

/* The collector answers at once; one that does not is gone, or may be before it has stored it. */
static void await_acknowledgement(int64_t deadline_ns)
{
	int err = 0;

	while (!err && tp.count && prof_link_up(&tp.link)) {
		err = prof_link_listen(&tp.link);
		forget_acknowledged();
		if (!err && tp.count)
			err = prof_link_wait(&tp.link, deadline_ns);
	}
}

static void finish(void *deadline_ns)
{
	int64_t last = *(int64_t *)deadline_ns, ack;

	pump(deadline_ns);
	ack = prof_mono_ns() + ACK_NS;
	if (tp.sent == queue_len())
		await_acknowledgement(ack < last ? ack : last);
	if (prof_link_up(&tp.link) && tp.count)
		lose_link();
	spool_queue();
}

void prof_transport_finish(int64_t deadline_ns)
{
	prof_writer_call(finish, &deadline_ns);
	complain_once();
}

bool prof_transport_lost(int64_t *t0_ns, int64_t *t1_ns, uint64_t *frames)
{
	bool any = tp.lost_frames && tp.lost_t0_ns <= tp.lost_t1_ns;

	*t0_ns = tp.lost_t0_ns;
	*t1_ns = tp.lost_t1_ns;
	*frames = tp.lost_frames;
	tp.lost_frames = 0;
	tp.lost_t0_ns = INT64_MAX;
	tp.lost_t1_ns = INT64_MIN;
	return any;
}

void prof_transport_stats(struct prof_transport_stats *s)
{
	s->bytes = tp.bytes;
	s->frames_dropped = tp.frames_dropped;
	s->written = tp.written;
	s->memory = tp.queue.room + tp.state.room;
	s->error = tp.error;
	s->connected = prof_link_up(&tp.link);
}
