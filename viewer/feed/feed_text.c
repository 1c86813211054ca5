/* SPDX-License-Identifier: Apache-2.0 */
/* What a person reads of a loader. */
#include "feed.h"

#include <inttypes.h>
#include <string.h>
#include "base/units.h"
#include "core/wrap.h"
#include "findings/words.h"
#include "wire/evidence.h"

#define ROWS_MAX 8 /* numbers of workers that are shown */
#define LINES_SHOWN 6
#define LINE_LEAST_PPM 10000
#define FETCH_COLUMNS 60
#define UNSEEN_PPM 100000 /* of the time, without a look: from then on it is said */
#define STORED_PPM 200000 /* of the time, waiting for storage: the same */
#define SCARCE_PPM 100000 /* of the time, without a CPU: from then on it is said */

static const char *s_of(int64_t n)
{
	return n == 1 ? "" : "s";
}

static void put(FILE *out, const char *text)
{
	fputs("  ", out);
	view_wrap(out, 2, 4, text);
}

static const char *maker_of(const struct feed_loader *l)
{
	return !l->workers ? "the main process" : l->workers > 0 ? "one worker" : "one producer";
}

static const char *sure(struct feed *f, const struct feed_loader *l)
{
	base_unit low, high;

	if (!l->high_ns)
		return base_arena_printf(&f->mem,
					 "from %zu batch%s only: a longer measurement tells more",
					 l->made, l->made == 1 ? "" : "es");
	return base_arena_printf(&f->mem, "95 %% sure: %s to %s, from %zu batches",
				 base_duration(low, l->low_ns), base_duration(high, l->high_ns),
				 l->made);
}

/* How many it takes: where the mean's interval leaves several, these. */
static const char *needed(struct feed *f, const struct feed_loader *l, int64_t step_ns, int64_t n)
{
	int64_t low = l->high_ns ? (l->low_ns + step_ns - 1) / step_ns : n;
	int64_t high = l->high_ns ? (l->high_ns + step_ns - 1) / step_ns : n;

	low = low < 1 ? 1 : low;
	if (low == high)
		return base_arena_printf(&f->mem, "%" PRId64 " %s%s", n,
					 l->workers < 0 ? "producer" : "worker", s_of(n));
	return base_arena_printf(&f->mem, "%" PRId64 " (%" PRId64 " to %" PRId64 ") %s", n, low,
				 high, l->workers < 0 ? "producers" : "workers");
}

static int64_t present(const struct feed_loader *l)
{
	return l->workers < 0 ? (int64_t)l->makers : l->workers;
}

static void put_head(struct feed *f, const struct feed_loader *l, int64_t step_ns, const char *from,
		     FILE *out)
{
	struct view_worker_count n;
	base_unit each, step;
	const char *text =
		base_arena_printf(&f->mem, "gpustarve: %s makes a batch in %s (%s).", maker_of(l),
				  base_duration(each, l->mean_ns), sure(f, l));

	if (step_ns && feed_need(f, l, step_ns, &n))
		text = base_arena_printf(
			&f->mem, "%s A step of %s%s%s%s needs %s; the program has %s", text,
			base_duration(step, step_ns), from ? " (" : "", from ? from : "",
			from ? ")" : "", needed(f, l, step_ns, n.needed),
			present(l) ? base_arena_printf(&f->mem, "%" PRId64, present(l)) : "none");
	view_wrap(out, 0, 2, text);
}

static void put_settings(struct feed *f, const struct feed_loader *l, FILE *out)
{
	const char *text;

	if (l->workers < 0)
		text = base_arena_printf(
			&f->mem, "loader: a queue that %" PRIu32 " %s%s of the program fill%s",
			l->makers, strcmp(l->kind, "processes") ? "thread" : "process",
			l->makers == 1		       ? ""
			: strcmp(l->kind, "processes") ? "s"
						       : "es",
			l->makers == 1 ? "s" : "");
	else
		text = base_arena_printf(&f->mem,
					 "loader: torch's DataLoader, %" PRId64 " worker%s",
					 l->workers, s_of(l->workers));
	if (l->prefetch > 0)
		text = base_arena_printf(&f->mem, "%s, prefetch_factor %" PRId64, text,
					 l->prefetch);
	if (l->batch > 0)
		text = base_arena_printf(&f->mem, "%s, batches of %" PRId64, text, l->batch);
	if (l->dataset)
		text = base_arena_printf(&f->mem, "%s, data set %s", text,
					 view_short_path(&f->mem, l->dataset, 40));
	put(out, text);
}

/*
 * ---- the table --------------------------------------------------------------------------------
 */

static void put_row(struct feed *f, const struct feed_loader *l, int64_t workers, int64_t step_ns,
		    FILE *out)
{
	struct feed_pace p;
	base_unit step, wait;
	int64_t rate;

	feed_pace(f, l, workers, step_ns, &p);
	rate = p.step_ns ? 100000000000 / p.step_ns : 0; /* hundredths a second */
	fprintf(out, "  %7" PRId64 "%-6s  %6" PRId64 ".%02" PRId64, workers,
		workers == present(l) ? " (now)" : "", rate / 100, rate % 100);
	if (step_ns)
		fprintf(out, "  %9s  %5s %%", base_duration(step, p.step_ns),
			base_percent(wait, p.wait_ppm));
	putc('\n', out);
}

