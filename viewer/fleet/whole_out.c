/* SPDX-License-Identifier: Apache-2.0 */
/* The whole bill as text, JSON, CSV and page. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>
#include "base/csv.h"
#include "base/jsonout.h"
#include "base/units.h"
#include "core/wrap.h"
#include "page.h"
#include "whole.h"

#define PARTS 3 /* recorded, not wrapped, opted out */

static base_wide not_wrapped(const struct fleet_account *a)
{
	return a->allocated_ns - a->recorded_ns - a->opted_out_ns;
}

/* Tenths of a percent that sum to a whole. */
static void shares(const struct fleet_account *a, int64_t ppm[PARTS])
{
	const base_wide part[PARTS] = { a->recorded_ns, not_wrapped(a), a->opted_out_ns };
	base_wide wide[PARTS];

	memset(ppm, 0, PARTS * sizeof(*ppm));
	if (a->allocated_ns <= 0)
		return;
	for (int i = 0; i < PARTS; i++)
		wide[i] = base_div_even_wide(part[i] * 1000000000, a->allocated_ns);
	fleet_close_signed(wide, PARTS, 1000, 1000000, ppm);
	for (int i = 0; i < PARTS; i++)
		ppm[i] *= 1000;
}

static const char *scope(const struct fleet_account *a, struct base_arena *mem)
{
	int64_t ppm[PARTS];
	base_unit hours, text[PARTS];

	shares(a, ppm);
	for (int i = 0; i < PARTS; i++)
		base_percent(text[i], ppm[i]);
	return base_arena_printf(mem, "recorded %s %% of %s; %s %% not wrapped, %s %% opted out",
				 text[0], base_gpu_time(hours, a->allocated_ns), text[1], text[2]);
}

static bool is_usd(const struct fleet_invoice *i)
{
	return !i->currency[0] || !strcasecmp(i->currency, "USD");
}

/* "$12.30", "-EUR 12.30" */
static const char *charge_text(char *out, const struct fleet_invoice *i, int64_t cents)
{
	uint64_t size = cents < 0 ? -(uint64_t)cents : (uint64_t)cents;
	base_unit whole;
	bool usd = is_usd(i);

	snprintf(out, BASE_UNIT_BYTES, "%s%.8s%s%.32s.%02" PRIu64, cents < 0 ? "-" : "",
		 usd ? "$" : i->currency, usd ? "" : " ", base_count(whole, size / 100),
		 size % 100);
	return out;
}

static const char *charged(const struct fleet_invoice *i, struct base_arena *mem)
{
	base_unit usd, hours, rows;
	const char *t = base_arena_printf(mem, "the invoice: %s%s%s in %s rows",
					  charge_text(usd, i, i->total_cents), is_usd(i) ? " " : "",
					  is_usd(i) ? i->currency : "", base_count(rows, i->rows));

	if (!i->gpu_rows)
		return base_arena_printf(mem, "%s, none of which counts GPU-hours", t);
	return base_arena_printf(mem, "%s, for %s in %s of them", t,
				 base_gpu_time(hours, i->gpu_ns), base_count(rows, i->gpu_rows));
}

/* Of those that go over an end of the stretch. */
static const char *cut_words(const struct fleet_invoice *i, struct base_arena *mem)
{
	bool one = i->cut_rows == 1;
	base_unit rows, cut, outside, hours;
	const char *t = base_arena_printf(
		mem,
		"%s of these rows %s beyond the stretch and %s by time: %s of %s %s lies outside",
		base_count(rows, i->cut_rows), one ? "goes" : "go", one ? "counts" : "count",
		charge_text(outside, i, i->outside_cents), one ? "its" : "their",
		charge_text(cut, i, i->cut_cents));

	if (!i->outside_ns)
		return t;
	return base_arena_printf(mem, "%s, with %s", t, base_gpu_time(hours, i->outside_ns));
}

static const char *left_out(uint64_t bad, const char *what, struct base_arena *mem)
{
	base_unit n;

	return base_arena_printf(mem, "%s lines of the %s cannot be read and are left out",
				 base_count(n, bad), what);
}

const char *const *fleet_whole_words(const struct fleet_whole *w, struct base_arena *mem)
{
	const char **t = base_arena_array(mem, 10, sizeof(*t));
	const struct fleet_allocated *a = &w->allocated;
	base_unit hours;
	size_t n = 0;

	if (a->asked) {
		t[n++] = scope(&a->total, mem);
		if (a->beyond_ns)
			t[n++] = base_arena_printf(
				mem, "%s are recorded beyond what their jobs were given",
				base_gpu_time(hours, a->beyond_ns));
		if (a->elsewhere_ns)
			t[n++] = base_arena_printf(
				mem, "%s are recorded of runs that are none of these jobs",
				base_gpu_time(hours, a->elsewhere_ns));
		if (a->undated)
			t[n++] = base_arena_printf(
				mem, "%" PRId64 " jobs have no start and count whole", a->undated);
		if (a->bad)
			t[n++] = left_out(a->bad, "jobs", mem);
	}
	if (w->invoice.asked) {
		t[n++] = charged(&w->invoice, mem);
		if (w->invoice.cut_rows)
			t[n++] = cut_words(&w->invoice, mem);
		if (w->invoice.unpriced_ns)
			t[n++] =
				base_arena_printf(mem,
						  "%s of the recorded time has no price of its own",
						  base_gpu_time(hours, w->invoice.unpriced_ns));
		if (w->invoice.bad)
			t[n++] = left_out(w->invoice.bad, "invoice", mem);
	}
	t[n] = NULL;
	return t;
}

