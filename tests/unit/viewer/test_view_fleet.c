/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fleet's parts: digests stay below their bound and come back as they were, whatever stands in
 * them; cents close; a week of three times the usual is a spike and noise is none; a server's
 * answer may be anything.
 */
#include <errno.h>
#include "base/units.h"
#include "fleet/bill.h"
#include "fleet/clickhouse_priv.h"
#include "fleet/digest.h"
#include "fleet/fleet_out.h"
#include "fleet/spike.h"
#include "harness.h"
#include "unit/viewer/view_made.h"

#define USD 1000000000LL
#define CENT 10000000LL

static struct fleet_digest *made_digest(uint32_t gpus, const char *name, int labels)
{
	struct fleet_digest *d = calloc(1, sizeof(*d));
	struct view_summary *s = made_summary(gpus, name, 6880000000LL, 3);
	struct view_label *label = calloc((size_t)labels + 1, sizeof(*label));

	for (int i = 0; i < labels; i++)
		label[i] = (struct view_label){ i ? name : "team", name };
	s->id = name;
	s->label = label;
	s->labels = (size_t)labels;
	fleet_digest_make(d, s, NULL, 5);
	view_summary_free(s);
	free(label);
	return d;
}

/* Everything full, and every character one that JSON writes in two. */
static void fill(struct fleet_digest *d)
{
	struct fleet_digest full = { .revision = INT64_MAX, .has_exit_status = true };

	memset(full.run, '"', sizeof(full.run) - 1);
	memset(full.team, '\\', sizeof(full.team) - 1);
	memset(full.user, '"', sizeof(full.user) - 1);
	for (int i = 0; i < FLEET_LINES_MAX; i++) {
		struct fleet_line *l = &full.line[full.lines++];
		memset(l->gpu, '"', sizeof(l->gpu) - 1);
		memset(l->source, '"', sizeof(l->source) - 1);
		memset(l->label, '"', sizeof(l->label) - 1);
		l->gpu[0] = (char)('a' + i);
		l->priced = true;
		l->held_ns = INT64_C(1) << 59;
		l->usd = 1000000000LL * USD / 8;
	}
	for (int c = 0; c < ANA_CLASSES; c++) {
		struct fleet_share *s = &full.share[full.shares++];
		fleet_tame(s->class, sizeof(s->class), ana_class_names[c]);
		s->ns = INT64_C(1) << 54;
	}
	for (int i = 0; i < FLEET_WORKS_MAX; i++) {
		struct fleet_work *w = &full.work[full.works++];
		fleet_tame(w->kind, sizeof(w->kind), "normalisation");
		snprintf(w->precision, sizeof(w->precision), "precision%d", i);
		w->ns = INT64_C(1) << 54;
		w->usd = INT64_C(1) << 50;
	}
	full.meters = (struct ana_units){ INT64_C(1) << 60, INT64_C(1) << 60, INT64_C(1) << 59,
					  INT64_C(1) << 58 };
	full.saves = (struct fleet_saves){ true, INT64_C(1) << 60, INT64_C(1) << 60,
					   INT64_C(1) << 60, { 0 }, { 0 } };
	for (int i = 0; i < FLEET_SAVES_PARTS; i++) {
		full.saves.ns[i] = (INT64_C(1) << 59) - i;
		full.saves.usd[i] = (INT64_C(1) << 59) + i;
	}
	full.vacancy =
		(struct fleet_vacancy){ true, INT64_MAX, INT64_MAX, INT64_MAX, { 0 }, { 0 } };
	for (int i = 0; i < ANA_VACANTS; i++) {
		full.vacancy.ns[i] = (INT64_C(1) << 59) - i;
		full.vacancy.usd[i] = (INT64_C(1) << 59) + i;
	}
	memset(full.program.fingerprint, 'f', sizeof(full.program.fingerprint) - 1);
	memset(full.program.name, '"', sizeof(full.program.name) - 1);
	full.program.steps = INT64_MAX;
	for (int i = 0; i < FLEET_ADVICE_MAX; i++) {
		memset(full.program.advice[i], '"', sizeof(full.program.advice[0]) - 1);
		full.program.advice[full.program.advices++][0] = (char)('a' + i);
	}
	for (int i = 0; i < FLEET_HOTSPOTS_MAX; i++)
		memset(full.hotspot[full.hotspots++].place, '"', sizeof(full.hotspot[0].place) - 1);
	for (int i = 0; i < FLEET_LABELS_MAX; i++)
		memset(full.label_of[full.labels++].value, '"', sizeof(full.label_of[0].value) - 1);
	*d = full;
}

