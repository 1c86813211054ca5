/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small traces made by hand for tests of the engine: processes, GPUs, operations, calls, ranges,
 * written through wire into a run directory of their own, then analysed.
 */
#ifndef TESTS_ENGINE_TRACE_H
#define TESTS_ENGINE_TRACE_H

#include "harness.h"
#include <sys/stat.h>
#include "analysis/ledger.h"
#include "made/made.h"
#include "trace/trace.h"

struct t_proc { /* one stream that is being written */
	struct made_stream s;
	int64_t now;
};

struct t_pieces { /* what on_piece told, per GPU; [0]: also what on_hotspot_sample told */
	int64_t classes[ANA_CLASSES], empty_ns, queued_ns, seen_ns;
};

struct t_run {
	char dir[256];
	unsigned int procs;
	struct view_trace *trace;
	struct ana_result *result;
};

static inline void t_message(struct t_proc *p, enum wire_frame_type type, void *msg)
{
	made_message(&p->s, type, msg, p->now);
}

static inline void t_run_begin(struct t_run *r)
{
	memset(r, 0, sizeof(*r));
	t_tempdir(r->dir, sizeof(r->dir));
}

/* A live process of pid @pid that holds GPU number @gpu (its ordinal 0); traced since @armed. */
static inline void t_proc_begin_again(struct t_run *r, struct t_proc *p, int64_t pid,
				      unsigned int gpu, int64_t start, int64_t armed)
{
	uint8_t id[16] = { 't', (uint8_t)++r->procs };
	struct made_hello h;
	char path[300];

	snprintf(path, sizeof(path), "%s/%u.gst", r->dir, r->procs);
	made_open(&p->s, path, id);
	p->now = start;
	made_hello_init(&h, "here", pid, start, "test GPU");
	h.uuid[0] = 'g';
	h.uuid[1] = (uint8_t)gpu;
	h.device.context_ns = start + 1;
	h.m.armed_ns = armed;
	t_message(p, WIRE_FRAME_HELLO, &h.m);
}

static inline void t_proc_begin(struct t_run *r, struct t_proc *p, int64_t pid, unsigned int gpu,
				int64_t start)
{
	t_proc_begin_again(r, p, pid, gpu, start, start);
}

static inline uint32_t t_name(struct t_proc *p, const char *text)
{
	return made_name(&p->s, text, strlen(text));
}

static inline struct wire_event *t_event(struct t_proc *p, int kind, int64_t start, int64_t end)
{
	return made_event(&p->s, kind, start, end);
}

/* A kernel on stream 7 of the process's only GPU; @corr 0: nobody knows its launch. */
static inline struct wire_event *t_kernel(struct t_proc *p, int64_t start, int64_t end,
					  uint64_t corr)
{
	struct wire_event *e = t_event(p, WIRE_KIND_OP, start, end);

	e->op = WIRE_OP_KERNEL;
	e->name = t_name(p, "kernel");
	e->context = 1;
	e->stream = 7;
	e->corr = corr;
	return e;
}

static inline struct wire_event *t_call(struct t_proc *p, const char *name, int64_t start,
					int64_t end, uint64_t corr)
{
	struct wire_event *e = t_event(p, WIRE_KIND_API, start, end);

	e->op = WIRE_DOMAIN_RUNTIME;
	e->name = t_name(p, name);
	e->tid = 1;
	e->corr = corr;
	return e;
}

static inline struct wire_event *t_range(struct t_proc *p, enum wire_range op, const char *name,
					 int64_t start, int64_t end)
{
	struct wire_event *e = t_event(p, WIRE_KIND_RANGE, start, end);

	e->op = (uint8_t)op;
	e->name = t_name(p, name);
	e->tid = 1;
	return e;
}

/* A launch of 2 us and its kernel. */
static inline void t_launch(struct t_proc *p, int64_t launch, int64_t start, int64_t end,
			    uint64_t corr)
{
	t_call(p, "cudaLaunchKernel", launch, launch + 2000, corr);
	t_kernel(p, start, end, corr);
}

/* Rows of evidence as one frame, behind the names that they may use. */
static inline void t_samples(struct t_proc *p, const struct wire_sample *rows, size_t n)
{
	made_samples(&p->s, rows, n, n, p->now);
}

static inline void t_batches(struct t_proc *p, const struct wire_batch *rows, size_t n)
{
	made_batches(&p->s, rows, n, n, p->now);
}