/* --- text --- */

static void text_accounts(const struct fleet_allocated *a, size_t top, FILE *out)
{
	struct base_arena mem = { 0 };

	for (size_t i = 0; i < a->accounts && i < top; i++) {
		fputs("  ", out);
		view_put_tame(out, fleet_shown(a->account[i].name));
		fprintf(out, ": %s\n", scope(&a->account[i], &mem));
	}
	if (a->accounts > top)
		fprintf(out, "  and %zu more: --top N\n", a->accounts - top);
	base_arena_fini(&mem);
}

/* What has to be known to read the lines below. */
static bool without_jobs(const struct fleet_whole *w, int c)
{
	return c == FLEET_CHARGE_UNRECORDED && !w->allocated.asked;
}

static const char *charge_words(const struct fleet_whole *w, int c)
{
	return c == FLEET_CHARGE_UNALLOCATED && !w->allocated.asked
		       ? "paid, and given to no job or not recorded (--sacct tells)"
		       : fleet_charge_words[c];
}

static void text_charge(FILE *out, const struct fleet_invoice *i, int64_t cents, const char *what)
{
	base_unit usd;

	fprintf(out, "  %16s  %s\n", charge_text(usd, i, cents), what);
}

void fleet_whole_text(const struct fleet *f, FILE *out)
{
	const struct fleet_whole *w = &f->whole;

	if (w->allocated.asked)
		text_accounts(&w->allocated, f->options.top, out);
	for (int c = 0; w->invoice.asked && c < FLEET_CHARGES; c++)
		if (!without_jobs(w, c))
			text_charge(out, &w->invoice, w->invoice.cents[c], charge_words(w, c));
	if (w->invoice.asked)
		text_charge(out, &w->invoice, w->invoice.total_cents, "the invoice");
	if (w->allocated.asked || w->invoice.asked)
		fputc('\n', out);
}

/* --- JSON --- */

static void json_account(struct base_jsonout *j, const struct fleet_account *a)
{
	base_json_wide(j, "jobs", a->jobs);
	base_json_wide(j, "allocated_ns", a->allocated_ns);
	base_json_wide(j, "recorded_ns", a->recorded_ns);
	base_json_wide(j, "not_wrapped_ns", not_wrapped(a));
	base_json_wide(j, "opted_out_ns", a->opted_out_ns);
}

static void json_allocated(struct base_jsonout *j, const struct fleet_allocated *a)
{
	base_json_object(j, "allocated");
	json_account(j, &a->total);
	base_json_wide(j, "beyond_ns", a->beyond_ns);
	base_json_wide(j, "elsewhere_ns", a->elsewhere_ns);
	base_json_int(j, "undated_jobs", a->undated);
	base_json_uint(j, "bad_lines", a->bad);
	base_json_array(j, "account");
	for (size_t i = 0; i < a->accounts; i++) {
		base_json_flat_object(j, NULL);
		base_json_string(j, "name", a->account[i].name[0] ? a->account[i].name : NULL);
		json_account(j, &a->account[i]);
		base_json_end(j);
	}
	base_json_end(j);
	base_json_end(j);
}

static void json_invoice(struct base_jsonout *j, const struct fleet_whole *w)
{
	const struct fleet_invoice *i = &w->invoice;

	base_json_object(j, "invoice");
	base_json_string(j, "currency", i->currency);
	base_json_int(j, "since_unix_ns", w->since_ns);
	base_json_int(j, "until_unix_ns", w->until_ns);
	base_json_uint(j, "rows", i->rows);
	base_json_uint(j, "gpu_rows", i->gpu_rows);
	base_json_uint(j, "bad_lines", i->bad);
	base_json_wide(j, "gpu_ns", i->gpu_ns);
	base_json_wide(j, "recorded_ns", i->recorded_ns);
	base_json_wide(j, "unpriced_ns", i->unpriced_ns);
	base_json_uint(j, "cut_rows", i->cut_rows);
	base_json_wide(j, "cut_pico", i->cut);
	base_json_wide(j, "outside_pico", i->outside);
	base_json_wide(j, "outside_ns", i->outside_ns);
	base_json_wide(j, "total_pico", i->total);
	base_json_int(j, "total_cents", i->total_cents);
	base_json_flat_object(j, "cents");
	for (int c = 0; c < FLEET_CHARGES; c++)
		base_json_int(j, fleet_charge_names[c], i->cents[c]);
	base_json_end(j);
	base_json_end(j);
}

