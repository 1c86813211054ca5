/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions of alerts, and when they hold.
 *
 *   condition = metric op value [ "for" duration ]
 *   op        = ">" | ">=" | "<" | "<="
 *   value     = number [ "%" ]  of metrics that end in _pct
 *             | [ "$" ] number  of dollars
 *             | duration        of times
 *             | digits          of counts
 *   duration  = number unit { number unit }
 *   unit      = "ms" | "s" | "m" | "h" | "d"
 *   number    = digits [ "." digits ]
 *
 * Blanks may stand between any two of these. Numbers have at most nine decimals and go through no
 * double. `for` asks that the condition has held so long without a break.
 *
 * A condition fires once: live_alert_check says yes a single time. Pure functions; no allocation.
 */
#ifndef LIVE_CONDITION_H
#define LIVE_CONDITION_H

#include "run.h"

#define LIVE_CONDITION_BYTES 128 /* of a condition's text, the end included */

enum live_metric {
	LIVE_STARVED_PCT, /* of the GPUs' time in the last 30 s, at most */
	LIVE_BUSY_PCT,
	LIVE_IDLE_FOR, /* no GPU of the run has worked for so long */
	LIVE_GPU_IDLE_FOR, /* one of them has not */
	LIVE_NO_PULSE_FOR, /* a process that has not ended has been silent for so long */
	LIVE_LAG, /* what is known lies so far behind */
	LIVE_USD, /* so far */
	LIVE_STARVED_USD, /* so far, at most */
	LIVE_USD_PER_H, /* of the GPUs in use now */
	LIVE_UNSAVED_FOR, /* a kill now would lose so much of a GPU */
	LIVE_UNSAVED_USD, /* ... of all, in dollars */
	LIVE_DROPS, /* records and frames lost so far */
	LIVE_STEP_SLOWER_PCT, /* a step against those of the last runs; only a collector knows */
	LIVE_METRICS
};

enum live_unit {
	LIVE_PPM, /* millionths; shown in percent */
	LIVE_NS,
	LIVE_NANO_USD,
	LIVE_COUNT
};

enum live_op {
	LIVE_GT,
	LIVE_GE,
	LIVE_LT,
	LIVE_LE
};

struct live_metric_info {
	const char *name;
	enum live_unit unit;
	const char *what; /* a clause for people: "GPUs starved" */
};
extern const struct live_metric_info live_metrics[LIVE_METRICS];
extern const char *const live_unit_names[4]; /* "ppm" "ns" "nano_usd" "count" */

struct live_condition {
	enum live_metric metric;
	enum live_op op;
	int64_t value; /* in the metric's unit */
	int64_t for_ns; /* 0: at once */
	char text[LIVE_CONDITION_BYTES]; /* as it was written, without blanks around it */
};

struct live_condition_error {
	const char *why; /* static */
	size_t offset; /* of the byte that is wrong, from 0 */
};

/* 0, or -EINVAL and *e. @text ends with NUL; what is too long is refused unread. */
int live_condition_parse(struct live_condition *c, const char *text,
			 struct live_condition_error *e);

/* It speaks of dollars, so without a price it never holds. */
bool live_condition_needs_price(const struct live_condition *c);

/* "6.88" to nano-dollars, a "$" before it allowed: 0 or -EINVAL. At most 1e9 dollars. */
int live_usd_parse(const char *text, int64_t *nano_usd);

/* A budget of @nano_usd as two conditions: 80 % of it, and all of it. */
void live_budget_conditions(int64_t nano_usd, struct live_condition out[2]);

/* "83.2 %", "15 m 2 s", "$41.07", "12": @out has LIVE_VALUE_BYTES. Returns @out. */
#define LIVE_VALUE_BYTES 48
const char *live_value_text(char *out, enum live_metric m, int64_t value);

struct live_alert { /* a condition that is watched; zero but for the condition at first */
	struct live_condition condition;
	bool holds, fired;
	int64_t since_ns; /* now when it began to hold, if it holds */
	int64_t value; /* of the metric when it fired */
};

/* Looks at the run as it is @now_ns. True: it fires, for the first and the last time. */
bool live_alert_check(struct live_alert *a, const struct live_totals *t, int64_t now_ns);

#endif