/* Writes what has gathered as blocks. */
static inline void t_flush(struct t_proc *p)
{
	made_flush(&p->s, p->now);
}

static inline void t_loss(struct t_proc *p, Wire__LossSpan span)
{
	Wire__Loss loss = WIRE__LOSS__INIT;
	Wire__LossSpan *spans[1] = { &span };

	loss.n_spans = 1;
	loss.spans = spans;
	t_message(p, WIRE_FRAME_LOSS, &loss);
}

static inline void t_pulse(struct t_proc *p, int64_t t, int64_t complete)
{
	Wire__Pulse pulse = WIRE__PULSE__INIT;

	p->now = t;
	pulse.t_ns = t;
	pulse.complete_ns = complete;
	t_message(p, WIRE_FRAME_PULSE, &pulse);
}

/* @bye: the process says so at @end; else its stream is cut. */
static inline void t_proc_end(struct t_proc *p, int64_t end, bool bye)
{
	t_flush(p);
	if (bye)
		made_bye(&p->s, end, p->now);
	made_close(&p->s);
}

static inline int t_analyse_with(struct t_run *r, const struct ana_options *o)
{
	const char *why;

	if (view_trace_open(&r->trace, r->dir, &why)) {
		printf("%s: %s\n", r->dir, why);
		exit(1);
	}
	return ana_run(r->trace, o, &r->result);
}

#define T_GPUS 16

static inline void t_take_piece(void *arg, const struct ana_piece *p)
{
	struct t_pieces *of = arg;
	int64_t ns = p->end_ns - p->start_ns;

	REQUIRE(p->gpu < T_GPUS);
	EXPECT(ns > 0 && p->gap_start_ns <= p->start_ns && p->end_ns <= p->gap_end_ns);
	of[p->gpu].classes[p->class] += ns;
	if (p->gap && p->queued)
		of[p->gpu].queued_ns += ns;
	else if (p->gap)
		of[p->gpu].empty_ns += ns;
}

static inline void t_take_sample(void *arg, const struct ana_hotspot_sample *s)
{
	struct t_pieces *of = arg;

	EXPECT(s->ns > 0 && s->sample);
	of->seen_ns += s->ns;
}

static inline void t_check_sights(const struct ana_result *r, const struct t_pieces *p)
{
	int64_t ns = r->other_hotspots_ns;
	size_t i;

	for (i = 0; i < r->hotspots; i++)
		ns += r->hotspot[i].ns;
	EXPECT_INT(p->seen_ns, ns);
}

/* Pieces and result tell the same; only what clock steps and breaks in use take is not in both. */
static inline void t_check_pieces(const struct ana_gpu *g, const struct t_pieces *p)
{
	int c;

	for (c = ANA_COPY + 1; c < ANA_CLASSES; c++)
		if (c != ANA_EXCLUDED_UNOBSERVED)
			EXPECT_INT(p->classes[c], g->classes[c]);
	EXPECT(p->empty_ns <= g->empty_ns && p->queued_ns <= g->queued_ns);
}

/* Opens and analyses the run; checks what must hold of every result. */
static inline void t_analyse(struct t_run *r, enum ana_window window)
{
	struct t_pieces pieces[T_GPUS] = { 0 };
	struct ana_options o = { .window = window,
				 .timeline_buckets = 50,
				 .top_gaps = 5,
				 .on_piece = t_take_piece,
				 .on_hotspot_sample = t_take_sample,
				 .arg = pieces };
	size_t i;
	int c;

	REQUIRE(!t_analyse_with(r, &o));
	t_check_sights(r->result, pieces);
	for (i = 0; i < r->result->gpus; i++) {
		const struct ana_gpu *g = &r->result->gpu[i];
		int64_t sum = 0;

		for (c = 0; c < ANA_CLASSES; c++)
			sum += g->classes[c];
		EXPECT_INT(sum, g->held_ns);
		EXPECT_INT(g->busy_ns + g->idle_ns, g->span_ns);
		EXPECT_INT(g->empty_ns + g->queued_ns, g->idle_ns);
		t_check_pieces(g, &pieces[i]);
	}
}

static inline void t_run_end(struct t_run *r)
{
	char cmd[300];

	ana_result_free(r->result);
	view_trace_close(r->trace);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", r->dir);
	REQUIRE(!system(cmd));
}

#endif
