/* SPDX-License-Identifier: Apache-2.0 */
/* From a summary to its digest: sums per kind of GPU, and names from the scheduler or labels. */
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include "base/utf8.h"
#include "digest_work.h"
#include "cost/waste.h"
#include "digest.h"
#include "digest_line.h"
#include "findings/findings.h"
#include "job_rest.h"
#include "lost.h"
#include "program.h"
#include "units.h"
#include "vacant.h"

#define DAY_S 86400
#define WEEK_DAYS 7
#define MINUTE_NS 60000000000LL
#define EPOCH_AFTER_MONDAY 3 /* 1970-01-01 was a Thursday */

const char *const fleet_band_names[FLEET_BANDS] = { "under 5 %", "5-20 %",  "20-40 %",
						    "40-60 %",	 "60-80 %", "80-100 %" };
const char *const fleet_end_names[FLEET_ENDS] = { "ok", "failed", "killed", "lost", "unknown" };

void fleet_tame(char *out, size_t room, const char *text)
{
	size_t at = 0, len = text ? strlen(text) : 0;

	for (size_t i = 0; i < len;) {
		size_t n = base_utf8_length(text + i, len - i);
		bool plain = n > 1 || (n == 1 && (unsigned char)text[i] >= 0x20 && text[i] != 0x7f);
		/* C1 controls are two bytes long */
		if (n == 2 && (unsigned char)text[i] == 0xc2 && (unsigned char)text[i + 1] < 0xa0)
			plain = false;
		size_t put = plain ? n : 1;
		if (at + put >= room)
			break;
		if (plain)
			memcpy(out + at, text + i, n);
		else
			out[at] = '?';
		at += put;
		i += n ? n : 1;
	}
	out[at] = '\0';
}

#define TAME(to, text) fleet_tame(to, sizeof(to), text)

void fleet_week(char out[16], int64_t unix_ns)
{
	int64_t day =
		unix_ns / (DAY_S * 1000000000LL) - (unix_ns % (DAY_S * 1000000000LL) < 0 ? 1 : 0);
	int64_t since = ((day + EPOCH_AFTER_MONDAY) % WEEK_DAYS + WEEK_DAYS) % WEEK_DAYS;
	time_t monday = (time_t)((day - since) * DAY_S);
	struct tm tm = { 0 };

	out[0] = '\0';
	if (gmtime_r(&monday, &tm))
		strftime(out, 16, "%Y-%m-%d", &tm);
}

static const char *label(const struct view_summary *s, const char *key)
{
	for (size_t i = 0; i < s->labels; i++)
		if (!strcmp(s->label[i].key, key))
			return s->label[i].value;
	return "";
}

/* What the scheduler or the system knows holds; who has neither may use a label. */
static const char *told(const char *known, const struct view_summary *s, const char *key)
{
	return known && known[0] ? known : label(s, key);
}

static void set_names(struct fleet_digest *d, const struct view_summary *s, const char *tenant)
{
	const struct view_job_identity *job = &s->job;

	TAME(d->run, s->id);
	TAME(d->tenant, tenant);
#define TENANT tenant
#define SYSTEM s->user
#define JOB(text_of) job->text[VIEW_JOB_##text_of]
#define KIND facts_run_kinds[s->kind.kind]
#define MACHINE(what) s->machine.what
#define NOBODY NULL
#define NAME(symbol, name, column, title, who) TAME(d->name, told(who, s, #name));
#include "facts/fleet_names.def"
#undef TENANT
#undef SYSTEM
#undef JOB
#undef KIND
#undef MACHINE
#undef NOBODY
	if (view_job_known(job))
		snprintf(d->job, sizeof(d->job), "%" PRId64, job->number[VIEW_JOB_ID]);
	else
		TAME(d->job, label(s, "job"));
}

void fleet_digest_own(struct fleet_digest *d, const char *tenant)
{
	TAME(d->tenant, tenant);
	TAME(d->team, tenant);
}

static enum fleet_end end_with(int status)
{
	if (!status)
		return FLEET_END_OK;
	return status > FLEET_SIGNALS ? FLEET_END_KILLED : FLEET_END_FAILED;
}

/* Whether a program that said goodbye did what it was to do only its exit status tells. */
static enum fleet_end end_of(const struct view_summary *s)
{
	if (s->has_exit_status)
		return end_with(s->exit_status);
	return s->result->complete || s->result->imported ? FLEET_END_UNKNOWN : FLEET_END_LOST;
}

