/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One stream out of its frames: what it says of itself, its names, where its blocks lie.
 */
#include "trace_priv.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct build {
	struct view_trace *t;
	struct view_stream *s;
	struct trace_stream *x;
	struct wire_scratch *scratch;
	size_t block_room, evidence_room, loss_room, clock_room, fact_room, mark_room,
		loss_msg_room, clock_msg_room, meter_room, window_room;
};

static void *unpack(struct build *b, const struct trace_frame *f,
		    const ProtobufCMessageDescriptor *type)
{
	struct trace_priv *p = b->t->priv;
	void *msg = wire_file_message(p->file[f->file].file, b->scratch, &f->entry, type);

	b->x->unreadable += !msg;
	return msg;
}

static void drop(void *msg)
{
	if (msg)
		protobuf_c_message_free_unpacked(msg, NULL);
}

static int take_hello(struct build *b, const struct trace_frame *f)
{
	Wire__Hello *h = unpack(b, f, &wire__hello__descriptor);

	if (h) {
		drop(b->s->hello);
		b->s->hello = h;
	}
	return 0;
}

static int take_strings(struct build *b, const struct trace_frame *f)
{
	struct trace_priv *p = b->t->priv;
	int err = wire_file_strings(p->file[f->file].file, b->scratch, &f->entry, b->s->strings);

	b->x->unreadable += err && err != -ENOMEM;
	return err == -ENOMEM ? err : 0;
}

static int take_block(struct build *b, const struct trace_frame *f)
{
	struct view_stream *s = b->s;
	int err;

	if (!f->head) {
		b->x->unreadable++;
		return 0;
	}
	err = view_grow(&s->block, &b->block_room, s->blocks, sizeof(*s->block));
	if (!err)
		s->block[s->blocks++] = (struct view_block){ f->file, f->entry, f->head };
	return err;
}

/* A kind that a later version puts into such a frame is not for us. */
static int take_evidence(struct build *b, const struct trace_frame *f)
{
	uint8_t kind =
		f->entry.frame.type == WIRE_FRAME_SAMPLES ? WIRE_KIND_SAMPLE : WIRE_KIND_BATCH;
	struct view_stream *s = b->s;
	int err;

	b->x->unreadable += !f->head;
	if (!f->head || f->head->kind != kind)
		return 0;
	err = view_grow(&s->evidence, &b->evidence_room, s->evidences, sizeof(*s->evidence));
	if (!err)
		s->evidence[s->evidences++] = (struct view_block){ f->file, f->entry, f->head };
	return err;
}

static int take_facts(struct build *b, const struct trace_frame *f)
{
	Wire__Facts *m = unpack(b, f, &wire__facts__descriptor);
	int err;

	if (!m)
		return 0;
	err = view_grow(&b->s->facts, &b->fact_room, b->s->fact_count, sizeof(*b->s->facts));
	if (err)
		drop(m);
	else
		b->s->facts[b->s->fact_count++] = m;
	return err;
}

static void clock_point(struct wire_clock_point *c, const Wire__ClockTriplet *t)
{
	uint64_t before = (uint64_t)t->monotonic_before_ns;
	uint64_t width = (uint64_t)t->monotonic_after_ns - before;

	c->monotonic_ns = (int64_t)(before + width / 2);
	c->cupti_ns = t->cupti_ns;
	c->realtime_ns = t->realtime_ns;
	c->width_ns = (int64_t)width;
}

static int take_clock(struct build *b, const struct trace_frame *f)
{
	struct view_stream *s = b->s;
	Wire__Clock *m = unpack(b, f, &wire__clock__descriptor);
	size_t i;
	int err = 0;

	if (!m)
		return 0;
	for (i = 0; i < m->n_triplets && !err; i++) {
		err = view_grow(&s->clock, &b->clock_room, s->clocks, sizeof(*s->clock));
		if (!err)
			clock_point(&s->clock[s->clocks++], m->triplets[i]);
	}
	drop(m);
	return err;
}

