/* SPDX-License-Identifier: Apache-2.0 */
/* Advice on the training program's own doings. */
#include <inttypes.h>
#include <string.h>

#include "advice.h"
#include "findings.h"
#include "lead.h"
#include "analysis/evidence/take.h"
#include "base/units.h"
#include "reads.h"
#include "words.h"
#include "wire/evidence.h"

#define LINES_MAX 3 /* of a function, beside the first */
#define NO_WORK_PPM 200000 /* 20 % of the GPU time, from where a smaller share of a GPU would do */

const char *view_advice_line(struct view_summary *s, enum ana_class c)
{
	const struct view_finding *f = view_finding_of(s, c);
	const char *line = f ? view_words_line(&s->mem, &f->where, 40) : NULL;

	return line ? base_arena_printf(&s->mem, " (%s)", line) : "";
}

/*
 * The innermost Python frame is the program's own: neither torch's nor another package's code was
 * at work below it. (An operator that the line itself calls is native, and no running thread's
 * native frames are known: the words leave it open.)
 */
static bool is_own_python(const struct view_hotspot *p)
{
	return p->known && p->role == WIRE_ROLE_SUBMITTER && p->wait == WIRE_WAIT_NONE &&
	       !p->runnable && p->chains < 2 && p->file && p->line && p->function && !p->leaf &&
	       !p->native && !strstr(p->file, "/site-packages/") &&
	       !strstr(p->file, "/dist-packages/") && !strstr(p->file, "/lib/python");
}

/* ", also 31": the function's other lines of the same class. */
static const char *other_lines(struct view_summary *s, const struct view_finding *f)
{
	const char *text = "";

	for (size_t i = 0, n = 0; i < s->findings && n < LINES_MAX; i++) {
		const struct view_hotspot *p = &s->finding[i].where;

		if (&s->finding[i] == f || s->finding[i].class != f->class || !is_own_python(p) ||
		    strcmp(p->file, f->where.file) != 0 ||
		    strcmp(p->function, f->where.function) != 0)
			continue;
		text = base_arena_printf(&s->mem, "%s%s%" PRIu32, text, n ? ", " : ", also ",
					 p->line);
		n++;
	}
	return text;
}

/* After each such read the GPU has nothing until the host comes with its next launch. */
static void advise_one_read(struct view_summary *s, struct view_advice *a, const char *where)
{
	base_unit reads;

	base_count(reads, view_reads_of_step(s));
	a->title = "Read results from the GPU together";
	a->brief = base_arena_printf(
		&s->mem, "one read of the %s results of a step%s, not one each", reads, where);
	a->action = base_arena_printf(
		&s->mem,
		"each step reads %s small results from the GPU, one by one (.item(), float() or .cpu() of a "
		"tensor), and after each the GPU waits for the next launch%s: gather them in one tensor "
		"and read that, a step later if it can wait; then spend less Python there, or use "
		"torch.compile or CUDA graphs",
		reads, where);
}

/* Of operations that follow upon each other at once, it is they that are too small and too many. */
static void advise_larger_operations(struct view_summary *s, struct view_advice *a,
				     const char *where)
{
	a->brief = base_arena_printf(
		&s->mem, "torch.compile or CUDA graphs; else less Python in the step (%s)", where);
	a->action = base_arena_printf(
		&s->mem,
		"use torch.compile or CUDA graphs, fuse small operators, or raise the batch size; else "
		"spend less Python there (%s): compute it once, or outside of the step",
		where);
}

bool view_advise_dispatch(struct view_summary *s, struct view_advice *a)
{
	const struct view_finding *f = view_finding_of(s, a->class);
	const char *where = "";

	if (f && is_own_python(&f->where))
		where = base_arena_printf(&s->mem, " (%s)",
					  view_words_line(&s->mem, &f->where, 40));
	if (view_reads_of_step(s)) {
		advise_one_read(s, a, where);
		return true;
	}
	if (!*where)
		return true;
	where = base_arena_printf(&s->mem, "%s%s", view_words_line(&s->mem, &f->where, 40),
				  other_lines(s, f));
	if (view_between_ns(s)) {
		advise_larger_operations(s, a, where);
		return true;
	}
	a->brief = base_arena_printf(
		&s->mem, "less Python in the step (%s); else torch.compile or CUDA graphs", where);
	a->action = base_arena_printf(
		&s->mem,
		"spend less Python there (%s): compute it once, or outside of the step; else, and where "
		"the line calls the framework's operators, use torch.compile or CUDA graphs, fuse "
		"small operators, or raise the batch size",
		where);
	return true;
}

/* The checkpoint's own line: what it brings to the host is of it. */
static bool is_of_checkpoint(const struct view_summary *s)
{
	const struct view_finding *copy = view_finding_of(s, ANA_COPY);
	const struct view_finding *save = view_finding_of(s, ANA_HOST_CHECKPOINT);

	return copy && save && copy->where.file && save->where.file &&
	       copy->where.line == save->where.line && !strcmp(copy->where.file, save->where.file);
}

/* Results that come back one by one are no copies to overlap, nor is what a checkpoint takes. */
bool view_advise_copy(struct view_summary *s, struct view_advice *a)
{
	const struct ana_copies *copies = s->result->copies;
	int64_t all = 0;

	if (is_of_checkpoint(s)) {
		a->title = "Copy less to the host for checkpoints";
		a->brief = base_arena_printf(&s->mem, "rarer checkpoints%s, whose copies these are",
					     view_advice_line(s, a->class));
		a->action = view_words_of_kind(
			&s->kind, &s->mem,
			"most of these copies bring to the host what the checkpoint at the same line "
			"writes: save less often, or copy on a stream of its own while training "
			"goes on");
		return true;
	}
	for (int i = 0; i < ANA_COPY_DIRS; i++)
		view_cost_add(&all, copies[i].exposed_ns);
	if (!view_reads_of_step(s) || 2 * (__int128)copies[ANA_D2H].exposed_ns < all)
		return true;
	if (view_advice_ns(s, ANA_HOST_DISPATCH) >= a->saving_ns)
		return false; /* that says so, and saves more */
	advise_one_read(s, a, "");
	return true;
}

