/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of html*.c share. Private to them.
 *
 * Numbers and where they come from
 * --------------------------------
 * Every number that the page prints as a fact is one element
 *
 *     <data value="EXACT" data-key="KEY" data-unit="UNIT">shown</data>
 *
 * EXACT is a decimal without exponent: what KEY names, to the last digit. KEY is
 *
 *     key     = sum                       the value at a place of summary.json, or several of them
 *             | sum " % " sum             100 x first / second, half to even at 4 decimals; x % 0 is 0
 *             | pointer " / " pointer     first / second, half to even at whole units
 *             | integer " * " sum " per " sum    integer x first / second, half to even: dollars at 9
 *                                         decimals, all else at whole units
 *     sum     = pointer *(" + " pointer)  the sum
 *             | pointer *(" - " pointer)  the first less all others
 *     pointer | "#" pointer               how many elements the array or object there has
 *             | "max " pointer            the largest of a pointer with a range; "min " the smallest
 *     pointer = a JSON Pointer (RFC 6901) into summary.json: /ledger/classes/input.fetch/ns
 *             | "page:" and one into the page's data block: page:/gpus/0/gaps/3/start_ns
 *
 *             | integer " * " pointer     the multiple
 *     A segment "a..b" of a pointer means the elements a to b of that array, b included, as far as
 *     they are there: their sum. A segment "*" means all members of that object: their sum.
 *
 * An absent place counts as 0: summary.json leaves out classes, directions and shares that are 0.
 * All operators stand between single spaces, of one kind per key. UNIT says how EXACT is shown:
 *
 *     ns     integer ns, as base_duration has it: "2 h 14 m", "12.3 s", "831 ms"
 *     usd    decimal dollars: a sum of the run, in the scale of /cost/usd (base/amounts.h): "$46.86",
 *            "0.140 &#162;"; a cell of a table that must close may differ by the one of the last
 *            digit that base_close moved: data-closed on it, as on a pct that is shown as the sum of
 *            shares that are told beside it, or that sums with others to one
 *     money  decimal dollars, in a scale of its own or, as gpu-time, of the one whose key is in data-of; about: what is only projected, whole dollars from
 *            $100; dollars: without the cent sign, "$1.44", "$0.00432"
 *     price  decimal dollars, all digits and at least two: "$6.88", "$2.7447"
 *     gpu-time  integer ns, "17.87 GPU-hours", "5.00 GPU-seconds" (base/amounts.h)
 *     pct    decimal percent, one decimal and " %"; ppm: integer millionths, shown so
 *     bytes  integer, "1.5 GB"; bytes/s: "1.5 GB/s"
 *     count  integer, "1,234,567"
 *     id     integer, as it is: a GPU's index, a pid, an exit status, a line of code
 *     moment integer ns since 1970: "2026-11-09 14:02:11 UTC"
 *
 * Text that the run brought along (names, notes, advice) may hold digits of its own. It stands in
 * an element with data-text="pointer" whose text is that string, by html_escape's rules, with a
 * capital first and a full stop last where data-text-as="sentence". Words that are put together
 * from several members stand in an element with data-from="pointer pointer ...": every number in
 * them stands in a string or number below one of these. What the user's own source file has stands
 * in an element with data-source: it was read when the page was made, and no document has it.
 * Digits elsewhere are no facts of the run: numbers of list items, axes of charts (class "axis", or
 * in <svg>), what docs/CAUSES.md fixes.
 *
 * Charts
 * ------
 * A chart is <figure class="chart" data-chart="timeline|steps|histogram|workers|flame|ranks"> with
 * its caption, a <div class="plot"> that holds the static SVG and that a script may fill anew, and
 * a
 * <details> with the same as a table, which stays. data-gpu, data-series: indices into the block.
 */
#ifndef VIEW_HTML_PRIV_H
#define VIEW_HTML_PRIV_H