/*
 * From one worker, or the present number, to one more than it takes: the ends, and those between.
 */
static void put_table(struct feed *f, const struct feed_loader *l, int64_t step_ns, FILE *out)
{
	int64_t now = present(l), first, last, step, at;
	struct view_worker_count n = { .needed = now };

	if (step_ns && !feed_need(f, l, step_ns, &n))
		return;
	first = now < 1 ? 0 : 1;
	last = n.needed + 1 > now ? n.needed + 1 : now;
	step = (last - first + ROWS_MAX - 1) / ROWS_MAX;
	step = step < 1 ? 1 : step;
	fprintf(out, "  %s       batches/s%s\n", l->workers < 0 ? "producers" : "workers  ",
		step_ns ? "       step  waiting for a batch" : "");
	for (at = first; at <= last; at++)
		if (!((at - first) % step) || at == now || at == n.needed || at == last)
			put_row(f, l, at, step_ns, out);
}

static int64_t share_ppm(int64_t part, int64_t whole)
{
	return whole ? (int64_t)((__int128)part * 1000000 / whole) : 0;
}

/*
 * ---- lines ------------------------------------------------------------------------------------
 */

static void put_line(struct feed *f, const struct feed_line *x, int64_t total_ns, FILE *out)
{
	const char *what = view_words_doing(&f->mem, ANA_INPUT_PREP, &x->where, FETCH_COLUMNS);
	const char *line = view_words_line(&f->mem, &x->where, FETCH_COLUMNS);
	base_unit share;

	fprintf(out, "  %5s %%  ", base_percent(share, share_ppm(x->ns, total_ns)));
	view_wrap(out, 11, 11,
		  base_arena_printf(&f->mem, "%s%s%s", what, line ? ", " : "", line ? line : ""));
}

static void put_unseen(struct feed *f, const struct feed_loader *l, FILE *out)
{
	int64_t unseen = share_ppm(l->total_ns - l->line_ns, l->total_ns);
	base_unit share;

	if (unseen > UNSEEN_PPM)
		put(out,
		    base_arena_printf(&f->mem,
				      "no sample fell into the batches that took the other %s %%",
				      base_percent(share, unseen)));
}

static void put_lines(struct feed *f, const struct feed_loader *l, FILE *out)
{
	if (!l->lines) {
		put(out,
		    "no line is known: no sample fell into the making of a batch (one each 10 ms at most)");
		return;
	}
	fprintf(out, "  of the time that making batches takes:\n");
	for (size_t i = 0; i < l->lines && i < LINES_SHOWN; i++)
		if (l->line[i].ns > l->total_ns / (1000000 / LINE_LEAST_PPM))
			put_line(f, &l->line[i], l->total_ns, out);
	put_unseen(f, l, out);
}

/*
 * ---- what limits it ---------------------------------------------------------------------------
 */

static int64_t stored_ns(const struct feed_loader *l)
{
	int64_t ns = 0;

	for (size_t i = 0; i < l->lines; i++) {
		uint8_t wait = l->line[i].where.wait;

		if (wait == WIRE_WAIT_READ || wait == WIRE_WAIT_FAULT || wait == WIRE_WAIT_SOCKET)
			ns += l->line[i].ns;
	}
	return ns;
}

static void put_limits(struct feed *f, const struct feed_loader *l, int64_t step_ns, FILE *out)
{
	struct view_worker_count n;
	base_unit cpu, share;

	if (step_ns && f->cores && feed_need(f, l, step_ns, &n) && n.cores_needed > f->cores)
		put(out,
		    base_arena_printf(&f->mem,
				      "a batch takes %s of a CPU: at that step it wants %" PRId64
				      " cores, the main process's included, and there are %" PRId64,
				      base_duration(cpu, l->cpu_ns), n.cores_needed, f->cores));
	if (step_ns && share_ppm(stored_ns(l), l->total_ns) > STORED_PPM)
		put(out,
		    "whether the storage serves more workers as fast as these is not known: measure again with that many");
	if (l->mean_ns && l->delay_ns > (l->mean_ns + l->delay_ns) / (1000000 / SCARCE_PPM))
		put(out,
		    base_arena_printf(
			    &f->mem,
			    "%s %% of the time in which batches were made no CPU was free; that time is left out",
			    base_percent(share, (int64_t)((__int128)l->delay_ns * 1000000 /
							  (l->mean_ns + l->delay_ns)))));
}

static void put_loader(struct feed *f, const struct feed_loader *l, int64_t step_ns,
		       const char *from, FILE *out)
{
	put_head(f, l, step_ns, from, out);
	put_settings(f, l, out);
	put_table(f, l, step_ns, out);
	put_lines(f, l, out);
	put_limits(f, l, step_ns, out);
}

void feed_text(struct feed *f, int64_t step_ns, const char *from, FILE *out)
{
	for (size_t i = 0; i < f->loaders; i++) {
		if (i)
			putc('\n', out);
		put_loader(f, &f->loader[i], step_ns, from, out);
	}
	put(out,
	    base_arena_printf(
		    &f->mem,
		    "measured without a GPU, on %" PRId64
		    " core%s of this machine: other CPUs and storage make batches faster or slower",
		    f->cores, s_of(f->cores)));
}
