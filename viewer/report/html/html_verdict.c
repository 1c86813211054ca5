/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is read in ten seconds: which share of the training time was lost to what, what that costs,
 * in which line, and what to do first.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "findings/finding_sentence.h"
#include "findings/findings.h"
#include "findings/gain.h"
#include "findings/lead.h"
#include "findings/loader.h"
#include "findings/snippet.h"
#include "findings/told.h"
#include "findings/unused.h"
#include "findings/words.h"
#include "facts/class.h"
#include "html_priv.h"

#define LINE_COLUMNS 40
#define CONFIDENCE "confidence: " /* which the term beside it says */
#define LEAST_PPM 1000 /* of the GPU time: a smaller class is not named */

static const char *style(const struct view_summary *s)
{
	const struct ana_judgement *v = &s->result->judgement;

	if (v->severity >= ANA_S_WARNING || view_all_unused(s))
		return "bad";
	return v->verdict == ANA_V_BUSY ? "good" : "warn";
}

static void put_badge(struct html *h)
{
	fprintf(h->f, "<p class=\"badges\"><span class=\"badge %s\">%s</span>", style(h->s),
		view_judgement_words(h->s, &h->mem));
	html_idle_badge(h);
	if (h->s->result->simulated)
		html_put(h, " <span class=\"badge\">simulated GPU</span>");
	html_put(h, "</p>\n");
}

static void put_wasted(struct html *h)
{
	if (h->s->cost.known)
		html_usd(h, h->s->cost.wasted, "/cost/wasted_usd");
	else
		html_pct(h, base_ppm(h->s->wasted_ns, h->s->result->gpu_ns), "/ledger/wasted_pct");
}

void html_whole(struct html *h)
{
	if (h->s->cost.known) {
		html_usd(h, h->s->cost.total, "/cost/usd");
		return;
	}
	html_gpu_time(h, h->s->result->gpu_ns, "/ledger/gpu_ns");
}

/* That is what the run is about then, whatever the rest of it did. */
static bool mostly_idle(const struct view_summary *s)
{
	struct view_unused u = view_unused_gpus(s);

	return u.ns > 0 && u.ns >= s->result->gpu_ns / 2;
}

const char *html_lead_key(struct html *h, const struct view_lead *l, const char *member)
{
	const struct ana_result *r = h->s->result;
	bool usd = !strcmp(member, "usd");
	const char *key = "";

	if (l->verdict == ANA_V_INPUT_BOUND)
		return usd ? "/cost/starved_usd" : "/ledger/starved_ns";
	if (l->verdict == ANA_V_BUSY && !usd)
		return "/ledger/busy_ns";
	if (l->with_input)
		key = usd ? "/cost/starved_usd" : "/ledger/starved_ns";
	for (int c = 0; c < ANA_CLASSES; c++) {
		if (l->set[c] && r->classes[c])
			key = base_arena_printf(&h->mem, "%s%s/ledger/classes/%s/%s", key,
						*key ? " + " : "", ana_class_names[c], member);
		if (l->set[c] && r->skew_causes[c] && !usd)
			key = base_arena_printf(&h->mem, "%s%s/ledger/skew_causes/%s", key,
						*key ? " + " : "", ana_class_names[c]);
	}
	return *key ? key : "/ledger/classes/compute/none";
}

static void put_beside(struct html *h)
{
	struct view_lead input;

	if (!view_lead_beside(h->s, &input))
		return;
	fprintf(h->f, ", %s ", view_lead_and(&input));
	html_pct(h, input.ppm, "%s %% /ledger/working_ns", html_lead_key(h, &input, "ns"));
}

/* Before what nobody knows. */
static void put_waiting(struct html *h, const struct view_lead *l)
{
	const struct ana_result *r = h->s->result;

	if (!view_waits_for_work(h->s))
		return;
	fprintf(h->f, "%s <span class=\"%s\">", VIEW_WAITING_BEFORE(r->gpus), style(h->s));
	html_pct(h, base_ppm(r->classes[ANA_HOST_NO_WORK], r->gpu_ns),
		 "/ledger/classes/%s/ns %% /ledger/gpu_ns", ana_class_names[ANA_HOST_NO_WORK]);
	html_put(h, "</span>");
	html_put(h, view_waiting_after(h->s));
	html_put(h, l->known ? ". " : "");
}

