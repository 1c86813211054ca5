/* SPDX-License-Identifier: Apache-2.0 */
#include "besides.h"

#include <inttypes.h>
#include "base/amounts.h"
#include "base/units.h"
#include "facts/class.h"
#include "findings.h"
#include "loader.h"
#include "reads.h"
#include "told.h"
#include "wire/evidence.h"

#define LIKELY_PPM 10000 /* a part of an estimate that is told */

bool view_is_named_wait(const struct view_finding *f)
{
	return f->class == ANA_HOST_WAIT && f->where.chains > 1;
}

/*
 * Who had the CPUs that were wanted, as far as it is known: whether those of the job are enough for
 * its own.
 */
static const char *cpus_taken(const struct view_summary *s, struct base_arena *mem)
{
	int64_t cores =
		s->loader.facts.cores > 0 ? s->loader.facts.cores : (int64_t)s->result->cpus;
	int64_t workers = view_loader_workers(s);
	const char *own;

	if (cores <= 0 || s->ranks > 1)
		return "; who had the CPUs is not recorded";
	own = workers > 0 ? base_arena_printf(mem, "%" PRId64 " worker%s and the main process",
					      workers, workers == 1 ? "" : "s")
			  : "the main process";
	if (workers + 1 > cores)
		return base_arena_printf(mem, "; %s share %" PRId64 " core%s", own, cores,
					 cores == 1 ? "" : "s");
	return base_arena_printf(mem,
				 "; %s ha%s %" PRId64
				 " core%s, which other threads of the job or other "
				 "programs used: the run does not tell which",
				 own, workers > 0 ? "ve" : "s", cores, cores == 1 ? "" : "s");
}

/*
 * Of all that lacked a CPU, whoever it was: what is told of the CPUs is told once, and not where
 * the finding knows who ran meanwhile.
 */
static bool is_first_without_cpu(const struct view_summary *s, size_t at)
{
	int64_t ns = view_told_ns(s, at);

	if (s->finding[at].where.has_cpu)
		return false;

	for (size_t i = 0; i < s->findings; i++) {
		const struct view_finding *f = &s->finding[i];
		bool cpu = f->class == ANA_INPUT_CPU_STARVED || f->class == ANA_HOST_CPU_STARVED;

		if (i == at || !cpu || f->where.late || f->where.has_cpu || !view_told_is_line(f))
			continue;
		if (view_told_ns(s, i) > ns || (view_told_ns(s, i) == ns && i < at))
			return false;
	}
	return true;
}

/* Why nobody watched, where that is the price of watching for half of it or more. */
static const char *stepped_down(const struct view_summary *s)
{
	const struct ana_quality *q = &s->result->quality;

	return 2 * (__int128)q->stepped_down_ns < q->unobserved_ns || !q->stepped_down_ns
		       ? ""
		       : ", because recording all of it would have cost the job more than "
			 "--max-overhead allows (0 records it all)";
}

/* What NVML saw meanwhile, where it measured half of it or more. */
static const char *metered(const struct view_summary *s, struct base_arena *mem)
{
	const struct ana_quality *q = &s->result->quality;
	const struct ana_metered *m = &q->metered;
	base_unit share;

	if (!m->known_ns || 2 * (__int128)m->known_ns < q->unobserved_ns)
		return "";
	return base_arena_printf(mem, "; NVML saw work on the GPU for %s %% of that time",
				 base_percent(share, base_ppm(m->busy_ns, m->known_ns)));
}

/* ", waiting for input for 34.1 %": of the classes that @is tells. */
static const char *likely(const struct ana_estimated *e, bool (*is)(int), const char *what,
			  struct base_arena *mem)
{
	base_unit share;
	int64_t ns = 0;

	for (int c = 0; c < ANA_CLASSES; c++)
		view_cost_add(&ns, is(c) ? e->classes[c].ns : 0);
	if (base_ppm(ns, e->of_ns) < LIKELY_PPM)
		return "";
	return base_arena_printf(mem, ", waiting for %s for %s %%", what,
				 base_percent(share, base_ppm(ns, e->of_ns)));
}

/* How it was likely spent, where that is known of half of it or more. */
static const char *estimated(const struct view_summary *s, struct base_arena *mem)
{
	const struct ana_estimated *e = &s->result->estimated;
	base_unit busy;

	if (!e->of_ns || 2 * (__int128)e->of_ns < s->result->quality.unobserved_ns ||
	    2 * (__int128)e->unknown_ns > e->of_ns)
		return "";
	return base_arena_printf(mem, "; sampled: likely busy for %s %% of it%s%s%s",
				 base_percent(busy, base_ppm(e->busy.ns, e->of_ns)),
				 likely(e, ana_class_is_input, "input", mem),
				 likely(e, ana_class_is_host, "the program", mem),
				 likely(e, ana_class_is_device, "the device", mem));
}

/* One figure of how busy it was: the meter's own only where nothing corrects it. */
static const char *meanwhile(const struct view_summary *s, struct base_arena *mem)
{
	const char *sampled = estimated(s, mem);

	return *sampled ? sampled : metered(s, mem);
}

/* For whom GPUs waited meanwhile who had died, where that is half of it or more. */
static const char *left_behind(const struct view_summary *s, struct base_arena *mem)
{
	const struct ana_ranks *r = &s->result->ranks;
	const int64_t all = s->result->quality.unobserved_ns;
	size_t most = 0;
	base_unit share;

	for (size_t i = 0; i < r->rows; i++)
		if (r->row[i].left_ns > r->row[most].left_ns)
			most = i;
	if (!r->rows || !r->row[most].has_rank || r->row[most].left_ns > all ||
	    2 * (__int128)r->row[most].left_ns < all || !r->row[most].left)
		return "";
	return base_arena_printf(
		mem, "; for %s %% of it GPUs waited for rank %" PRId32 ", which had died",
		base_percent(share, base_ppm(r->row[most].left_ns, all)), r->row[most].rank);
}

/* What each step asks of the GPU, if that is much: after each answer it has nothing to do. */
static const char *reads(const struct view_summary *s, struct base_arena *mem)
{
	const uint64_t n = view_reads_of_step(s);
	base_unit count;

	return n ? base_arena_printf(mem, "; each step reads %s results from the GPU one by one",
				     base_count(count, n))
		 : "";
}

const char *view_words_besides(const struct view_summary *s, struct base_arena *mem, size_t at)
{
	const struct view_finding *f = &s->finding[at];
	bool cpu = f->class == ANA_INPUT_CPU_STARVED || f->class == ANA_HOST_CPU_STARVED;

	if (f->where.late || !view_told_is_first(s, at))
		return "";
	if (cpu)
		return is_first_without_cpu(s, at) ? cpus_taken(s, mem) : "";
	if (f->class == ANA_EXCLUDED_UNOBSERVED)
		return base_arena_printf(mem, "%s%s%s", stepped_down(s), meanwhile(s, mem),
					 left_behind(s, mem));
	if (f->class == ANA_HOST_DISPATCH)
		return reads(s, mem);
	if (view_is_named_wait(f))
		return "; whether that is data is not known, for no copy to the GPU followed";
	if (f->class != ANA_HOST_LOCK || f->where.chains > 1)
		return "";
	return f->where.wait == WIRE_WAIT_GIL
		       ? "; another thread of the process ran Python meanwhile: the run does not tell which"
		       : "; who held it is not recorded";
}
