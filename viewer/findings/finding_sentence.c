/* SPDX-License-Identifier: Apache-2.0 */
#include "finding_sentence.h"

#include <inttypes.h>
#include <string.h>
#include "base/amounts.h"
#include "base/minmax.h"
#include "base/units.h"
#include "besides.h"
#include "facts/class.h"
#include "findings.h"
#include "gain.h"
#include "lead.h"
#include "loader.h"
#include "wire/evidence.h"
#include "words.h"

#define COLUMNS 40 /* of a path or a file's name */
#define THIN_SAMPLES 3 /* and THIN_PART of what they are to speak for: fewer show nothing of it */
#define THIN_PART 10

struct said { /* of a sentence */
	size_t at; /* the finding */
	int64_t ns; /* with those that it speaks for */
	int64_t seen_ns; /* of it, what samples saw at the lines that are named */
	/* of all that are named, and of that without samples of its own */
	int64_t lines_ns, nearby_ns;
	uint64_t samples; /* that show one of them */
	const char *also; /* their lines; NULL: it speaks for itself */
	/* what its cause took, at this line and others that are told apart; 0: told before */
	int64_t cause_ns;
	bool others; /* there are such lines */
};

/* "36.0 % of the training time" */
static const char *share(const struct view_summary *s, struct base_arena *mem, const struct said *x)
{
	bool outside = ana_class_is_outside(s->finding[x->at].class);
	base_unit text;

	base_percent(text, base_ppm(x->ns, outside ? s->result->gpu_ns : view_working_ns(s)));
	return base_arena_printf(mem, "%s %% of the %s", text, view_whole_words(&s->kind, outside));
}

/* ---- what was lost, and to whom -------------------------------------------------------------- */

/* The class's words with the share in them; *open: they want to be told who, or what happened. */
static const char *lost(const struct view_summary *s, struct base_arena *mem, const struct said *x,
			bool *open)
{
	const char *loss =
		view_words_of_kind(&s->kind, mem,
				   view_is_named_wait(&s->finding[x->at])
					   ? "waited # for the training thread:"
					   : facts_classes[s->finding[x->at].class].loss);
	size_t before = strcspn(loss, "#"), after = strlen(loss + before + 1);
	struct view_lead l = view_lead_of(s);

	*open = after && loss[before + after] == ':';
	return base_arena_printf(mem, "The GPU%s %.*s%s%.*s", l.gpus > 1 ? "s" : "", (int)before,
				 loss, share(s, mem, x), (int)(after - *open), loss + before + 1);
}

/*
 * What kept the workers from the batch that was due, as far as it was seen; NULL: what the class
 * says.
 */
static const char *pipeline(const struct view_summary *s, struct base_arena *mem)
{
	const int64_t *share = s->loader.share_ppm;
	int64_t workers = view_loader_workers(s), seen = 0;

	for (int k = 0; k < ANA_WORKER_STATES; k++)
		seen += share[k];
	if (!seen || workers < 1)
		return NULL;
	if (workers == 1 && !share[ANA_WORKER_IDLE] && !share[ANA_WORKER_LOCK])
		return "no sample tells what the only worker did while the main process waited";
	if (workers == 1)
		return base_arena_printf(
			mem, "the only worker was not making the batch that was due: %s",
			share[ANA_WORKER_IDLE] ? "it was idle" : "it waited for a lock");
	return base_arena_printf(
		mem,
		"no worker was making the batch that was due: they were %s%sahead with later batches",
		share[ANA_WORKER_IDLE] ? "idle or " : "",
		share[ANA_WORKER_LOCK] ? "waiting for each other or " : "");
}

static const char *meaning(const struct view_summary *s, struct base_arena *mem, enum ana_class c)
{
	const char *seen = c == ANA_INPUT_PIPELINE ? pipeline(s, mem) : NULL;

	return seen ? seen : view_words_of_kind(&s->kind, mem, facts_classes[c].meaning);
}

/* A wait for a batch is what the sentence tells already. */
static bool says_more(const struct view_hotspot *p)
{
	return p->wait != WIRE_WAIT_QUEUE || p->runnable || p->role == WIRE_ROLE_WORKER;
}

/* What the main process does with the workers of an epoch, if that was seen; NULL. */
static const char *turnover(const struct view_summary *s, const struct view_hotspot *p)
{
	const struct ana_loader_facts *l = view_loader_facts(s);
	bool again = l && l->iterators > 1 && !(l->known & ANA_LOADER_PERSISTENT && l->persistent);

	if (p->role != WIRE_ROLE_SUBMITTER)
		return NULL;
	if (p->wait == WIRE_WAIT_CHILD && p->target && !strcmp(p->target, "Process.join"))
		return again ? "ending workers that the next epoch starts again"
			     : "ending the loader's workers";
	if (p->wait == WIRE_WAIT_NONE && p->leaf && strstr(p->leaf, "/multiprocessing/popen_"))
		return again ? "starting workers again" : "starting the loader's workers";
	return NULL;
}

