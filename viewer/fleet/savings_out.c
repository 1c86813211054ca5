/* SPDX-License-Identifier: Apache-2.0 */
/* Advice that is open and that was adopted, as text, JSON, CSV and page. In dollars, as a plan. */
#include <inttypes.h>
#include <string.h>
#include "base/csv.h"
#include "base/jsonout.h"
#include "base/units.h"
#include "core/wrap.h"
#include "page.h"

static size_t most(const struct fleet *f, size_t n)
{
	size_t top = f->options.by == FLEET_BY_PLAN ? FLEET_SAVINGS_TOLD : f->options.top;

	return n < top ? n : top;
}

/* --- words --- */

static const char *who(const struct fleet_training *t, struct base_arena *mem)
{
	return base_arena_printf(mem, "%s of %s", t->program[0] ? t->program : t->fingerprint,
				 fleet_shown(t->user));
}

/* "-$3.10"; in the fleet's currency where all else on the page is. */
static const char *money(const struct fleet *f, char *out, base_wide usd)
{
	base_wide size = base_wide_size(usd);
	base_unit digits;

	if (f->options.by == FLEET_BY_REVIEW && f->converted)
		fleet_usd(f, digits, size);
	else
		base_money(digits, size);
	snprintf(out, BASE_UNIT_BYTES, "%s%.40s", usd < 0 ? "-" : "", digits);
	return out;
}

static const char *scope_words(const struct fleet *f, struct base_arena *mem)
{
	const struct fleet_savings *v = &f->savings;
	base_wide silent = f->begun.m[FLEET_RUNS] - v->told;
	base_unit runs, promised, got, n;
	const char *t;

	if (!v->told)
		return "no run tells what it is a run of: they were digested by an older version";
	t = base_arena_printf(mem, "%s adopted: %s promised at most, %s realised",
			      base_count(n, v->adoptions), money(f, promised, v->promised_usd),
			      money(f, got, v->realised_usd));
	if (v->passed_over)
		t = base_arena_printf(mem, "%s; %s had fewer than %d steps: too short to tell", t,
				      fleet_runs_of(runs, (uint64_t)v->passed_over),
				      FLEET_SAVINGS_STEPS);
	if (silent > 0)
		t = base_arena_printf(mem, "%s; %s %s nothing of what they are runs of", t,
				      fleet_runs_of(runs, (uint64_t)silent),
				      silent == 1 ? "tells" : "tell");
	return t;
}

/* Where advice stays open though it was followed, by an option that makes another program of it. */
static const char same_words[] =
	"runs are of one program if user, team, project, GPUs, ranks, data set and batch size are "
	"the same, and the command but for numbers and paths: with an option more (--workers 3) it "
	"is another one, and what the first was advised stays open; with --label fingerprint=NAME "
	"they are one";

static bool has_any(const struct fleet_savings *v)
{
	return v->opens || v->adoptions;
}

static const char *open_words(const struct fleet_open *o, struct base_arena *mem)
{
	const char *what = o->brief[0] ? o->brief : o->title[0] ? o->title : o->id;
	base_unit runs, day;

	return base_arena_printf(mem, "%s%s%s, %s; in %s since %s", what, o->place[0] ? ": " : "",
				 o->place, who(o->of, mem), fleet_runs_of(runs, (uint64_t)o->runs),
				 base_day(day, o->since_ns));
}

static const char *adopted_words(const struct fleet_adopted *a, struct base_arena *mem)
{
	base_unit runs, since, until;

	return base_arena_printf(mem, "%s, %s; %s from %s%s%s", a->fixes, who(a->of, mem),
				 fleet_runs_of(runs, (uint64_t)a->runs),
				 base_day(since, a->since_ns),
				 a->until_ns < INT64_MAX ? ", told again on " : "",
				 a->until_ns < INT64_MAX ? base_day(until, a->until_ns) : "");
}

const char *fleet_savings_words(const struct fleet *f, struct base_arena *mem)
{
	const struct fleet_savings *v = &f->savings;
	const char *words = scope_words(f, mem);
	base_unit usd, n;

	if (!v->opens)
		return base_arena_printf(mem, "none is open%s%s", v->told ? ", " : "; ", words);
	return base_arena_printf(
		mem, "%s open, the dearest saves %s at most; %s", base_count(n, v->opens),
		v->open[0].usd ? money(f, usd, v->open[0].usd) : base_gpu_time(usd, v->open[0].ns),
		words);
}

/* --- text --- */

