/* SPDX-License-Identifier: Apache-2.0 */
/* What a kill would cost, and what kills have cost. */
#include "html_priv.h"

static void put_money(struct html *h, int64_t nano, const char *key)
{
	if (nano < 0)
		return;
	html_put(h, " = ");
	html_money(h, nano, "%s", key);
}

static void put_none(struct html *h, const struct view_saves *v)
{
	html_put(h,
		 v->untold ? "No save of which it is known what became of it" : "No save was seen");
	if (!v->untold && v->lost_silent_ns) {
		html_put(h, " up to ");
		html_ns(h, v->lost_silent_ns, "/saves/lost_silent_ns");
		html_put(h, " before the end");
	}
	html_put(h, ".</p>\n");
}

static void put_count(struct html *h, const struct view_saves *v)
{
	if (!v->checkpoints && view_saves_open(v))
		return;
	html_put(h, "<p>");
	if (!v->checkpoints) {
		put_none(h, v);
		return;
	}
	html_put(h, "Checkpoints: ");
	html_count(h, v->checkpoints, "/saves/checkpoints");
	html_put(h, ", of so many saves: ");
	html_count(h, v->saves, "/saves/saves");
	if (v->failed) {
		html_put(h, " (failed: ");
		html_count(h, v->failed, "/saves/failed");
		html_put(h, ")");
	}
	if (v->every_ns >= 0) {
		html_put(h, ", every ");
		html_ns(h, v->every_ns, "/saves/every_ns");
	}
	if (v->exposed_ns >= 0) {
		html_put(h, "; each kept a GPU waiting for ");
		html_ns(h, v->exposed_ns, "/saves/exposed_ns");
	}
	html_put(h, ".</p>\n");
}

static void put_unsure(struct html *h, const struct view_saves *v)
{
	if (v->unsure) {
		html_put(h, "<p>Not known: saves of which no model's or optimizer's state was "
			    "seen, and that no restart opened; they may be checkpoints, or "
			    "not: ");
		html_count(h, v->unsure, "/saves/unsure");
		html_put(h, ".</p>\n");
	}
	if (v->deleted) {
		html_put(h, "<p>Not known: checkpoints that were deleted, of which a copy may be "
			    "elsewhere: ");
		html_count(h, v->deleted, "/saves/deleted");
		html_put(h, ".</p>\n");
	}
	if (v->unmoved) {
		html_put(h, "<p>Not known: checkpoints that were saved to a name from which they "
			    "were not seen to be renamed, so that a restart may not find them: ");
		html_count(h, v->unmoved, "/saves/unmoved");
		html_put(h, ".</p>\n");
	}
	if (v->writtens) {
		html_put(h, "<p>Not known: files of ");
		html_bytes(h, v->written_bytes, "/saves/written_bytes");
		html_put(h, " were written, the last at ");
		html_moment(h, v->written_ns, "/saves/written_unix_ns");
		html_put(h, ", by what is not known to save.</p>\n");
	}
	if (v->lost_silent_ns && (v->checkpoints || view_saves_open(v))) {
		html_put(h, "<p>Not known: what was saved or deleted in the last ");
		html_ns(h, v->lost_silent_ns, "/saves/lost_silent_ns");
		html_put(h, " before the end.</p>\n");
	}
}

static void put_loss(struct html *h, const struct view_saves *v)
{
	html_put(h, "<p>A kill loses ");
	if (v->deleted || view_saves_open(v))
		html_put(h, "up to ");
	html_ns(h, v->mean_ns, "/saves/mean_loss_ns");
	html_put(h, " of GPU time");
	put_money(h, v->mean_nano_usd, "/saves/mean_loss_usd");
	html_put(h, " on average, ");
	html_ns(h, v->worst_ns, "/saves/worst_loss_ns");
	html_put(h, " at most, and ");
	html_ns(h, v->start_up_ns, "/saves/start_up_ns");
	html_put(h, " of each GPU to start again.");
	if (v->now_ns >= 0) {
		html_put(h, " A kill now loses ");
		html_ns(h, v->now_ns, "/saves/now_ns");
		put_money(h, v->now_nano_usd, "/saves/now_usd");
		html_put(h, ".");
	}
	html_put(h, "</p>\n");
}