static void put_headline(struct html *h)
{
	struct view_lead l = view_lead_of(h->s);

	if (mostly_idle(h->s)) {
		html_idle_headline(h);
		return;
	}
	if (!l.known && !view_waits_for_work(h->s)) {
		html_put_kind(h, "<h1>No training time was seen.</h1>\n");
		return;
	}
	html_put(h, "<h1>");
	put_waiting(h, &l);
	if (!l.known) {
		html_put(h, ".</h1>\n");
		return;
	}
	fprintf(h->f, "%s <span class=\"%s\">", view_lead_before(&l, &h->mem), style(h->s));
	html_pct(h, l.ppm, "%s %% /ledger/working_ns", html_lead_key(h, &l, "ns"));
	html_put_kind(h, "</span> of the training time");
	if (view_is_healthy(h->s) && !view_waits_for_work(h->s))
		html_put(h, VIEW_HEALTHY_WORDS);
	put_beside(h);
	html_put(h, ".</h1>\n");
}

static bool rate_listed(const struct view_cost *c, size_t upto)
{
	for (size_t i = 0; i < upto; i++)
		if (view_rate_same(&c->rate[i], &c->rate[upto]))
			return true;
	return false;
}

static void put_price(struct html *h, const struct view_rate *r, size_t at)
{
	if (!h->s->cost.known)
		return;
	html_put(h, " at ");
	html_price(h, r->nano_usd_per_hour, "/cost/rates/%zu/usd_per_gpu_hour", at);
	html_put(h, " per GPU-hour");
	if (r->fraction_num != r->fraction_den) {
		html_put(h, ", ");
		html_rate_part(h, r, at);
		html_put(h, VIEW_RATE_PART_WORDS);
	}
	fprintf(h->f, " <span class=\"soft\">(<span data-from=\"/cost/rates/%zu\">", at);
	html_escape(h->f, r->label);
	html_put(h, ", ");
	html_escape(h->f, r->price_model);
	html_put(h, ", ");
	html_escape(h->f, r->date);
	fprintf(h->f, "</span>%s%s)</span>", r->guide ? ", an order of magnitude" : "",
		r->assumed ? ", assumed" : "");
}

/* "8 x NVIDIA H100 at $6.88 per GPU-hour (...)" */
static void put_gpus(struct html *h)
{
	const struct view_cost *c = &h->s->cost;
	size_t at = 0;

	for (size_t i = 0; i < c->gpus; i++) {
		size_t n = 0;
		if (rate_listed(c, i))
			continue;
		for (size_t k = i; k < c->gpus; k++)
			n += view_rate_same(&c->rate[i], &c->rate[k]);
		html_put(h, at ? "; " : "");
		html_count(h, n, "#/cost/rates/%zu/gpus", at);
		html_put(h, " &#215; ");
		html_text(h, "bdi", c->rate[i].gpu, "/cost/rates/%zu/gpu", at);
		put_price(h, &c->rate[i], at);
		at++;
	}
}

static void put_cost(struct html *h)
{
	html_put(h, "<div><dt>It cost</dt><dd><b>");
	html_whole(h);
	html_put(h, "</b> for ");
	put_gpus(h);
	if (h->s->wall_ns > 0) {
		html_put(h, ", in ");
		html_ns(h, h->s->wall_ns, "/run/wall_ns");
	}
	html_put(h, ".");
	if (!h->s->cost.known)
		html_put(h, " No price is known: set one with <code>--price</code>, "
			    "<code>GPUSTARVE_USD_PER_GPU_HOUR</code> or a site file.");
	html_put(h, "</dd></div>\n");
}

/* What was paid for the training time. */
static const char *working_usd_key(struct html *h)
{
	const char *key = "/cost/usd";

	for (int c = 0; c < ANA_CLASSES; c++)
		if (ana_class_is_outside(c) && h->s->result->classes[c])
			key = base_arena_printf(&h->mem, "%s - /ledger/classes/%s/usd", key,
						ana_class_names[c]);
	return key;
}

