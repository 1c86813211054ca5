/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two real steps from near: what the GPUs, the main process and those who make batches did in the
 * usual one and in the slowest, where the wait sits, and the line they were at. One row each, no
 * script.
 */
#include <inttypes.h>
#include <string.h>
#include "analysis/picture/picture.h"
#include "findings/gain.h"
#include "findings/loader.h"
#include "findings/own_line.h"
#include "findings/reads.h"
#include "findings/snippet.h"
#include "findings/told.h"
#include "findings/words.h"
#include "findings/findings.h"
#include "html_priv.h"

#define LINE_COLUMNS 40
#define CHANGES_MAX 3
#define QUIET_PPM 50000 /* of a step: less of another thread is not drawn */
#define WAITED_PPM 50000 /* of a step: less waiting for a batch is not what it is about */
#define CELL_WIDTH 6 /* 160 of them are 960 */
#define LANE_HEIGHT ((size_t)24)

/*
 * Colours of the states, in the style sheet: one each, and none that stands for another thing in
 * the ledger.
 */
static const char *const styles[ANA_DOES] = {
	[ANA_DOES_BUSY] = "f-busy",	    [ANA_DOES_STARVED] = "f-input",
	[ANA_DOES_IDLE] = "f-idle",	    [ANA_DOES_AWAITS] = "f-awaits",
	[ANA_DOES_DEVICE] = "f-awaits-gpu", [ANA_DOES_CALL] = "f-call",
	[ANA_DOES_CPU] = "f-cpu",	    [ANA_DOES_IO] = "f-io",
	[ANA_DOES_ASLEEP] = "f-asleep",	    [ANA_DOES_RUNNABLE] = "f-runnable",
	[ANA_DOES_LOCK] = "f-lock",	    [ANA_DOES_OTHER] = "f-other",
	[ANA_DOES_MAKING] = "f-making",	    [ANA_DOES_NO_WORK] = "f-no-work",
	[ANA_DOES_MAKES] = "f-makes",	    [ANA_DOES_UNSEEN] = "f-unseen",
};

static const char *const titles[ANA_PICTURES] = { "The usual step", "The slowest step" };

static const struct ana_picture_step *step_of(const struct html *h, int k)
{
	return &h->s->result->picture->at[k];
}

/* ---- a row ----------------------------------------------------------------------------------- */

static void put_who(struct html *h, int k, size_t i)
{
	const struct ana_picture_row *r = &step_of(h, k)->row[i];

	if (r->kind == ANA_ROW_MAIN) {
		html_put(h, "Main process");
	} else if (r->kind == ANA_ROW_GPU && (size_t)r->number < h->s->result->gpus) {
		html_put(h, "GPU ");
		html_id(h, h->s->result->gpu[r->number].index, "/gpus/%" PRId64 "/index",
			r->number);
	} else if (r->kind == ANA_ROW_WORKER && r->number >= 0) {
		html_put(h, "Worker ");
		html_id(h, r->number, "/step_picture/steps/%d/rows/%zu/worker", k, i);
	} else {
		html_put(h, "Thread ");
		html_id(h, r->tid, "/step_picture/steps/%d/rows/%zu/tid", k, i);
	}
}

static const char *style_of(char letter)
{
	for (int k = 0; k < ANA_DOES; k++)
		if (ana_picture_words[k].letter == letter)
			return styles[k];
	return styles[ANA_DOES_UNSEEN];
}

static void put_rect(struct html *h, const char *style, size_t i, size_t n, size_t height)
{
	fprintf(h->f, "<rect class=\"%s\" x=\"%zu\" ", style, i * CELL_WIDTH);
	if (height < LANE_HEIGHT)
		fprintf(h->f, "y=\"%zu\" ", LANE_HEIGHT - height);
	fprintf(h->f, "width=\"%zu\" height=\"%zu\"/>", n * CELL_WIDTH, height);
}

static void put_letters(struct html *h, const char *cell)
{
	for (size_t i = 0, n; i < ANA_PICTURE_CELLS; i += n) {
		for (n = 1; i + n < ANA_PICTURE_CELLS && cell[i + n] == cell[i]; n++)
			;
		put_rect(h, style_of(cell[i]), i, n, LANE_HEIGHT);
	}
}