bool view_advise_sync(struct view_summary *s, struct view_advice *a)
{
	const char *line = view_advice_line(s, a->class);

	if (!*line)
		return true;
	a->brief = base_arena_printf(&s->mem, "no synchronisation in the step%s", line);
	a->action = base_arena_printf(
		&s->mem,
		"take .item(), .cpu(), print of a tensor or torch.cuda.synchronize() out of the "
		"step%s: read the value a step later, or log every N steps",
		line);
	return true;
}

bool view_advise_lock(struct view_summary *s, struct view_advice *a)
{
	const struct view_finding *f = view_finding_of(s, a->class);

	if (!f || f->where.wait != WIRE_WAIT_GIL)
		return true;
	a->title = "Free Python's global lock";
	a->brief = "the other Python thread in a process of its own";
	a->action = "another Python thread computes and holds the interpreter's lock: move its "
		    "work into another process, or into code that releases the lock";
	return true;
}

/* By the function that it waits in: what is settled or given away is no data. */
static bool advise_what_ends(struct view_summary *s, struct view_advice *a, const char *line)
{
	const struct view_finding *f = view_finding_of(s, a->class);
	const char *in = f ? f->where.target : NULL;

	switch (in ? ana_take_of_words(in) : ANA_TAKE_NOT_TOLD) {
	case ANA_TAKE_SETTLES:
		a->title = "Wait later for what must finish";
		a->brief = base_arena_printf(&s->mem, "a later %s%s", in, line);
		a->action = base_arena_printf(
			&s->mem,
			"%s%s waits until something has finished: let that run beside the next steps, "
			"and wait for it when its result is needed or the next one begins; make it "
			"shorter or rarer if it is not done by then",
			in, line);
		return true;
	case ANA_TAKE_GIVES:
		a->title = "Send without waiting";
		a->brief = base_arena_printf(&s->mem, "no wait in %s%s", in, line);
		a->action = base_arena_printf(
			&s->mem,
			"%s%s waits until somebody takes what it sends: use a longer queue, a faster "
			"receiver, or fewer of these",
			in, line);
		return true;
	default:
		return false;
	}
}

/* No line of it: it would come out of what is then known. */
static void save_nothing(struct view_advice *a)
{
	a->saving_ns = a->saving_nano_usd = 0;
}

/* What the line waits for is not known; that it sleeps there may be all there is to it. */
bool view_advise_find_out(struct view_summary *s, struct view_advice *a)
{
	const char *line = view_advice_line(s, a->class);
	const struct view_finding *f = view_finding_of(s, a->class);

	save_nothing(a);
	if (!*line)
		return true;
	a->brief = base_arena_printf(&s->mem, "a look at what the host does there%s", line);
	if (f->where.wait == WIRE_WAIT_SLEEP) {
		a->brief = base_arena_printf(&s->mem, "a look at why it sleeps%s", line);
		a->action = base_arena_printf(
			&s->mem,
			"look at the line that sleeps%s: make the sleep shorter, or let what it "
			"waits for go on beside the next steps; if it waits for data or for "
			"requests, mark it with an NVTX range",
			line);
		return true;
	}
	a->action =
		base_arena_printf(&s->mem,
				  "look at what the host does there%s; if that does not tell, %s",
				  line, a->action);
	return true;
}

bool view_advise_host_wait(struct view_summary *s, struct view_advice *a)
{
	const struct view_finding *f = view_finding_of(s, a->class);
	const char *line = view_advice_line(s, a->class);
	bool named = f && f->where.chains > 1; /* the line is that of who is waited for */

	if (*line && !named && advise_what_ends(s, a, line))
		return true;
	save_nothing(a);
	if (!*line)
		return true;
	a->brief = base_arena_printf(&s->mem, "a look at what is waited for%s", line);
	if (named) {
		a->action = base_arena_printf(
			&s->mem,
			"look at what is waited for%s; if what it gives is data, mark the line "
			"that waits with an NVTX range",
			line);
		return true;
	}
	a->action = base_arena_printf(
		&s->mem,
		"look at the line that waits%s; if it waits for data, mark it with an NVTX range, "
		"and run what makes the data under gpustarve, too",
		line);
	return true;
}

/* Pauses between requests are no news; a GPU that is held for little else is. */
bool view_advise_no_work(struct view_summary *s, struct view_advice *a)
{
	if (view_held_on(s)) {
		a->brief = "an end of the process once its last kernel is done";
		a->action =
			"end the process when the GPU's work is done, or give the GPU back first: "
			"what is left to do without it can run elsewhere";
	}
	return base_ppm(a->saving_ns, s->result->gpu_ns) >= NO_WORK_PPM;
}

/* Code that came from the disk as it was first used: no cache of kernels makes that shorter. */
bool view_advise_warmup(struct view_summary *s, struct view_advice *a)
{
	const struct view_finding *f = view_finding_of(s, a->class);

	if (!f || f->where.wait != WIRE_WAIT_FAULT)
		return true;
	a->brief = "the environment on a local disk";
	a->action = "libraries came from the disk as they were first used: keep the program's "
		    "environment on a local disk, or have it read before the job begins (a step "
		    "of warm-up, vmtouch)";
	return true;
}