static bool one_rate(const struct view_cost *c)
{
	for (size_t i = 1; i < c->gpus; i++)
		if (c->rate[i].nano_usd_per_hour != c->rate[0].nano_usd_per_hour)
			return false;
	return c->gpus > 0;
}

/* "$1.44 of each $3.99 GPU-hour of training; " */
static void put_hour(struct html *h, const struct view_lead *l)
{
	const struct view_summary *s = h->s;

	html_put(h, "<b>");
	html_price_of(h, view_lead_in(s, l->nano_usd, VIEW_HOUR_NS),
		      "%lld * %s per /ledger/working_ns", VIEW_HOUR_NS, html_lead_key(h, l, "usd"));
	html_put(h, "</b> of each ");
	if (one_rate(&s->cost)) {
		html_price(h, s->cost.rate[0].nano_usd_per_hour, "/cost/rates/0/usd_per_gpu_hour");
		html_put_kind(h, " GPU-hour of training; ");
		return;
	}
	html_put_kind(h, "GPU-hour of training, which cost ");
	html_price_of(h, view_lead_in(s, view_working_nano_usd(s), VIEW_HOUR_NS),
		      "%lld * %s per /ledger/working_ns", VIEW_HOUR_NS, working_usd_key(h));
	html_put(h, " on average; ");
}

/* A key with its parts in place, to be freed; NULL: no memory. */
HTML_KEY_LIST(1) static char *key_text(const char *key, va_list ap)
{
	char *text;

	return vasprintf(&text, key, ap) < 0 ? NULL : text;
}

/* An amount of a rate: dollars, or GPU time where no price is known. */
HTML_KEY(3) static void put_about(struct html *h, int64_t amount, const char *key, ...)
{
	char *text;
	va_list ap;

	va_start(ap, key);
	text = key_text(key, ap);
	va_end(ap);
	if (text && h->s->cost.known)
		html_about(h, amount, "%s", text);
	else if (text)
		html_gpu_time(h, amount, "%s", text);
	free(text);
}

/* Of a thousand steps, in the scale of all that these take: as the box has it. @key: of the run. */
static void put_thousand(struct html *h, int64_t amount, const char *key)
{
	const struct view_summary *s = h->s;
	bool usd = s->cost.known;
	int64_t whole = view_per_thousand(s, usd ? view_working_nano_usd(s) : view_working_ns(s));
	const char *of = base_arena_printf(&h->mem, "1000 * %s per /steps/count",
					   usd ? working_usd_key(h) : "/ledger/working_ns");

	if (usd)
		html_part_usd(h, amount, whole, of, "1000 * %s per /steps/count", key);
	else
		html_part_gpu_time(h, amount, whole, of, "1000 * %s per /steps/count", key);
}

/* "If it went on like these 8.75 GPU-seconds of training, day and night: $34.49 per day and $1,035 per month on 8 GPUs." */
static void put_days(struct html *h, const struct view_lead *l, int64_t amount, const char *part)
{
	int64_t day = VIEW_DAY_NS * (int64_t)l->gpus, month = VIEW_MONTH_NS * (int64_t)l->gpus;

	html_put(h, " If it went on like these ");
	html_gpu_time(h, view_working_ns(h->s), "/ledger/working_ns");
	html_put_kind(h, " of training, day and night: ");
	put_about(h, view_lead_in(h->s, amount, day), "%" PRId64 " * %s per /ledger/working_ns",
		  day, part);
	html_put(h, " per day and ");
	put_about(h, view_lead_in(h->s, amount, month), "%" PRId64 " * %s per /ledger/working_ns",
		  month, part);
	html_put(h, " per month");
	if (l->gpus > 1) {
		html_put(h, " on ");
		html_count(h, l->gpus, "#/gpus - /ledger/unused/gpus");
		html_put(h, " GPUs");
	}
	html_put(h, ".");
}