/*
 * Where a GPU worked for less than most of a part: a bar as high as its share, before what else
 * stands there.
 */
static void put_bars(struct html *h, const struct ana_picture_row *r)
{
	const char busy = ana_picture_words[ANA_DOES_BUSY].letter;

	for (size_t i = 0, n; i < ANA_PICTURE_CELLS; i += n) {
		for (n = 1; i + n < ANA_PICTURE_CELLS && r->eighth[i + n] == r->eighth[i] &&
			    (r->cell[i + n] == busy) == (r->cell[i] == busy);
		     n++)
			;
		if (r->cell[i] != busy && r->eighth[i] > '0')
			put_rect(h, styles[ANA_DOES_BUSY], i, n,
				 (size_t)(r->eighth[i] - '0') * LANE_HEIGHT / 8);
	}
}

static void put_cells(struct html *h, const struct ana_picture_row *r)
{
	html_put(h,
		 "<svg viewBox=\"0 0 960 24\" preserveAspectRatio=\"none\" aria-hidden=\"true\">");
	put_letters(h, r->cell);
	if (r->kind == ANA_ROW_GPU)
		put_bars(h, r);
	html_put(h, "</svg>");
}

static bool awaits_batch(const struct ana_picture_step *s)
{
	for (size_t i = 0; i < s->rows; i++)
		if (s->row[i].ns[ANA_DOES_AWAITS] || s->row[i].ns[ANA_DOES_STARVED])
			return true;
	return false;
}

/*
 * Another thread that was hardly seen at anything, or merely blocked while nobody waited for a
 * batch: no picture of what held the GPU up. The table has it.
 */
static bool is_quiet(const struct ana_picture_step *s, size_t i)
{
	const struct ana_picture_row *r = &s->row[i];
	int64_t ns = s->step.end_ns - s->step.start_ns, busy;

	if (r->kind != ANA_ROW_WORKER || r->number >= 0)
		return false;
	busy = awaits_batch(s)
		       ? ns - r->ns[ANA_DOES_NO_WORK] - r->ns[ANA_DOES_UNSEEN]
		       : r->ns[ANA_DOES_CPU] + r->ns[ANA_DOES_RUNNABLE] + r->ns[ANA_DOES_MAKING];
	return base_ppm(busy, ns) < QUIET_PPM;
}

static void put_lane(struct html *h, int k, size_t i)
{
	html_put(h, "<div class=\"lane\"><span>");
	put_who(h, k, i);
	html_put(h, "</span>");
	put_cells(h, &step_of(h, k)->row[i]);
	html_put(h, "</div>\n");
}

/* ---- what they did --------------------------------------------------------------------------- */

static void put_spot(struct html *h, int k, size_t i)
{
	const struct ana_picture_row *r = &step_of(h, k)->row[i];
	struct view_hotspot p = { .known = true, .file = r->file, .line = r->line };

	fprintf(h->f,
		"<span class=\"mono\" data-from=\"/step_picture/steps/%d/rows/%zu/where\"><bdi class=\"spot\">",
		k, i);
	html_escape(h->f, view_words_hotspot(&h->mem, &p, LINE_COLUMNS));
	html_put(h, "</bdi>");
	if (r->function && *r->function) {
		html_put(h, " <bdi>");
		html_escape(h->f, r->function);
		html_put(h, "</bdi>");
	}
	html_put(h, "</span>");
}

static bool same_line(const struct ana_picture_row *a, const struct ana_picture_row *b)
{
	return a->kind == b->kind && a->file && b->file && a->line == b->line &&
	       !strcmp(a->file, b->file) &&
	       !strcmp(a->function ? a->function : "", b->function ? b->function : "");
}

/* A line of the cause that the page's top names. */
static bool is_first_cause(struct html *h, const struct ana_picture_row *r)
{
	const struct html_cause c = html_first_cause(h);

	for (size_t i = 0; i < c.n; i++) {
		const struct view_hotspot *p = &h->s->finding[c.told[i].at].where;

		if (p->file && p->line == r->line && !strcmp(p->file, r->file))
			return true;
	}
	return false;
}