static int64_t work_ns(const struct fleet_digest *d)
{
	int64_t ns = 0;

	for (size_t i = 0; i < d->works; i++)
		ns += d->work[i].ns;
	return ns;
}

static void expect_kept(const struct fleet_digest *got, const struct fleet_digest *want)
{
	int64_t ns = 0, usd = 0; /* of vacancy, which parts share */

	EXPECT_INT(fleet_digest_held_ns(got), fleet_digest_held_ns(want));
	EXPECT_INT(fleet_digest_usd(got), fleet_digest_usd(want));
	EXPECT_INT(work_ns(got), work_ns(want));
	EXPECT_INT(got->meters.tensor_ns, want->meters.tensor_ns);
	EXPECT_INT(got->meters.dram_ns, want->meters.known_ns ? want->meters.dram_ns : 0);
	EXPECT_INT(got->vacancy.known, want->vacancy.known);
	EXPECT_INT(got->vacancy.gaps, want->vacancy.gaps);
	EXPECT_INT(got->vacancy.longest_ns, want->vacancy.longest_ns);
	EXPECT_INT(got->vacancy.unseen_ns, want->vacancy.unseen_ns);
	for (int i = 0; i < ANA_VACANTS; i++) {
		ns += got->vacancy.ns[i] - want->vacancy.ns[i];
		usd += got->vacancy.usd[i] - want->vacancy.usd[i];
	}
	EXPECT_INT(ns, 0);
	EXPECT_INT(usd, 0);
	EXPECT_INT(got->saves.known, want->saves.known);
	EXPECT_INT(got->saves.kills, want->saves.kills);
	for (int i = 0; i < FLEET_SAVES_PARTS; i++) {
		EXPECT_INT(got->saves.ns[i], want->saves.ns[i]);
		EXPECT_INT(got->saves.usd[i], want->saves.usd[i]);
	}
	EXPECT_STR(got->run, want->run);
	EXPECT_INT(got->revision, want->revision);
}

static void expect_sums(const struct fleet_digest *got, const struct fleet_digest *want)
{
	EXPECT_UINT(got->shares, want->shares);
	EXPECT_STR(got->team, want->team);
	expect_kept(got, want);
}

static void there_and_back(const struct fleet_digest *d)
{
	struct fleet_digest *back = calloc(1, sizeof(*back));
	char *text = fleet_digest_write(d);
	const char *why = "";

	REQUIRE(text && back);
	EXPECT(strlen(text) <= FLEET_DIGEST_BYTES_MAX);
	EXPECT(strchr(text, '\n') == text + strlen(text) - 1);
	EXPECT_INT(fleet_digest_read(back, text, strlen(text), &why), 0);
	expect_sums(back, d);
	free(text);
	free(back);
}

static int64_t unpriced_ns(const struct fleet_digest *d)
{
	int64_t ns = 0;

	for (size_t i = 0; i < d->lines; i++)
		ns += d->line[i].priced ? 0 : d->line[i].held_ns;
	return ns;
}

static int64_t classes_ns(const struct fleet_digest *d)
{
	int64_t ns = 0;

	for (size_t i = 0; i < d->shares; i++)
		ns += d->share[i].ns;
	return ns;
}

/* What @d is as JSON, which is within the bound. */
static void as_written(struct fleet_digest *back, const struct fleet_digest *d)
{
	char *text = fleet_digest_write(d);
	const char *why = "";

	REQUIRE(text);
	EXPECT_UINT(strlen(text) <= FLEET_DIGEST_BYTES_MAX ? 0 : strlen(text), 0);
	EXPECT_INT(fleet_digest_read(back, text, strlen(text), &why), 0);
	free(text);
}