static void put_rates(struct html *h, const struct view_lead *l)
{
	const struct view_summary *s = h->s;
	const char *member = s->cost.known ? "usd" : "ns", *part = html_lead_key(h, l, member);
	const char *whole = s->cost.known ? working_usd_key(h) : "/ledger/working_ns";
	int64_t amount = s->cost.known ? l->nano_usd : l->ns;
	int64_t all = s->cost.known ? view_working_nano_usd(s) : view_working_ns(s);

	if (!view_is_short(s))
		put_days(h, l, amount, part);
	if (!s->result->steps)
		return;
	html_put(h, " Of the ");
	put_thousand(h, view_per_thousand(s, all), whole);
	html_put(h, " that a thousand steps take, ");
	html_put(h, view_told_bound(s) ? "at most, " : "");
	put_thousand(h, view_per_thousand(s, amount), part);
	html_put(h, ".");
}

/*
 * "$1.44 of each $3.99 GPU-hour of training; 0.140 ¢ of this run. If it went on like these ..."
 */
static void put_paid(struct html *h)
{
	const struct view_summary *s = h->s;
	struct view_lead l = view_lead_paid_of(s);

	if (!l.known || !l.ns || !view_lead_paid(&l) || (s->cost.known && !l.cost))
		return;
	fprintf(h->f, "<div><dt>P%s</dt><dd>", view_lead_paid(&l) + 1);
	if (l.cost && view_projects(s))
		put_hour(h, &l);
	if (s->cost.known)
		html_usd(h, l.nano_usd, "%s", html_lead_key(h, &l, "usd"));
	else
		html_gpu_time(h, l.ns, "%s", html_lead_key(h, &l, "ns"));
	html_put(h, " of this run.");
	if (view_lead_projects(s, &l))
		put_rates(h, &l);
	html_put(h, "</dd></div>\n");
}

/* More than what the verdict is about was wasted. */
static bool others_wasted(const struct view_summary *s)
{
	struct view_lead l = view_lead_paid_of(s);
	int64_t part = s->cost.known ? l.nano_usd : l.ns;
	int64_t waste = s->cost.known ? s->cost.wasted : s->wasted_ns;

	return l.known && view_lead_paid(&l) && part < waste &&
	       base_ppm(waste - part, waste) >= VIEW_OTHER_PPM;
}

static void put_waste(struct html *h)
{
	html_put(h, "<div><dt>Wasted</dt><dd><b>");
	put_wasted(h);
	html_put(h, others_wasted(h->s) ? "</b> in all, other causes included" : "</b> in all");
	if (h->s->cost.known) {
		html_put(h, ", ");
		html_pct(h, base_ppm(h->s->wasted_ns, h->s->result->gpu_ns), "/ledger/wasted_pct");
		html_put(h, " of what was paid");
	} else {
		html_put(h, " of what was held");
	}
	html_put(h, ".</dd></div>\n");
}

/* Of the classes that verdicts leave out: "/ledger/classes/excluded.startup/usd + ..." */
static const char *outside_usd_key(struct html *h)
{
	const char *key = "";

	for (int c = 0; c < ANA_CLASSES; c++)
		if (ana_class_is_outside(c) && h->s->result->classes[c])
			key = base_arena_printf(&h->mem, "%s%s/ledger/classes/%s/usd", key,
						*key ? " + " : "", ana_class_names[c]);
	return key;
}

/* Of one GPU as the clock has it. */
static void put_held(struct html *h, int64_t ns, const char *key)
{
	if (h->s->result->gpus == 1)
		html_ns(h, ns, "%s", key);
	else
		html_gpu_time(h, ns, "%s", key);
}

