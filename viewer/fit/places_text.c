/* SPDX-License-Identifier: Apache-2.0 */
/* A table, the cheapest first; each price and each figure of a GPU with a number of its source. */
#include "places.h"

#include <inttypes.h>
#include <string.h>
#include "base/amounts.h"
#include "base/units.h"
#include "core/wrap.h"

#define PPM 1000000
#define SOURCES_MAX \
	128 /* beyond these a price stands without a number, and its source in its row */

struct sources {
	const char *text[SOURCES_MAX], *date[SOURCES_MAX];
	int count;
};

/* From 1; 0: there is no more room. */
static int number_of(struct sources *s, const char *text, const char *date)
{
	for (int i = 0; i < s->count; i++)
		if (!strcmp(s->text[i], text) && !strcmp(s->date[i], date))
			return i + 1;
	if (s->count == SOURCES_MAX)
		return 0;
	s->text[s->count] = text;
	s->date[s->count] = date;
	return ++s->count;
}

static const char *times(char *out, int64_t ppm) /* "2.4" */
{
	return base_percent(out, base_div_even(ppm, 100));
}

static const char *range_of_time(struct base_arena *mem, struct fit_range r)
{
	base_unit low, high;

	base_duration(low, r.low);
	base_duration(high, r.high);
	return strcmp(low, high) ? base_arena_printf(mem, "%s - %s", low, high)
				 : base_arena_text(mem, low);
}

static const char *range_of_usd(struct base_arena *mem, struct fit_range r)
{
	base_unit low, high;

	base_money_ascii(low, r.low);
	base_money_ascii(high, r.high);
	return strcmp(low, high) ? base_arena_printf(mem, "%s - %s", low, high)
				 : base_arena_text(mem, low);
}

static void say(FILE *out, const char *text)
{
	fputs("  ", out);
	view_wrap(out, 2, 4, text);
}

static void put_head(const struct fit *f, const struct view_summary *s, struct base_arena *mem,
		     FILE *out)
{
	base_unit train, steps, share;

	view_wrap(out, 0, 2,
		  base_arena_printf(mem,
				    "fit of %s: %" PRId64 "x %s, %s took %s a GPU%s, and for %s %% "
				    "of that the GPU worked",
				    s->id ? s->id : "the run", f->gpus, f->own_name,
				    f->requests_ns ? "work and the waits for requests"
						   : view_work_word(&s->kind),
				    base_duration(train, f->train_ns),
				    f->steps ? base_arena_printf(mem, " for %s steps",
								 base_count(steps, f->steps))
					     : "",
				    base_percent(share, base_ppm(f->work_ns, f->train_ns))));
}

/* The rest of the training time no GPU shortens. */
static const char *faster_sentence(const struct fit *f, struct base_arena *mem)
{
	base_unit n;

	if (f->faster_most_ppm < 2 * PPM)
		return base_arena_printf(
			mem, "a GPU of any speed makes at most %s %% more steps per second",
			base_percent(n, f->faster_most_ppm - PPM));
	return base_arena_printf(mem,
				 "a GPU of any speed makes at most %s times the steps per second",
				 times(n, f->faster_most_ppm));
}

static void put_limits(const struct fit *f, struct base_arena *mem, FILE *out)
{
	/* In whole tenths, and not one more than is known. */
	int64_t slower = f->slower_free_ppm / (PPM / 10) * (PPM / 10);
	base_unit n, used, total;

	if (f->faster_most_ppm)
		say(out, faster_sentence(f, mem));
	if (slower > PPM)
		say(out, base_arena_printf(mem,
					   "a GPU up to %s times as slow makes no step longer: the "
					   "loader sets the pace",
					   times(n, slower)));
	if (f->memory_peak_bytes && f->memory_total_bytes)
		say(out, base_arena_printf(mem, "%s of %s of a GPU's memory were in use at most",
					   base_bytes(used, f->memory_peak_bytes),
					   base_bytes(total, f->memory_total_bytes)));
	else
		say(out, "how much of a GPU's memory was in use is not known");
}

