/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ranks side by side: who came late to collectives, how often, why, and what the others'
 * waiting cost; who is slow, dead or hung; how well the hosts' clocks were brought together.
 */
#include <inttypes.h>
#include <string.h>
#include "base/minmax.h"
#include "findings/seldom.h"
#include "findings/words.h"
#include "html_priv.h"

#define NAMED_MAX 8
#define GROUPS_MAX 16

static const struct ana_ranks *ranks(const struct html *h)
{
	return &h->s->result->ranks;
}

/* "rank 3", or where the job gave none "GPU 3". */
void html_rank_name(struct html *h, size_t i, const char *word)
{
	const struct ana_rank *r = &ranks(h)->row[i];

	html_put(h, r->has_rank ? word : "GPU ");
	if (r->has_rank)
		html_id(h, r->rank, "/ranks/rows/%zu/rank", i);
	else
		html_id(h, r->gpu, "/ranks/rows/%zu/gpu", i);
}

/* "train.py:38 fetch": where a late rank mostly was. */
static void put_hotspot(struct html *h, size_t i)
{
	const struct ana_rank *r = &ranks(h)->row[i];

	if (!r->file && !r->function)
		return;
	fprintf(h->f, " <span class=\"mono\" data-from=\"/ranks/rows/%zu/where\">", i);
	if (r->file) {
		html_put(h, "<bdi class=\"spot\">");
		html_escape(h->f, view_file_name(r->file));
		if (r->line)
			fprintf(h->f, ":%" PRIu32, r->line);
		html_put(h, "</bdi>");
	}
	if (r->function) {
		html_put(h, " <bdi>");
		html_escape(h->f, r->function);
		html_put(h, "</bdi>");
	}
	html_put(h, "</span>");
}

static void put_caused(struct html *h, size_t i)
{
	html_ns(h, ranks(h)->row[i].caused_ns, "/ranks/rows/%zu/caused_ns", i);
	if (!h->s->cost.known)
		return;
	html_put(h, " = ");
	html_usd(h, h->s->rank_nano_usd[i], "/ranks/rows/%zu/caused_usd", i);
}

/* One culprit in words. */
static void put_culprit(struct html *h, size_t i)
{
	const struct ana_rank *r = &ranks(h)->row[i];

	html_put(h, "<li><b>");
	html_rank_name(h, i, "Rank ");
	html_put(h, "</b> made the others wait ");
	put_caused(h, i);
	html_put(h, r->culprit == ANA_CULPRIT_STABLE ? ", again and again: it came last by much to "
		    : r->culprit == ANA_CULPRIT_ROTATING ? ", at times: it came last by much to "
							 : ", but came last by much only to ");
	html_count(h, r->late_much, "/ranks/rows/%zu/late_much", i);
	html_put(h, " of ");
	html_count(h, r->matched, "/ranks/rows/%zu/matched", i);
	html_put(h, r->culprit == ANA_CULPRIT_NONE ? " collectives, " VIEW_SELDOM_WORDS "."
						   : " collectives.");
	if (r->top_cause < ANA_CLASSES) {
		html_put(h, " Meanwhile it was mostly in ");
		html_class(h, r->top_cause);
		put_hotspot(h, i);
		html_put(h, ".");
	}
	html_put(h, "</li>\n");
}

static void put_culprits(struct html *h)
{
	size_t *row, named = view_ranks_named(h->s, &h->mem, &row), all = named;

	for (size_t i = 0; i < ranks(h)->rows; i++)
		all += view_rank_is_seldom(h->s, i);
	html_put(h, all ? "<ul>\n" : "");
	for (size_t i = 0; i < named && i < NAMED_MAX; i++)
		put_culprit(h, row[i]);
	named = base_min(named, NAMED_MAX);
	for (size_t i = 0; i < ranks(h)->rows && named < NAMED_MAX; i++)
		if (view_rank_is_seldom(h->s, i)) {
			put_culprit(h, i);
			named++;
		}
	html_put(h, all ? "</ul>\n"
			: "<p>No rank made the others wait by more than chance explains.</p>\n");
	if (all > NAMED_MAX)
		html_put(h, "<p class=\"soft\">The table below names all of them.</p>\n");
}

/* Those who waited for a dead one. */
static void put_left(struct html *h, size_t i)
{
	const struct ana_rank *r = &ranks(h)->row[i];

	html_put(h, " died at ");
	html_moment(h, r->ended_ns, "/ranks/rows/%zu/death/ended_ns", i);
	html_put(h, "; ");
	html_count(h, r->left, "/ranks/rows/%zu/death/waiting", i);
	html_put(h, r->left == 1 ? " other waited for it until it ended: "
				 : " others waited for it until they ended: ");
	html_ns(h, r->left_ns, "/ranks/rows/%zu/death/waited_ns", i);
	if (h->s->cost.known) {
		html_put(h, " = ");
		html_usd(h, h->s->left_nano_usd[i], "/ranks/rows/%zu/death/waited_usd", i);
	}
	html_put(h, ". ");
}