/* What start-up consists of, as view_startup_sentence has it. */
static void put_startup(struct html *h)
{
	const struct ana_result *r = h->s->result;
	const int64_t before = r->before_cuda_ns, ns = r->classes[ANA_EXCLUDED_STARTUP];
	const char *sentence = view_startup_sentence(h->s, &h->mem);

	if (!sentence)
		return;
	if (!before) {
		fprintf(h->f, " S%s.", sentence + 1);
		return;
	}
	html_put(h, " Of start-up ");
	put_held(h, before, "/ledger/before_cuda_ns");
	html_put(h, VIEW_BEFORE_CUDA_WORDS);
	put_held(h, ns - before, "/ledger/classes/excluded.startup/ns - /ledger/before_cuda_ns");
	html_put(h, VIEW_AFTER_CUDA_WORDS VIEW_SHUTDOWN_WORDS);
	put_held(h, r->classes[ANA_EXCLUDED_TEARDOWN], "/ledger/classes/excluded.teardown/ns");
	html_put(h, VIEW_ONCE_WORDS ".");
}

/* Start-up and shutdown are no training time, but paid. */
static void put_outside(struct html *h)
{
	const struct view_summary *s = h->s;
	int64_t ns = s->result->gpu_ns - view_working_ns(s);

	if (base_ppm(ns, s->result->gpu_ns) < VIEW_OUTSIDE_PPM)
		return;
	html_put(h, "<div><dt>Paid, too</dt><dd><b>");
	if (s->cost.known)
		html_usd(h, s->cost.total - view_working_nano_usd(s), "%s", outside_usd_key(h));
	else
		html_gpu_time(h, ns, "/ledger/gpu_ns - /ledger/working_ns");
	html_put(h, "</b> for ");
	html_put(h, view_outside_words(s));
	html_put(h, ", ");
	html_pct(h, base_ppm(ns, s->result->gpu_ns),
		 "/ledger/gpu_ns - /ledger/working_ns %% /ledger/gpu_ns");
	html_put(h, s->cost.known ? " of what was paid" : " of what was held");
	html_put_kind(h, s->result->classes[ANA_EXCLUDED_NO_PROCESS]
				 ? ". No training time."
				 : ". Neither training time nor waste.");
	put_startup(h);
	html_put(h, "</dd></div>\n");
}

/* What passes from one operation to the next is no waste, but may be most of the time. */
static void put_between(struct html *h)
{
	const int64_t ns = view_between_ns(h->s);

	if (!ns)
		return;
	html_put(h, "<div><dt>In between</dt><dd><b>");
	html_pct(h, base_ppm(ns, view_working_ns(h->s)),
		 "/ledger/classes/device.turnaround/ns %% /ledger/working_ns");
	html_put_kind(h, "</b> of the training" VIEW_BETWEEN_WORDS ".</dd></div>\n");
}

/* A class's time, with what other ranks waited for those that were late by it. */
static __int128 class_ns(const struct view_summary *s, int c)
{
	return (__int128)s->result->classes[c] + s->result->skew_causes[c];
}

/* The class that wasted most; ANA_CLASSES: none did. */
static int worst_class(const struct view_summary *s)
{
	int best = ANA_CLASSES;

	for (int c = 0; c < ANA_CLASSES; c++)
		if (s->waste[c] && class_ns(s, c) &&
		    (best == ANA_CLASSES || class_ns(s, c) > class_ns(s, best)))
			best = c;
	return best;
}

/* The finding with a line that cost most: of this class, else of any waste. */
static const struct view_finding *worst_hotspot(const struct view_summary *s, int c)
{
	const struct view_finding *best = NULL;

	for (size_t i = 0; i < s->findings; i++) {
		const struct view_finding *f = &s->finding[i];
		bool mine = best && (int)best->class == c;
		if (!(f->where.known || f->where.file) || !s->waste[f->class] ||
		    (mine && (int)f->class != c))
			continue;
		if (!best || ((int)f->class == c && !mine) || f->ns > best->ns)
			best = f;
	}
	return best;
}

/* A finding that no other is told with; NULL: nothing. */
static struct html_cause alone(struct html *h, const struct view_finding *f)
{
	struct view_told *told = base_arena_array(&h->mem, 1, sizeof(*told));

	if (!f)
		return (struct html_cause){ 0 };
	*told = (struct view_told){ (size_t)(f - h->s->finding), SIZE_MAX };
	return (struct html_cause){ .told = told, .n = 1 };
}