/* "both workers were decoding images"; NULL: who it was says no more than the class. */
static const char *who(const struct view_summary *s, struct base_arena *mem,
		       const struct view_finding *f, bool open)
{
	const struct view_hotspot *p = &f->where;
	const char *doing = view_words_activity(p);
	bool own = p->role == WIRE_ROLE_SUBMITTER && p->chains < 2;

	if (!p->known || (own && ((!open && !ana_class_is_doubt(f->class)) || !says_more(p))))
		return NULL;
	if (!doing && f->class == ANA_INPUT_EPOCH)
		doing = turnover(s, p);
	if (!doing)
		doing = view_words_doing(mem, f->class, p, COLUMNS);
	return base_arena_printf(mem, "%s %s",
				 p->chains > 1 ? view_words_chain(mem, p, COLUMNS)
					       : view_words_who_was(mem, f->class, p,
								    view_loader_workers(s)),
				 doing);
}

static const char *late(const struct view_summary *s, struct base_arena *mem, const struct said *x)
{
	const struct view_finding *f = &s->finding[x->at];

	return base_arena_printf(mem, "The others waited %s for rank %" PRId32 ": %s",
				 share(s, mem, x), f->where.rank,
				 f->class == ANA_COMPUTE
					 ? "its own kernels took longer"
					 : view_words_of_kind(&s->kind, mem,
							      facts_classes[f->class].meaning));
}

/* Their words say that nothing tells why: who was seen then is no reason. */
static bool unexplained(enum ana_class c)
{
	return c == ANA_INPUT_UNKNOWN || c == ANA_HOST_UNKNOWN || c == ANA_DEVICE_UNKNOWN;
}

static const char *waited(const struct view_summary *s, struct base_arena *mem,
			  const struct said *x)
{
	const struct view_finding *f = &s->finding[x->at];
	bool open;
	const char *what = lost(s, mem, x, &open), *by = who(s, mem, f, open);

	if (!by && open)
		by = meaning(s, mem, f->class);
	return base_arena_printf(mem, "%s%s%s", what,
				 !by			 ? ""
				 : unexplained(f->class) ? "; meanwhile "
							 : ": ",
				 by ? by : view_words_cpu(mem, &f->where, COLUMNS));
}

/* ", at least 35.9 of these 72.7 %": of a line that speaks for more than samples saw of it. */
static const char *seen_words(const struct view_summary *s, struct base_arena *mem,
			      const struct said *x)
{
	bool outside = ana_class_is_outside(s->finding[x->at].class);
	int64_t whole = outside ? s->result->gpu_ns : view_working_ns(s);
	base_unit seen, all;

	if (view_told_rest(s, x->at) == SIZE_MAX)
		return "";
	if (!s->finding[x->at].where.file && !x->also)
		return ", as far as samples tell";
	return base_arena_printf(mem, ", at least %s of these %s %%",
				 base_percent(seen, base_ppm(x->seen_ns, whole)),
				 base_percent(all, base_ppm(x->ns, whole)));
}

/* A few samples of a small part of it: what they show is no more than that. */
static bool is_thin(const struct view_summary *s, const struct said *x)
{
	const struct view_finding *f = &s->finding[x->at];

	return !f->where.late && f->where.known && x->samples <= THIN_SAMPLES &&
	       view_told_rest(s, x->at) != SIZE_MAX && x->seen_ns < x->ns / THIN_PART;
}

/* "The GPU waited ... to be given work. Only 2 samples fell into it, at train.py:49 train." */
static const char *thin_cause(const struct view_summary *s, struct base_arena *mem,
			      const struct said *x)
{
	const struct view_finding *f = &s->finding[x->at];
	const char *line = view_words_line(mem, &f->where, COLUMNS);
	bool open;
	const char *what = lost(s, mem, x, &open);
	base_unit n;

	return base_arena_printf(mem, "%s%s%s%s. Only %s sample%s fell into it%s%s.", what,
				 open ? ": " : "", open ? meaning(s, mem, f->class) : "",
				 view_words_besides(s, mem, x->at), base_count(n, x->samples),
				 x->samples == 1 ? "" : "s", line ? ", at " : "", line ? line : "");
}