static const char *memory_word(const struct fit_place *p)
{
	static const char *const word[] = { "not known", "fits", "too small" };

	return word[p->memory];
}

static void put_row(const struct fit *f, const struct fit_place *p, struct sources *sources,
		    struct base_arena *mem, FILE *out)
{
	struct fit_range usd = f->steps ? p->nano_usd_per_1k_steps : p->nano_usd;
	base_unit hour;
	char mark[48] = "";

	if (p->price) {
		int price = number_of(sources, p->price->source, p->price->date);
		int peaks = number_of(sources, p->gpu->source, p->gpu->date);
		snprintf(mark, sizeof(mark), "[%d] [%d]", price, peaks);
	}
	fprintf(out, "  %-22.22s %-10.10s %9s  %-19s %-19s %-9s %s\n",
		p->price ? p->price->gpu : f->own_name,
		p->price ? p->price->provider[0] ? p->price->provider : "the site" : "as it was",
		p->price ? base_price_text(hour, p->price->nano_usd_per_hour) : "",
		range_of_time(mem, f->steps ? p->step_ns : p->train_ns),
		p->has_usd ? range_of_usd(mem, usd) : "no price", memory_word(p), mark);
}

static void put_rows(const struct fit *f, const struct view_summary *s, struct sources *sources,
		     struct base_arena *mem, FILE *out)
{
	fprintf(out, "\n  %-22s %-10s %9s  %-19s %-19s %-9s %s\n", "GPU", "provider", "$/GPU-h",
		f->steps	 ? "a step"
		: f->requests_ns ? "in all"
				 : view_work_word(&s->kind),
		f->steps ? "1,000 steps" : "the run", "memory", "source");
	for (size_t i = 0; i < f->places; i++)
		if (!f->place[i].why)
			put_row(f, &f->place[i], sources, mem, out);
}

static bool is_repeated(const struct fit *f, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (f->place[i].why && !strcmp(f->place[i].price->gpu, f->place[at].price->gpu))
			return true;
	return false;
}

static void put_unknown(const struct fit *f, struct base_arena *mem, FILE *out)
{
	bool any = false;

	for (size_t i = 0; i < f->places; i++) {
		const struct fit_place *p = &f->place[i];
		if (!p->why || is_repeated(f, i))
			continue;
		if (!any)
			fputs("\nnot known:\n", out);
		any = true;
		say(out, base_arena_printf(mem, "%s: %s", p->price->gpu, p->why));
	}
}

static void put_choice(const struct fit *f, struct base_arena *mem, FILE *out)
{
	const struct fit_place *p = f->cheapest;
	const char *text =
		"the cheapest is not known: ranges overlap, or there is no price or range";

	if (p && p->own)
		text = "none is surely cheaper than the GPU it ran on";
	else if (p)
		text = base_arena_printf(
			mem, "cheapest: %s of %s, %s%s", p->price->gpu,
			p->price->provider[0] ? p->price->provider : "the site",
			f->steps ? base_arena_printf(mem, "%s for 1,000 steps",
						     range_of_usd(mem, p->nano_usd_per_1k_steps))
				 : range_of_usd(mem, p->nano_usd),
			p->memory == FIT_MEMORY_FITS ? "" : ", if its memory has room");
	fputc('\n', out);
	view_wrap(out, 0, 2, text);
}

void fit_text(const struct fit *f, const struct view_summary *s, FILE *out)
{
	struct sources sources = { .count = 0 };
	struct base_arena mem = { 0 };

	put_head(f, s, &mem, out);
	put_limits(f, &mem, out);
	put_rows(f, s, &sources, &mem, out);
	put_unknown(f, &mem, out);
	put_choice(f, &mem, out);
	fputs("\nA range is what the published peaks of both GPUs leave open, if each reaches the "
	      "same share of them.\n",
	      out);
	for (int i = 0; i < sources.count; i++) {
		int at = fprintf(out, "  [%d] ", i + 1);
		view_wrap(out, at, at,
			  base_arena_printf(&mem, "%s, %s", sources.text[i], sources.date[i]));
	}
	base_arena_fini(&mem);
}