static void put_gone(struct html *h, size_t i)
{
	const struct ana_rank *r = &ranks(h)->row[i];

	html_put(h, "<p class=\"bad\">");
	html_rank_name(h, i, "Rank ");
	if (r->left)
		put_left(h, i);
	html_put(h, r->left			? "It was in "
		    : r->state == ANA_RANK_DEAD ? " died while the others went on: it was in "
						: " hung: it lived on, but came to no more than ");
	html_count(h, r->collectives, "/ranks/rows/%zu/collectives", i);
	html_put(h, " collectives");
	if (r->last_name) {
		html_put(h, ", the last of them ");
		html_text(h, "bdi class=\"mono\"", r->last_name, "/ranks/rows/%zu/last_collective",
			  i);
	}
	html_put(h, ".</p>\n");
}

static void put_slow(struct html *h, size_t i)
{
	html_put(h, "<p>");
	html_rank_name(h, i, "Rank ");
	html_put(h, " has a slow GPU: for the same kernels it takes ");
	html_ppm(h, ranks(h)->row[i].straggler_ppm, "/ranks/rows/%zu/straggler_ppm", i);
	html_put(h, " longer than the median of the others. It may be hot, shared or throttled; it "
		    "does not starve.</p>\n");
}

/* What else is wrong with a rank. */
static void put_troubles(struct html *h)
{
	const struct ana_ranks *r = ranks(h);
	size_t said = 0;

	for (size_t i = 0; i < r->rows && said < NAMED_MAX; i++) {
		const struct ana_rank *row = &r->row[i];

		said += row->state != ANA_RANK_ENDED || row->straggler;
		if (row->state != ANA_RANK_ENDED)
			put_gone(h, i);
		if (row->straggler && row->has_straggler)
			put_slow(h, i);
	}
}

static void put_host(struct html *h, size_t i)
{
	const struct ana_rank *r = &ranks(h)->row[i];

	html_rank_name(h, i, "");
	html_put(h, " <span class=\"soft small\">");
	html_text(h, "bdi", h->s->result->gpu[r->gpu].host, "/ranks/rows/%zu/host", i);
	html_put(h, "</span>");
}

static void put_late(struct html *h, size_t i)
{
	html_count(h, ranks(h)->row[i].late, "/ranks/rows/%zu/late", i);
	html_put(h, " of ");
	html_count(h, ranks(h)->row[i].matched, "/ranks/rows/%zu/matched", i);
}

static void put_cause(struct html *h, size_t i)
{
	const struct ana_rank *r = &ranks(h)->row[i];

	if (r->top_cause < ANA_CLASSES) {
		html_class(h, r->top_cause);
		put_hotspot(h, i);
	}
}

static void put_row(struct html *h, size_t i)
{
	static const char *const culprit[ANA_CULPRITS] = { "", "again and again", "at times" };
	static const char *const state[ANA_RANK_STATES] = { "", "dead", "hung" };
	const struct ana_rank *r = &ranks(h)->row[i];

	html_put(h, "<tr>");
	HTML_CELL_IN(h, "th scope=\"row\" class=\"keep\"", put_host(h, i));
	HTML_NUMBER(h, put_late(h, i));
	HTML_NUMBER(h, html_count(h, r->late_much, "/ranks/rows/%zu/late_much", i));
	HTML_NUMBER(h, html_ns(h, r->caused_ns, "/ranks/rows/%zu/caused_ns", i));
	if (h->s->cost.known)
		HTML_NUMBER(h,
			    html_usd(h, h->s->rank_nano_usd[i], "/ranks/rows/%zu/caused_usd", i));
	HTML_CELL(h, put_cause(h, i));
	HTML_NUMBER(h, html_ns(h, r->waited_ns, "/ranks/rows/%zu/waited_ns", i));
	fprintf(h->f, "<td>%s%s%s%s%s</td></tr>\n", state[r->state],
		*state[r->state] && *culprit[r->culprit] ? ", " : "", culprit[r->culprit],
		r->straggler && (*state[r->state] || *culprit[r->culprit]) ? ", " : "",
		r->straggler ? "slow GPU" : "");
}

static void put_table(struct html *h, size_t shown)
{
	html_table(h, "Who came late to collectives, and what the others waited for it");
	HTML_HEADS(h, "Rank", "n:Last to come", "n:... by much", "n:Others waited", "$:Cost",
		   "Meanwhile it was in", "n:It waited", "It is");
	for (size_t i = 0; i < shown; i++)
		put_row(h, i);
	html_table_end(h);
	if (shown < ranks(h)->rows) {
		html_put(h, "<p class=\"soft\">These are the first of ");
		html_count(h, ranks(h)->rows, "#/ranks/rows");
		html_put(h, " ranks; summary.json has all.</p>\n");
	}
}

