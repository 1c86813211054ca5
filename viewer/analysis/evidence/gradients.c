/* SPDX-License-Identifier: Apache-2.0 */
#include "gradients.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/time/span.h"
#include "base/minmax.h"
#include "links.h"
#include "pystack.h"
#include "wire/evidence.h"

/*
 * A loop that trains has a fifth or more of its own work, beside its loader's, in backward passes:
 * that none of so many looks meets one has a chance of 1.2 %. Of a loop that keeps its GPU busy
 * there are few.
 */
#define LOOKS_LEAST 20u

/*
 * A loop that mostly waits is seldom seen at work, and yet is looked at. The smallest pass that
 * torch's engine runs, of one layer of eight numbers, takes 62 us (docs/MEASUREMENTS.md, 27), one
 * of a model several times that. If one that short followed each batch, looks outside of next()
 * would be expected to meet so many; that they meet none has a chance of exp(-4), 1.8 %.
 */
#define PASS_NS 50000
#define PASSES_LEAST 4

enum told { /* by a string, as a stack */
	TOLD_NOTHING, /* not looked at */
	TOLD_PLAIN,
	TOLD_LOADER, /* in the loader's next() */
	TOLD_BACKWARD,
};

/* Of a process: its calls of next(), and looks at it between the first and the last. */
struct watch {
	int64_t begun; /* the first call */
	int64_t first, last; /* ends of the calls; first > last: there is none */
	int64_t taking_ns; /* in them */
	uint64_t takes;
	uint64_t looks; /* outside of next() */
	uint64_t at_work; /* of these */
	uint32_t tid; /* who takes and is looked at; 0: nobody yet */
	bool many; /* several do */
};

struct gradients {
	struct view_trace *t;
	struct wire_scratch *scratch;
	bool backward; /* one was seen */
	/* of the process that is read */
	uint8_t *told; /* enum told, by string id up to @strings */
	uint32_t strings;
	struct watch watch;
};

/* ---- what a look tells ----------------------------------------------------------------------- */

static const struct {
	const char *file; /* what the frame's path ends with */
	const char *functions;
} passes[] = {
	{ "torch/autograd/__init__.py", "|backward|grad|" },
	{ "torch/autograd/graph.py", "|_engine_run_backward|" },
	{ "torch/_tensor.py", "|backward|" },
	/* where a step is compiled, seen once: while it is traced */
	{ "jax/_src/api.py", "|value_and_grad_f|grad_f|grad_f_aux|" },
	{ "tensorflow/python/eager/backprop.py", "|gradient|" },
	{ "tinygrad/tensor.py", "|backward|" },
	{ "mxnet/autograd.py", "|backward|" },
	{ "mxnet/ndarray/ndarray.py", "|backward|" },
	{ "paddle/base/dygraph/tensor_patch_methods.py", "|backward|" },
};

static bool is_pass(const struct ana_frame *f)
{
	for (size_t i = 0; i < sizeof(passes) / sizeof(passes[0]); i++)
		if (ana_text_ends(f->file, passes[i].file) &&
		    ana_text_among(f->function, passes[i].functions))
			return true;
	return false;
}

/* torch's compiler differentiates what it traces, whoever wants gradients of it. */
static bool traces(const struct ana_frame *f)
{
	struct ana_text rest;
	enum ana_say say;

	return ana_module_within(f->file, &rest) == ANA_WITHIN_PACKAGES &&
	       ana_text_begins(rest, "torch/") &&
	       ana_module_code(f->file, f->function, &say) == ANA_CODE_LOAD && say == ANA_SAY_WHOLE;
}

bool ana_gradients_in_stack(const char *text, size_t len)
{
	const char *p = text, *end = text + len;
	struct ana_frame f;
	bool pass = false;

	while (p < end) { /* innermost first: what compiles is further out than what it runs */
		ana_frames_next(&f, &p, end);
		if (is_pass(&f))
			pass = true;
		else if (pass && traces(&f))
			return false;
	}
	return pass;
}

bool ana_gradients_in_links(const char *text, size_t len)
{
	struct ana_links l;

	ana_links_read(&l, text, (uint32_t)len);
	return ana_text_begins(l.name, "pt_autograd_");
}

static enum told read_stack(const char *text, size_t len)
{
	struct ana_pystack k;

	if (ana_gradients_in_stack(text, len))
		return TOLD_BACKWARD;
	ana_pystack_read(&k, text, (uint32_t)len);
	return k.waits ? TOLD_LOADER : TOLD_PLAIN;
}

static enum told by_stack(struct gradients *x, const struct view_stream *s, uint32_t id)
{
	const char *text;
	size_t len;

	if (!id || id > x->strings)
		return TOLD_NOTHING;
	if (!x->told[id]) {
		text = wire_strtab_get(s->strings, id, &len);
		x->told[id] = (uint8_t)read_stack(text, len);
	}
	return (enum told)x->told[id];
}