/* Lines become one: dollars stay, and no price comes over time that had none. */
static void test_fold_prices(void)
{
	struct fleet_digest *d = calloc(1, sizeof(*d)), *back = calloc(1, sizeof(*back));

	for (unsigned int priced = 0; priced < 1u << FLEET_LINES_MAX; priced++) {
		fill(d);
		for (size_t i = 0; i < d->lines; i++) {
			struct fleet_line *l = &d->line[i];

			l->gpus = 1 << 24;
			l->held_ns = INT64_C(1000) << i;
			l->priced = priced >> i & 1;
			l->usd = l->priced ? INT64_C(7000000000) << i : 0;
			fleet_tame(l->date, sizeof(l->date), "2026-11-01");
		}
		as_written(back, d);
		EXPECT(back->lines < d->lines && back->left_out > 0);
		EXPECT_INT(fleet_digest_held_ns(back), fleet_digest_held_ns(d));
		EXPECT_INT(fleet_digest_usd(back), fleet_digest_usd(d));
		EXPECT_INT(unpriced_ns(back), unpriced_ns(d));
		for (size_t i = 0; i < back->lines; i++)
			if (back->line[i].priced) {
				EXPECT(back->line[i].source[0]);
				EXPECT_STR(back->line[i].date, "2026-11-01");
			}
	}
	free(back);
	free(d);
}

static void quotes(char *text, size_t room)
{
	memset(text, '"', room - 1);
	text[room - 1] = '\0';
}

/* Nothing is larger, and nobody but an enemy writes it. */
static void fill_worst(struct fleet_digest *d)
{
	fill(d);
	quotes(d->tenant, sizeof(d->tenant));
	quotes(d->job, sizeof(d->job));
	quotes(d->verdict, sizeof(d->verdict));
#define NAME(symbol, name, column, title, told) quotes(d->name, sizeof(d->name));
#include "facts/fleet_names.def"
	d->exit_status = INT64_MIN;
	d->start_unix_ns = INT64_C(1) << 62;
	d->wall_ns = INT64_MAX;
	d->rules = UINT32_MAX;
	d->simulated = d->whole_job = true;
	for (size_t i = 0; i < d->lines; i++) {
		struct fleet_line *l = &d->line[i];

		l->priced = i % 2;
		l->gpus = 1 << 24;
		l->usd = l->priced ? INT64_MAX / 8 : 0;
		l->starved_usd = l->wasted_usd = l->idle_usd = l->usd;
		l->held_ns = l->busy_ns = l->starved_ns = l->wasted_ns = INT64_MAX / 8;
		l->nano_usd_per_hour = INT64_MAX - (int64_t)i;
		quotes(l->model, sizeof(l->model));
		quotes(l->date, sizeof(l->date));
		for (int b = 0; b < FLEET_BANDS; b++)
			l->minutes[b] = (INT64_C(1) << 40) / 8;
	}
	for (d->shares = 0; d->shares < FLEET_SHARES_MAX; d->shares++) {
		struct fleet_share *s = &d->share[d->shares];

		snprintf(s->class, sizeof(s->class), "class_that_nobody_has_named_%03zu",
			 d->shares);
		s->ns = s->usd = INT64_MAX / 64 - (int64_t)d->shares;
	}
	for (d->units = 0; d->units < VIEW_OUTCOMES_MAX; d->units++) {
		struct fleet_unit *u = &d->unit[d->units];

		snprintf(u->name, sizeof(u->name), "unit_that_nobody_counts_by_%02zu", d->units);
		u->num = u->den = INT64_MAX;
		u->bound = VIEW_OUTCOME_AT_LEAST;
	}
}

