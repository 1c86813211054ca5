/* SPDX-License-Identifier: Apache-2.0 */
#include "team_budgets.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "alert/conditions.h"
#include "base/hash.h"
#include "base/vec.h"
#include "claim_object.h"
#include "core/clock.h"
#include "core/log.h"
#include "live/command.h"
#include "live/row.h"

#define EVERY_NS (60 * COLL_SECOND_NS)
#define LOG_EVERY_NS (60 * COLL_SECOND_NS)
#define TIME_S 300
#define MEMORY (2ull << 30)
#define LINE_BYTES 2048
#define NANO 1000000000
#define COLUMNS 8

struct spent { /* a line of the child's; its texts are the line's */
	int level;
	const char *team, *period;
	int64_t nano_usd, limit;
	const char *condition, *text;
};

struct claim {
	struct coll_job job; /* first */
	struct coll_team_budgets *budgets;
	struct coll_claim_object object;
	struct live_fired fired;
	char team[LIVE_ROW_TEAM_BYTES];
	char text[LINE_BYTES];
	bool quiet; /* its object is put, and nobody told */
};

int coll_team_budgets_init(struct coll_team_budgets *b, const struct coll_gateway_options *o,
			   struct objects *objects, struct coll_hands *hands,
			   struct coll_context *context)
{
	*b = (struct coll_team_budgets){ .objects = objects, .hands = hands, .context = context };
	if (!o->store || !o->team_budgets)
		return 0;
	if (!coll_child_beside(b->program, "gpustarve")) {
		coll_log("--budget %s: there is no gpustarve beside this program",
			 o->team_budget[0]);
		return -ENOENT;
	}
	b->opts = o;
	return 0;
}

void coll_team_budgets_fini(struct coll_team_budgets *b)
{
	if (b->opts)
		coll_children_forget(&b->context->children, b);
	free(b->told);
	free(b->command);
	*b = (struct coll_team_budgets){ .opts = NULL };
}

/* ---- telling ---- */

static uint64_t hash_of(const struct claim *k)
{
	return base_hash_text(BASE_HASH, k->object.key);
}

static bool is_told(const struct coll_team_budgets *b, uint64_t hash)
{
	for (size_t i = 0; i < b->tolds; i++)
		if (b->told[i] == hash)
			return true;
	return false;
}

static void forget(struct coll_team_budgets *b, uint64_t hash)
{
	for (size_t i = 0; i < b->tolds; i++)
		if (b->told[i] == hash)
			b->told[i--] = b->told[--b->tolds];
}

static int start_command(struct coll_team_budgets *b, const struct claim *k)
{
	struct live_command *c = live_command_new();
	int err = c && base_vec_more(b->command, b->commands, b->command_room) ? 0 : -ENOMEM;

	if (!err) {
		live_command_variable(c, "GPUSTARVE_ALERT_CONDITION=%s at %d %%",
				      k->fired.condition, k->fired.budget_pct);
		live_command_variable(c, "GPUSTARVE_ALERT_METRIC=usd");
		live_command_variable(c, "GPUSTARVE_ALERT_VALUE=%" PRId64, k->fired.value);
		live_command_variable(c, "GPUSTARVE_ALERT_UNIT=nano_usd");
		live_command_variable(c, "GPUSTARVE_ALERT_TEXT=%s", k->text);
		live_command_variable(c, "GPUSTARVE_ALERT_BY=collector");
		live_command_variable(c, "GPUSTARVE_ALERT_TIME_NS=%" PRId64, k->fired.t_unix_ns);
		live_command_variable(c, "GPUSTARVE_ALERT_TEAM=%s", k->team);
		err = live_command_start(c, b->opts->budget_exec, &b->command[b->commands]);
	}
	b->commands += !err;
	live_command_free(c);
	return err;
}

static void tell(struct coll_team_budgets *b, const struct claim *k)
{
	int err;

	b->context->count.budgets_told++;
	coll_log("budget: %s", k->text);
	if (!b->opts->budget_exec)
		return;
	err = start_command(b, k);
	if (err)
		coll_log("budget: its command could not be started: %s", strerror(-err));
}

static void put(struct coll_job *job)
{
	struct claim *k = (struct claim *)job;

	coll_claim_object_put(&k->object, k->budgets->objects);
}

static void is_put(struct coll_job *job)
{
	struct claim *k = (struct claim *)job;
	struct coll_team_budgets *b = k->budgets;
	const char *why = k->object.trouble.why;

	if (k->object.err && k->object.err != -EEXIST) {
		forget(b, hash_of(k));
		if (coll_log_due(&b->logged_ns, LOG_EVERY_NS))
			coll_log("budget: %s: %s; it is tried again", k->team,
				 *why ? why : strerror(-k->object.err));
	} else if (!k->object.err && !k->quiet) {
		tell(b, k);
	}
	free(k);
}