void fleet_savings_text_open(const struct fleet *f, FILE *out, struct base_arena *mem)
{
	const struct fleet_savings *v = &f->savings;
	size_t n = most(f, v->opens);
	base_unit usd;

	if (n)
		fprintf(out, "\n  %13s  %s\n", "at most", "open fixes, the dearest first");
	for (size_t i = 0; i < n; i++) {
		const char *t = v->open[i].usd ? money(f, usd, v->open[i].usd)
					       : base_gpu_time(usd, v->open[i].ns);

		fprintf(out, "  %*s  ", base_width(t, 13), t);
		view_wrap(out, 17, 17, open_words(&v->open[i], mem));
	}
	if (v->opens > n)
		fprintf(out, "  and %zu more: --by savings --top N\n", v->opens - n);
}

static void text_adopted(const struct fleet *f, FILE *out, struct base_arena *mem)
{
	const struct fleet_savings *v = &f->savings;
	size_t n = most(f, v->adoptions);
	base_unit usd;

	if (n)
		fprintf(out, "\n  %13s %13s  %s\n", "promised", "realised", "adopted");
	for (size_t i = 0; i < n; i++) {
		const struct fleet_adopted *a = &v->adopted[i];
		const char *t = a->known ? money(f, usd, a->promised_usd) : "-";

		fprintf(out, "  %*s ", base_width(t, 13), t);
		t = a->known ? money(f, usd, a->realised_usd) : "-";
		fprintf(out, "%*s  ", base_width(t, 13), t);
		view_wrap(out, 31, 31, adopted_words(a, mem));
	}
	if (v->adoptions > n)
		fprintf(out, "  and %zu more: --top N\n", v->adoptions - n);
}

void fleet_savings_text(const struct fleet *f, FILE *out)
{
	struct base_arena mem = { 0 };

	fputs("  ", out);
	view_wrap(out, 2, 2, scope_words(f, &mem));
	fleet_savings_text_open(f, out, &mem);
	if (f->options.by == FLEET_BY_SAVINGS) {
		text_adopted(f, out, &mem);
		if (has_any(&f->savings)) {
			fputs("\n  ", out);
			view_wrap(out, 2, 2, same_words);
		}
	}
	base_arena_fini(&mem);
}

/* --- JSON --- */

static void json_name(struct base_jsonout *j, const char *key, const char *text)
{
	base_json_string(j, key, text && text[0] ? text : NULL);
}

static void json_training(struct base_jsonout *j, const struct fleet_training *t)
{
	base_json_string(j, "fingerprint", t->fingerprint);
	json_name(j, "tenant", t->tenant);
	json_name(j, "program", t->program);
	json_name(j, "user", t->user);
	json_name(j, "team", t->team);
	json_name(j, "project", t->project);
}

static void json_open(struct base_jsonout *j, const struct fleet_open *o)
{
	base_json_flat_object(j, NULL);
	json_training(j, o->of);
	base_json_string(j, "id", o->id);
	json_name(j, "title", o->title);
	json_name(j, "brief", o->brief);
	json_name(j, "place", o->place);
	base_json_int(j, "since_unix_ns", o->since_ns);
	base_json_string(j, "last_run", o->last_run);
	base_json_wide(j, "runs", o->runs);
	base_json_wide(j, "ns", o->ns);
	base_json_usd(j, "usd", o->usd, true);
	base_json_end(j);
}

static void json_adopted(struct base_jsonout *j, const struct fleet_adopted *a)
{
	base_json_flat_object(j, NULL);
	json_training(j, a->of);
	base_json_string(j, "fixes", a->fixes);
	base_json_int(j, "since_unix_ns", a->since_ns);
	if (a->until_ns < INT64_MAX)
		base_json_int(j, "until_unix_ns", a->until_ns);
	else
		base_json_null(j, "until_unix_ns");
	base_json_wide(j, "runs", a->runs);
	base_json_wide(j, "steps", a->steps);
	base_json_usd(j, "promised_usd", a->promised_usd, a->known);
	base_json_usd(j, "realised_usd", a->realised_usd, a->known);
	base_json_end(j);
}

void fleet_savings_json(const struct fleet *f, struct base_jsonout *j)
{
	const struct fleet_savings *v = &f->savings;

	base_json_object(j, "savings");
	base_json_wide(j, "runs", v->told);
	base_json_usd(j, "promised_usd", v->promised_usd, true);
	base_json_usd(j, "realised_usd", v->realised_usd, true);
	base_json_array(j, "open");
	for (size_t i = 0; i < most(f, v->opens); i++)
		json_open(j, &v->open[i]);
	base_json_end(j);
	base_json_array(j, "adopted");
	for (size_t i = 0; i < most(f, v->adoptions); i++)
		json_adopted(j, &v->adopted[i]);
	base_json_end(j);
	base_json_end(j);
}