/* However many classes and whatever names: within the bound, the sums as they were. */
static void test_worst(void)
{
	struct fleet_digest *d = calloc(1, sizeof(*d)), *back = calloc(1, sizeof(*back));

	fill_worst(d);
	as_written(back, d);
	expect_kept(back, d);
	EXPECT_INT(unpriced_ns(back), unpriced_ns(d));
	EXPECT_INT(classes_ns(back), classes_ns(d));
	EXPECT_STR(back->tenant, d->tenant);
	EXPECT_UINT(back->units, d->units);
	EXPECT(back->shares < d->shares);
	EXPECT(back->team[0] && strlen(back->team) < strlen(d->team));
	EXPECT_INT(back->left_out > 48, true);
	printf("the worst digest: %zu classes, %lld left out\n", back->shares,
	       (long long)back->left_out);
	*d = *back;
	as_written(back, d); /* what was left out is told for good */
	EXPECT_INT(back->left_out, d->left_out);
	free(back);
	free(d);
}

/* What has room is not cut, and tells of nothing. */
static void test_nothing_left_out(void)
{
	struct fleet_digest *d = made_digest(1, "NVIDIA H100", 2);
	char *text = fleet_digest_write(d);

	REQUIRE(text);
	EXPECT(!strstr(text, "left_out"));
	free(text);
	free(d);
}

/* Nothing is fixed, nor adopted later, by what would merely make a cause known. */
static void only_tells(void)
{
	struct fleet_digest *d = calloc(1, sizeof(*d));
	struct ana_result *r = made_result(1, "NVIDIA H100", 0);
	const char *command[] = { "train.py" };
	struct view_summary *s;

	made_no_class(r, ANA_INPUT_UNKNOWN);
	made_class(r, ANA_HOST_UNKNOWN, MADE_HOUR_NS / 4);
	made_class(r, ANA_HOST_GC, MADE_HOUR_NS / 5);
	s = made_summary_of(r, "NVIDIA H100", 4000000000LL);
	s->command = command;
	s->commands = 1;
	REQUIRE(s->advices > 1 && !strcmp(s->advice[0].id, "host-unknown"));
	fleet_digest_make(d, s, NULL, 5);
	EXPECT_UINT(d->fixes, s->advices - 1);
	EXPECT_UINT(d->program.advices, s->advices - 1);
	for (size_t i = 0; i < d->fixes; i++) {
		EXPECT(strcmp(d->fix[i].id, "host-unknown") != 0);
		EXPECT(strcmp(d->program.advice[i], "host-unknown") != 0);
	}
	s->commands = 0;
	view_summary_free(s);
	free(d);
}

static void test_digest(void)
{
	static const char *const name[] = { "NVIDIA H100 80GB HBM3", MADE_EVIL };
	struct fleet_digest *d;

	for (int i = 0; i < 2; i++) {
		d = made_digest(1 + (uint32_t)i * 8, name[i], i * 40);
		EXPECT_UINT(d->lines, 1);
		EXPECT_INT(fleet_digest_priced(d), true);
		EXPECT(!strpbrk(d->run, "\x1b\n"));
		there_and_back(d);
		fill(d);
		there_and_back(d);
		free(d);
	}
	only_tells();
}

/* What compute consists of: most first, and all of it, however many rows there are. */
static void test_compute(void)
{
	struct fleet_digest *d = calloc(1, sizeof(*d)), *back = calloc(1, sizeof(*back));
	struct ana_result *r = made_result(1, "NVIDIA H100", 0);
	struct view_summary *s;
	const char *why = "";
	char *text;

	for (int i = 0; i < 20; i++)
		r->work.ns[i * 3] = 1000 * (i + 1);
	r->work.count[100] = 7; /* beside others: no time of its own */
	r->units = (struct ana_units){ 100, 90, 30, -1 };
	s = made_summary_of(r, "NVIDIA H100", 4000000000LL);
	fleet_digest_make(d, s, NULL, 5);
	EXPECT_UINT(d->works, FLEET_WORKS_MAX);
	EXPECT_INT(d->work[0].ns, 20000);
	EXPECT_INT(work_ns(d), 1000 * 210);
	EXPECT_STR(d->work[FLEET_WORKS_MAX - 1].kind, "rest");
	EXPECT_STR(d->work[FLEET_WORKS_MAX - 1].precision, "several");
	EXPECT_INT(d->work[FLEET_WORKS_MAX - 1].ns, 1000 * 45); /* the nine smallest */
	text = fleet_digest_write(d);
	REQUIRE(text);
	EXPECT_INT(fleet_digest_read(back, text, strlen(text), &why), 0);
	EXPECT_STR(back->work[0].kind, d->work[0].kind);
	EXPECT_STR(back->work[0].precision, d->work[0].precision);
	EXPECT_INT(back->work[0].usd, d->work[0].usd);
	EXPECT_INT(work_ns(back), work_ns(d));
	EXPECT_INT(back->meters.busy_ns, 90);
	EXPECT_INT(back->meters.dram_ns, -1);
	free(text);
	view_summary_free(s);
	free(back);
	free(d);
}