static bool fill(struct claim *k, const struct spent *s, int level)
{
	char folder[COLL_CLAIM_KEY_BYTES];

	k->fired = (struct live_fired){ .metric = LIVE_USD,
					.value = s->nano_usd,
					.threshold = s->limit / 100 * level,
					.t_unix_ns = coll_clock_ns(CLOCK_REALTIME),
					.since_unix_ns = coll_clock_ns(CLOCK_REALTIME),
					.budget_pct = level };
	snprintf(k->fired.by, sizeof(k->fired.by), "collector");
	return snprintf(k->fired.condition, sizeof(k->fired.condition), "%s", s->condition) <
		       (int)sizeof(k->fired.condition) &&
	       snprintf(k->team, sizeof(k->team), "%s", s->team) < (int)sizeof(k->team) &&
	       snprintf(k->text, sizeof(k->text), "%s", s->text) < (int)sizeof(k->text) &&
	       snprintf(folder, sizeof(folder), COLL_BUDGETS_FOLDER "/%s/%s", s->team, s->period) <
		       (int)sizeof(folder) &&
	       coll_claim_object_fill(&k->object, folder, &k->fired);
}

static void want(struct coll_team_budgets *b, const struct spent *s, int level, bool quiet)
{
	struct claim *k = calloc(1, sizeof(*k));

	if (k)
		*k = (struct claim){ .job = { .work = put, .done = is_put },
				     .budgets = b,
				     .quiet = quiet };
	if (!k || !fill(k, s, level) || is_told(b, hash_of(k)) ||
	    !base_vec_more(b->told, b->tolds, b->told_room)) {
		free(k);
		return;
	}
	b->told[b->tolds++] = hash_of(k);
	coll_hands_give(b->hands, &k->job);
}

/* ---- what is spent ---- */

/* As a part of a key: what a child said may be what somebody wrote into a digest. */
static bool is_part(const char *text)
{
	for (const char *c = text; *c; c++)
		if (*c <= ' ' || strchr("/\\\x7f", *c))
			return false;
	return *text && *text != '.';
}

static bool take_number(int64_t *out, const char *text)
{
	char *end;

	errno = 0;
	*out = strtoll(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno;
}

static bool take_line(struct spent *s, char *line)
{
	char *column[COLUMNS], *at = line;
	int64_t level;
	size_t n = 0;

	while (at && n < COLUMNS)
		column[n++] = strsep(&at, "\t");
	if (n < COLUMNS || at || strcmp(column[0], "budget") != 0 ||
	    !take_number(&level, column[1]) || (level != 80 && level != 100) ||
	    !is_part(column[2]) || !is_part(column[3]) || !take_number(&s->nano_usd, column[4]) ||
	    !take_number(&s->limit, column[5]))
		return false;
	s->level = (int)level;
	s->team = column[2];
	s->period = column[3];
	s->condition = column[6];
	s->text = column[7];
	return true;
}

static void on_line(void *owner, const char *line)
{
	struct coll_team_budgets *b = owner;
	char *copy = strdup(line);
	struct spent s;

	if (copy && take_line(&s, copy)) {
		want(b, &s, s.level, false);
		/* Who is past the limit is told that, and not later on that 80 % are spent. */
		if (s.level == 100)
			want(b, &s, 80, true);
	}
	free(copy);
}

static void failed(struct coll_team_budgets *b, const char *why)
{
	b->context->count.budget_failures++;
	if (coll_log_due(&b->logged_ns, LOG_EVERY_NS))
		coll_log("what teams have spent is not known: %s; it is asked again", why);
}

static void is_done(void *owner, const struct coll_child_end *end)
{
	struct coll_team_budgets *b = owner;
	char why[400];

	b->busy = false;
	b->next_ns = coll_now_ns() + EVERY_NS;
	if (coll_child_ok(end))
		return;
	coll_child_why(end, why, sizeof(why));
	failed(b, why);
}

static int start(struct coll_team_budgets *b)
{
	const char *argv[8 + 2 * COLL_TEAM_BUDGETS_MAX] = { b->program, "pulses", "--store",
							    b->opts->store };
	int64_t price = b->opts->conditions->nano_usd_per_hour;
	struct coll_child_plan plan = { .argv = argv,
					.output_max = LINE_BYTES,
					.line = on_line,
					.timeout_s = TIME_S,
					.memory = MEMORY };
	char usd[40];
	size_t n = 4;

	snprintf(usd, sizeof(usd), "%" PRId64 ".%09" PRId64, price / NANO, price % NANO);
	n = coll_child_option(argv, n, "--usd-per-gpu-hour", usd);
	for (size_t i = 0; i < b->opts->team_budgets; i++)
		n = coll_child_option(argv, n, "--budget", b->opts->team_budget[i]);
	return coll_child_start(&b->context->children, &plan, is_done, b);
}

static void reap(struct coll_team_budgets *b)
{
	for (size_t i = 0; i < b->commands; i++)
		if (waitpid(b->command[i], NULL, WNOHANG))
			b->command[i--] = b->command[--b->commands];
}

void coll_team_budgets_tick(struct coll_team_budgets *b)
{
	int err;

	if (!b->opts)
		return;
	reap(b);
	if (b->busy || coll_now_ns() < b->next_ns)
		return;
	b->next_ns = coll_now_ns() + EVERY_NS;
	err = start(b);
	b->busy = !err;
	if (err)
		failed(b, strerror(-err));
}
