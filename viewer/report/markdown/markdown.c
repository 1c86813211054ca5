/* SPDX-License-Identifier: Apache-2.0 */
#include "markdown.h"

#include <inttypes.h>
#include <stdint.h>
#include <string.h>
#include "base/escape.h"
#include "base/units.h"
#include "findings/finding_sentence.h"
#include "findings/findings.h"
#include "findings/lead.h"
#include "findings/own_line.h"
#include "findings/told.h"
#include "findings/unused.h"
#include "report/text/text.h"

#define FINDINGS 8
#define ADVICE 3

static void put_line(FILE *f, const char *text)
{
	if (!text)
		return;
	fputs("- ", f);
	base_put(f, BASE_AS_MARKDOWN, text);
	putc('\n', f);
}

static void put_head(const struct view_summary *s, struct base_arena *mem, FILE *f)
{
	fprintf(f, "**gpustarve: %s**. ", view_verdict_words(s, mem));
	base_put(f, BASE_AS_MARKDOWN, view_text_money(s, mem));
	fputs("\n\n", f);
	put_line(f, base_arena_printf(mem, "this run: %s", view_text_sums(s, mem)));
	if (view_all_unused(s))
		return;
	put_line(f, view_lead_rate_words(s, mem));
	put_line(f, view_outside_sentence(s, mem));
	put_line(f, view_short_words(s, mem));
}

/* "input.fetch, 12.3 s, 1.25 ct; confidence high: 214 samples of 4 threads" */
static void put_proof(const struct view_summary *s, struct base_arena *mem, FILE *f, size_t at)
{
	const struct view_finding *x = &s->finding[at];
	size_t rest = view_told_rest(s, at);
	int64_t nano = x->nano_usd + (rest == SIZE_MAX ? 0 : s->finding[rest].nano_usd);
	struct view_sure gain = view_finding_gain_sure(s, mem, at);
	base_unit ns, usd;

	fprintf(f, "  \n   %s, %s", ana_class_names[x->class],
		base_duration(ns, view_told_ns(s, at)));
	if (s->cost.known)
		fprintf(f, ", %s", view_cost_text(usd, &s->cost, nano));
	fputs("; confidence ", f);
	base_put(f, BASE_AS_MARKDOWN, view_finding_evidence(mem, x));
	if (rest != SIZE_MAX && x->where.file)
		fprintf(f, "; of the line %s",
			ana_confidence_names[view_told_line_confidence(s, at)]);
	if (gain.grade != ANA_NONE)
		fprintf(f, "; of the gain %s%s%s", ana_confidence_names[gain.grade],
			gain.lacks ? ": " : "", gain.lacks ? gain.lacks : "");
	putc('\n', f);
}

static void put_findings(const struct view_summary *s, struct base_arena *mem, FILE *f)
{
	struct view_told *told;
	size_t n = view_findings_told(s, mem, &told);
	const char *covered =
		view_covered_words(s, mem, told, n < VIEW_TOLD_FIRST ? n : VIEW_TOLD_FIRST, false);

	if (n)
		fprintf(f, "\nWhy, the most costly first:\n\nHere, %s.\n\n",
			view_confidence_words(s));
	for (size_t i = 0; i < n && i < FINDINGS; i++) {
		fprintf(f, "%zu. ", i + 1);
		base_put(f, BASE_AS_MARKDOWN, view_finding_sentence(s, mem, told[i].at));
		put_proof(s, mem, f, told[i].at);
		if (told[i].rest == SIZE_MAX)
			continue;
		fputs("   - ", f);
		base_put(f, BASE_AS_MARKDOWN, view_rest_words(s, mem, told[i].rest));
		putc('\n', f);
	}
	if (n > VIEW_TOLD_FIRST && covered)
		fprintf(f, "\nThe %s %s.\n", view_covering_words(s, told), covered);
}

/* Ours but for its number: no back quote stands in it. */
static void put_change(const char *change, FILE *f)
{
	if (change && !strpbrk(change, "`\n"))
		fprintf(f, "   `%s`\n", change);
}

static void put_own(const struct view_own *own, FILE *f)
{
	if (!own || strchr(own->before, '`') || strchr(own->after, '`'))
		return;
	fputs("\n   ", f);
	base_put(f, BASE_AS_MARKDOWN, own->file);
	fprintf(f, ", line %" PRIu32 ":\n\n   ```diff\n   - %s\n   + %s\n   ```\n", own->line,
		own->before, own->after);
}

static void put_advice(const struct view_summary *s, struct base_arena *mem, FILE *f)
{
	for (size_t i = 0; i < s->advices && i < ADVICE; i++) {
		const struct view_advice *a = &s->advice[i];
		const char *of = view_advice_about_words(s, mem, a);

		fprintf(f, "%s- **", i ? "" : "\nWhat to do:\n\n");
		base_put(f, BASE_AS_MARKDOWN, a->title);
		fputs("**: ", f);
		base_put(f, BASE_AS_MARKDOWN, a->action);
		fprintf(f, ". It %s%s%s%s.\n", view_text_saving(s, a, mem), of ? " (" : "",
			of ? of : "", of ? ")" : "");
		put_change(a->change, f);
		put_own(a->own, f);
	}
}

static void put_run(const struct view_summary *s, FILE *f)
{
	base_unit when;

	fputs("\nRun ", f);
	base_put(f, BASE_AS_MARKDOWN, s->id);
	fprintf(f, ", %s, command:", base_moment(when, s->start_unix_ns));
	for (size_t i = 0; i < s->commands; i++) {
		putc(' ', f);
		base_put(f, BASE_AS_MARKDOWN, s->command[i]);
	}
	putc('\n', f);
	for (size_t i = 0; i < s->notes; i++) {
		fputs("\n> ", f);
		base_put(f, BASE_AS_MARKDOWN, s->note[i]);
		putc('\n', f);
	}
}

void view_markdown_write(const struct view_summary *s, FILE *f)
{
	struct base_arena mem = { 0 };

	put_head(s, &mem, f);
	put_findings(s, &mem, f);
	put_advice(s, &mem, f);
	put_run(s, f);
	base_arena_fini(&mem);
}