/* What anybody may have written there. */
static void test_compute_of_others(void)
{
	static const char *const wrong[] = {
		"\"compute\":[[\"matmul\",\"fp32\",1]]",
		"\"compute\":[[\"matmul\",\"fp32\",-1,0]]",
		"\"compute\":[[\"mat\\u001bmul\",\"fp32\",1,0]]",
		"\"compute\":[[7,\"fp32\",1,0]]",
		"\"compute\":[{}]",
		"\"compute\":[[\"a\",\"b\",1,0],[\"a\",\"b\",1,0],[\"a\",\"b\",1,0],[\"a\",\"b\",1,0],"
		"[\"a\",\"b\",1,0],[\"a\",\"b\",1,0],[\"a\",\"b\",1,0],[\"a\",\"b\",1,0],[\"a\",\"b\",1,0],"
		"[\"a\",\"b\",1,0],[\"a\",\"b\",1,0],[\"a\",\"b\",1,0],[\"a\",\"b\",1,0]]",
		"\"meters\":{}",
		"\"meters\":{\"known_ns\":10,\"busy_ns\":11,\"tensor_ns\":0}",
		"\"meters\":{\"known_ns\":10,\"busy_ns\":10,\"tensor_ns\":0,\"dram_ns\":\"all\"}",
	};
	struct fleet_digest *d = calloc(1, sizeof(*d));
	const char *why;
	char text[1000];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(text, sizeof(text), "{\"schema\":\"gpustarve.digest/1\",\"run\":\"r\",%s}",
			 wrong[i]);
		why = NULL;
		EXPECT(fleet_digest_read(d, text, strlen(text), &why) < 0);
		EXPECT(why && (strstr(why, "compute") || strstr(why, "meters")));
	}
	free(d);
}

static void test_tame(void)
{
	char out[8];

	fleet_tame(out, sizeof(out), "ab\ncd\xff\xc2\x80zzz");
	EXPECT_STR(out, "ab?cd??");
	fleet_tame(out, sizeof(out), "12345\xe2\x82\xac");
	EXPECT_STR(out, "12345"); /* no half of a character */
	fleet_tame(out, sizeof(out), NULL);
	EXPECT_STR(out, "");
}

static void expect_week(int64_t unix_ns, const char *monday)
{
	char week[16];

	fleet_week(week, unix_ns);
	EXPECT_STR(week, monday);
}

static void test_week(void)
{
	expect_week(1767571200 * USD, "2026-01-05");
	expect_week(1767571200 * USD - 1, "2025-12-29");
	expect_week(1767571200 * USD + 7 * 86400 * USD - 1, "2026-01-05");
	expect_week(0, "1969-12-29");
}