static void put_clock(struct html *h, size_t i)
{
	const struct ana_clock *c = &ranks(h)->clock[i];

	html_put(h, "<tr>");
	HTML_ROW(h, html_text(h, "bdi", c->host, "/ranks/clocks/%zu/host", i));
	if (!c->aligned) {
		html_put(h,
			 "<td colspan=\"4\">nothing of it could be matched to others'; its ranks "
			 "are compared with nobody</td></tr>\n");
		return;
	}
	html_put(h, "<td class=\"n\">");
	html_id(h, c->offset_ns, "/ranks/clocks/%zu/offset_ns", i);
	html_put(h, " ns</td><td class=\"n\">");
	html_id(h, c->drift_ppb, "/ranks/clocks/%zu/drift_ppb", i);
	html_put(h, "</td>");
	HTML_NUMBER_IF(h, c->residual_ns >= 0,
		       html_ns(h, c->residual_ns, "/ranks/clocks/%zu/residual_ns", i));
	HTML_NUMBER(h, html_count(h, c->points, "/ranks/clocks/%zu/points", i));
	html_put(h, "</tr>\n");
}

/* Of several hosts: the first is the one that the others are set to. */
static void put_clocks(struct html *h)
{
	const struct ana_ranks *r = ranks(h);

	if (r->clocks < 2)
		return;
	html_put(h, "<h3>Clocks</h3>\n<p>A collective ends on all its ranks at once: from that the "
		    "hosts' clocks were set to the first one's.</p>\n");
	html_table(h, "Clocks of the hosts");
	HTML_HEADS(h, "Host", "n:Set by", "n:Drift, parts in a billion", "n:Ends agree within, p95",
		   "n:Collectives");
	for (size_t i = 0; i < r->clocks && i < html_budget(h, HTML_GPUS_MAX); i++)
		put_clock(h, i);
	html_table_end(h);
}

static void put_group(struct html *h, size_t i)
{
	const struct ana_group *g = &ranks(h)->group[i];

	html_put(h, "<tr>");
	HTML_CELL_IN(h, "th scope=\"row\" class=\"wide\"",
		     html_text(h, "bdi class=\"mono\"", g->name ? g->name : "",
			       "/ranks/groups/%zu/name", i));
	HTML_NUMBER(h, html_count(h, g->members, "#/ranks/groups/%zu/members", i));
	HTML_NUMBER(h, html_count(h, g->matched, "/ranks/groups/%zu/matched", i));
	HTML_NUMBER(h, html_ns(h, g->waited_ns, "/ranks/groups/%zu/waited_ns", i));
	HTML_NUMBER(h, html_count(h, g->refused, "/ranks/groups/%zu/refused", i));
	html_put(h, "</tr>\n");
}

static void put_groups(struct html *h)
{
	const struct ana_ranks *r = ranks(h);

	if (!r->groups)
		return;
	html_details(h, "Communicators");
	html_table(h, "Communicators, as far as records tell");
	HTML_HEADS(h, "Most of its collectives", "n:Ranks", "n:Matched", "n:Waited in it",
		   "n:Without counterpart");
	for (size_t i = 0; i < r->groups && i < GROUPS_MAX; i++)
		put_group(h, i);
	html_table_end(h);
	html_details_end(h);
}

static void put_matched(struct html *h)
{
	const struct ana_ranks *r = ranks(h);

	html_put(h, "<p class=\"soft\">");
	html_count(h, r->matched, "/ranks/matched");
	html_put(h, " collectives were matched across ranks");
	if (r->refused) {
		html_put(h, "; ");
		html_count(h, r->refused, "/ranks/refused");
		html_put(h, " kernels had no counterpart, and their ");
		html_ns(h, r->refused_ns, "/ranks/refused_ns");
		html_put(h, " stay communication");
	}
	if (r->p2p) {
		html_put(h, "; of ");
		html_count(h, r->p2p, "/ranks/p2p");
		html_put(h, " kernels of sends, receives and the like ");
		html_count(h, r->p2p_matched, "/ranks/p2p_matched");
		html_put(h, " were matched in pairs");
	}
	html_put(h, ". Late by much means by ");
	html_ns(h, r->late_ns, "/ranks/late_ns");
	html_put(h, " or more.</p>\n");
}

void html_ranks(struct html *h)
{
	size_t most = html_budget(h, HTML_GPUS_MAX);
	size_t shown = ranks(h)->rows < most ? ranks(h)->rows : most;

	if (!shown)
		return;
	html_section(h, "ranks", "The ranks");
	put_culprits(h);
	put_troubles(h);
	html_ranks_strip(h, shown);
	put_table(h, shown);
	put_matched(h);
	put_clocks(h);
	put_groups(h);
	html_section_end(h);
}