/* Its runs were joined, or it has none and its GPUs are known by what it was given. */
static bool is_whole_job(const struct view_summary *s)
{
	bool given = view_job_known(&s->job) && s->result->gpus > 0;

	for (size_t i = 0; i < s->result->gpus; i++)
		given = given && s->result->gpu[i].allocated_ns >= 0;
	return (s->parts > 0 && view_job_known(&s->job)) || given;
}

/* Of runs that cannot be told apart: the first that failed, else that was killed, is told. */
static void set_end_of_runs(struct fleet_digest *d, const struct view_summary *s)
{
	size_t ended = 0;
	bool failed = d->end == FLEET_END_FAILED, broke = failed || d->end == FLEET_END_KILLED;

	for (size_t i = 0; i < s->parts; i++) {
		const struct view_job_part *p = &s->part[i];
		enum fleet_end end = p->has_exit_status ? end_with(p->exit_status) : FLEET_END_OK;

		ended += p->has_exit_status;
		if (end == FLEET_END_OK || failed || (broke && end == FLEET_END_KILLED))
			continue;
		broke = true;
		failed = end == FLEET_END_FAILED;
		d->end = end;
		d->has_exit_status = true;
		d->exit_status = p->exit_status;
	}
	if (!broke && ended && ended == s->parts)
		d->end = FLEET_END_OK; /* all of them said so */
	if (!broke && ended && ended < s->parts) {
		d->end = FLEET_END_LOST;
		d->has_exit_status = false;
		d->exit_status = 0;
	}
}

static void set_facts(struct fleet_digest *d, const struct view_summary *s)
{
	d->end = end_of(s);
	d->has_exit_status = s->has_exit_status;
	d->exit_status = s->exit_status;
	d->simulated = s->result->simulated;
	TAME(d->verdict, ana_verdict_names[s->result->judgement.verdict]);
	d->start_unix_ns = s->start_unix_ns;
	d->wall_ns = s->wall_ns;
	d->whole_job = is_whole_job(s);
	d->runs_overlap = d->whole_job && s->parts > 0;
	if (d->runs_overlap)
		set_end_of_runs(d, s);
}

/* What the run's price and GPU make a line of its own. */
static void name_line(struct fleet_line *l, const struct view_summary *s, size_t g)
{
	const struct view_rate *r = g < s->cost.gpus ? &s->cost.rate[g] : NULL;

	TAME(l->gpu, s->result->gpu[g].name);
	l->priced = s->cost.known && r;
	if (!l->priced) {
		TAME(l->asked, r ? r->price_model : "");
		return;
	}
	l->nano_usd_per_hour = r->nano_usd_per_hour;
	TAME(l->model, r->price_model);
	TAME(l->label, r->label);
	TAME(l->source, r->source);
	TAME(l->date, r->date);
}

static bool same_line(const struct fleet_line *a, const struct fleet_line *b)
{
	return a->priced == b->priced && a->nano_usd_per_hour == b->nano_usd_per_hour &&
	       !strcmp(a->gpu, b->gpu) && !strcmp(a->model, b->model) &&
	       !strcmp(a->asked, b->asked) && !strcmp(a->label, b->label) &&
	       !strcmp(a->source, b->source) && !strcmp(a->date, b->date);
}

/* More kinds of GPU in one run than there is room for share the last line, under no name. */
static struct fleet_line *line_of(struct fleet_digest *d, const struct fleet_line *named)
{
	for (size_t i = 0; i < d->lines; i++)
		if (same_line(&d->line[i], named))
			return &d->line[i];
	if (d->lines < FLEET_LINES_MAX) {
		d->line[d->lines] = *named;
		return &d->line[d->lines++];
	}
	struct fleet_line *last = &d->line[FLEET_LINES_MAX - 1];
	TAME(last->gpu, "several");
	TAME(last->model, "several");
	TAME(last->asked, "several");
	TAME(last->label, "several");
	last->nano_usd_per_hour = 0;
	return last;
}

static int64_t set_usd(const struct view_summary *s, size_t g, const bool *set)
{
	return view_set_sum(set, s->cost.gpu_class[g], s->cost.gpu_skew[g]);
}