#include <stdarg.h>
#include <stdio.h>
#include "base/arena.h"
#include "base/units.h"
#include "findings/lead.h"
#include "html_shared.h"
#include "summary/summary.h"

#define HTML_GPUS_MAX 96 /* rows of one table */
#define HTML_BYTES_MAX 600000 /* of the page, whatever the run */
#define HTML_THRIFT_MAX 5
#define HTML_KEY(at) __attribute__((format(printf, at, at + 1)))
#define HTML_KEY_LIST(at) __attribute__((format(printf, at, 0))) /* with a va_list */

#define HTML_SECTIONS_MAX 24

/*
 * The cause that the page's top names: of what wasted most, as the box tells it. @told: @n findings
 * of which the others are like the first one; n 0: there is none. @index: in the summary's causes,
 * where they are several.
 */
struct view_told;
struct html_cause {
	const struct view_told *told;
	size_t n, index;
};

struct html {
	const struct view_summary *s;
	FILE *f;
	struct base_arena mem;
	const char *section[HTML_SECTIONS_MAX]; /* ids of those written, for the list at the top */
	size_t sections;
	unsigned int thrift; /* so often the page was too large: everything that can be halved is */
	const char *block; /* the data block with its element */
	size_t block_len;
	struct html_cause first; /* html_first_cause, if @first_known */
	bool first_known;
};

/*
 * Whether the block's part of this name had to be made coarser: its indices are then not the
 * series'.
 */
bool html_coarse(const struct html *h, const char *part);

/* How many of @n there may be, by the thrift; at least one. */
size_t html_budget(const struct html *h, size_t n);

/* Text of ours, as it stands. */
void html_put(struct html *h, const char *markup);
/* The same where it says training, in the words of the run's kind. */
void html_put_kind(struct html *h, const char *markup);

/* html_number.c: a number with its key, which is a printf format. */
void html_ns(struct html *h, int64_t ns, const char *key, ...) HTML_KEY(3);
void html_usd(struct html *h, int64_t nano, const char *key, ...) HTML_KEY(3);
void html_usd_closed(struct html *h, int64_t nano, int64_t quanta, const char *key, ...)
	HTML_KEY(4);
void html_money(struct html *h, int64_t nano, const char *key, ...) HTML_KEY(3);
void html_price(struct html *h, int64_t nano, const char *key, ...) HTML_KEY(3);
/* Of a rate: what is projected; and what stands beside a price. */
void html_about(struct html *h, int64_t nano, const char *key, ...) HTML_KEY(3);
void html_price_of(struct html *h, int64_t nano, const char *key, ...) HTML_KEY(3);
void html_gpu_time(struct html *h, int64_t ns, const char *key, ...) HTML_KEY(3);
/* In the scale of @whole, which has the key @of: what stands beside it, in the box as here. */
void html_part_usd(struct html *h, int64_t nano, int64_t whole, const char *of, const char *key,
		   ...) HTML_KEY(5);
void html_part_gpu_time(struct html *h, int64_t ns, int64_t whole, const char *of, const char *key,
			...) HTML_KEY(5);
void html_pct(struct html *h, int64_t ppm, const char *key, ...) HTML_KEY(3);
void html_ppm(struct html *h, int64_t ppm, const char *key, ...) HTML_KEY(3);
/* Shown as @tenths: of shares that are told one by one, their sum. */
void html_pct_closed(struct html *h, int64_t ppm, int64_t tenths, const char *key, ...) HTML_KEY(4);
void html_bytes(struct html *h, uint64_t bytes, const char *key, ...) HTML_KEY(3);
void html_rate(struct html *h, uint64_t bytes, const char *key, ...) HTML_KEY(3); /* per second */
void html_count(struct html *h, uint64_t n, const char *key, ...) HTML_KEY(3);
void html_id(struct html *h, int64_t n, const char *key, ...) HTML_KEY(3);
void html_moment(struct html *h, int64_t unix_ns, const char *key, ...) HTML_KEY(3);