void fleet_whole_json(const struct fleet_whole *w, struct base_jsonout *j)
{
	if (w->allocated.asked)
		json_allocated(j, &w->allocated);
	if (w->invoice.asked)
		json_invoice(j, w);
}

/* --- CSV: the invoice's table, else that of accounts --- */

static void csv_hours(FILE *out, base_wide ns, const char *after)
{
	base_unit hours;

	fprintf(out, "%s%s", base_hours_exact(hours, ns), after);
}

static void csv_account(FILE *out, const char *name, const struct fleet_account *a)
{
	base_unit jobs;

	base_csv_put_guarded(out, name);
	fprintf(out, ",%s,", base_wide_text(jobs, a->jobs));
	csv_hours(out, a->allocated_ns, ",");
	csv_hours(out, a->recorded_ns, ",");
	csv_hours(out, not_wrapped(a), ",");
	csv_hours(out, a->opted_out_ns, "\r\n");
}

static void csv_cents(FILE *out, int64_t cents, const char *after)
{
	fprintf(out, "%s%" PRId64 ".%02" PRId64 "%s", cents < 0 ? "-" : "",
		(cents < 0 ? -cents : cents) / 100, (cents < 0 ? -cents : cents) % 100, after);
}

/* Of the whole alone it is told what bounds cut. */
static void csv_invoice(const struct fleet_invoice *i, FILE *out)
{
	fputs("charge,", out);
	for (const char *p = is_usd(i) ? "USD" : i->currency; *p; p++)
		fputc(tolower((unsigned char)*p), out);
	fputs(",cut_rows,cut,outside\r\n", out);
	for (int c = 0; c < FLEET_CHARGES; c++) {
		fprintf(out, "%s,", fleet_charge_names[c]);
		csv_cents(out, i->cents[c], ",,,\r\n");
	}
	fputs("total,", out);
	csv_cents(out, i->total_cents, ",");
	fprintf(out, "%" PRIu64 ",", i->cut_rows);
	csv_cents(out, i->cut_cents, ",");
	csv_cents(out, i->outside_cents, "\r\n");
}

void fleet_whole_csv(const struct fleet_whole *w, FILE *out)
{
	if (w->invoice.asked) {
		csv_invoice(&w->invoice, out);
		return;
	}
	fputs("account,jobs,gpu_hours,recorded,not_wrapped,opted_out\r\n", out);
	for (size_t i = 0; i < w->allocated.accounts; i++)
		csv_account(out, fleet_shown(w->allocated.account[i].name),
			    &w->allocated.account[i]);
	csv_account(out, "total", &w->allocated.total);
}

/* --- page --- */

static void page_account(struct fleet_page *s, const struct fleet_account *a, const char *name)
{
	base_unit text;
	int64_t ppm[PARTS];

	shares(a, ppm);
	fleet_page_named(s, name);
	fleet_page_number(s, base_count(text, (uint64_t)a->jobs));
	fleet_page_number(s, base_gpu_time(text, a->allocated_ns));
	for (int i = 0; i < PARTS; i++)
		fleet_page_number(s, base_percent(text, ppm[i]));
	fputs("</tr>\n", s->out);
}

static void page_accounts(struct fleet_page *s)
{
	const struct fleet_allocated *a = &s->f->whole.allocated;
	size_t n = a->accounts < s->f->options.top ? a->accounts : s->f->options.top;

	fleet_page_table(s, "allocated", "What is recorded of what jobs were given",
			 T("Account") N("Jobs") N("Given") N("Recorded %") N("Not wrapped %")
				 N("Opted out %"));
	for (size_t i = 0; i < n; i++)
		page_account(s, &a->account[i], fleet_shown(a->account[i].name));
	page_account(s, &a->total, "All");
	fleet_page_table_end(s, a->accounts, n);
}

static void page_charge(struct fleet_page *s, const char *what, int64_t cents)
{
	base_unit usd;

	fleet_page_named(s, what);
	fleet_page_number(s, charge_text(usd, &s->f->whole.invoice, cents));
	fputs("</tr>\n", s->out);
}

static void page_invoice(struct fleet_page *s)
{
	const struct fleet_whole *w = &s->f->whole;

	fleet_page_table(s, "invoice", "The invoice", T("What") N("Amount"));
	for (int c = 0; c < FLEET_CHARGES; c++)
		if (!without_jobs(w, c))
			page_charge(s, charge_words(w, c), w->invoice.cents[c]);
	page_charge(s, "The invoice", w->invoice.total_cents);
	fleet_page_table_end(s, 0, 0);
}

void fleet_page_whole(struct fleet_page *s)
{
	const struct fleet_whole *w = &s->f->whole;
	const char *const *t = fleet_whole_words(w, &s->mem);

	if (!*t)
		return;
	fputs("<section aria-label=\"The whole bill\"><ul>\n", s->out);
	for (; *t; t++) {
		fputs("<li>", s->out);
		html_escape_sentence(s->out, *t);
		fputs("</li>\n", s->out);
	}
	fputs("</ul></section>\n", s->out);
	if (w->allocated.asked)
		page_accounts(s);
	if (w->invoice.asked)
		page_invoice(s);
}
