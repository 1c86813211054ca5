/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The language of conditions, and what they are held against.
 */
#include "condition.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "numbers.h"

#define NANO INT64_C(1000000000)
#define USD_MAX (INT64_C(1000000000) * NANO)

const struct live_metric_info live_metrics[LIVE_METRICS] = {
	[LIVE_STARVED_PCT] = { "starved_pct", LIVE_PPM, "GPUs starved" },
	[LIVE_BUSY_PCT] = { "busy_pct", LIVE_PPM, "GPUs busy" },
	[LIVE_IDLE_FOR] = { "idle_for", LIVE_NS, "no GPU has worked for" },
	[LIVE_GPU_IDLE_FOR] = { "gpu_idle_for", LIVE_NS, "a GPU has not worked for" },
	[LIVE_NO_PULSE_FOR] = { "no_pulse_for", LIVE_NS, "a process has been silent for" },
	[LIVE_LAG] = { "lag", LIVE_NS, "what is known is behind by" },
	[LIVE_USD] = { "usd", LIVE_NANO_USD, "the run has cost" },
	[LIVE_STARVED_USD] = { "starved_usd", LIVE_NANO_USD, "starved GPUs have cost up to" },
	[LIVE_USD_PER_H] = { "usd_per_h", LIVE_NANO_USD, "the GPUs in use cost an hour" },
	[LIVE_UNSAVED_FOR] = { "unsaved_for", LIVE_NS, "work has not been saved for" },
	[LIVE_UNSAVED_USD] = { "unsaved_usd", LIVE_NANO_USD, "a kill now would lose" },
	[LIVE_DROPS] = { "drops", LIVE_COUNT, "records and frames lost:" },
	[LIVE_STEP_SLOWER_PCT] = { "step_slower_pct", LIVE_PPM,
				   "steps take longer than in the last runs of this training, by" },
};

const char *const live_unit_names[4] = { "ppm", "ns", "nano_usd", "count" };

struct parser {
	const char *text, *at;
	struct live_condition_error *e;
};

static int wrong(struct parser *p, const char *at, const char *why)
{
	p->e->why = why;
	p->e->offset = (size_t)(at - p->text);
	return -EINVAL;
}

static void blanks(struct parser *p)
{
	while (*p->at == ' ' || *p->at == '\t')
		p->at++;
}

static size_t word_length(const char *s)
{
	return strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
}

static int metric(struct parser *p, enum live_metric *m)
{
	size_t len;

	blanks(p);
	len = word_length(p->at);
	for (int i = 0; i < LIVE_METRICS; i++) {
		if (strlen(live_metrics[i].name) != len ||
		    memcmp(live_metrics[i].name, p->at, len) != 0)
			continue;
		*m = (enum live_metric)i;
		p->at += len;
		return 0;
	}
	return wrong(p, p->at,
		     "no such metric; there are starved_pct, busy_pct, idle_for, gpu_idle_for, "
		     "no_pulse_for, lag, usd, starved_usd, usd_per_h, unsaved_for, unsaved_usd, "
		     "drops and step_slower_pct");
}

static int operator(struct parser *p, enum live_op *op)
{
	blanks(p);
	if (*p->at != '>' && *p->at != '<')
		return wrong(p, p->at, "one of > >= < <= is wanted here");
	*op = *p->at++ == '>' ? LIVE_GT : LIVE_LT;
	if (*p->at == '=') {
		*op = *op == LIVE_GT ? LIVE_GE : LIVE_LE;
		p->at++;
	}
	return 0;
}

static int decimal(struct parser *p, int64_t scale, int64_t max, int64_t *out)
{
	const char *at;
	int err;

	blanks(p);
	at = p->at;
	err = live_decimal(&p->at, scale, max, out);
	if (err)
		return wrong(p, at,
			     err == -ERANGE ? "this number is too large"
					    : "a number is wanted here");
	return 0;
}

/* Nanoseconds of the unit at @text, and its length; 0: no unit. */
static int64_t unit_of(const char *text, size_t *len)
{
	static const struct {
		const char *name;
		int64_t ns;
	} unit[] = { { "ms", NANO / 1000 },
		     { "s", NANO },
		     { "m", 60 * NANO },
		     { "h", 3600 * NANO },
		     { "d", 86400 * NANO } };

	for (size_t i = 0; i < sizeof(unit) / sizeof(unit[0]); i++) {
		*len = strlen(unit[i].name);
		if (!strncmp(text, unit[i].name, *len))
			return unit[i].ns;
	}
	return 0;
}