/* <tag data-text="key">text</tag>; as a sentence; nothing if @text is NULL. @tag is ours. */
void html_text(struct html *h, const char *tag, const char *text, const char *key, ...) HTML_KEY(4);
void html_sentence(struct html *h, const char *tag, const char *text, const char *key, ...)
	HTML_KEY(4);

void html_key(struct html *h, enum ana_class c); /* its little square */
void html_class(struct html *h, enum ana_class c); /* square and name, linked to its rule */

/*
 * The keys' sum of what the verdict is about: "/ledger/classes/comm/ns + /ledger/skew_causes/comm".
 * @member: ns or usd.
 */
const char *html_lead_key(struct html *h, const struct view_lead *l, const char *member);

/* Found once, whatever asks for it. */
struct html_cause html_first_cause(struct html *h);

/*
 * What a saving is of, where that is more than what is told of the line beside it, between @before
 * and @after: "of all of input.prep, 91.6 % of the training time"; else nothing.
 */
void html_saving_of(struct html *h, const struct view_advice *a, const char *before,
		    const char *after);

/* A finding as a sentence; and its line. No line if none is known. */
void html_finding(struct html *h, size_t finding);
void html_hotspot(struct html *h, size_t finding);
/* The call that made the first loader, whose file is known: "train.py:45". */
void html_made_at(struct html *h, const struct ana_loader_facts *l);
/* The user's own line; no fact of the run, so without a key. */
struct view_own;
void html_own_at(struct html *h, const struct view_own *own);
/* of the training time, without what else it stands for */
void html_own_share(struct html *h, size_t finding);
/* @before, then "1,514 samples of 4 threads"; nothing where none is known. */
void html_evidence(struct html *h, size_t finding, const char *before);

/*
 * <section id> with its heading; the id, a word, is noted for the list at the top; html_section_end
 * closes it.
 */
void html_section(struct html *h, const char *id, const char *title);
void html_section_end(struct html *h);

/* A table that scrolls by itself: its caption, its head, its end. */
void html_table(struct html *h, const char *caption, ...) HTML_KEY(2);
/* The same with numbers in its caption, which stand below @from. */
void html_table_from(struct html *h, const char *from, const char *caption, ...) HTML_KEY(3);
/* Words; before those of numbers "n:"; of dollars, which only a run with a price has, "$:". */
void html_columns(struct html *h, const char *const *column, size_t n);
#define HTML_HEADS(h, ...)                                    \
	html_columns(h, (const char *const[]){ __VA_ARGS__ }, \
		     sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))
void html_table_end(struct html *h);

/*
 * Cells, in the order of the heads: what @content, a call, writes; HTML_ROW's is the row's head. A
 * cell below a "$:" stands behind if (h->s->cost.known).
 */
#define HTML_CELL_IN(h, tag, content)  \
	do {                           \
		html_cell(h, tag);     \
		content;               \
		html_cell_end(h, tag); \
	} while (0)
#define HTML_CELL(h, content) HTML_CELL_IN(h, "td", content)
#define HTML_NUMBER(h, content) HTML_CELL_IN(h, "td class=\"n\"", content)
/* Empty where the number is not known. */
#define HTML_NUMBER_IF(h, known, content) HTML_CELL_IN(h, "td class=\"n\"", if (known) content)
#define HTML_ROW(h, content) HTML_CELL_IN(h, "th scope=\"row\"", content)
void html_cell(struct html *h, const char *tag);
void html_cell_end(struct html *h, const char *tag);

/* <details> with a table as its only content: what a chart shows, in numbers. */
void html_details(struct html *h, const char *summary);
void html_details_end(struct html *h);

/* html_chart.c: which of the columns that a stretch of time is drawn in has the moment @ns. */
size_t html_column(int64_t start, int64_t end, size_t columns, int64_t ns);