static void test_digits(void)
{
	static struct fleet f;
	base_unit out;

	f.total.m[FLEET_USD] = f.total.m[FLEET_HELD_NS] = INT64_MAX;
	EXPECT_STR(fleet_usd(&f, out, 0), "$0.00");
	EXPECT_STR(fleet_usd(&f, out, 1), "<$0.01");
	EXPECT_STR(fleet_usd(&f, out, 999 * USD), "$999.00");
	EXPECT_STR(fleet_usd(&f, out, 1000 * USD), "$1,000.00");
	EXPECT_STR(fleet_usd(&f, out, INT64_MAX), "$9,223,372,036.85");
	EXPECT_STR(fleet_quanta(&f, out, INT64_MAX), "$92,233,720,368,547,758.07");
	EXPECT_STR(fleet_hours(&f, out, 2412345 * (3600 * USD)), "2,412,345.00");
	EXPECT_STR(fleet_hours_of_minutes(&f, out, 1000 * USD), "16,666,666,666.67");
	EXPECT_STR(fleet_time_name(&f), "GPU-hours");
	/* Three short runs: nothing is told as nothing. */
	f.total.m[FLEET_USD] = 5543056;
	f.total.m[FLEET_HELD_NS] = 5 * USD;
	EXPECT_STR(fleet_usd(&f, out, 1396000), "0.140 \302\242");
	EXPECT_STR(fleet_hours(&f, out, 1260000000), "1.26");
	EXPECT_STR(fleet_time_name(&f), "GPU-seconds");
	EXPECT_STR(fleet_gpu_time(&f, out, 5 * USD), "5.00 GPU-seconds");
	EXPECT_STR(fleet_runs_of(out, 1), "1 run");
	EXPECT_STR(fleet_runs_of(out, 10000), "10,000 runs");
}

/* Cents of random amounts: they close, and none is off by a whole one. */
static void test_cents(void)
{
	base_wide amount[50];
	int64_t cents[50];

	for (int round = 0; round < 2000; round++) {
		size_t n = (size_t)rand() % 50 + 1;
		int64_t sum = 0, given = 0;

		for (size_t i = 0; i < n; i++) {
			amount[i] = rand() % 4 ? rand() % (1000 * CENT) : 0;
			sum += amount[i];
		}
		int64_t total = base_div_even(sum, CENT);
		fleet_close(amount, n, total, CENT, cents);
		for (size_t i = 0; i < n; i++) {
			given += cents[i];
			EXPECT(base_wide_size(cents[i] * CENT - amount[i]) < CENT);
		}
		EXPECT_INT(given, total);
	}
	fleet_close(NULL, 0, 0, CENT, cents);
}

/* Twelve of these make a bell. */
static int64_t noisy(int64_t usd, int percent)
{
	int64_t sum = 0;

	for (int i = 0; i < 12; i++)
		sum += rand() % 2001 - 1000;
	int64_t v = usd + usd * percent / 100 * sum / 2000;
	return v > 0 ? v : 0;
}

/*
 * A year of weeks that scatter by a quarter, a thousand times: no flag. Three times the usual where
 * weeks scatter by 15 %: one each time.
 */
static void test_spikes(void)
{
	int flags = 0, missed = 0;

	for (int seed = 0; seed < 1000; seed++) {
		struct fleet_spike s;
		base_wide week[53];

		srand((unsigned int)seed);
		for (int w = 0; w < 52; w++)
			week[w] = noisy(1000 * USD, 25);
		for (size_t w = 0; w < 52; w++)
			flags += fleet_is_spike(week, w, &s);
		srand((unsigned int)seed);
		for (int w = 0; w < 52; w++)
			week[w] = noisy(1000 * USD, 15);
		week[52] = 3000 * USD;
		missed += !fleet_is_spike(week, 52, &s);
	}
	printf("%d of 52,000 noisy weeks flagged, %d of 1,000 spikes missed\n", flags, missed);
	EXPECT_INT(flags, 0);
	EXPECT_INT(missed, 0);
}

static void test_spike_bounds(void)
{
	base_wide flat[FLEET_SPIKE_LEAST + 1], none[FLEET_SPIKE_LEAST + 1] = { 0 };
	struct fleet_spike s;

	for (int i = 0; i <= FLEET_SPIKE_LEAST; i++)
		flat[i] = 100 * USD;
	flat[FLEET_SPIKE_LEAST] = 250 * USD;
	EXPECT(fleet_is_spike(flat, FLEET_SPIKE_LEAST, &s));
	EXPECT_INT(s.median_usd, 100 * USD);
	EXPECT(!fleet_is_spike(flat, FLEET_SPIKE_LEAST - 1, &s)); /* too little to go by */
	flat[FLEET_SPIKE_LEAST]--;
	EXPECT(!fleet_is_spike(flat, FLEET_SPIKE_LEAST, &s));
	none[FLEET_SPIKE_LEAST] = USD;
	EXPECT(!fleet_is_spike(none, FLEET_SPIKE_LEAST, &s)); /* nothing was usual */
	for (int i = 0; i <= FLEET_SPIKE_LEAST; i++)
		flat[i] = INT64_MAX;
	EXPECT(!fleet_is_spike(flat, FLEET_SPIKE_LEAST, &s));
}

