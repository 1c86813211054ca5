/* SPDX-License-Identifier: Apache-2.0 */
/* What a kill would cost, and what kills have cost. */
#include <inttypes.h>
#include "base/amounts.h"
#include "base/units.h"
#include "text_priv.h"

static const char *money(struct page *p, int64_t nano_usd)
{
	base_unit usd;

	if (nano_usd < 0)
		return "";
	return base_arena_printf(&p->mem, " = %s", base_money_ascii(usd, nano_usd));
}

static void put_none(struct page *p, const struct view_saves *v)
{
	base_unit silent;

	if (v->untold)
		text_line(p, "no save of which it is known what became of it");
	else if (v->lost_silent_ns)
		text_line(p, base_arena_printf(&p->mem, "no save was seen up to %s before the end",
					       base_duration(silent, v->lost_silent_ns)));
	else
		text_line(p, "no save was seen");
}

static void put_count(struct page *p, const struct view_saves *v)
{
	base_unit every, wait, a, b;
	const char *t;

	if (!v->checkpoints) {
		if (!view_saves_open(v))
			put_none(p, v);
		return;
	}
	t = base_arena_printf(&p->mem, "%s checkpoint%s of %s save%s",
			      base_count(a, v->checkpoints), v->checkpoints == 1 ? "" : "s",
			      base_count(b, v->saves), v->saves == 1 ? "" : "s");
	if (v->failed)
		t = base_arena_printf(&p->mem, "%s (%" PRIu64 " failed)", t, v->failed);
	if (v->every_ns >= 0)
		t = base_arena_printf(&p->mem, "%s, every %s", t,
				      base_duration(every, v->every_ns));
	if (v->exposed_ns >= 0)
		t = base_arena_printf(&p->mem, "%s; each kept a GPU waiting for %s", t,
				      base_duration(wait, v->exposed_ns));
	text_line(p, t);
}

/* What may be a checkpoint, for all that is known. */
static void put_unsure(struct page *p, const struct view_saves *v)
{
	base_unit a, bytes, when;

	if (v->unsure)
		text_line(p, base_arena_printf(
				     &p->mem,
				     "not known: %s save%s of which no model's or optimizer's "
				     "state was seen, and that no restart opened: %s",
				     base_count(a, v->unsure), v->unsure == 1 ? "" : "s",
				     v->unsure == 1 ? "it may be a checkpoint, or not"
						    : "they may be checkpoints, or not"));
	if (v->deleted)
		text_line(p, base_arena_printf(&p->mem,
					       "not known: %s checkpoint%s deleted; whether a copy "
					       "is elsewhere is not seen",
					       base_count(a, v->deleted),
					       v->deleted == 1 ? " was" : "s were"));
	if (v->unmoved)
		text_line(p, base_arena_printf(&p->mem,
					       "not known: %s checkpoint%s saved to a name from "
					       "which %s not seen to be renamed: a restart may not "
					       "find %s",
					       base_count(a, v->unmoved),
					       v->unmoved == 1 ? " was" : "s were",
					       v->unmoved == 1 ? "it was" : "they were",
					       v->unmoved == 1 ? "it" : "them"));
	if (v->writtens)
		text_line(p, base_arena_printf(
				     &p->mem,
				     "not known: files of %s were written, the last at %s, by what "
				     "is not known to save",
				     base_bytes(bytes, v->written_bytes),
				     base_moment(when, v->written_ns)));
	if (v->lost_silent_ns && (v->checkpoints || view_saves_open(v)))
		text_line(p, base_arena_printf(&p->mem,
					       "not known: what was saved or deleted in the last "
					       "%s before the end",
					       base_duration(when, v->lost_silent_ns)));
}

static void put_loss(struct page *p, const struct view_saves *v)
{
	bool open = v->deleted || view_saves_open(v);
	base_unit mean, worst, start, now;

	text_line(p,
		  base_arena_printf(&p->mem,
				    "a kill loses %s%s of GPU time%s on average, %s at most, "
				    "and %s of each GPU to start again",
				    open ? "up to " : "", base_duration(mean, v->mean_ns),
				    money(p, v->mean_nano_usd), base_duration(worst, v->worst_ns),
				    base_duration(start, v->start_up_ns)));
	if (v->now_ns >= 0)
		text_line(p, base_arena_printf(&p->mem, "a kill now loses %s of GPU time%s",
					       base_duration(now, v->now_ns),
					       money(p, v->now_nano_usd)));
}

static void put_interval(struct page *p, const struct view_saves *v)
{
	base_unit best, cost, between;

	if (v->best_ns < 0)
		return;
	text_line(p,
		  base_arena_printf(
			  &p->mem,
			  "best interval %s (Young: the root of 2 x %s x %s between %s, %s)",
			  base_duration(best, v->best_ns), base_duration(cost, v->exposed_ns),
			  base_duration(between, v->between_ns),
			  v->failures ? "kills and failures" : "kills",
			  v->between_seen ? "as seen here"
					  : "one in 50,677 GPU-hours: Llama 3, arXiv 2407.21783, "
					    "2024-07-31"));
}

static void put_spot(struct page *p, const struct view_saves *v)
{
	base_unit pays;

	if (v->has_spot && v->spot_pays_ns >= 0)
		text_line(p, base_arena_printf(
				     &p->mem,
				     "on spot it pays unless killed oftener than every %s: %s; "
				     "source: %s",
				     base_duration(pays, v->spot_pays_ns),
				     view_text_rate(&v->spot, &p->mem), v->spot.source));
	if (v->grade)
		text_line(p, base_arena_printf(&p->mem, "spot grade %c (%s)", v->grade,
					       SAVES_GRADE_RULE));
}

/* By a signal, or by itself. */
static const char *broke_words(struct page *p, const struct view_saves *v)
{
	const char *killed = base_arena_printf(&p->mem, "%" PRIu64 " %s killed", v->kills,
					       v->kills == 1 ? "was" : "were");
	const char *failed = base_arena_printf(&p->mem, "%" PRIu64 " failed", v->failures);

	if (!v->kills || !v->failures)
		return v->kills ? killed : failed;
	return base_arena_printf(&p->mem, "%s and %s", killed, failed);
}

static void put_parts(struct page *p, const struct view_saves *v)
{
	const char *t = "";

	for (int k = 0; k < SAVES_PARTS; k++) {
		base_unit time;

		if (!v->ns[k])
			continue;
		t = base_arena_printf(
			&p->mem, "%s%s%s%s %s%s", t, *t ? ", " : "", saves_part_names[k],
			k == SAVES_LOST && v->lost_silent_ns ? " at most" : "",
			base_duration(time, v->ns[k]),
			p->s->cost.known && v->nano_usd[k] >= 0 ? money(p, v->nano_usd[k]) : "");
	}
	text_line(p, t);
	if (v->ns[SAVES_DURABLE] > 0)
		text_line(p, saves_caveat_words(&v->state, &p->mem));
	if (v->kills || v->failures)
		text_line(p, base_arena_printf(&p->mem, "of %" PRIu64 " %s %s", v->starts,
					       v->starts == 1 ? "start" : "starts",
					       broke_words(p, v)));
}

void text_saves(struct page *p)
{
	const struct view_saves *v = p->s->saves;

	if (view_serves(p->s)) {
		text_heading(p, "Saves");
		text_line(p, "it is inference, " VIEW_SERVING_WORDS);
	}
	if (!v)
		return;
	text_heading(p, "Saves");
	put_count(p, v);
	put_unsure(p, v);
	put_loss(p, v);
	put_interval(p, v);
	put_spot(p, v);
	put_parts(p, v);
}