/* 15m, 1.5h, 1h 30m: each number has its unit, and the sum is within bounds. */
static int duration(struct parser *p, int64_t *out)
{
	int64_t sum = 0, number, ns;
	const char *begin;
	size_t len;

	do {
		blanks(p);
		begin = p->at;
		if (decimal(p, NANO, LIVE_NUMBER_MAX / NANO * NANO, &number))
			return -EINVAL;
		blanks(p);
		ns = unit_of(p->at, &len);
		if (!ns)
			return wrong(p, p->at, "a unit is wanted here: ms, s, m, h or d");
		p->at += len;
		__int128 more = (__int128)number * ns / NANO + sum;
		if (more > LIVE_NUMBER_MAX)
			return wrong(p, begin, "this time is too long");
		sum = (int64_t)more;
		blanks(p);
	} while (*p->at >= '0' && *p->at <= '9');
	*out = sum;
	return 0;
}

static int value(struct parser *p, enum live_unit unit, int64_t *out)
{
	const char *at;

	blanks(p);
	at = p->at;
	switch (unit) {
	case LIVE_PPM:
		if (decimal(p, 10000, LIVE_NUMBER_MAX, out))
			return -EINVAL;
		if (*out > 1000000)
			return wrong(p, at, "a share is at most 100");
		blanks(p);
		p->at += *p->at == '%';
		return 0;
	case LIVE_NS:
		return duration(p, out);
	case LIVE_NANO_USD:
		p->at += *p->at == '$';
		return decimal(p, NANO, USD_MAX, out);
	case LIVE_COUNT:
		return decimal(p, 1, LIVE_NUMBER_MAX, out);
	}
	return -EINVAL;
}

static int hold_time(struct parser *p, int64_t *out)
{
	blanks(p);
	*out = 0;
	if (!*p->at)
		return 0;
	if (word_length(p->at) < 3 || strncmp(p->at, "for", 3) != 0)
		return wrong(p, p->at, "for DURATION or nothing more is wanted here");
	p->at += 3;
	if (duration(p, out))
		return -EINVAL;
	if (*p->at)
		return wrong(p, p->at, "nothing more is wanted here");
	return 0;
}

static void keep_text(struct live_condition *c, const char *text)
{
	size_t len;

	text += strspn(text, " \t");
	len = strlen(text);
	while (len && (text[len - 1] == ' ' || text[len - 1] == '\t'))
		len--;
	for (size_t i = 0; i < len; i++)
		c->text[i] = text[i] == '\t' ? ' ' : text[i];
	c->text[len] = '\0';
}

int live_condition_parse(struct live_condition *c, const char *text, struct live_condition_error *e)
{
	struct parser p = { text, text, e };

	*c = (struct live_condition){ 0 };
	if (strnlen(text, LIVE_CONDITION_BYTES) == LIVE_CONDITION_BYTES)
		return wrong(&p, text + LIVE_CONDITION_BYTES - 1, "a condition is shorter");
	if (metric(&p, &c->metric) || operator(&p, &c->op) ||
	    value(&p, live_metrics[c->metric].unit, &c->value) || hold_time(&p, &c->for_ns))
		return -EINVAL;
	keep_text(c, text);
	return 0;
}

bool live_condition_needs_price(const struct live_condition *c)
{
	return live_metrics[c->metric].unit == LIVE_NANO_USD;
}

int live_usd_parse(const char *text, int64_t *nano_usd)
{
	const char *at = text + (*text == '$');

	if (strnlen(text, LIVE_CONDITION_BYTES) == LIVE_CONDITION_BYTES ||
	    live_decimal(&at, NANO, USD_MAX, nano_usd) || *at)
		return -EINVAL;
	return 0;
}

/* Decimals as far as they count. */
static void put_decimal(char *out, size_t room, int64_t v, int64_t scale, int digits)
{
	int n = snprintf(out, room, "%" PRId64 ".%0*" PRId64, v / scale, digits, v % scale);

	while (n > 0 && out[n - 1] == '0')
		out[--n] = '\0';
	if (n > 0 && out[n - 1] == '.')
		out[n - 1] = '\0';
}