static int take_loss(struct build *b, const struct trace_frame *f)
{
	struct view_stream *s = b->s;
	struct trace_stream *x = b->x;
	Wire__Loss *m = unpack(b, f, &wire__loss__descriptor);
	size_t i;
	int err;

	if (!m)
		return 0;
	err = view_grow(&x->loss_msg, &b->loss_msg_room, x->loss_msgs, sizeof(*x->loss_msg));
	if (err) {
		drop(m);
		return err;
	}
	x->loss_msg[x->loss_msgs++] = m;
	for (i = 0; i < m->n_spans && !err; i++) {
		err = view_grow(&s->loss, &b->loss_room, s->losses, sizeof(*s->loss));
		if (!err)
			s->loss[s->losses++] = m->spans[i];
	}
	return err;
}

#define METER_BUSY 1u /* of PulseMeter.known */
#define METER_SM 2u
#define METER_TENSOR 8u
#define METER_DRAM 16u
#define METER_WHOLE 10000u
#define METER_GPM 1u /* a PulseMeter.source */
#define METER_US_MAX (UINT64_C(1) << 42) /* some fifty days: no process writes more */

static uint32_t share_of(uint32_t told)
{
	return told < METER_WHOLE ? told : METER_WHOLE;
}

/* A time that is none, or none that a meter is about, is left out. */
static int note_meter(struct build *b, int64_t t_ns, const Wire__PulseDevice *d)
{
	struct view_stream *s = b->s;
	const Wire__PulseMeter *m = d->meter;
	int64_t start, end;
	int err;

	if (!m || !(m->known & METER_BUSY) || !m->span_us || m->span_us > METER_US_MAX ||
	    m->age_us > METER_US_MAX)
		return 0;
	if (__builtin_sub_overflow(t_ns, (int64_t)m->age_us * 1000, &end) ||
	    __builtin_sub_overflow(end, (int64_t)m->span_us * 1000, &start))
		return 0;
	err = view_grow(&s->meter, &b->meter_room, s->meters, sizeof(*s->meter));
	if (!err)
		s->meter[s->meters++] = (struct view_meter){ .ordinal = d->ordinal,
							     .gpm = m->source == METER_GPM,
							     .start_ns = start,
							     .end_ns = end,
							     .busy = share_of(m->busy),
							     .sm = share_of(m->sm),
							     .tensor = share_of(m->tensor),
							     .dram = share_of(m->dram),
							     .has_sm = m->known & METER_SM,
							     .has_tensor = m->known & METER_TENSOR,
							     .has_dram = m->known & METER_DRAM };
	return err;
}

#define STEP_NO_KERNELS 2u /* a PulseCost.step */

/* Levels that record kernels have numbers. */
static bool has_kernels(const char *level)
{
	return level[0] >= '0' && level[0] <= '2' && !level[1];
}

static bool same_windows(const struct view_full_window *a, const struct view_full_window *b)
{
	return a->seed == b->seed && a->since_ns == b->since_ns && a->number == b->number &&
	       a->begin_ns == b->begin_ns && a->stepped == b->stepped && a->full == b->full;
}

/* A row each time another window has begun, or kernels came or went. */
static int note_window(struct build *b, const Wire__Pulse *p)
{
	struct view_stream *s = b->s;
	const Wire__PulseCost *c = p->cost;
	struct view_full_window w;
	int err;

	if (!c || !c->windows_since_ns)
		return 0;
	w = (struct view_full_window){ .seed = c->window_seed,
				       .since_ns = c->windows_since_ns,
				       .begin_ns = c->window_begin_ns,
				       .told_ns = p->t_ns,
				       .number = c->windows,
				       .stepped = c->step < STEP_NO_KERNELS };
	w.full = !w.stepped && has_kernels(p->level);
	if (s->windows && same_windows(&w, &s->window[s->windows - 1]))
		return 0;
	err = view_grow(&s->window, &b->window_room, s->windows, sizeof(*s->window));
	if (!err)
		s->window[s->windows++] = w;
	return err;
}

static int note_pulse(struct build *b, uint64_t seq, const Wire__Pulse *p)
{
	struct trace_stream *x = b->x;
	int err = view_grow(&x->mark, &b->mark_room, x->marks, sizeof(*x->mark));
	size_t i;

	for (i = 0; i < p->n_devices && !err; i++)
		err = note_meter(b, p->t_ns, p->devices[i]);
	if (!err)
		err = note_window(b, p);
	if (err)
		return err;
	x->mark[x->marks++] = (struct trace_mark){ seq, p->t_ns, p->complete_ns };
	if (p->complete_ns > b->s->complete_ns)
		b->s->complete_ns = p->complete_ns;
	return 0;
}