static int64_t set_ns(const struct ana_gpu *gpu, const bool *set)
{
	return view_set_sum(set, gpu->classes, gpu->skew_causes);
}

static void add_gpu(struct fleet_line *l, const struct view_summary *s, size_t g,
		    const bool *starved)
{
	const struct ana_gpu *gpu = &s->result->gpu[g];

	l->gpus++;
	view_cost_add(&l->held_ns, gpu->held_ns);
	view_cost_add(&l->busy_ns, gpu->busy_ns);
	view_cost_add(&l->starved_ns, set_ns(gpu, starved));
	view_cost_add(&l->wasted_ns, set_ns(gpu, s->waste));
	for (int b = 0; b < FLEET_BANDS; b++)
		view_cost_add(&l->minutes[b], gpu->minutes[b]);
	if (!l->priced)
		return;
	view_cost_add(&l->usd, view_gpu_nano_usd(s, g));
	view_cost_add(&l->idle_usd, view_cost_amount(s->cost.rate[g].nano_usd_per_hour,
						     gpu->minutes[ANA_BAND_IDLE] * MINUTE_NS));
	view_cost_add(&l->starved_usd, set_usd(s, g, starved));
	view_cost_add(&l->wasted_usd, set_usd(s, g, s->waste));
}

struct fleet_line *fleet_digest_line(struct fleet_digest *d, const struct view_summary *s, size_t g)
{
	struct fleet_line named = { 0 };

	name_line(&named, s, g);
	return line_of(d, &named);
}

static void set_lines(struct fleet_digest *d, const struct view_summary *s)
{
	bool starved[ANA_CLASSES];

	view_starved_set(starved);
	for (size_t g = 0; g < s->result->gpus; g++)
		add_gpu(fleet_digest_line(d, s, g), s, g, starved);
}

static void set_shares(struct fleet_digest *d, const struct view_summary *s)
{
	for (int c = 0; c < ANA_CLASSES && d->shares < FLEET_SHARES_MAX; c++) {
		if (!s->result->classes[c])
			continue;
		struct fleet_share *share = &d->share[d->shares++];
		TAME(share->class, ana_class_names[c]);
		share->ns = s->result->classes[c];
		share->usd = s->cost.known ? s->cost.classes[c] : 0;
	}
}

/* The end of a path says more than its beginning. */
static void set_place(char *out, size_t room, const struct view_hotspot *p)
{
	char line[16] = "";
	size_t len;

	out[0] = '\0';
	if (!p->known || !p->file)
		return;
	if (p->line)
		snprintf(line, sizeof(line), ":%u", (unsigned int)p->line);
	len = strlen(p->file);
	const char *from = p->file;
	if (len + strlen(line) >= room) {
		const char *cut = p->file + len - (room - strlen(line) - 1);
		const char *slash = strchr(cut, '/');
		from = slash ? slash + 1 : cut;
	}
	fleet_tame(out, room - strlen(line), from);
	snprintf(out + strlen(out), room - strlen(out), "%s", line);
}

static void set_hotspots(struct fleet_digest *d, const struct view_summary *s)
{
	for (size_t i = 0; i < s->findings && d->hotspots < FLEET_HOTSPOTS_MAX; i++) {
		const struct view_finding *f = &s->finding[i];
		struct fleet_hotspot *hotspot = &d->hotspot[d->hotspots];

		set_place(hotspot->place, sizeof(hotspot->place), &f->where);
		if (!hotspot->place[0])
			continue;
		TAME(hotspot->class, ana_class_names[f->class]);
		hotspot->ns = f->ns;
		hotspot->usd = s->cost.known ? f->nano_usd : 0;
		d->hotspots++;
	}
}

static void set_fixes(struct fleet_digest *d, const struct view_summary *s)
{
	for (size_t i = 0; i < s->advices && d->fixes < FLEET_FIXES_MAX; i++) {
		const struct view_advice *a = &s->advice[i];
		struct fleet_fix *fix = &d->fix[d->fixes];

		if (d->rest.job_ns && a->class != ANA_EXCLUDED_NO_PROCESS)
			continue; /* its runs tell those */
		if (view_advice_only_tells(a))
			continue; /* nothing is fixed by it */
		d->fixes++;
		TAME(fix->id, a->id);
		TAME(fix->title, a->title);
		TAME(fix->brief, a->brief ? a->brief : a->action);
		TAME(fix->class, ana_class_names[a->class]);
		fix->ns = a->saving_ns;
		fix->usd = s->cost.known && a->saving_nano_usd > 0 ? a->saving_nano_usd : 0;
		for (size_t k = 0; k < s->findings && !fix->place[0]; k++)
			if (s->finding[k].class == a->class)
				set_place(fix->place, sizeof(fix->place), &s->finding[k].where);
	}
}

