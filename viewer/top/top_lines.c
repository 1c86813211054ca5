/* SPDX-License-Identifier: Apache-2.0 */
#include "top_lines.h"

#include <errno.h>
#include <time.h>
#include "base/units.h"

#define LINE_BYTES 512
#define COLUMNS 132

int top_lines_once(struct top_source *s, enum top_sort sort, FILE *f)
{
	char line[LINE_BYTES];
	struct top_snapshot l;
	int err = s->fetch(s, &l);

	if (err)
		return err;
	top_sort(&l, sort);
	top_head(&l, line, sizeof(line));
	fprintf(f, "%s\n", line);
	top_sums(&l, line, sizeof(line));
	fprintf(f, "%s\n", line);
	top_state(&l, line, sizeof(line));
	fprintf(f, "%s\n", line);
	for (size_t i = 0; i < l.alerts && i < TOP_ALERTS_MAX; i++) {
		top_alert_line(&l.alert[i], line, sizeof(line));
		fprintf(f, "%s\n", line);
	}
	top_row_line(NULL, COLUMNS, line, sizeof(line));
	fprintf(f, "%s\n", line);
	for (size_t i = 0; i < l.rows; i++) {
		top_row_line(&l.row[i], COLUMNS, line, sizeof(line));
		fprintf(f, "%s\n", line);
	}
	top_snapshot_fini(&l);
	return fflush(f) ? -EPIPE : 0;
}

static void put_line(const struct top_snapshot *l, FILE *f)
{
	char sums[LINE_BYTES], state[LINE_BYTES];
	struct timespec now;
	base_unit when;

	clock_gettime(CLOCK_REALTIME, &now);
	base_moment(when, now.tv_sec * LIVE_SECOND_NS);
	top_sums(l, sums, sizeof(sums));
	top_state(l, state, sizeof(state));
	fprintf(f, "%.19s  %zu of %zu GPUs  %s  %s\n", when, l->totals.alive, l->totals.gpus, sums,
		state);
}

/* Those that are new since @had, the oldest first. */
static void put_alerts(const struct top_snapshot *l, size_t had, FILE *f)
{
	char line[LINE_BYTES];
	size_t fresh = l->alerts > had ? l->alerts - had : 0;

	for (size_t i = fresh < TOP_ALERTS_MAX ? fresh : TOP_ALERTS_MAX; i-- > 0;) {
		top_alert_line(&l->alert[i], line, sizeof(line));
		fprintf(f, "%s\n", line);
	}
}

int top_lines_run(struct top_source *s, int interval_ms, FILE *f)
{
	struct timespec nap = { interval_ms / 1000, interval_ms % 1000 * 1000000L };
	bool over = false;
	size_t alerts = 0;

	for (bool first = true; !over; first = false) {
		struct top_snapshot l;
		int err;
		if (!first)
			nanosleep(&nap, NULL);
		err = s->fetch(s, &l);
		if (err)
			return err;
		put_line(&l, f);
		put_alerts(&l, alerts, f);
		alerts = l.alerts;
		over = l.over;
		top_snapshot_fini(&l);
		if (fflush(f))
			return -EPIPE;
	}
	return 0;
}