static int take_pulse(struct build *b, const struct trace_frame *f)
{
	Wire__Pulse *m = unpack(b, f, &wire__pulse__descriptor);

	if (!m)
		return 0;
	drop(b->s->last_pulse);
	b->s->last_pulse = m;
	return note_pulse(b, f->entry.frame.seq, m);
}

static int take_bye(struct build *b, const struct trace_frame *f)
{
	Wire__Bye *m = unpack(b, f, &wire__bye__descriptor);

	if (!m)
		return 0;
	drop(b->s->bye);
	b->s->bye = m;
	return m->last ? note_pulse(b, f->entry.frame.seq, m->last) : 0;
}

static int (*const takes[])(struct build *, const struct trace_frame *) = {
	[WIRE_FRAME_HELLO] = take_hello,      [WIRE_FRAME_STRINGS] = take_strings,
	[WIRE_FRAME_BLOCK] = take_block,      [WIRE_FRAME_RANGES] = take_block,
	[WIRE_FRAME_SAMPLES] = take_evidence, [WIRE_FRAME_WORKERS] = take_evidence,
	[WIRE_FRAME_FACTS] = take_facts,      [WIRE_FRAME_CLOCK] = take_clock,
	[WIRE_FRAME_LOSS] = take_loss,	      [WIRE_FRAME_PULSE] = take_pulse,
	[WIRE_FRAME_BYE] = take_bye,
};

static int take_frame(struct build *b, const struct trace_frame *f)
{
	uint16_t type = f->entry.frame.type;

	b->s->frames++;
	b->s->bytes += wire_frame_bytes(&f->entry.frame);
	if (type >= sizeof(takes) / sizeof(takes[0]) || !takes[type])
		return 0; /* a later version's; skipped by length */
	return takes[type](b, f);
}

static void note_stream(const struct build *b)
{
	const struct view_stream *s = b->s;
	const struct trace_stream *x = b->x;
	long long pid = s->hello ? (long long)s->hello->pid : 0;

	if (!s->hello)
		view_trace_note(b->t,
				"a stream without its first frame: which process it is and which "
				"GPUs it had are not known");
	if (x->unreadable)
		view_trace_note(b->t, "process %lld: %llu frame%s could not be read", pid,
				(unsigned long long)x->unreadable, x->unreadable == 1 ? "" : "s");
	if (x->missing)
		view_trace_note(b->t, "process %lld: %llu frame%s missing", pid,
				(unsigned long long)x->missing, x->missing == 1 ? " is" : "s are");
}

int view_stream_build(struct view_trace *t, struct view_stream *s, const struct trace_frame *frame,
		      size_t n, struct wire_scratch *scratch)
{
	struct trace_stream *x = calloc(1, sizeof(*x));
	struct build b = { .t = t, .s = s, .x = x, .scratch = scratch };
	size_t i;
	int err = 0;

	memcpy(s->id, frame->entry.frame.stream, sizeof(s->id));
	s->complete_ns = INT64_MIN;
	s->priv = x;
	s->strings = wire_strtab_new_guarded();
	if (!x || !s->strings)
		return -ENOMEM;
	for (i = 0; i < n && !err; i++)
		err = take_frame(&b, &frame[i]);
	if (!err)
		err = view_stream_holes(s, frame, n);
	if (!err)
		note_stream(&b);
	return err;
}

void view_stream_fini(struct view_stream *s)
{
	struct trace_stream *x = s->priv;
	size_t i;

	drop(s->hello);
	drop(s->last_pulse);
	drop(s->bye);
	for (i = 0; i < s->fact_count; i++)
		drop(s->facts[i]);
	free(s->facts);
	free(s->loss);
	free(s->clock);
	free(s->block);
	free(s->evidence);
	free(s->meter);
	free(s->window);
	free(s->hole);
	wire_strtab_free(s->strings);
	if (!x)
		return;
	for (i = 0; i < x->loss_msgs; i++)
		drop(x->loss_msg[i]);
	free(x->loss_msg);
	free(x->mark);
	free(x);
}