static struct html_cause find_first_cause(struct html *h)
{
	const struct view_summary *s = h->s;
	int c = worst_class(s);
	struct view_told *told;
	struct view_cause *cause;
	size_t n = view_causes_told(s, &h->mem, &told, &cause), best = n;

	for (size_t i = 0; i < n; i++) {
		const struct view_finding *f = &s->finding[told[cause[i].from].at];

		if (!(f->where.known || f->where.file) || !s->waste[f->class])
			continue;
		if (best == n ||
		    ((int)f->class == c && (int)s->finding[told[cause[best].from].at].class != c))
			best = i;
	}
	if (best == n)
		return alone(h, worst_hotspot(s, c));
	return (struct html_cause){ told + cause[best].from, cause[best].n, best };
}

struct html_cause html_first_cause(struct html *h)
{
	if (!h->first_known)
		h->first = find_first_cause(h);
	h->first_known = true;
	return h->first;
}

/* "12.6 % of the training time"; what lies outside of it as a share of all that was held. */
HTML_KEY(4)
static void put_share(struct html *h, int c, int64_t ns, const char *key, ...)
{
	bool outside = ana_class_is_outside(c);
	char *text;
	va_list ap;

	va_start(ap, key);
	text = key_text(key, ap);
	va_end(ap);
	if (text)
		html_pct(h, base_ppm(ns, outside ? h->s->result->gpu_ns : view_working_ns(h->s)),
			 "%s %% /ledger/%s", text, outside ? "gpu_ns" : "working_ns");
	html_put_kind(h, outside ? " of what was held" : " of the training time");
	free(text);
}

/* What each line of a cause has, so that what is shown sums to what is shown of all. */
static void put_parts(struct html *h, const struct view_told *told, size_t n)
{
	const struct view_summary *s = h->s;
	bool outside = ana_class_is_outside(s->finding[told->at].class);
	int64_t whole = outside ? s->result->gpu_ns : view_working_ns(s);
	int64_t ppm[VIEW_ALIKE_MAX], tenths[VIEW_ALIKE_MAX], all = 0;

	for (size_t i = 0; i < n; i++) {
		ppm[i] = base_ppm(s->finding[told[i].at].ns, whole);
		view_cost_add(&all, s->finding[told[i].at].ns);
	}
	view_close_tenths(ppm, (int)n, base_div_even(base_ppm(all, whole), 1000), tenths);
	html_put(h, "<br><span class=\"soft\">Line by line: ");
	for (size_t i = 0; i < n; i++) {
		const struct view_hotspot *p = &s->finding[told[i].at].where;

		html_put(h, i ? ", " : "");
		html_pct_closed(h, ppm[i], tenths[i], "/findings/%zu/ns %% /ledger/%s", told[i].at,
				outside ? "gpu_ns" : "working_ns");
		if (!p->file) {
			html_put(h, " where no line was seen");
			continue;
		}
		fprintf(h->f, " at <bdi class=\"mono\" data-from=\"/findings/%zu/where\">",
			told[i].at);
		html_escape(h->f, view_words_hotspot(&h->mem, p, LINE_COLUMNS));
		html_put(h, "</bdi>");
	}
	html_put(h, ".</span>");
}

/* What is known of the time that the line stands for beside its own (view_told_rest). */
static void put_rest(struct html *h, size_t at)
{
	size_t rest = view_told_rest(h->s, at);

	if (rest == SIZE_MAX || !h->s->finding[at].where.file)
		return;
	html_put(h, "<br>");
	html_text(h, "span class=\"soft\"", view_finding_sentence(h->s, &h->mem, rest),
		  "/findings/%zu/sentence", rest);
}

static void put_hotspot(struct html *h, const struct html_cause *c)
{
	size_t at = c->told->at;

	html_put(h, "<div><dt>At line</dt><dd>");
	html_hotspot(h, at);
	html_put(h, h->s->finding[at].where.file ? "<br>" : "");
	if (c->n > 1)
		html_text(h, "bdi", view_alike_sentence(h->s, &h->mem, c->told, c->n),
			  "/causes/%zu/sentence", c->index);
	else
		html_finding(h, at);
	put_rest(h, at);
	if (c->n > 1)
		put_parts(h, c->told, c->n);
	html_put(h, "</dd></div>\n");
}