static void put_interval(struct html *h, const struct view_saves *v)
{
	if (v->best_ns < 0)
		return;
	html_put(h, "<p>Best interval ");
	html_ns(h, v->best_ns, "/saves/best_ns");
	html_put(h, ": Young's, the root of twice ");
	html_ns(h, v->exposed_ns, "/saves/exposed_ns");
	html_put(h, " times ");
	html_ns(h, v->between_ns, "/saves/between_ns");
	html_put(h,
		 v->between_seen
			 ? v->failures ? " between kills and failures, as seen here.</p>\n"
				       : " between kills, as seen here.</p>\n"
			 : " between kills, as published for large clusters (The Llama 3 Herd of "
			   "Models, 2024-07-31).</p>\n");
}

static void put_spot(struct html *h, const struct view_saves *v)
{
	if (v->has_spot && v->spot_pays_ns >= 0) {
		html_put(h, "<p>On spot at ");
		html_price(h, v->spot.nano_usd_per_hour, "/saves/spot/usd_per_gpu_hour");
		html_put(h, " per GPU-hour (");
		html_text(h, "span", v->spot.label, "/saves/spot/label");
		html_put(h, ", ");
		html_text(h, "span", v->spot.source, "/saves/spot/source");
		html_put(h, ", ");
		html_text(h, "span", v->spot.date, "/saves/spot/date");
		html_put(h, ") it pays unless killed oftener than every ");
		html_ns(h, v->spot_pays_ns, "/saves/spot/pays_ns");
		html_put(h, ".</p>\n");
	}
	if (v->grade) {
		char grade[2] = { v->grade, 0 };

		html_put(h, "<p>Spot grade ");
		html_text(h, "strong", grade, "/saves/grade");
		html_put(h, " <span class=\"soft small\">" SAVES_GRADE_RULE "</span></p>\n");
	}
}

static void put_part(struct html *h, const struct view_saves *v, int part)
{
	static const char *const what[SAVES_PARTS] = {
		"saved, as far as is known",
		"behind the last save, of what ended in order or goes on",
		"killed or failed, and done again from a save before",
		"what was written, or what a restart began with, is not known",
		"killed or failed, and nothing came after",
		"held, and no process ran, or after the last work"
	};
	const char *name = saves_part_names[part];

	html_put(h, "<tr>");
	HTML_CELL_IN(h, "th scope=\"row\" class=\"keep\"",
		     fprintf(h->f,
			     "<span class=\"mono\">%s</span> <span class=\"soft\">%s%s</span>",
			     name, what[part],
			     part == SAVES_LOST && v->lost_silent_ns ? "; at most" : ""));
	HTML_NUMBER(h, html_ns(h, v->ns[part], "/saves/parts/%s/ns", name));
	if (h->s->cost.known && v->nano_usd[part] >= 0)
		HTML_NUMBER(h, html_money(h, v->nano_usd[part], "/saves/parts/%s/usd", name));
	else
		html_put(h, "<td class=\"n\"></td>");
	html_put(h, "</tr>\n");
}

/* As saves_caveat_words() has it. */
static void put_caveat(struct html *h, const struct view_saves *v)
{
	const struct saves_state *s = &v->state;

	if (v->ns[SAVES_DURABLE] <= 0)
		return;
	html_put(h, "<p class=\"small\">In this table " SAVES_STATE_BEFORE "a state ");
	if (s->bytes) {
		html_put(h, "of ");
		html_bytes(h, s->bytes, "/saves/state_bytes");
		html_put(h, " ");
	}
	html_put(h, "was saved");
	if (s->small) {
		html_put(h, ", which is ");
		html_put(h, saves_small_words[s->small]);
	}
	if (s->most_bytes) {
		html_put(h, "; a checkpoint before it has ");
		html_bytes(h, s->most_bytes, "/saves/state_most_bytes");
		html_put(h, ", " SAVES_STATE_LESS);
	}
	html_put(h, "; " SAVES_STATE_AFTER ".</p>\n");
}

void html_saves(struct html *h)
{
	const struct view_saves *v = h->s->saves;

	if (view_serves(h->s)) {
		html_section(h, "saves", "Saves: what a kill costs");
		html_put(h, "<p>It is inference, " VIEW_SERVING_WORDS ".</p>\n");
		html_section_end(h);
	}
	if (!v)
		return;
	html_section(h, "saves", "Saves: what a kill costs");
	put_count(h, v);
	put_unsure(h, v);
	put_loss(h, v);
	put_interval(h, v);
	put_spot(h, v);
	html_table(h, "What became of the GPU time");
	HTML_HEADS(h, "Part", "n:Time", "n:Cost");
	for (int p = 0; p < SAVES_PARTS; p++)
		if (v->ns[p])
			put_part(h, v, p);
	html_table_end(h);
	put_caveat(h, v);
	html_section_end(h);
}