/* Columns of layers, each column's layers by their share of it. */
#define HTML_LAYERS_MAX 8
#define HTML_STACK_HEIGHT 96

struct html_stack {
	size_t columns, layers;
	const int64_t *value; /* [column][layer] */
	const char *const *style; /* a layer's class in the style sheet */
	const char *label; /* for who does not see it; not escaped */
};
void html_stack(struct html *h, const struct html_stack *s);

/*
 * Columns from the smallest to the largest with their mean, and a part below; what is over @top is
 * cut.
 */
#define HTML_BAND_HEIGHT 120

struct html_point {
	bool any;
	int64_t min, mean, max, part;
};
struct html_band {
	size_t columns;
	const struct html_point *point;
	int64_t top;
	const char *label;
};
void html_band(struct html *h, const struct html_band *b);
void html_scale(struct html *h, int64_t top, bool cut); /* what a band's height stands for */

/* html_strip.c: stacked columns of a stretch of time as one SVG. */
struct html_strip {
	const struct ana_timeline *line;
	int64_t start_ns, end_ns; /* what the picture's width stands for */
	size_t columns; /* at most */
	const char *label; /* for who does not see it; not escaped */
};
void html_strip(struct html *h, const struct html_strip *strip);
void html_legend(struct html *h, const int64_t *classes); /* the families that are in it */
void html_axis(struct html *h, int64_t length_ns); /* 0 to @length_ns in quarters */

/* One function per section, in the page's order; each writes nothing where there is nothing. */
void html_verdict(struct html *h); /* html_verdict.c */
void html_whole(struct html *h); /* its "$46.86", or "17.87 GPU-hours": what all of it cost */
/*
 * html_idle.c: GPUs that did nothing: a badge, the headline where most did, a row of the answers;
 * and a row of when those that a job had were used by nobody.
 */
void html_idle_badge(struct html *h);
void html_idle_headline(struct html *h);
void html_idle(struct html *h);
void html_vacancy(struct html *h);
void html_step(struct html *h); /* html_step.c: the picture of a step, and what to change */
void html_advice(struct html *h); /* html_advice.c */
void html_ledger(struct html *h); /* html_ledger.c */
void html_estimated(struct html *h); /* html_estimated.c; within the ledger */
void html_findings(struct html *h); /* html_why.c */
void html_timelines(struct html *h); /* html_timeline.c */
void html_gpus(struct html *h); /* html_gpus.c */
/* "Rank 17, GPU 1 of node3", as far as there are ranks, and several hosts. */
void html_gpu_place(struct html *h, size_t g);
void html_gpu_shares(struct html *h, size_t g); /* of its training time: busy, waiting for input */
void html_steps(struct html *h); /* html_steps.c */
void html_loader(struct html *h); /* html_loader.c */
void html_workers(struct html *h); /* html_workers.c: its charts over time */
void html_copies(struct html *h); /* html_copies.c */
void html_flame(struct html *h); /* html_flame.c */
void html_ranks(struct html *h); /* html_ranks.c */
/* html_ranks.c: "Rank 3", or where the job gave none "GPU 3"; @word: " rank " as it is to stand. */
void html_rank_name(struct html *h, size_t row, const char *word);
/* html_ranks_strip.c: the first @shown (> 0) of the rows over time, as a chart. */
void html_ranks_strip(struct html *h, size_t shown);
void html_cost(struct html *h); /* html_cost.c */
/* "1/2 of $2.50", of a rate that is a part of a list price. */
void html_rate_part(struct html *h, const struct view_rate *r, size_t at);
void html_quality(struct html *h); /* html_quality.c */
void html_run(struct html *h); /* html_run.c */
void html_saves(struct html *h); /* html_saves.c */
void html_method(struct html *h); /* html_method.c */

/* html_head.c: what stands before and after the sections. */
void html_head(struct html *h);
void html_foot(struct html *h);

#endif