/* Of the only line; of several, of all of them, whose threads may be the same. */
static void put_seen(struct html *h, const struct html_cause *c)
{
	const char *key = "";
	uint64_t samples = 0;

	if (c->n < 2) {
		html_evidence(h, c->told->at, ", by ");
		return;
	}
	for (size_t i = 0; i < c->n; i++) {
		samples += h->s->finding[c->told[i].at].where.samples;
		key = base_arena_printf(&h->mem, "%s%s/findings/%zu/evidence/samples", key,
					i ? " + " : "", c->told[i].at);
	}
	html_put(h, ", by ");
	html_count(h, samples, "%s", key);
	html_put(h, samples == 1 ? " sample of these lines" : " samples of these lines");
}

/* As the box says it. */
static void put_sure(struct html *h, const struct html_cause *c)
{
	const char *words;

	if (!c->n)
		return;
	words = view_alike_confidence_words(h->s, &h->mem, c->told, c->n);
	if (!strncmp(words, CONFIDENCE, strlen(CONFIDENCE)))
		words += strlen(CONFIDENCE);
	fprintf(h->f, "<div><dt>How sure</dt><dd><b>%s</b>", words);
	put_seen(h, c);
	html_put(h, ".</dd></div>\n");
}

/* How much a class is on the GPUs that it held up themselves. */
static void put_own(struct html *h, int c, const char *where)
{
	const struct view_summary *s = h->s;

	put_share(h, c, s->result->classes[c], "/ledger/classes/%s/ns", ana_class_names[c]);
	fprintf(h->f, "%s, all lines together", where);
	if (!s->cost.known)
		return;
	html_put(h, ", ");
	html_usd(h, s->cost.classes[c], "/ledger/classes/%s/usd", ana_class_names[c]);
}

/* And how much other ranks waited for one that it made late. */
static void put_others(struct html *h, int c)
{
	put_share(h, c, h->s->result->skew_causes[c], "/ledger/skew_causes/%s", ana_class_names[c]);
	html_put(h, " in which other ranks waited for one that was late by it");
}

/* The larger part first. */
static void put_own_and_others(struct html *h, int c)
{
	int64_t own = h->s->result->classes[c], others = h->s->result->skew_causes[c];

	if (others > own) {
		put_others(h, c);
		html_put(h, "; and ");
		put_own(h, c, " on its own GPU");
		return;
	}
	put_own(h, c, "");
	if (others <= 0)
		return;
	html_put(h, "; and ");
	put_others(h, c);
}

static void put_cause(struct html *h)
{
	const struct view_summary *s = h->s;
	int c = worst_class(s);
	struct html_cause of;

	if (c == ANA_CLASSES || 1000000 * class_ns(s, c) < (__int128)LEAST_PPM * s->result->gpu_ns)
		return;
	html_put(h, "<div><dt>Mostly on</dt><dd>");
	html_class(h, (enum ana_class)c);
	html_put(h, ": ");
	html_put_kind(h, facts_classes[c].meaning);
	html_put(h, ", ");
	put_own_and_others(h, c);
	html_put(h, "</dd></div>\n");
	of = html_first_cause(h);
	if (of.n)
		put_hotspot(h, &of);
	else
		of = alone(h, view_finding_of(s, (enum ana_class)c));
	put_sure(h, &of);
}

static void put_saving(struct html *h, const struct view_advice *a, size_t at)
{
	const struct view_summary *s = h->s;

	if (view_advice_only_tells(a)) {
		html_put(h, "nothing by itself");
		return;
	}
	html_put(h, "at most ");
	if (s->cost.known)
		html_usd(h, a->saving_nano_usd, "/advice/%zu/saving_upper_usd", at);
	else
		html_gpu_time(h, a->saving_ns, "/advice/%zu/saving_upper_ns", at);
	html_put(h, view_of_run_words(s));
	if (!view_class_projects(s, a->class))
		return;
	html_put(h, ", ");
	put_thousand(h, view_per_thousand(s, s->cost.known ? a->saving_nano_usd : a->saving_ns),
		     base_arena_printf(&h->mem, "/advice/%zu/saving_upper_%s", at,
				       s->cost.known ? "usd" : "ns"));
	html_put(h, " per thousand steps");
}

