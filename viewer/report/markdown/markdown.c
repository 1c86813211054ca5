/* SPDX-License-Identifier: Apache-2.0 */
#include "markdown.h"

#include <inttypes.h>
#include "base/escape.h"
#include "base/units.h"
#include "findings/findings.h"
#include "findings/lead.h"
#include "findings/unused.h"
#include "report/text/text.h"

#define FINDINGS 8
#define ADVICE 3
#define LEAST_PPM 1000 /* of the GPU time; less is not worth a row */
#define PATH_COLUMNS 60

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

static void put_findings(const struct view_summary *s, struct base_arena *mem, FILE *f)
{
	size_t rows = 0;
	base_unit share, ns, usd;

	for (size_t i = 0; i < s->findings && rows < FINDINGS; i++) {
		const struct view_finding *x = &s->finding[i];

		if (x->ppm < LEAST_PPM)
			continue;
		if (!rows++)
			fprintf(f, "\n| of the GPU time | time |%s class | why | how sure |\n"
				   "| ---: | ---: |%s --- | --- | --- |\n",
				s->cost.known ? " cost |" : "", s->cost.known ? " ---: |" : "");
		fprintf(f, "| %s %% | %s |", base_percent(share, x->ppm), base_duration(ns, x->ns));
		if (s->cost.known)
			fprintf(f, " %s |", view_cost_text(usd, &s->cost, x->nano_usd));
		fprintf(f, " %s | ", ana_class_names[x->class]);
		base_put(f, BASE_AS_MARKDOWN, view_finding_words(s, mem, x, PATH_COLUMNS));
		fputs(" | ", f);
		base_put(f, BASE_AS_MARKDOWN, view_finding_evidence(mem, x));
		fputs(" |\n", f);
	}
}

static void put_advice(const struct view_summary *s, struct base_arena *mem, FILE *f)
{
	for (size_t i = 0; i < s->advices && i < ADVICE; i++) {
		const struct view_advice *a = &s->advice[i];

		fprintf(f, "%s%zu. **", i ? "" : "\nWhat to do:\n\n", i + 1);
		base_put(f, BASE_AS_MARKDOWN, a->title);
		fputs("**: ", f);
		base_put(f, BASE_AS_MARKDOWN, a->action);
		fprintf(f, ". It %s.\n", view_text_saving(s, a, mem));
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