/*
 * What a few samples show, or two lines equally often, is chance: the line is named if it is the
 * run's first one, and that is said.
 */
static void put_line(struct html *h, int k, size_t first, bool chance, uint64_t lines,
		     const char *key)
{
	const struct ana_picture_row *r = &step_of(h, k)->row[first];
	bool named = !chance || is_first_cause(h, r);

	if (!named) {
		html_put(h, r->line_tied ? "no line has most of" : "too few to name a line:");
		return;
	}
	fprintf(h->f, "%s at ", ana_picture_words[r->line_state].words);
	put_spot(h, k, first);
	html_put(h, chance ? ", the line of the run&#8217;s first cause, in " : ", in ");
	html_count(h, lines, "%s", key);
	html_put(h, " of");
}

/* "Worker 1 and 2 more: blocked on files or the network at data.py:88, in 7 of 9 samples" */
static void put_doing(struct html *h, int k, size_t first)
{
	const struct ana_picture_step *s = step_of(h, k);
	const char *line = "", *all = "";
	uint64_t lines = 0, looks = 0;
	bool tied = true;

	html_put(h, "<li>");
	for (size_t i = first; i < s->rows; i++) {
		if (!same_line(&s->row[first], &s->row[i]))
			continue;
		tied &= s->row[i].line_tied;
		html_put(h, i == first ? "<b>" : ", ");
		put_who(h, k, i);
		line = base_arena_printf(&h->mem,
					 "%s%s/step_picture/steps/%d/rows/%zu/where/samples", line,
					 *line ? " + " : "", k, i);
		all = base_arena_printf(&h->mem, "%s%s/step_picture/steps/%d/rows/%zu/samples", all,
					*all ? " + " : "", k, i);
		lines += s->row[i].line_samples;
		looks += s->row[i].samples;
	}
	html_put(h, "</b>: ");
	put_line(h, k, first, tied || looks < ANA_PICTURE_FEW, lines, line);
	html_put(h, " ");
	html_count(h, looks, "%s", all);
	html_put(h, looks == 1 ? " sample</li>\n" : " samples</li>\n");
}

static void put_doings(struct html *h, int k)
{
	const struct ana_picture_step *s = step_of(h, k);
	bool any = false;

	for (size_t i = 0; i < s->rows; i++) {
		bool told = !s->row[i].file || is_quiet(s, i);

		for (size_t before = 0; before < i && !told; before++)
			told = same_line(&s->row[before], &s->row[i]);
		if (told)
			continue;
		html_put(h, any ? "" : "<ul class=\"doing\">\n");
		any = true;
		put_doing(h, k, i);
	}
	html_put(
		h,
		any ? "</ul>\n"
		    : "<p class=\"soft\">No sample of a working thread fell into this step.</p>\n");
}

/* ---- its numbers ----------------------------------------------------------------------------- */

static void put_row(struct html *h, int k, size_t i)
{
	const struct ana_picture_row *r = &step_of(h, k)->row[i];
	bool any = false;

	html_put(h, "<tr>");
	HTML_ROW(h, put_who(h, k, i));
	html_put(h, "<td class=\"wide\">");
	for (int d = 0; d < ANA_DOES; d++) {
		if (!r->ns[d])
			continue;
		fprintf(h->f, "%s%s ", any ? ", " : "", ana_picture_words[d].words);
		html_ns(h, r->ns[d], "/step_picture/steps/%d/rows/%zu/states_ns/%s", k, i,
			ana_picture_words[d].name);
		any = true;
	}
	html_put(h, "</td></tr>\n");
}

static void put_left_out(struct html *h, int k)
{
	const struct ana_picture_step *s = step_of(h, k);

	if (s->gpus_left_out) {
		html_put(h, "<p class=\"soft\">GPUs of this process that are not drawn: ");
		html_count(h, s->gpus_left_out, "/step_picture/steps/%d/gpus_left_out", k);
		html_put(h, ".</p>\n");
	}
	if (s->workers_left_out) {
		html_put(h, "<p class=\"soft\">Others that make batches, and worked less: ");
		html_count(h, s->workers_left_out, "/step_picture/steps/%d/workers_left_out", k);
		html_put(h, ".</p>\n");
	}
}

