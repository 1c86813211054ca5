/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is read in ten seconds: what the run cost, how much of it was wasted, on what, in which
 * line, and what to do first.
 */
#include "findings/findings.h"
#include "findings/unused.h"
#include "facts/class.h"
#include "html_priv.h"

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
		html_put(h,
			 " <span class=\"badge\">simulated GPU: a model, not a measurement</span>");
	html_put(h, "</p>\n");
}

static void put_starved(struct html *h)
{
	if (h->s->cost.known)
		html_usd(h, h->s->cost.starved, "/cost/starved_usd");
	else
		html_pct(h, base_ppm(h->s->starved_ns, h->s->result->gpu_ns),
			 "/ledger/starved_pct");
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
	html_hours(h, h->s->result->gpu_ns, "/cost/gpu_hours");
	html_put(h, " GPU-hours");
}

/* That is what the run is about then, whatever the rest of it did. */
static bool mostly_idle(const struct view_summary *s)
{
	struct view_unused u = view_unused_gpus(s);

	return u.ns > 0 && u.ns >= s->result->gpu_ns / 2;
}

static void put_headline(struct html *h)
{
	static const char *const behind[ANA_VERDICTS] = {
		[ANA_V_INPUT_BOUND] = " went to GPUs that waited for input",
		[ANA_V_HOST_BOUND] = " was wasted: the GPUs waited for the training program",
		[ANA_V_COMM_BOUND] = " was wasted: the GPUs spent their time communicating",
		[ANA_V_COPY_BOUND] = " was wasted: the GPUs spent their time copying",
		[ANA_V_DEVICE_BOUND] = " was wasted: queued work waited on the device",
		[ANA_V_BUSY] = " was wasted: the GPUs were busy",
		[ANA_V_INCONCLUSIVE] = " was wasted for certain: too much is unknown to say more",
	};
	const struct ana_judgement *v = &h->s->result->judgement;

	if (mostly_idle(h->s)) {
		html_idle_headline(h);
		return;
	}
	fprintf(h->f, "<h1><span class=\"%s\">", style(h->s));
	if (v->verdict == ANA_V_INPUT_BOUND)
		put_starved(h);
	else
		put_wasted(h);
	html_put(h, "</span> of ");
	html_whole(h);
	fprintf(h->f, "%s.</h1>\n", behind[v->verdict]);
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
	fprintf(h->f, " per GPU-hour <span class=\"soft\">(<span data-from=\"/cost/rates/%zu\">",
		at);
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
	html_put(h, "</b> ");
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

static void put_waste(struct html *h)
{
	const struct view_summary *s = h->s;
	int64_t gpu_ns = s->result->gpu_ns;

	html_put(h, "<div><dt>Wasted</dt><dd><b>");
	put_wasted(h);
	html_put(h, "</b> ");
	if (s->cost.known) {
		html_pct(h, base_ppm(s->wasted_ns, gpu_ns), "/ledger/wasted_pct");
		html_put(h, " of it. ");
	}
	html_put(h, "The GPUs starved, waiting for input, for ");
	html_pct(h, base_ppm(s->starved_ns, gpu_ns), "/ledger/starved_pct");
	html_put(h, " of the time");
	if (view_working_ns(s) > 0 && view_working_ns(s) < gpu_ns) {
		html_put(h, "; for ");
		html_pct(h, base_ppm(s->starved_ns, view_working_ns(s)),
			 "/ledger/starved_of_working_pct");
		html_put(h, " of it without ");
		html_put(h, view_outside_words(s));
		html_put(h, ", which the verdict is about");
	}
	html_put(h, ".</dd></div>\n");
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
		if (s->waste[c] && s->result->classes[c] &&
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

static void put_hotspot(struct html *h, const struct view_finding *f, int c)
{
	size_t at = (size_t)(f - h->s->finding);

	html_put(h, "<div><dt>In line</dt><dd>");
	html_hotspot(h, at);
	html_put(h, f->where.file ? "<br>" : "");
	html_doing(h, at);
	html_put(h, ", ");
	html_pct(h, f->ppm, "/findings/%zu/pct", at);
	html_put(h, " of the time");
	if ((int)f->class != c) {
		html_put(h, ", as ");
		html_class(h, f->class);
	}
	html_put(h, "</dd></div>\n");
}

static void put_cause(struct html *h)
{
	const struct view_summary *s = h->s;
	int c = worst_class(s);

	if (c == ANA_CLASSES)
		return;
	html_put(h, "<div><dt>Mostly on</dt><dd>");
	html_class(h, (enum ana_class)c);
	html_put(h, ": ");
	html_put(h, facts_classes[c].meaning);
	html_put(h, ", ");
	html_pct(h, base_ppm(s->result->classes[c], s->result->gpu_ns), "/ledger/classes/%s/pct",
		 ana_class_names[c]);
	html_put(h, " of the time");
	if (s->cost.known) {
		html_put(h, ", ");
		html_usd(h, s->cost.classes[c], "/ledger/classes/%s/usd", ana_class_names[c]);
	}
	if (s->result->skew_causes[c] > 0) {
		html_put(h, "; and ");
		html_ns(h, s->result->skew_causes[c], "/ledger/skew_causes/%s", ana_class_names[c]);
		html_put(h, " in which other ranks waited for one that was late by it");
	}
	html_put(h, "</dd></div>\n");
	if (worst_hotspot(s, c))
		put_hotspot(h, worst_hotspot(s, c), c);
}

static void put_first_step(struct html *h)
{
	const struct view_summary *s = h->s;
	const struct view_advice *a = view_advice_first(s);
	size_t at = a ? (size_t)(a - s->advice) : 0;

	if (!a)
		return;
	html_put(h, "<div><dt>Do first</dt><dd><a href=\"#advice\">");
	html_text(h, "b", a->brief, "/advice/%zu/brief", at);
	html_put(h, "</a>. It saves at most ");
	if (s->cost.known) {
		html_usd(h, a->saving_nano_usd, "/advice/%zu/saving_upper_usd", at);
	} else {
		html_ns(h, a->saving_ns, "/advice/%zu/saving_upper_ns", at);
		html_put(h, " of GPU time");
	}
	html_put(h, " per run.</dd></div>\n");
}

static void put_busy(struct html *h)
{
	const struct view_summary *s = h->s;

	html_put(h, "<p class=\"soft\">The GPUs were busy for ");
	html_pct(h, base_ppm(view_busy_ns(s), s->result->gpu_ns),
		 "/ledger/busy_ns %% /ledger/gpu_ns");
	html_put(
		h,
		" of the time they were held. Busy means that something ran, not that it ran well. "
		"A monitor that samples utilisation every 15 s would have shown about ");
	html_pct(h, s->sampler_ppm, "/quality/sampler_utilization_pct");
	html_put(h, ", and named no cause.</p>\n");
}

void html_verdict(struct html *h)
{
	html_put(h, "<section id=\"verdict\" aria-label=\"Verdict\">\n");
	put_badge(h);
	put_headline(h);
	html_put(h, "<dl class=\"answers\">\n");
	put_cost(h);
	put_waste(h);
	html_idle(h);
	put_cause(h);
	put_first_step(h);
	html_put(h, "</dl>\n");
	put_busy(h);
	html_section_end(h);
}