static const char *cause(const struct view_summary *s, struct base_arena *mem, const struct said *x)
{
	const struct view_hotspot *p = &s->finding[x->at].where;
	const char *what = (p->late ? late : waited)(s, mem, x),
		   *by = view_words_besides(s, mem, x->at);
	const char *line = view_words_line(mem, p, COLUMNS);
	const char *seen = seen_words(s, mem, x);

	if (x->also)
		seen = base_arena_printf(mem, "%s %s%s", line ? ", also" : ", in part at", x->also,
					 seen);
	if (!line)
		return base_arena_printf(mem, "%s%s%s.", what, seen, by);
	if (what[strlen(what) - 1] == ')')
		return base_arena_printf(mem, "%s at %s%s%s.", what, line, seen, by);
	return base_arena_printf(mem, "%s (%s%s)%s.", what, line, seen, by);
}

/* ---- what it would bring --------------------------------------------------------------------- */

/* Its saving is not merely what its class took. */
static bool is_reckoned(const struct view_summary *s, const struct view_advice *a)
{
	return view_advice_is_number(a) ||
	       (s->result->gpus == 1 && (a->saving_least_ns > 0 || view_advice_without_any(a)));
}

/* The advice with arithmetic that is about this finding before all others; NULL: there is none. */
static const struct view_advice *reckoned_for(const struct view_summary *s, size_t at)
{
	for (size_t i = 0; i < s->advices; i++) {
		const struct view_advice *a = &s->advice[i];
		if (is_reckoned(s, a) && a->class == s->finding[at].class &&
		    view_told_is_first(s, at))
			return a;
	}
	return NULL;
}

static int64_t working_tenths(const struct view_summary *s, int64_t ns)
{
	return base_div_even(base_ppm(ns, view_working_ns(s)), 1000);
}

/*
 * " (85.9 % of the training time saved, other waits for batches included)": what the gain is of,
 * where that is not the share that the sentence began with.
 */
static const char *of_saved(const struct view_summary *s, struct base_arena *mem, int64_t saved,
			    const struct said *x, const struct view_advice *a)
{
	int64_t tenths = working_tenths(s, saved), told = working_tenths(s, x->ns);
	bool others = a && tenths > told && ana_class_is_input(a->class);
	base_unit share;

	if (tenths == told || s->result->unrecorded.ns)
		return "";
	return base_arena_printf(mem, " (%s %% of the %s saved%s)",
				 base_percent(share, tenths * 1000),
				 view_whole_words(&s->kind, false),
				 others ? ", other waits for batches included" : "");
}

/*
 * What removing the cause saves of steps at most and at least; false: no gain is told. On several
 * GPUs what one waits for less may be waited for by another one.
 */
static bool gain_of(const struct view_summary *s, const struct said *x, int64_t *saved,
		    int64_t *least)
{
	const struct view_finding *f = &s->finding[x->at];
	const struct view_advice *a = reckoned_for(s, x->at);

	if (f->where.late || ana_class_is_outside(f->class) || !s->waste[f->class] ||
	    (!a && s->result->gpus > 1) || !x->cause_ns)
		return false;
	*saved = view_gain_of_steps(s, a, f->class, a ? a->saving_ns : x->cause_ns);
	*least = a ? base_min(a->saving_least_ns, *saved) : 0;
	return *saved > 0;
}

/* "Without it at any of its lines, once batches keep up:". */
static const char *without(const struct view_summary *s, struct base_arena *mem,
			   const struct said *x)
{
	bool hidden = !ana_class_is_input(s->finding[x->at].class) && view_batches_bind(s);

	return base_arena_printf(mem, "Without it%s%s:", x->others ? " at any of its lines" : "",
				 hidden ? ", once batches keep up" : "");
}

static const char *prediction(const struct view_summary *s, struct base_arena *mem,
			      const struct said *x)
{
	const struct view_advice *a = reckoned_for(s, x->at);
	int64_t saved, least;
	const char *times;

	if (!gain_of(s, x, &saved, &least))
		return "";
	times = view_gain_words(s, mem, saved, least);
	if (!times)
		return "";
	return base_arena_printf(mem, " %s %s%s.", a ? view_gain_by(s, mem, a) : without(s, mem, x),
				 times, of_saved(s, mem, saved, x, a));
}

/* ---- how sure that is ------------------------------------------------------------------------ */