static void set_labels(struct fleet_digest *d, const struct view_summary *s)
{
	for (size_t i = 0; i < s->labels && d->labels < FLEET_LABELS_MAX; i++) {
		struct fleet_label *l = &d->label_of[d->labels];

		if (d->rest.job_ns && !strcmp(s->label[i].value, VIEW_SEVERAL))
			continue; /* its runs have their own */
		TAME(l->key, s->label[i].key);
		TAME(l->value, s->label[i].value);
		d->labels += l->key[0] != '\0';
	}
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* It has no end of its own, no code and no steps. */
static int make_rest(struct fleet_digest *d, const struct view_summary *s)
{
	int err = fleet_rest_make(d, s);

	d->whole_job = d->runs_overlap = d->has_exit_status = false;
	d->exit_status = 0;
	d->end = FLEET_END_UNKNOWN;
	TAME(d->verdict, FLEET_NO_PROCESS);
	set_fixes(d, s);
	set_labels(d, s);
	fleet_vacancy_make(d, s);
	return err;
}

int fleet_digest_make(struct fleet_digest *d, const struct view_summary *s, const char *tenant,
		      int64_t revision)
{
	*d = (struct fleet_digest){ .revision = revision ? revision : now_ns(), .rules = s->rules };
	set_names(d, s, tenant);
	set_facts(d, s);
	if (fleet_rest_is(s))
		return make_rest(d, s);
	set_lines(d, s);
	set_shares(d, s);
	set_hotspots(d, s);
	set_fixes(d, s);
	set_labels(d, s);
	fleet_work_make(d, s);
	fleet_units_make(d, s);
	fleet_saves_make(d, s);
	fleet_vacancy_make(d, s);
	fleet_program_make(d, s);
	return 0;
}

/*
 * Minutes, too, are only told of what was observed. When no run of a job was there is known without
 * analysis: its rest is what it will be.
 */
int fleet_digest_make_provisional(struct fleet_digest *d, const struct view_summary *s,
				  const char *tenant)
{
	*d = (struct fleet_digest){ .revision = now_ns() / 1000000000, .rules = s->rules };
	set_names(d, s, tenant);
	set_facts(d, s);
	if (fleet_rest_is(s))
		return make_rest(d, s);
	set_lines(d, s);
	set_labels(d, s);
	TAME(d->verdict, FLEET_PROVISIONAL);
	for (size_t i = 0; i < d->lines; i++) {
		struct fleet_line *l = &d->line[i];

		l->busy_ns = l->starved_ns = l->wasted_ns = 0;
		l->starved_usd = l->wasted_usd = l->idle_usd = 0;
		memset(l->minutes, 0, sizeof(l->minutes));
	}
	d->shares = 1;
	TAME(d->share[0].class, FLEET_NOT_ANALYSED);
	d->share[0].ns = fleet_digest_held_ns(d);
	d->share[0].usd = fleet_digest_usd(d);
	return 0;
}

struct fleet_derived fleet_digest_derive(const struct fleet_digest *d)
{
	struct fleet_derived more = { 0 };

	fleet_week(more.week, d->start_unix_ns);
	if (d->has_exit_status)
		snprintf(more.exit_status, sizeof(more.exit_status), "%" PRId64, d->exit_status);
	return more;
}

int64_t fleet_digest_held_ns(const struct fleet_digest *d)
{
	int64_t sum = 0;

	for (size_t i = 0; i < d->lines; i++)
		view_cost_add(&sum, d->line[i].held_ns);
	return sum;
}

int64_t fleet_digest_usd(const struct fleet_digest *d)
{
	int64_t sum = 0;

	for (size_t i = 0; i < d->lines; i++)
		view_cost_add(&sum, d->line[i].usd);
	return sum;
}

bool fleet_digest_priced(const struct fleet_digest *d)
{
	for (size_t i = 0; i < d->lines; i++)
		if (!d->line[i].priced)
			return false;
	return d->lines > 0;
}