struct seen {
	int rows;
	int64_t i;
	base_unit digits; /* of the same */
	char text[64];
};

static void on_row(void *arg, const struct fleet_cell *cell)
{
	struct seen *s = arg;

	s->rows++;
	s->i = (int64_t)cell[1].i;
	base_wide_text(s->digits, cell[1].i);
	snprintf(s->text, sizeof(s->text), "%s", cell[0].text ? cell[0].text : "(none)");
}

static int rows_of(const char *text, const char *columns, struct seen *s)
{
	char *copy = strdup(text);

	*s = (struct seen){ 0 };
	int err = click_rows(copy, columns, on_row, s);
	free(copy);
	return err;
}

static void test_rows(void)
{
	static const char *const bad[] = { "a",		"a\t1",
					   "a\t1\t2\n", "a\n",
					   "a\tx\n",	"a\t\n",
					   "\n",	"a\t99999999999999999999\n" };
	struct seen s;

	EXPECT_INT(rows_of("a\\tb\\\\\\n\t7\nx\t-8\n", "ti", &s), 0);
	EXPECT_INT(s.rows, 2);
	EXPECT_INT(s.i, -8);
	EXPECT_INT(rows_of("a\\tb\\'\t3000000005\n", "ts", &s), 0);
	EXPECT_STR(s.text, "a\tb'");
	EXPECT_INT(s.i, 3 * USD + 5);
	EXPECT_INT(rows_of("a\t77371252455336267181195264\n", "ts", &s), 0);
	EXPECT_STR(s.digits, "77371252455336267181195264");
	EXPECT_INT(rows_of("a\t77371252455336267181195265\n", "ts", &s), -EBADMSG);
	EXPECT_INT(rows_of("a\t340282366920938463463374607431768211457\n", "ts", &s), -EBADMSG);
	EXPECT_INT(rows_of("a\t-1\n", "ts", &s), -EBADMSG);
	EXPECT_INT(rows_of("a\t-9223372037999999999\n", "ts", &s), -EBADMSG);
	EXPECT_INT(rows_of("a\t9223372037999999999x\n", "ts", &s), -EBADMSG);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		EXPECT_INT(rows_of(bad[i], "ti", &s), -EBADMSG);
	/* No text is none only where there may be none, and is told from one that looks so. */
	EXPECT_INT(rows_of("\\N\t7\n", "ni", &s), 0);
	EXPECT_STR(s.text, "(none)");
	EXPECT_INT(rows_of("\\\\N\t7\n", "ni", &s), 0);
	EXPECT_STR(s.text, "\\N");
	EXPECT_INT(rows_of("\\N\t7\n", "ti", &s), -EBADMSG);
	EXPECT_INT(rows_of("a\t\\N\n", "ti", &s), -EBADMSG);
	EXPECT_INT(rows_of("a\t\\N\n", "ts", &s), -EBADMSG);
}

/* --- sums that int64 does not hold --- */

#define HOUR_NS (3600 * USD)
#define RUNS 40

/* 200,000 GPU-hours at $2,600 million: forty of them are past what 64 bits hold of either. */
static void make_large(struct fleet_digest *d, int n)
{
	struct fleet_line *l = &d->line[0];

	memset(d, 0, sizeof(*d));
	snprintf(d->run, sizeof(d->run), "run-%d", n);
	strcpy(d->team, n % 2 ? "vision" : "speech");
	d->start_unix_ns = 1767571200 * USD;
	d->revision = 1;
	d->lines = d->shares = 1;
	*l = (struct fleet_line){ .gpu = "H100", .model = "spot", .priced = true, .gpus = 8000 };
	l->held_ns = 200000 * HOUR_NS;
	l->busy_ns = 140000 * HOUR_NS;
	l->wasted_ns = 60000 * HOUR_NS;
	l->usd = 2600000000 * USD + 1;
	l->wasted_usd = 780000000 * USD;
	l->minutes[0] = 60000 * 60;
	strcpy(d->share[0].class, "input.fetch");
	d->share[0].ns = l->wasted_ns;
	d->share[0].usd = l->wasted_usd;
}

