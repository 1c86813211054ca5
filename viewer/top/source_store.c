/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run as the store tells it that gateways write to (fleet/pulse_table.h): all of its rows, at
 * each look.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/log.h"
#include "fleet/store.h"
#include "live/row.h"
#include "run/follow.h"
#include "source.h"

struct source_store {
	struct top_source source;
	struct fleet_store *store;
	struct live_reader *reader;
	struct view_rate_options rates;
	char team[LIVE_ROW_TEAM_BYTES], run[LIVE_ROW_RUN_BYTES];
	bool any_team; /* none was named, nor found yet */
	bool looked; /* there was a look that told something */
};

/* "[TEAM/]ID". False: it cannot be one, said. */
static bool take_name(struct source_store *s, const char *name)
{
	const char *slash = strchr(name, '/');
	int team = slash ? (int)(slash - name) : 0;

	s->any_team = !slash;
	if (snprintf(s->team, sizeof(s->team), "%.*s", team, name) < (int)sizeof(s->team) &&
	    snprintf(s->run, sizeof(s->run), "%s", slash ? slash + 1 : name) <
		    (int)sizeof(s->run) &&
	    s->run[0])
		return true;
	view_error("--run %s: not a run's id; give TEAM/ID, or ID", name);
	return false;
}

/* Which run it is, from the rows that came. */
static int settle(struct source_store *s, const struct fleet_pulses *p)
{
	if (!p->rows) {
		view_error("%s%s: no gateway has told of it; is it given this --store, and does "
			   "the run go on?",
			   s->run[0] ? "run " : "the store", s->run);
		return -ENOENT;
	}
	if (s->any_team && strcmp(p->row[0].team, p->row[p->rows - 1].team) != 0) {
		view_error("--run %s: runs of teams %s and %s have that id; give TEAM/%s", s->run,
			   p->row[0].team, p->row[p->rows - 1].team, s->run);
		return -ENOTUNIQ;
	}
	memcpy(s->team, p->row[0].team, sizeof(s->team));
	memcpy(s->run, p->row[0].run, sizeof(s->run));
	s->any_team = false;
	return 0;
}

static void apply(struct source_store *s, const struct fleet_pulses *p, struct live_run *run,
		  const struct live_when *when, struct top_snapshot *l)
{
	struct live_fired fired;

	for (size_t i = 0; i < p->rows; i++) {
		if (!live_row_fired(&p->row[i], &fired))
			top_take_alert(l, &fired);
		else
			live_row_apply(run, s->reader, &p->row[i], when);
	}
}

static void fill(struct source_store *s, const struct fleet_pulses *p, struct top_snapshot *l)
{
	struct live_when when = view_tail_now();
	struct live_run run;

	live_run_init(&run);
	*l = (struct top_snapshot){ .exit_status = -1 };
	top_tame(l->run, sizeof(l->run), s->run);
	apply(s, p, &run, &when, l);
	view_follow_price(&run, &s->rates);
	live_run_totals(&run, when.now_ns, &l->totals);
	top_take_run(l, &run, when.now_ns);
	top_snapshot_close(l);
	live_run_fini(&run);
}

static int fetch_snapshot(struct top_source *source, struct top_snapshot *l)
{
	struct source_store *s = (struct source_store *)source;
	const struct fleet_pulses_query q = { .run = s->run[0] ? s->run : NULL,
					      .team = s->any_team ? NULL : s->team,
					      .newest = !s->run[0] };
	struct fleet_pulses p = { .row = NULL };
	int err = fleet_store_read_pulses(s->store, &q, &p);

	if (!err)
		err = settle(s, &p);
	if (!err)
		fill(s, &p, l);
	fleet_pulses_fini(&p);
	if (!err || !s->looked) {
		s->looked = !err;
		return err;
	}
	*l = (struct top_snapshot){ .exit_status = -1 };
	top_tame(l->run, sizeof(l->run), s->run);
	snprintf(l->trouble, sizeof(l->trouble), "the store does not answer: %s", strerror(-err));
	return 0;
}

static void source_free(struct top_source *source)
{
	struct source_store *s = (struct source_store *)source;

	fleet_store_close(s->store);
	live_reader_free(s->reader);
	free(s);
}

struct top_source *top_source_store(const struct top_source_options *o)
{
	struct source_store *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->source = (struct top_source){ fetch_snapshot, source_free };
	s->rates = o->rates;
	s->any_team = true;
	s->reader = live_reader_new();
	if (s->reader && (!o->run || take_name(s, o->run)) &&
	    !fleet_store_open(&s->store, o->store, false))
		return &s->source;
	source_free(&s->source);
	return NULL;
}
