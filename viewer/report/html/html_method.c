/* SPDX-License-Identifier: Apache-2.0 */
/* How each number comes about: the rules in short, and each class of this run by itself. */
#include "facts/class.h"
#include "html_priv.h"

static void put_class(struct html *h, int c)
{
	const struct facts_class *row = &facts_classes[c];

	fprintf(h->f,
		"<div id=\"class-%s\"><dt><span class=\"key f-%s\"></span>%s</dt><dd>%s%s "
		"<span class=\"soft\">CAUSES.md, &#8220;%s&#8221;.</span></dd></div>\n",
		row->name, html_colour(c), row->name,
		view_words_of_kind(&h->s->kind, &h->mem, row->proof),
		h->s->waste[c] ? " Counts as waste." : "", facts_groups[row->group].chapter);
}

void html_method(struct html *h)
{
	html_section(h, "method", "How the numbers are made");
	html_put_kind(
		h,
		"<dl class=\"facts\">\n"
		"<dt>Held</dt><dd>From when a process of the run took the GPU until it gave it back. "
		"Shares in tables are of this time.</dd>\n"
		"<dt>Training time</dt><dd>What was held, without start-up, shutdown, waits for work and GPUs "
		"that no process used. The leading percentage is of this time.</dd>\n"
		"<dt>Per GPU-hour, per day, per month</dt><dd>The dollars of what the first sentence names, divided by "
		"the training time, for an hour of it; and for a day and a month of thirty days of all GPUs "
		"that did something. Per thousand steps: divided by the steps. What each step cost is all that was paid, divided by them.</dd>\n"
		"<dt>Starved</dt><dd>The sum of all <code>input.*</code> classes.</dd>\n"
		"<dt>Wasted</dt><dd>The sum of the classes marked as waste in the ledger. Start-up, "
		"shutdown and what is unknown are never waste.</dd>\n"
		"<dt>Cost</dt><dd>Price per GPU-hour times nanoseconds, for each GPU and class, rounded to "
		"a billionth of a dollar; totals are sums of these. Cents appear only in print.</dd>\n"
		"<dt>At most</dt><dd>A saving is the whole time of its cause, or less where arithmetic "
		"says so. It is never a promise.</dd>\n"
		"<dt>How sure</dt><dd>High: the records, and a range or three samples of the gap, say the same. "
		"Medium: one or two samples of each gap, however many of all, or a gap that is split in "
		"proportion between those at work, or a gap without samples beside ten or more that show this cause. "
		"Low: beside fewer of them. "
		"None: not known. A cause is as sure as most of its time.</dd>\n</dl>\n<h3>The classes of this run</h3>\n<dl class=\"classes\">\n");
	for (int c = 0; c < ANA_CLASSES; c++)
		if (h->s->result->classes[c])
			put_class(h, c);
	html_put(h, "</dl>\n<p class=\"soft\">CAUSES.md has each rule at length: "
		    "<code>share/doc/gpustarve/CAUSES.md</code> where gpustarve is installed, "
		    "<code>docs/CAUSES.md</code> of its source.</p>\n");
	html_section_end(h);
}