/* A thread of the engine's waits for the next pass, too, and may have been made for none. */
static bool runs_pass(const struct view_stream *s, const struct wire_sample *w)
{
	const char *text;
	size_t len;

	if (w->role != WIRE_ROLE_SUBMITTER || w->stack || !w->links ||
	    w->links > wire_strtab_count(s->strings))
		return false;
	text = wire_strtab_get(s->strings, w->links, &len);
	return ana_gradients_in_links(text, len);
}

static void of_thread(struct watch *w, uint32_t tid)
{
	w->many |= w->tid && w->tid != tid;
	w->tid = tid;
}

static void take_sample(struct gradients *x, const struct view_stream *s,
			const struct wire_sample *look)
{
	enum told told = by_stack(x, s, look->stack);
	struct watch *w = &x->watch;

	x->backward |= told == TOLD_BACKWARD || runs_pass(s, look);
	if (told != TOLD_PLAIN || look->role != WIRE_ROLE_SUBMITTER || look->t_ns <= w->first ||
	    look->t_ns >= w->last)
		return;
	of_thread(w, look->tid);
	w->looks++;
	w->at_work += look->state == WIRE_STATE_RUNNING;
}

/* ---- a process ------------------------------------------------------------------------------- */

static void take_batch(struct watch *w, const struct wire_batch *b)
{
	of_thread(w, b->tid);
	w->begun = base_min(w->begun, b->start_ns);
	w->first = base_min(w->first, b->end_ns);
	w->last = base_max(w->last, b->end_ns);
	ana_sum(&w->taking_ns, b->end_ns - b->start_ns);
	w->takes++;
}

static int read_takes(struct gradients *x, const struct view_stream *s)
{
	struct wire_batch *row = NULL;
	size_t room = 0, n;
	int err = 0;

	for (size_t i = 0; i < s->evidences && err != -ENOMEM; i++) {
		if (s->evidence[i].head->kind != WIRE_KIND_BATCH)
			continue;
		err = view_trace_batches(x->t, &s->evidence[i], x->scratch, &row, &room, &n);
		for (size_t k = 0; !err && k < n; k++)
			if (row[k].what == WIRE_BATCH_TAKE)
				take_batch(&x->watch, &row[k]);
	}
	free(row);
	return err == -ENOMEM ? err : 0;
}

/* Of workers, too, there are samples: what they do with data is no step of the program. */
static int read_samples(struct gradients *x, const struct view_stream *s)
{
	struct wire_sample *row = NULL;
	size_t room = 0, n;
	int err = 0;

	for (size_t i = 0; i < s->evidences && err != -ENOMEM && !x->backward; i++) {
		if (s->evidence[i].head->kind != WIRE_KIND_SAMPLE)
			continue;
		err = view_trace_samples(x->t, &s->evidence[i], x->scratch, &row, &room, &n);
		for (size_t k = 0; !err && k < n; k++)
			if (row[k].pid == (uint32_t)s->hello->pid)
				take_sample(x, s, &row[k]);
	}
	free(row);
	return err == -ENOMEM ? err : 0;
}

static int read_process(struct gradients *x, const struct view_stream *s)
{
	int err;

	x->watch = (struct watch){ .begun = INT64_MAX, .first = INT64_MAX, .last = INT64_MIN };
	x->strings = wire_strtab_count(s->strings);
	x->told = calloc((size_t)x->strings + 1, sizeof(*x->told));
	if (!x->told)
		return -ENOMEM;
	err = read_takes(x, s);
	if (!err)
		err = read_samples(x, s);
	free(x->told);
	return err;
}

static bool took_any(const struct watch *w)
{
	return w->first <= w->last;
}

/* Of passes of the shortest kind, one behind each call, the looks are expected to meet enough. */
static bool looked_often(const struct watch *w)
{
	int64_t outside_ns = w->last - w->begun - w->taking_ns;

	return !w->many && outside_ns > 0 &&
	       (double)w->takes * PASS_NS * (double)w->looks >= (double)outside_ns * PASSES_LEAST;
}

static bool was_watched(const struct watch *w)
{
	return w->at_work >= LOOKS_LEAST || looked_often(w);
}

int ana_gradients_find(struct view_trace *t, struct ana_result *r)
{
	struct gradients x = { .t = t };
	bool took = false, watched = true;
	int err = 0;

	if (r->hints & (ANA_HINT_STEPS | ANA_HINT_OPTIMIZER | ANA_HINT_BACKWARD))
		return 0;
	x.scratch = wire_scratch_new();
	if (!x.scratch)
		return -ENOMEM;
	for (size_t i = 0; i < t->streams && !err && !x.backward; i++) {
		if (!t->stream[i].hello)
			continue;
		err = read_process(&x, &t->stream[i]);
		took |= took_any(&x.watch);
		watched &= !took_any(&x.watch) || was_watched(&x.watch);
	}
	wire_scratch_free(x.scratch);
	if (!err && x.backward)
		r->hints |= ANA_HINT_GRADIENTS;
	else if (!err && took && watched)
		r->hints |= ANA_HINT_WATCHED;
	return err;
}