/* --- CSV --- */

static void csv_training(FILE *out, const char *state, const struct fleet_training *t)
{
	const char *const cell[] = { t->fingerprint, t->program, fleet_shown(t->user),
				     fleet_shown(t->team), fleet_shown(t->project) };

	fputs(state, out);
	for (size_t i = 0; i < sizeof(cell) / sizeof(cell[0]); i++) {
		fputc(',', out);
		base_csv_put_guarded(out, cell[i]);
	}
	fputc(',', out);
}

static void csv_open(FILE *out, const struct fleet_open *o)
{
	base_unit text;

	csv_training(out, "open", o->of);
	base_csv_put_guarded(out, o->id);
	fprintf(out, ",%" PRId64 ",,%s,", o->since_ns, base_wide_text(text, o->runs));
	fprintf(out, ",%s,\r\n", base_dollars_exact(text, o->usd));
}

static void csv_adopted(FILE *out, const struct fleet_adopted *a)
{
	base_unit text;

	csv_training(out, "adopted", a->of);
	base_csv_put_guarded(out, a->fixes);
	fprintf(out, ",%" PRId64 ",", a->since_ns);
	if (a->until_ns < INT64_MAX)
		fprintf(out, "%" PRId64, a->until_ns);
	fprintf(out, ",%s", base_wide_text(text, a->runs));
	fprintf(out, ",%s", base_wide_text(text, a->steps));
	fprintf(out, ",%s", a->known ? base_dollars_exact(text, a->promised_usd) : "");
	fprintf(out, ",%s\r\n", a->known ? base_dollars_exact(text, a->realised_usd) : "");
}

void fleet_savings_csv(const struct fleet_savings *v, FILE *out)
{
	fputs("state,fingerprint,program,user,team,project,fixes,since_unix_ns,until_unix_ns,runs,"
	      "steps,promised_usd,realised_usd\r\n",
	      out);
	for (size_t i = 0; i < v->opens; i++)
		csv_open(out, &v->open[i]);
	for (size_t i = 0; i < v->adoptions; i++)
		csv_adopted(out, &v->adopted[i]);
}

/* --- page --- */

static void page_open(struct fleet_page *s)
{
	const struct fleet_savings *v = &s->f->savings;
	size_t n = most(s->f, v->opens);
	base_unit usd;

	if (!n)
		return;
	fleet_page_table(s, "open", "Open fixes, the dearest first", T("Fix") N("At most"));
	for (size_t i = 0; i < n; i++) {
		fleet_page_named(s, open_words(&v->open[i], &s->mem));
		fleet_page_number(s, v->open[i].usd ? money(s->f, usd, v->open[i].usd)
						    : base_gpu_time(usd, v->open[i].ns));
		fputs("</tr>\n", s->out);
	}
	fleet_page_table_end(s, v->opens, n);
}

static void page_adopted(struct fleet_page *s)
{
	const struct fleet_savings *v = &s->f->savings;
	size_t n = most(s->f, v->adoptions);
	base_unit usd;

	if (!n)
		return;
	fleet_page_table(s, "adopted", "Advice that was adopted",
			 T("Fixes") N("Promised at most") N("Realised"));
	for (size_t i = 0; i < n; i++) {
		const struct fleet_adopted *a = &v->adopted[i];

		fleet_page_named(s, adopted_words(a, &s->mem));
		fleet_page_number(s, a->known ? money(s->f, usd, a->promised_usd) : "-");
		fleet_page_number(s, a->known ? money(s->f, usd, a->realised_usd) : "-");
		fputs("</tr>\n", s->out);
	}
	fleet_page_table_end(s, v->adoptions, n);
}

void fleet_page_savings(struct fleet_page *s)
{
	if (s->f->options.by != FLEET_BY_REVIEW) { /* which begins with it */
		fputs("<section aria-label=\"What became of advice\"><p>", s->out);
		html_escape_sentence(s->out, scope_words(s->f, &s->mem));
		fputs("</p></section>\n", s->out);
	}
	page_open(s);
	if (s->f->options.by != FLEET_BY_SAVINGS)
		return;
	page_adopted(s);
	if (has_any(&s->f->savings)) {
		fputs("<p class=\"soft\">", s->out);
		html_escape_sentence(s->out, same_words);
		fputs("</p>\n", s->out);
	}
}