const char *view_confidence_words(const struct view_summary *s)
{
	/* What a simulated GPU does meanwhile is computed, so what is left as a wait is as well. */
	return s->result->simulated
		       ? "confidence tells how sure cause, line and gain are, not how sure the "
			 "length of the wait; after that of a gain comes what keeps it from being "
			 "higher"
		       : "confidence tells how sure cause, line and gain are; after that of a "
			 "gain comes what keeps it from being higher; how long the wait was is "
			 "measured";
}

/* Where a gain is told; no grade (ANA_NONE): none is. No gain is surer than its cause. */
static struct view_sure gain_sure(const struct view_summary *s, struct base_arena *mem,
				  enum ana_confidence of_cause, const struct said *x)
{
	struct view_sure sure = { ANA_NONE, NULL };
	int64_t saved, least;

	if (!gain_of(s, x, &saved, &least) || !view_gain_words(s, mem, saved, 0))
		return sure;
	sure = view_gain_sure(s, mem, reckoned_for(s, x->at), saved, least);
	if (of_cause > sure.grade && sure.grade < ANA_LOW)
		sure = (struct view_sure){ of_cause < ANA_LOW ? of_cause : ANA_LOW,
					   "no surer than its cause" };
	return sure;
}

/* "confidence: cause and line high, gain medium: batches take uneven times" */
static const char *confidence_words(const struct view_summary *s, struct base_arena *mem,
				    enum ana_confidence of_cause, const struct said *x)
{
	/* Of a cause that nobody knows the line is where a thread was meanwhile, no more. */
	const bool line_told = s->finding[x->at].where.file && of_cause != ANA_NONE;
	struct view_sure gain = gain_sure(s, mem, of_cause, x);
	enum ana_confidence line = of_cause;
	const char *t;

	if (view_told_rest(s, x->at) != SIZE_MAX)
		line = view_told_line_confidence(s, x->at);
	t = base_arena_printf(mem, "confidence: cause%s %s",
			      line_told && line == of_cause ? " and line" : "",
			      ana_confidence_names[of_cause]);
	if (line_told && line != of_cause)
		t = base_arena_printf(mem, "%s, line %s", t, ana_confidence_names[line]);
	if (gain.grade != ANA_NONE)
		t = base_arena_printf(mem, "%s, gain %s%s%s", t, ana_confidence_names[gain.grade],
				      gain.lacks ? ": " : "", gain.lacks ? gain.lacks : "");
	return t;
}

/* ---- the sentence ---------------------------------------------------------------------------- */

/* What samples saw at the lines of @n findings. */
static int64_t seen_ns(const struct view_summary *s, const struct view_told *told, size_t n)
{
	int64_t ns = 0;

	for (size_t i = 0; i < n; i++)
		if (s->finding[told[i].at].where.file)
			view_cost_add(&ns, s->finding[told[i].at].ns);
	return ns;
}

/*
 * "37, 34 and 41", with "data.py:" before them where the first one has no line; NULL: there are
 * none. However many were seen at no line, that is said once.
 */
static const char *lines_of(const struct view_summary *s, struct base_arena *mem,
			    const struct view_told *told, size_t n)
{
	bool named = s->finding[told->at].where.file != NULL, nowhere = false;
	const char **line = base_arena_array(mem, n, sizeof(*line)), *t = NULL;
	size_t lines = 0;

	for (size_t i = 1; i < n; i++) {
		const struct view_hotspot *p = &s->finding[told[i].at].where;

		if (!p->file && nowhere)
			continue;
		nowhere |= !p->file;
		line[lines++] = !p->file ? "where no line was seen"
				: named	 ? base_arena_printf(mem, "%" PRIu32, p->line)
					 : view_words_hotspot(mem, p, COLUMNS);
		named |= p->file != NULL;
	}
	for (size_t i = 0; i < lines; i++)
		t = base_arena_printf(mem, "%s%s%s", t ? t : "",
				      !i	      ? ""
				      : i + 1 < lines ? ", "
						      : " and ",
				      line[i]);
	return t;
}

/* What is left of a class that none of its lines speaks for: the class, and what is not known. */
static const char *without_line(const struct view_summary *s, struct base_arena *mem,
				const struct said *x)
{
	return base_arena_printf(mem, "%s; no sample tells the line%s.", waited(s, mem, x),
				 s->finding[x->at].lines_ns ? " of most of it" : "");
}

/* A line of its class is told, and what is left stands below it. */
static bool is_below(const struct view_summary *s, size_t rest)
{
	for (size_t i = 0; i < s->findings; i++)
		if (s->finding[i].class == s->finding[rest].class &&
		    view_told_is_line(&s->finding[i]) && !s->finding[i].where.late)
			return true;
	return false;
}

