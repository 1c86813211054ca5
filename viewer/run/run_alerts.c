/* SPDX-License-Identifier: Apache-2.0 */
#include "run_alerts.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>
#include "core/log.h"

static bool add(struct view_alerts *a, const struct live_condition *c, int budget_pct)
{
	a->watch.by = "run";
	if (live_watch_add(&a->watch, c, NULL, budget_pct)) {
		view_error("--alert %s: more than %d conditions; leave some out", c->text,
			   LIVE_ALERTS_MAX);
		return false;
	}
	a->dollars |= live_condition_needs_price(c);
	return true;
}

bool view_alerts_condition(struct view_alerts *a, const char *text)
{
	struct live_condition_error e;
	struct live_condition c;

	if (!live_condition_parse(&c, text, &e)) {
		if (c.metric != LIVE_STEP_SLOWER_PCT)
			return add(a, &c, 0);
		view_error("--alert %s: only a collector knows the last runs; give it to "
			   "gpustarve-collector",
			   text);
		return false;
	}
	view_error("--alert %s: at character %zu: %s; such as 'idle_for>15m'", text, e.offset + 1,
		   e.why);
	return false;
}

bool view_alerts_budget(struct view_alerts *a, const char *usd)
{
	struct live_condition c[2];
	int64_t nano;

	if (a->budget) {
		view_error("--budget %s: it was given before; give it once", usd);
		return false;
	}
	if (live_usd_parse(usd, &nano) || nano <= 0) {
		view_error("--budget %s: not a budget; give dollars such as 50", usd);
		return false;
	}
	a->budget = usd;
	live_budget_conditions(nano, c);
	return add(a, &c[0], 80) && add(a, &c[1], 100);
}

/* A budget is two conditions with one command. */
bool view_alerts_exec(struct view_alerts *a, const char *command)
{
	size_t n = a->watch.entries;

	if (!n || a->watch.entry[n - 1].exec || !command[0]) {
		view_error("--exec %s: %s", command,
			   command[0] ? "no --alert or --budget comes before it"
				      : "no command; give one for the shell");
		return false;
	}
	if (strlen(command) >= LIVE_FIRED_TEXT) {
		view_error("--exec: longer than %d bytes; put it into a script",
			   LIVE_FIRED_TEXT - 1);
		return false;
	}
	a->watch.entry[n - 1].exec = command;
	if (a->watch.entry[n - 1].budget_pct)
		a->watch.entry[n - 2].exec = command;
	return true;
}

void view_alerts_begin(struct view_alerts *a, const char *dir)
{
	live_watch_restore(&a->watch, dir);
}

/* Whether a line can be written without waiting: who reads our stderr may have stopped to. */
static bool may_speak(const struct view_alerts *a)
{
	struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };

	return !a->quiet && poll(&p, 1, 0) == 1 && (p.revents & POLLOUT);
}

static void tell(void *arg, const struct live_fired *f, int written)
{
	struct view_alerts *a = arg;
	char words[LIVE_WORDS_BYTES];

	for (size_t i = 0; i < a->watch.entries; i++)
		if (!strcmp(a->watch.entry[i].alert.condition.text, f->condition))
			a->last = a->watch.entry[i].alert.condition.text;
	if (!may_speak(a))
		return;
	view_note("%s: %s%s%s%s", f->budget_pct ? "budget" : "alert", live_fired_words(words, f),
		  f->exec_error[0] ? "; its command could not be started: " : "", f->exec_error,
		  f->budget_pct == 100 ? "; nothing is stopped" : "");
	if (written && !a->told_unwritten)
		view_note("alerts.jsonl: %s; what fired is not kept with the run",
			  strerror(-written));
	a->told_unwritten |= written != 0;
}

/* What speaks of dollars is silent without a price; that it is must be said. */
static void tell_unpriced(struct view_alerts *a, const struct view_follow *f)
{
	const struct live_run *r = &f->tail.run;

	if (!a->dollars || a->told_unpriced || !r->gpus || f->totals.priced || !may_speak(a))
		return;
	for (size_t i = 0; i < r->gpus && !a->told_unpriced; i++) {
		if (r->gpu[i].nano_usd_per_hour >= 0)
			continue;
		view_note("%s: cannot be watched: no price is known for %s; give --price USD",
			  a->budget ? "--budget" : "--alert in dollars",
			  r->gpu[i].name[0] ? r->gpu[i].name : "a GPU");
		a->told_unpriced = true;
	}
}

static bool is_unsaved(enum live_metric m)
{
	return m == LIVE_UNSAVED_FOR || m == LIVE_UNSAVED_USD;
}

/* That it holds is asked of a copy: nothing fires by that. */
static bool tells_unsaved(const struct view_alerts *a, const struct view_follow *f)
{
	for (size_t i = 0; i < a->watch.entries; i++) {
		struct live_alert alert = a->watch.entry[i].alert;

		if (is_unsaved(alert.condition.metric) &&
		    live_alert_check(&alert, &f->totals, f->when.now_ns))
			return true;
	}
	return false;
}

void view_alerts_look(struct view_alerts *a, const struct view_follow *f, const char *id)
{
	struct live_watched run = { .dir = f->tail.dir, .id = id, .fired = tell, .arg = a };
	struct live_totals totals = f->totals;

	tell_unpriced(a, f);
	totals.serving = tells_unsaved(a, f) && view_serving_look(&a->serving, f);
	live_watch_check(&a->watch, &run, &totals, &f->when);
	live_watch_reap(&a->watch, f->tail.dir);
}
