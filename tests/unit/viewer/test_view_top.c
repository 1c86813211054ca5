/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a look at a run that is over, or of which nothing is heard. */
#include "harness.h"

#include <string.h>
#include "top/snapshot.h"
#include "top/source.h"

#define SECOND LIVE_SECOND_NS

static struct top_row row[3];

/* A run of three processes, each of the gap and silence that its row has. */
static struct top_snapshot look(int exit_status)
{
	struct top_snapshot l = { .row = row,
				  .rows = 3,
				  .exit_status = exit_status,
				  .totals = { .gpus = 3,
					      .alive = 3,
					      .streams = 3,
					      .lag_ns = SECOND,
					      .nano_usd_per_hour = 5,
					      .now = { .known = true } } };

	snprintf(l.run, sizeof(l.run), "r");
	top_snapshot_close(&l);
	return l;
}

static void rows(enum live_gap a, enum live_gap b, enum live_gap c, int64_t quiet_ns)
{
	row[0] = (struct top_row){ .gap = a, .quiet_ns = -1 };
	row[1] = (struct top_row){ .gap = b, .quiet_ns = quiet_ns };
	row[2] = (struct top_row){ .gap = c, .quiet_ns = SECOND };
}

static void expect(const struct top_snapshot *l, const char *head, const char *state)
{
	char text[512];

	top_head(l, text, sizeof(text));
	EXPECT_STR(text, head);
	top_state(l, text, sizeof(text));
	text[strlen(state)] = '\0';
	EXPECT_STR(text, state);
}

static void test_goes_on(void)
{
	struct top_snapshot l;

	rows(LIVE_GAP_BUSY, LIVE_GAP_INPUT, LIVE_GAP_BUSY, 2 * SECOND);
	l = look(-1);
	EXPECT(!l.over && l.totals.alive == 3);
	expect(&l, "r  3 GPUs, 3 processes", "known up to 1.0 s ago");
	rows(LIVE_GAP_ENDED, LIVE_GAP_BUSY, LIVE_GAP_BUSY, 42 * SECOND);
	l = look(-1);
	expect(&l, "r  3 GPUs, 3 processes", "no sign for 42.0 s  known up to 1.0 s ago");
	rows(LIVE_GAP_KILLED, LIVE_GAP_ENDED, LIVE_GAP_BUSY, -1);
	l = look(137); /* the wrapper of another node may go on */
	EXPECT(!l.over);
	expect(&l, "r  3 GPUs, 3 processes  1 killed", "known");
	l = look(-1);
	expect(&l, "r  3 GPUs, 3 processes  1 killed", "known");
}

static void test_over(void)
{
	struct top_snapshot l;

	rows(LIVE_GAP_ENDED, LIVE_GAP_KILLED, LIVE_GAP_ENDED, -1);
	l = look(-1);
	EXPECT(l.over && !l.totals.alive && !l.totals.now.known && !l.totals.nano_usd_per_hour);
	expect(&l, "r  0 of 3 GPUs, 3 processes  ended, 1 killed", "own cost");
	l = look(137);
	expect(&l, "r  0 of 3 GPUs, 3 processes  ended by signal 9", "own cost");
	l = look(3);
	expect(&l, "r  0 of 3 GPUs, 3 processes  ended with 3, 1 killed", "own cost");
	rows(LIVE_GAP_ENDED, LIVE_GAP_SILENT, LIVE_GAP_ENDED, 120 * SECOND);
	l = look(-1);
	expect(&l, "r  0 of 3 GPUs, 3 processes  ended", "no sign for 2 m 0 s  own cost");
	l = look(0);
	expect(&l, "r  0 of 3 GPUs, 3 processes  ended", "no sign");
	l.rows_left_out = 1;
	l.over = false;
	top_snapshot_close(&l);
	EXPECT(!l.over);
}

/* A collector's price may be another than that of who looks on: its dollars say whose they are. */
static void test_whose_dollars(void)
{
	static const struct {
		const char *by;
		enum live_metric metric;
		int budget_pct;
		const char *end;
	} fired[] = {
		{ "collector", LIVE_USD, 0, "(c), at the collector's price" },
		{ "collector", LIVE_USD, 80, " so far, at the collector's price" },
		{ "collector", LIVE_IDLE_FOR, 0, "(c)" },
		{ "run", LIVE_USD, 0, "(c)" },
		{ "run", LIVE_USD, 80, " so far" },
	};
	size_t i;

	for (i = 0; i < sizeof(fired) / sizeof(fired[0]); i++) {
		struct live_fired f = { .metric = fired[i].metric,
					.value = 40000000,
					.threshold = 40000000,
					.budget_pct = fired[i].budget_pct };
		struct top_snapshot l = { .exit_status = -1 };
		const char *text = l.alert[0].text;

		snprintf(f.by, sizeof(f.by), "%s", fired[i].by);
		snprintf(f.condition, sizeof(f.condition), "c");
		top_take_alert(&l, &f);
		EXPECT_UINT(l.alerts, 1);
		EXPECT(strlen(text) > strlen(fired[i].end));
		EXPECT_STR(text + strlen(text) - strlen(fired[i].end), fired[i].end);
	}
}

int main(void)
{
	return RUN(test_goes_on, test_over, test_whose_dollars);
}
