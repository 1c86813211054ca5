/* SPDX-License-Identifier: Apache-2.0 */
/* What was found, against what may be lost, in a line. */
#include "job_safe.h"

#include <stdio.h>
#include "base/units.h"
#include "cmd.h"
#include "core/log.h"
#include "live/condition.h"
#include "model/model.h"
#include "saves/insurance.h"
#include "saves/state.h"
#include "top/stop.h"

#define LOSS "1m" /* of each GPU that may be lost, unless --lose says otherwise */

/* --lose as a condition of what is too much. */
static bool parse_loss(const char *text, struct live_condition *c)
{
	struct live_condition_error e;
	char condition[LIVE_CONDITION_BYTES];

	snprintf(condition, sizeof(condition), "%s>%.64s",
		 *text == '$' ? "unsaved_usd" : "unsaved_for", text);
	return !live_condition_parse(c, condition, &e) && !c->for_ns;
}

bool view_job_good_loss(const char *text)
{
	struct live_condition c;

	if (parse_loss(text, &c))
		return true;
	view_error("--lose %s: give a time of each GPU such as 90s, or dollars such as $2", text);
	return false;
}

struct loss { /* of all GPUs, of one; dollars */
	int64_t ns, most_ns, nano_usd;
};

static bool too_much(struct loss l, const struct live_condition *c)
{
	return c->metric == LIVE_UNSAVED_USD ? l.nano_usd > c->value : l.most_ns > c->value;
}

static struct loss loss_of(const struct top_stop *f)
{
	return (struct loss){ f->ns, f->most_ns, f->nano_usd };
}

/* Where small states are not relied on. */
static struct loss sure_loss_of(const struct top_stop *f)
{
	return (struct loss){ f->sure_ns, f->sure_most_ns, f->sure_nano_usd };
}

static void put_amount(const struct top_stop *f, struct loss l)
{
	base_unit all, most, usd;

	printf("%s of GPU time", base_duration(all, l.ns));
	if (f->priced)
		printf(" (%s)", base_money_ascii(usd, l.nano_usd));
	printf(", %s of one GPU", base_duration(most, l.most_ns));
}

static void put_more(const struct top_stop *f)
{
	if (f->saving)
		printf("; a save is under way");
	if (f->grade)
		printf("; spot grade %c (%s)", f->grade, SAVES_GRADE_RULE);
	putchar('\n');
}

static void put_loss(const struct top_stop *f)
{
	struct base_arena mem = { 0 };

	put_amount(f, loss_of(f));
	if (f->unsaved)
		printf("; nothing that was saved since it began is there");
	else
		printf(" since %s", saves_state_words(f->on == 1 ? f->saved_bytes : 0, &mem));
	base_arena_fini(&mem);
	if (f->small) {
		printf("; the newest is %s, and if it is not all of it, ",
		       saves_small_words[f->small]);
		put_amount(f, sure_loss_of(f));
	}
	put_more(f);
}

static void put_ago(const struct top_stop *f)
{
	base_unit ago;

	if (f->unsure_for_ns >= LIVE_SECOND_NS)
		printf(" %s ago", base_duration(ago, f->unsure_for_ns));
	else if (f->unsure_for_ns >= 0)
		printf(" just now");
}

static void put_written(const struct top_stop *f)
{
	base_unit bytes;

	if (f->unsure_bytes)
		printf("%s ", base_bytes(bytes, f->unsure_bytes));
	else
		printf("files ");
	printf("were written");
	put_ago(f);
	printf(" by what is not known to save a training; if that is not a checkpoint");
}

static void put_deleted(const struct top_stop *f)
{
	printf("the newest checkpoint was deleted");
	put_ago(f);
	printf("; if no copy is elsewhere");
}

static void put_unmoved(const struct top_stop *f)
{
	printf("the newest checkpoint was saved");
	put_ago(f);
	printf(" to a name from which it was not renamed yet; if a restart does not find it there");
}

/* What is there may be of something else than what trains. */
static int tell_small(const struct top_stop *f, const char *id)
{
	base_unit bytes;

	printf("%s: not known: the newest state that was saved has %s, which is %s; if it is not "
	       "all of it, a stop now loses ",
	       id, base_bytes(bytes, f->small_bytes), saves_small_words[f->small]);
	put_amount(f, sure_loss_of(f));
	put_more(f);
	return VIEW_EXIT_ERROR;
}

/* Whether what was written is a checkpoint, or there is one, decides, and nobody knows it. */
static int tell_unsure(const struct top_stop *f, const char *id)
{
	printf("%s: not known: ", id);
	if (f->deleted)
		put_deleted(f);
	else if (f->unmoved)
		put_unmoved(f);
	else
		put_written(f);
	printf(", a stop now loses ");
	put_loss(f);
	return VIEW_EXIT_ERROR;
}

/* What it was held since it began is no loss: nothing of that would have to be done again. */
static int tell_serving(const char *id)
{
	printf("%s: not known: it is inference so far, " VIEW_SERVING_WORDS
	       ", and nobody answers new ones\n",
	       id);
	return VIEW_EXIT_ERROR;
}

/* Of what is not here nobody knows how long it held a GPU. */
static int tell_untraced(const struct top_stop *f, const char *id)
{
	printf("%s: not known: %s has no trace here: no process of it has come to a GPU yet, or a "
	       "collector keeps its trace elsewhere\n",
	       id, f->untraced == 1 ? "a run of it that goes on" : "some of its runs that go on");
	return VIEW_EXIT_ERROR;
}

static int tell(const struct top_stop *f, const char *id, const struct live_condition *c)
{
	bool costs = too_much(loss_of(f), c);

	if (f->untraced && !(costs && !f->unsure))
		return tell_untraced(f, id);
	if (!f->on) {
		printf("%s: safe to stop: nothing of it holds a GPU\n", id);
		return VIEW_EXIT_OK;
	}
	if (f->serving == f->on)
		return tell_serving(id);
	if (f->untold) {
		printf("%s: not known: not all saves of it were read; ask again after the next "
		       "one\n",
		       id);
		return VIEW_EXIT_ERROR;
	}
	if (c->metric == LIVE_UNSAVED_USD && !f->priced) {
		printf("%s: not known: no price is known; give --price USD, or --lose a time\n",
		       id);
		return VIEW_EXIT_ERROR;
	}
	if (costs && f->unsure)
		return tell_unsure(f, id);
	if (!costs && f->small && too_much(sure_loss_of(f), c))
		return tell_small(f, id);
	printf("%s: %s ", id, costs ? "a stop now loses" : "safe to stop: it loses");
	put_loss(f);
	return costs ? VIEW_EXIT_COSTS : VIEW_EXIT_OK;
}

int view_job_stop(const char *id, const struct view_job_choice *o)
{
	const struct top_stop_options look = { .dir = o->dir,
					       .cluster = o->cluster,
					       .token_file = o->token_file,
					       .ca_file = o->ca_file,
					       .rates = o->rates };
	struct live_condition loss;
	struct top_stop f = { 0 };

	if (!parse_loss(o->lose ? o->lose : LOSS, &loss) || !top_stop_look(&f, id, &look))
		return VIEW_EXIT_ERROR;
	return tell(&f, id, &loss);
}
