/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Advice where batches are not made by torch's loader, or that does not tell its settings and rows:
 * how many of those whom samples saw at work would keep up, by Little's law. Makers at work for all
 * of a time T in which the GPUs starved for I are as many as they must be more by T / (T - I). What
 * that spares at most is all that input was waited for, not I alone: who keeps up is not waited
 * for, whatever held it up.
 */
#include <inttypes.h>
#include <string.h>

#include "advice.h"
#include "findings.h"
#include "loader.h"
#include "base/units.h"
#include "facts/class.h"
#include "facts/feeder.h"
#include "words.h"
#include "base/minmax.h"
#include "wire/evidence.h"

#define MAKERS_PER_CORE 8 /* of those that mostly wait for their source */
#define LEAST_PPM 10000

/*
 * Somebody was at work on the batch, so that more of them share it; the last one is the trainer
 * itself.
 */
static const enum ana_class making[] = { ANA_INPUT_PREP, ANA_INPUT_FETCH, ANA_INPUT_INLINE };
#define MAKING (sizeof(making) / sizeof(making[0]))

struct makers {
	int64_t ns; /* for which the GPUs starved while batches were made */
	int64_t waits; /* the same, and for whatever else more makers may spare */
	int64_t now, needed, advised;
	bool cores; /* they are what binds */
	const struct view_finding *most; /* where most of it went */
};

static int64_t working_ns(const struct view_summary *s)
{
	int64_t ns = s->result->gpu_ns;

	for (int c = 0; c < ANA_CLASSES; c++)
		ns -= ana_class_is_outside(c) ? s->result->classes[c] : 0;
	return ns;
}

/*
 * The finding with a maker that took most; the trainer itself makes batches where nobody else does.
 */
static const struct view_finding *largest(const struct view_summary *s)
{
	const struct view_finding *best = NULL;

	for (size_t i = 0; i < s->findings; i++) {
		const struct view_finding *f = &s->finding[i];

		for (size_t k = 0; k < MAKING; k++)
			if (f->class == making[k] && f->where.known && (!best || f->ns > best->ns))
				best = f;
	}
	return best;
}

static bool of_trainer(const struct view_finding *f)
{
	return f->where.role == WIRE_ROLE_SUBMITTER || f->where.role == WIRE_ROLE_FEEDER;
}

static int64_t ceil_div(__int128 a, __int128 b)
{
	return (int64_t)((a + b - 1) / b);
}

/*
 * While they compute, or wait for a core, each needs one beside the trainer's; while they wait for
 * a source none.
 */
static int64_t carried(const struct view_summary *s, const struct makers *m)
{
	int64_t cores = s->result->cpus, starved = view_advice_ns(s, ANA_INPUT_CPU_STARVED);
	int64_t computed = view_advice_ns(s, ANA_INPUT_PREP) + starved,
		most = cores * MAKERS_PER_CORE;

	if (!cores)
		return INT64_MAX;
	if (m->most->class == ANA_INPUT_INLINE && m->most->where.wait == WIRE_WAIT_NONE)
		computed += view_advice_ns(s, ANA_INPUT_INLINE);
	if (computed <= 0)
		return most;
	return base_min(
		most, base_max((int64_t)((__int128)(cores - 1) * (m->ns + starved) / computed), 1));
}

static int64_t waits_ns(const struct view_summary *s, bool by_trainer)
{
	int64_t ns = by_trainer ? view_advice_ns(s, ANA_INPUT_INLINE) : 0;

	for (int c = 0; c < ANA_CLASSES; c++)
		ns += ana_class_wants_workers(c) ? view_advice_ns(s, (enum ana_class)c) : 0;
	return ns;
}

static bool count(const struct view_summary *s, struct makers *m)
{
	int64_t t = working_ns(s), most;

	*m = (struct makers){ .most = largest(s) };
	/* A pause of the trainer's own is to be removed, not to be spread over processes. */
	if (!m->most || (of_trainer(m->most) && m->most->where.wait == WIRE_WAIT_SLEEP))
		return false;
	for (size_t k = 0; k < MAKING; k++)
		m->ns += making[k] != ANA_INPUT_INLINE || of_trainer(m->most)
				 ? view_advice_ns(s, making[k])
				 : 0;
	m->waits = waits_ns(s, of_trainer(m->most));
	m->now = of_trainer(m->most)	      ? 0
		 : view_loader_workers(s) > 0 ? view_loader_workers(s)
					      : base_max(m->most->where.threads, 1);
	if (m->ns <= 0 || m->ns >= t || base_ppm(m->ns, s->result->gpu_ns) < LEAST_PPM)
		return false;
	/* What the trainer makes itself takes I; what is made beside it takes all of T. */
	m->needed = m->now ? ceil_div((__int128)m->now * t, t - m->ns) : ceil_div(m->ns, t - m->ns);
	most = base_max(carried(s, m), m->now);
	m->cores = m->needed > most;
	m->advised = m->cores ? most : m->needed;
	return m->advised > m->now;
}