static void put_advised(struct html *h, const char *term, const struct view_advice *a)
{
	const struct view_summary *s = h->s;
	size_t at = a ? (size_t)(a - s->advice) : 0;
	const struct view_advice *other;
	struct view_hotspot call;

	if (!a)
		return;
	other = view_advice_else(s, a);
	fprintf(h->f, "<div><dt>%s</dt><dd><a href=\"#advice\">", term);
	html_text(h, "b", a->brief, "/advice/%zu/brief", at);
	html_put(h, "</a>");
	if (a->own) {
		html_put(h, ", at ");
		html_own_at(h, a->own);
	} else if (view_change_at(s, a, &call)) {
		html_put(h, ", in the call at ");
		html_made_at(h, view_loader_facts(s));
	}
	fprintf(h->f, "%s. It saves ", view_advice_if(s, a));
	put_saving(h, a, at);
	html_put(h, ".");
	html_saving_of(h, a, " That is ", ".");
	if (other) {
		html_put(h, " Without these cores: ");
		html_text(h, "b", other->brief, "/advice/%zu/brief", (size_t)(other - s->advice));
		html_put(h, ".");
	}
	html_put(h, "</dd></div>\n");
}

static void put_simulated(struct html *h)
{
	if (h->s->result->simulated)
		html_put(h, "<p>On " VIEW_SIMULATED_WORDS ".</p>\n");
}

static void put_short(struct html *h)
{
	if (!view_is_short(h->s))
		return;
	html_put(h, "<p>Only ");
	html_gpu_time(h, view_working_ns(h->s), "/ledger/working_ns");
	fprintf(h->f, " of %s, slow first steps among them: %s.</p>\n", view_work_word(&h->s->kind),
		VIEW_SHORT_WORDS(h->s));
}

/* Runs of a few looks of such a monitor are not told of what it would have shown. */
static void put_monitor(struct html *h)
{
	html_put(h,
		 h->s->wall_ns >= VIEW_MONITOR_NS
			 ? "<p class=\"soft\">A monitor that samples utilisation every 15 s would "
			   "have shown about "
			 : "<p class=\"soft\">Utilisation, as monitors show it, was about ");
	html_pct(h, h->s->sampler_ppm, "/quality/sampler_utilization_pct");
	html_put(h, h->s->wall_ns >= VIEW_MONITOR_NS ? " over the whole run, and named no cause."
						     : " over the whole run, and names no cause.");
	html_put(h, " Busy means that something ran, not that it ran well.</p>\n");
}

/* Why one run is critical and another one is not. */
static void put_grades(struct html *h)
{
	const char *name = ana_severity_names[h->s->result->judgement.severity];

	if (!name)
		return;
	fprintf(h->f,
		"<p class=\"soft\">&#8220;%s&#8221; grades what is lost to input alone: notice below "
		"%d %% of the %s, warning from there, critical from %d %%. Where something else leads "
		"there is no grade.</p>\n",
		name, ANA_WARNING_PCT, view_whole_words(&h->s->kind, false), ANA_CRITICAL_PCT);
}

void html_verdict(struct html *h)
{
	html_put(h, "<section id=\"verdict\" aria-label=\"Diagnosis\">\n");
	put_badge(h);
	put_headline(h);
	html_put(h, "<dl class=\"answers\">\n");
	put_cost(h);
	put_paid(h);
	put_waste(h);
	put_outside(h);
	html_idle(h);
	html_vacancy(h);
	put_cause(h);
	put_between(h);
	put_advised(h, "Do first", view_advice_first(h->s));
	put_advised(h, "Do also", view_advice_second(h->s));
	html_put(h, "</dl>\n");
	put_simulated(h);
	put_short(h);
	put_grades(h);
	put_monitor(h);
	html_section_end(h);
}