static void put_table(struct html *h, int k)
{
	html_details(h, "Table");
	html_table(h, "%s, row by row", titles[k]);
	HTML_HEADS(h, "Row", "Time");
	for (size_t i = 0; i < step_of(h, k)->rows; i++)
		put_row(h, k, i);
	html_table_end(h);
	html_details_end(h);
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* Outside of a loader, where samples alone tell when a batch was made. */
static void put_starved(struct html *h, int k)
{
	const struct ana_picture_step *s = step_of(h, k);
	int64_t ns = s->step.end_ns - s->step.start_ns;

	for (size_t i = 0; i < s->rows; i++) {
		if (s->row[i].kind != ANA_ROW_GPU ||
		    base_ppm(s->row[i].ns[ANA_DOES_STARVED], ns) < WAITED_PPM)
			continue;
		html_put(h, ", in which ");
		put_who(h, k, i);
		html_put(h, " stood idle ");
		html_ns(h, s->row[i].ns[ANA_DOES_STARVED],
			"/step_picture/steps/%d/rows/%zu/states_ns/starved", k, i);
		html_put(h, " while a batch was made");
		return;
	}
}

static void put_caption(struct html *h, int k)
{
	const struct ana_picture_step *s = step_of(h, k);
	const struct ana_result *r = h->s->result;
	int64_t ns = s->step.end_ns - s->step.start_ns;
	uint32_t p = s->step.process;

	fprintf(h->f, "<figcaption><span><b>%s: ", titles[k]);
	html_ns(h, ns, "/step_picture/steps/%d/step_ns", k);
	html_put(h, "</b>");
	if (base_ppm(s->step.exposed_ns, ns) >= WAITED_PPM) {
		html_put(h, ", in which GPUs waited ");
		html_ns(h, s->step.exposed_ns, "/step_picture/steps/%d/exposed_ns", k);
		html_put(h, " for a batch");
	} else {
		put_starved(h, k);
	}
	html_put(h, "</span>");
	if (p < r->processes) {
		html_put(h, " <span class=\"soft\">");
		if (r->process[p].has_rank) {
			html_put(h, "rank ");
			html_id(h, r->process[p].rank, "/run/processes/%" PRIu32 "/rank", p);
		} else {
			html_put(h, "pid ");
			html_id(h, r->process[p].pid, "/run/processes/%" PRIu32 "/pid", p);
		}
		if (s->step.start_ns >= r->process[p].start_ns) {
			html_put(h, ", ");
			html_ns(h, s->step.start_ns - r->process[p].start_ns,
				"/step_picture/steps/%d/start_ns - /run/processes/%" PRIu32
				"/start_ns",
				k, p);
			html_put(h, " after its start");
		}
		html_put(h, "</span>");
	}
	html_put(h, "</figcaption>\n");
}

static void put_step(struct html *h, int k)
{
	const struct ana_picture_step *s = step_of(h, k);
	size_t quiet = 0;

	html_put(h, "<figure class=\"step\">\n");
	put_caption(h, k);
	for (size_t i = 0; i < s->rows; i++) {
		if (is_quiet(s, i))
			quiet++;
		else
			put_lane(h, k, i);
	}
	html_put(h, "<div class=\"lane\"><span></span>");
	html_axis(h, s->step.end_ns - s->step.start_ns);
	html_put(h, "</div>\n");
	put_doings(h, k);
	put_left_out(h, k);
	if (quiet)
		html_put(
			h,
			"<p class=\"soft\">Other threads that were seen without work, or blocked while no batch was awaited, are in the table alone.</p>\n");
	put_table(h, k);
	html_put(h, "</figure>\n");
}

static bool drawn(const struct ana_picture_row *r, int state)
{
	if (strchr(r->cell, ana_picture_words[state].letter))
		return true;
	return state == ANA_DOES_BUSY && r->kind == ANA_ROW_GPU &&
	       strspn(r->eighth, "0") < ANA_PICTURE_CELLS;
}

/* Whoever waits inside a collective for a late rank runs a kernel meanwhile. */
static void put_key(struct html *h, int state)
{
	bool waits = state == ANA_DOES_BUSY && h->s->result->classes[ANA_COMM_SKEW] > 0;

	fprintf(h->f, "<li><span class=\"key %s\"></span>%s%s</li>", styles[state],
		ana_picture_words[state].words,
		waits ? ", or waiting inside a collective for a late rank" : "");
}

/* A square per state that is drawn in these two steps. */
static void put_legend(struct html *h)
{
	bool in[ANA_DOES] = { false };

	for (int k = 0; k < ANA_PICTURES; k++)
		for (size_t i = 0; i < step_of(h, k)->rows; i++)
			for (int d = 0; d < ANA_DOES; d++)
				in[d] |= !is_quiet(step_of(h, k), i) &&
					 drawn(&step_of(h, k)->row[i], d);
	html_put(h, "<ul class=\"legend\">");
	for (int d = 0; d < ANA_DOES; d++)
		if (in[d])
			put_key(h, d);
	html_put(h, "</ul>\n");
}

/* ---- what to change -------------------------------------------------------------------------- */

void html_own_at(struct html *h, const struct view_own *own)
{
	struct view_hotspot p = { .known = true, .file = own->file, .line = own->line };

	html_put(h, "<bdi class=\"mono\" data-source>");
	html_escape(h->f, view_words_hotspot(&h->mem, &p, LINE_COLUMNS));
	html_put(h, "</bdi>");
}

/* What stands in the user's file, and what it would be: no fact of the run, so without a key. */
static void put_own(struct html *h, const struct view_own *own)
{
	const char *name;

	if (!own)
		return;
	name = view_own_name(&h->mem, own);
	html_put(h, "\n<span data-source>In ");
	html_own_at(h, own);
	html_put(h, ", as it was when this page was made:</span>\n<code data-source><del>&#8722; ");
	html_escape(h->f, own->before);
	html_put(h, "</del><br><ins>+ ");
	html_escape(h->f, own->after);
	html_put(h, "</ins></code>\n");
	if (!name)
		return;
	html_put(h, "<span data-source>or give <bdi class=\"mono\">");
	html_escape(h->f, name);
	html_put(h, "</bdi> that value where it is set</span><br>\n");
}

/* Where the call stands, if its text could not be read. */
static void put_call(struct html *h, const struct view_advice *a)
{
	struct view_hotspot at;

	if (a->own || !view_change_at(h->s, a, &at))
		return;
	html_put(h, " <span>the call at </span>");
	html_made_at(h, view_loader_facts(h->s));
	html_put(h, "<br>");
}

/* A call that is to be added stands in no file yet. */
static void put_place(struct html *h, const struct view_advice *a)
{
	const struct view_finding *f = view_finding_of(h->s, a->class);
	const char *before, *after = "";

	if (!f || !(a->class == ANA_HOST_DISPATCH || (a->makers && !a->makers_now)))
		return;
	if (a->makers) {
		before = "no loader was seen to make them: what is done at ";
		after = " goes into a data set that it reads";
	} else {
		before =
			view_reads_of_step(h->s)
				? "in each step, when all of them are there; the time was seen at "
				: "once, where the model is made, before the loop; the time was seen at ";
	}
	fprintf(h->f, " <span>%s</span>", before);
	html_hotspot(h, (size_t)(f - h->s->finding));
	fprintf(h->f, "<span>%s</span><br>", after);
}

static void put_change(struct html *h, size_t i)
{
	const struct view_advice *a = &h->s->advice[i];
	int64_t saved = base_ppm(a->saving_ns, view_working_ns(h->s)), of;
	bool usd = h->s->cost.known;

	html_put(h, "<li>");
	html_text(h, "span", a->brief, "/advice/%zu/brief", i);
	html_text(h, "code", a->change, "/advice/%zu/change", i);
	put_own(h, a->own);
	put_call(h, a);
	put_place(h, a);
	if (view_advice_only_tells(a)) {
		html_put(h, " <span>saves nothing by itself</span></li>\n");
		return;
	}
	html_put(h, " <span>saves at most <b>");
	if (usd)
		html_usd(h, a->saving_nano_usd, "/advice/%zu/saving_upper_usd", i);
	else
		html_gpu_time(h, a->saving_ns, "/advice/%zu/saving_upper_ns", i);
	html_put(h, "</b>");
	if (h->s->result->unrecorded.ns) {
		html_put(h, view_of_run_words(h->s));
	} else if (!view_advice_about(h->s, &h->mem, a, &of) || of != saved) {
		html_put(h, ", ");
		html_pct(h, saved, "/advice/%zu/saving_upper_ns %% /ledger/working_ns", i);
		html_put_kind(h, " of the training time");
	}
	html_saving_of(h, a, " (", ")");
	fprintf(h->f, "%s</span></li>\n", view_advice_if(h->s, a));
}

/* Whether a number of workers or makers that is advised before it saves that time already. */
static bool is_within(const struct view_summary *s, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (view_advice_is_number(&s->advice[i]) && ana_class_is_input(s->advice[at].class))
			return true;
	return false;
}

/*
 * The user's own calls, if that to be changed first is one, or what is told beside it; what else is
 * advised has words alone, below. A call further down the list is no "change": people paste what
 * they see.
 */
static void put_changes(struct html *h)
{
	const struct view_advice *first = view_advice_first(h->s);
	size_t shown = 0;

	if (!first || !first->change)
		first = view_advice_second(h->s);
	if (!first || !first->change)
		return;
	html_put(h, "<h3>The change</h3>\n<ul class=\"changes\">\n");
	for (size_t i = (size_t)(first - h->s->advice); i < h->s->advices && shown < CHANGES_MAX;
	     i++) {
		if (!h->s->advice[i].change || is_within(h->s, i))
			continue;
		put_change(h, i);
		shown++;
	}
	html_put(h, "</ul>\n");
}

/* No single step has the run's shares: what is told of them is of the average. */
static void put_average(struct html *h)
{
	const struct ana_result *r = h->s->result;
	int64_t mean = r->steps ? base_div_even(view_working_ns(h->s), (__int128)r->steps) : 0;
	bool starved = r->gpus == 1 && h->s->starved_ns;

	if (!mean || (!starved && mean <= r->step_median_ns / 2 * 3))
		return;
	html_put(h, "<p>On average a step took ");
	html_ns(h, mean, "1 * /ledger/working_ns per /steps/count");
	if (starved) {
		html_put(h, ", of which the GPU waited ");
		html_ns(h, base_div_even(h->s->starved_ns, (__int128)r->steps),
			"1 * /ledger/starved_ns per /steps/count");
		html_put(h, " for input");
	}
	html_put(h, "; half of them took ");
	html_ns(h, r->step_median_ns, "/steps/median_ns");
	html_put(h, " or less. What a change saves is told of the average.</p>\n");
}

static void put_picture(struct html *h, const struct ana_picture *p)
{
	if (p->absent != ANA_PICTURE_DRAWN) {
		fprintf(h->f, "<p class=\"soft\">Not drawn: %s.</p>\n",
			ana_picture_absent_words[p->absent]);
		return;
	}
	html_put(
		h,
		"<p>Two real steps of this run: of those about as long as the median the one most like "
		"the others, and the slowest, each process&#8217;s first left aside. Time runs from left "
		"to right. What a GPU did, calls of its driver and waits for a loader are exact; the rest "
		"is samples, each of which stands for about the sampler&#8217;s period at most.</p>\n");
	put_average(h);
	put_legend(h);
	for (int k = 0; k < ANA_PICTURES; k++)
		put_step(h, k);
}

void html_step(struct html *h)
{
	if (!h->s->result->picture)
		return;
	html_section(h, "step", "One step from near");
	put_picture(h, h->s->result->picture);
	put_changes(h);
	html_section_end(h);
}