static char *written(const struct fleet *f, void (*write)(const struct fleet *, FILE *))
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	write(f, out);
	fclose(out);
	return text;
}

static void write_json(const struct fleet *f, FILE *out)
{
	fleet_write_json(f, NULL, out);
}

static void expect_in(const char *text, const char *part)
{
	if (!strstr(text, part))
		printf("not there: %s\n", part);
	EXPECT(strstr(text, part) != NULL);
}

static void expect_large(struct fleet *f)
{
	char *json = written(f, write_json), *csv = written(f, fleet_write_csv);
	base_unit out;

	EXPECT_STR(base_wide_text(out, f->total.m[FLEET_HELD_NS]), "28800000000000000000");
	EXPECT_STR(base_wide_text(out, f->total.m[FLEET_USD]), "104000000000000000040");
	EXPECT_STR(base_wide_text(out, f->total.m[FLEET_MINUTES_IDLE]), "144000000");
	EXPECT_INT(base_ppm(f->total.m[FLEET_WASTED_NS], f->total.m[FLEET_HELD_NS]), 300000);
	EXPECT_INT(f->bill.total_cents, 10400000000000);
	EXPECT_INT(f->bill.line[0].cents + f->bill.line[1].cents, f->bill.total_cents);
	EXPECT_STR(fleet_gpu_time(f, out, f->total.m[FLEET_HELD_NS]), "8,000,000.00 GPU-hours");
	expect_in(json, "\"held_ns\": 28800000000000000000,");
	expect_in(json, "\"usd\": 104000000000.00000004,");
	expect_in(json, "\"wasted_pct\": 30,");
	expect_in(csv, "total,,,,,40,8000000,104000000000.00");
	free(json);
	free(csv);
}

/* @minutes: of the first run, if not 0. */
static void collect_large(int64_t minutes, int want, void (*look)(struct fleet *f))
{
	struct fleet_options o = { .query.until_ns = INT64_MAX, .by = FLEET_BY_BILL, .top = 5 };
	struct fleet_digest *d = calloc(RUNS, sizeof(*d));
	struct fleet_store *s;
	size_t waiting = 0;
	struct fleet f;

	for (int i = 0; i < RUNS; i++)
		make_large(&d[i], i);
	if (minutes)
		d->line[0].minutes[0] = minutes;
	REQUIRE(!fleet_store_open(&s, FLEET_STORE_MEMORY, true));
	EXPECT_INT(fleet_store_put(s, d, RUNS, &waiting), 0);
	EXPECT_INT(fleet_collect(&f, s, &o), want);
	if (look)
		look(&f);
	fleet_fini(&f);
	fleet_store_close(s);
	free(d);
}

static void test_beyond_int64(void)
{
	collect_large(0, 0, expect_large);
}

/* What cannot be shown is refused. */
static void test_beyond_all(void)
{
	struct fleet_sums s = { 0 };

	s.m[FLEET_USD] = BASE_WIDE_MAX;
	EXPECT(fleet_sums_fit(&s));
	s.m[FLEET_USD]++;
	EXPECT(!fleet_sums_fit(&s));
	collect_large(INT64_C(1) << 40, 0, NULL);
	collect_large(INT64_C(1) << 61, -EOVERFLOW, NULL);
}

static void test_literals(void)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	click_put_text(f, "a'b\\c\n\x01'); DROP TABLE x; --");
	fclose(f);
	EXPECT_STR(text, "'a\\'b\\\\c\\x0a\\x01\\'); DROP TABLE x; --'");
	free(text);
}

int main(void)
{
	return RUN(test_digest, test_fold_prices, test_worst, test_nothing_left_out, test_compute,
		   test_compute_of_others, test_tame, test_week, test_digits, test_cents,
		   test_spikes, test_spike_bounds, test_rows, test_beyond_int64, test_beyond_all,
		   test_literals);
}