/* The least that all of it can take with so many makers, less what it takes now: an upper bound. */
static int64_t saving_ns(const struct view_summary *s, const struct makers *m)
{
	int64_t t = working_ns(s), work = m->now ? t : m->ns;
	int64_t then = (int64_t)((__int128)work * base_max(m->now, 1) / m->advised);

	return base_min(m->waits, t - base_max(t - m->waits, then));
}

/* "num_workers=6", the knob with its number. */
static const char *knob(struct view_summary *s, const struct facts_feeder_row *f, int64_t n)
{
	size_t before = strcspn(f->knob, "#");

	return base_arena_printf(&s->mem, "%.*s%" PRId64 "%s", (int)before, f->knob, n,
				 f->knob + before + (f->knob[before] == '#'));
}

/* "3 processes", "1 thread". */
static const char *so_many(struct view_summary *s, int64_t n, const struct makers *m,
			   const struct facts_feeder_row *f)
{
	const char *one = f->maker && m->now ? f->maker : "maker";
	const char *end = n == 1 ? "" : one[strlen(one) - 1] == 's' ? "es" : "s";

	return base_arena_printf(&s->mem, "%" PRId64 " %s%s", n, one, end);
}

/*
 * "6 threads instead of 1": where no setting has a name. Threads that compute in Python share its
 * lock: more of them make no more.
 */
static const char *instead(struct view_summary *s, const struct makers *m,
			   const struct facts_feeder_row *f)
{
	bool locked = f == &facts_feeders[FACTS_FEEDER_THREADS] && m->most->class == ANA_INPUT_PREP;

	if (locked)
		return base_arena_printf(&s->mem, "%" PRId64 " process%s instead of %s", m->advised,
					 m->advised == 1 ? "" : "es", so_many(s, m->now, m, f));
	return base_arena_printf(&s->mem, "%s instead of %" PRId64, so_many(s, m->advised, m, f),
				 m->now);
}

static const char *arithmetic(struct view_summary *s, const struct makers *m,
			      const struct facts_feeder_row *f)
{
	int64_t t = working_ns(s);
	base_unit starved, whole, busy;

	return base_arena_printf(
		&s->mem,
		"the GPUs starved for %s of %s while %s: to make as much in the other %s takes %s at "
		"a time%s",
		base_duration(starved, m->ns), base_duration(whole, t),
		m->now ? base_arena_printf(&s->mem, "%s made batches", so_many(s, m->now, m, f))
		       : "the main process made its batches itself",
		base_duration(busy, t - m->ns), so_many(s, m->needed, m, f),
		m->cores ? base_arena_printf(&s->mem, ", but the cores here carry only %" PRId64,
					     m->advised)
			 : "");
}

bool view_advise_makers(struct view_summary *s, struct view_advice *a)
{
	struct makers m;
	const struct facts_feeder_row *f;

	if (s->loader.has_need || !count(s, &m))
		return false;
	f = &facts_feeders[m.most->where.feeder];
	a->id = "makers";
	a->makers = m.advised;
	a->makers_now = m.now;
	a->class = m.most->class;
	a->saving_ns = saving_ns(s, &m);
	a->saving_nano_usd =
		base_div_even((__int128)view_advice_nano_usd(s, a->class) * a->saving_ns,
			      base_max(view_advice_ns(s, a->class), 1));
	a->why = arithmetic(s, &m, f);
	if (!m.now) {
		a->title = "Make batches in another process";
		a->brief = base_arena_printf(
			&s->mem,
			"%" PRId64 " process%s that make%s batches ahead (a DataLoader with "
			"num_workers=%" PRId64 "%s)",
			m.advised, m.advised == 1 ? "" : "es", m.advised == 1 ? "s" : "", m.advised,
			m.cores ? ", all that the cores here carry" : "");
		a->action = base_arena_printf(
			&s->mem,
			"let %" PRId64
			" process%s make the batches ahead (a DataLoader with num_workers=%" PRId64
			", or a pool) instead of the %s thread%s",
			m.advised, m.advised == 1 ? "" : "es", m.advised, view_work_word(&s->kind),
			view_advice_line(s, a->class));
		return true;
	}
	a->title = "Make more batches at a time";
	a->brief = f->knob ? knob(s, f, m.advised) : instead(s, &m, f);
	a->action = base_arena_printf(
		&s->mem, "%s %s%s%s", f->knob ? "set" : "let", a->brief,
		f->knob ? base_arena_printf(&s->mem, " in %s (now %" PRId64 ")", f->name, m.now)
			: " make the batches",
		m.most->class == ANA_INPUT_FETCH ? ", if the source serves so many at a time" : "");
	return true;
}

/* A number of makers that the training thread has none of says the same, and how many. */
bool view_advise_inline(struct view_summary *s, struct view_advice *a)
{
	const struct view_advice *first = s->advices ? &s->advice[0] : NULL;

	return !first || !first->makers || first->makers_now || first->class != a->class;
}