void live_budget_conditions(int64_t nano_usd, struct live_condition out[2])
{
	for (int i = 0; i < 2; i++) {
		char number[48];
		out[i] = (struct live_condition){ .metric = LIVE_USD, .op = LIVE_GE };
		out[i].value = i ? nano_usd : nano_usd / 5 * 4 + nano_usd % 5 * 4 / 5;
		put_decimal(number, sizeof(number), out[i].value, NANO, 9);
		snprintf(out[i].text, sizeof(out[i].text), "usd>=%s", number);
	}
}

/* What the metric is now; false: not known. */
static bool metric_value(enum live_metric m, const struct live_totals *t, int64_t *v)
{
	bool usd = live_metrics[m].unit == LIVE_NANO_USD;

	*v = 0;
	switch (m) {
	case LIVE_STARVED_PCT:
		*v = t->now.starved_ppm;
		return t->now.known;
	case LIVE_BUSY_PCT:
		*v = t->now.busy_ppm;
		return t->now.known;
	case LIVE_IDLE_FOR:
		*v = t->idle_ns;
		return t->idle_ns >= 0;
	case LIVE_GPU_IDLE_FOR:
		*v = t->gpu_idle_ns;
		return t->gpu_idle_ns >= 0;
	case LIVE_NO_PULSE_FOR:
		*v = t->quiet_ns;
		return t->quiet_ns >= 0;
	case LIVE_LAG:
		*v = t->lag_ns;
		return t->lag_ns >= 0;
	case LIVE_USD:
		*v = t->nano_usd;
		break;
	case LIVE_STARVED_USD:
		*v = t->starved_nano_usd;
		break;
	case LIVE_USD_PER_H:
		*v = t->nano_usd_per_hour;
		break;
	case LIVE_UNSAVED_FOR:
		*v = t->unsaved_for_ns;
		return t->unsaved_for_ns >= 0 && !t->unsure && !t->serving;
	case LIVE_UNSAVED_USD:
		*v = t->unsaved_nano_usd;
		return t->priced && t->unsaved_ns >= 0 && !t->unsure && !t->serving;
	case LIVE_DROPS:
		*v = live_count(t->dropped);
		break;
	case LIVE_STEP_SLOWER_PCT:
		*v = t->step_slower_ppm;
		return t->step_slower_ppm > 0;
	case LIVE_METRICS:
		return false;
	}
	return !usd || t->priced;
}

static void put_duration(char *out, int64_t ns)
{
	int64_t ms = ns / 1000000, s = ms / 1000;

	if (s < 60)
		snprintf(out, LIVE_VALUE_BYTES, "%" PRId64 ".%" PRId64 " s", s, ms % 1000 / 100);
	else if (s < 3600)
		snprintf(out, LIVE_VALUE_BYTES, "%" PRId64 " m %" PRId64 " s", s / 60, s % 60);
	else
		snprintf(out, LIVE_VALUE_BYTES, "%" PRId64 " h %" PRId64 " m", s / 3600,
			 s / 60 % 60);
}

const char *live_value_text(char *out, enum live_metric m, int64_t v)
{
	v = base_max(0, v);
	switch (live_metrics[m].unit) {
	case LIVE_PPM:
		snprintf(out, LIVE_VALUE_BYTES, "%" PRId64 ".%" PRId64 " %%", v / 10000,
			 v / 1000 % 10);
		break;
	case LIVE_NS:
		put_duration(out, v);
		break;
	case LIVE_NANO_USD:
		snprintf(out, LIVE_VALUE_BYTES, "$%" PRId64 ".%02" PRId64, v / NANO,
			 v % NANO / (NANO / 100));
		break;
	case LIVE_COUNT:
		snprintf(out, LIVE_VALUE_BYTES, "%" PRId64, v);
		break;
	}
	return out;
}

static bool compare(int64_t v, enum live_op op, int64_t with)
{
	switch (op) {
	case LIVE_GT:
		return v > with;
	case LIVE_GE:
		return v >= with;
	case LIVE_LT:
		return v < with;
	case LIVE_LE:
		return v <= with;
	}
	return false;
}

bool live_alert_check(struct live_alert *a, const struct live_totals *t, int64_t now_ns)
{
	const struct live_condition *c = &a->condition;
	int64_t v;

	if (a->fired)
		return false;
	if (!metric_value(c->metric, t, &v) || !compare(v, c->op, c->value)) {
		a->holds = false;
		return false;
	}
	if (!a->holds)
		a->since_ns = now_ns;
	a->holds = true;
	if (now_ns - a->since_ns < c->for_ns)
		return false;
	a->fired = true;
	a->value = v;
	return true;
}