/* Where most of it lies in gaps without a sample, it is told what the line is taken from. */
static const char *from_neighbours(const struct view_summary *s, struct base_arena *mem,
				   const struct said *x)
{
	const char *parts = s->finding[x->at].class == ANA_COPY ? "copies" : "gaps";
	base_unit samples;

	if (is_thin(s, x) || x->nearby_ns <= x->lines_ns / 2)
		return "";
	return base_arena_printf(
		mem,
		" %s sample%s it: most of these %s are too short to hold one, and are taken to be "
		"like the others.",
		base_count(samples, x->samples), x->samples == 1 ? " shows" : "s show", parts);
}

static void add_lines(const struct view_summary *s, const struct view_told *told, size_t n,
		      struct said *x)
{
	for (size_t i = 0; i < n; i++) {
		view_cost_add(&x->lines_ns, s->finding[told[i].at].ns);
		view_cost_add(&x->nearby_ns, s->finding[told[i].at].nearby_ns);
		x->samples += s->finding[told[i].at].where.samples;
	}
}

static const char *told_sentence(const struct view_summary *s, struct base_arena *mem,
				 const struct view_told *told, size_t n, struct said *x)
{
	bool rest = view_finding_is_rest(&s->finding[x->at]);

	if (rest && is_below(s, x->at))
		return base_arena_printf(mem, "%s.", view_rest_words(s, mem, x->at));
	add_lines(s, told, n, x);
	return base_arena_printf(mem, "%s%s%s",
				 (rest		  ? without_line
				  : is_thin(s, x) ? thin_cause
						  : cause)(s, mem, x),
				 from_neighbours(s, mem, x), prediction(s, mem, x));
}

static struct said said_together(const struct view_summary *s, struct base_arena *mem,
				 const struct view_told *told, size_t n)
{
	struct said x = { .at = told->at,
			  .ns = view_alike_ns(s, told, n),
			  .seen_ns = seen_ns(s, told, n),
			  .also = lines_of(s, mem, told, n) };

	x.cause_ns = x.ns;
	return x;
}

const char *view_alike_sentence(const struct view_summary *s, struct base_arena *mem,
				const struct view_told *told, size_t n)
{
	struct said x = said_together(s, mem, told, n);

	return told_sentence(s, mem, told, n, &x);
}

const char *view_alike_confidence_words(const struct view_summary *s, struct base_arena *mem,
					const struct view_told *told, size_t n)
{
	struct said x = said_together(s, mem, told, n);

	return confidence_words(s, mem, view_alike_confidence(s, told, n), &x);
}

struct view_sure view_alike_gain_sure(const struct view_summary *s, struct base_arena *mem,
				      const struct view_told *told, size_t n)
{
	struct said x = said_together(s, mem, told, n);

	return gain_sure(s, mem, view_alike_confidence(s, told, n), &x);
}

/* The cause that this finding is a line of; NULL: it is not told. */
static const struct view_cause *cause_of(const struct view_summary *s, struct base_arena *mem,
					 size_t at, bool *first)
{
	struct view_told *told;
	struct view_cause *cause;
	size_t n = view_causes_told(s, mem, &told, &cause);

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < cause[i].n; k++)
			if (told[cause[i].from + k].at == at) {
				*first = !k;
				return &cause[i];
			}
	return NULL;
}

/* A line of several has the gain of all with the first. */
static struct said said_alone(const struct view_summary *s, struct base_arena *mem, size_t at)
{
	const struct view_told alone = { at, SIZE_MAX };
	struct said x = { .at = at, .ns = view_told_ns(s, at), .cause_ns = view_told_ns(s, at) };
	const struct view_cause *of;
	bool first;

	x.seen_ns = seen_ns(s, &alone, 1);
	of = cause_of(s, mem, at, &first);
	if (of && of->n > 1) {
		x.cause_ns = first ? of->ns : 0;
		x.others = true;
	}
	return x;
}

const char *view_finding_sentence(const struct view_summary *s, struct base_arena *mem, size_t at)
{
	const struct view_told alone = { at, SIZE_MAX };
	struct said x = said_alone(s, mem, at);

	return told_sentence(s, mem, &alone, 1, &x);
}

const char *view_finding_confidence_words(const struct view_summary *s, struct base_arena *mem,
					  size_t at)
{
	struct said x = said_alone(s, mem, at);

	return confidence_words(s, mem, s->finding[at].confidence, &x);
}

struct view_sure view_finding_gain_sure(const struct view_summary *s, struct base_arena *mem,
					size_t at)
{
	struct said x = said_alone(s, mem, at);

	return gain_sure(s, mem, s->finding[at].confidence, &x);
}
