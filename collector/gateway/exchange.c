/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/log.h"

#define EVERY_NS (10 * COLL_SECOND_NS)
#define PAUSE_MAX_NS (60 * COLL_SECOND_NS)
#define LOG_EVERY_NS (60 * COLL_SECOND_NS)
/*
 * What is told is as old as the store's last answer, and after an outage it lacks what waits at
 * other gateways: that processes are silent is not known then.
 */
#define FRESH_NS (30 * COLL_SECOND_NS)
#define SURE_AFTER_NS (PAUSE_MAX_NS + EVERY_NS)
#define TIME_S 120
#define MEMORY (2ull << 30)
#define MARK "mark\t"

bool coll_exchange_is_there(const struct coll_exchange *x)
{
	return x->context != NULL;
}

int coll_exchange_init(struct coll_exchange *x, const char *url,
		       const struct coll_conditions *conditions, struct coll_context *context)
{
	int err;

	*x = (struct coll_exchange){ .url = url };
	if (!coll_child_beside(x->program, "gpustarve")) {
		coll_log("--store %s: there is no gpustarve beside this program", url);
		return -ENOENT;
	}
	err = coll_runs_init(&x->runs, conditions);
	if (!err)
		x->context = context;
	return err;
}

void coll_exchange_fini(struct coll_exchange *x)
{
	if (!x->context)
		return;
	coll_children_forget(&x->context->children, x);
	coll_runs_fini(&x->runs);
	coll_pulse_rows_fini(&x->rows);
	wire_buf_fini(&x->sent);
	*x = (struct coll_exchange){ .context = NULL };
}

void coll_exchange_take(struct coll_exchange *x, const char *team, const struct coll_body *b,
			const struct coll_body_stream *s, bool first)
{
	if (x->context)
		coll_pulse_rows_take(&x->rows, team, b, s, first);
}

void coll_exchange_alert(struct coll_exchange *x, const struct coll_run *run,
			 const struct live_fired *f, const char *line, size_t len)
{
	const char *slash = strchr(run->dir, '/');
	struct live_row r;

	live_row_of_alert(&r, f);
	snprintf(r.team, sizeof(r.team), "%.*s", (int)(slash ? slash - run->dir : 0), run->dir);
	snprintf(r.run, sizeof(r.run), "%s", run->id);
	coll_pulse_rows_add(&x->rows, &r, line, len);
}

/* A line of the child's: a row, or the mark behind all of them. */
static void on_line(void *owner, const char *line)
{
	struct coll_exchange *x = owner;
	struct live_row r;
	char *copy;

	if (!strncmp(line, MARK, strlen(MARK))) {
		x->next_mark = strtoll(line + strlen(MARK), NULL, 10);
		coll_runs_rows_end(&x->runs);
		return;
	}
	copy = strdup(line);
	if (copy && live_row_get(&r, copy))
		coll_runs_row(&x->runs, &r);
	free(copy);
}

static void failed(struct coll_exchange *x, const char *why)
{
	x->context->count.pulse_failures++;
	x->failed = true;
	coll_pulse_rows_return(&x->rows, &x->sent);
	x->pause_ns = x->pause_ns * 2 < PAUSE_MAX_NS ? x->pause_ns * 2 : PAUSE_MAX_NS;
	if (coll_log_due(&x->logged_ns, LOG_EVERY_NS))
		coll_log("pulses cannot be exchanged with the store: %s; it is tried again, and "
			 "what this tells of runs is as old",
			 why);
}

static void is_done(void *owner, const struct coll_child_end *end)
{
	struct coll_exchange *x = owner;
	char why[400];

	x->busy = false;
	if (coll_child_ok(end) && x->next_mark > 0) {
		x->mark = x->next_mark;
		x->pause_ns = EVERY_NS;
		x->told_ns = coll_now_ns();
		if (x->failed)
			x->sure_ns = x->told_ns + SURE_AFTER_NS;
		x->failed = false;
		x->context->count.pulse_exchanges++;
		wire_buf_fini(&x->sent);
		x->sent = (struct wire_buf){ .data = NULL };
	} else {
		coll_child_why(end, why, sizeof(why));
		failed(x, why);
	}
	x->next_ns = coll_now_ns() + x->pause_ns;
}

/* What is to be handed over, as a file to be read from its beginning; negative errno. */
static int file_of(const struct wire_buf *lines)
{
	int fd = memfd_create("pulses", MFD_CLOEXEC), err = fd < 0 ? -errno : 0;
	size_t at = 0;

	while (!err && at < lines->len) {
		ssize_t n = write(fd, lines->data + at, lines->len - at);

		err = n < 0 ? -errno : 0;
		at += n > 0 ? (size_t)n : 0;
	}
	if (!err && lseek(fd, 0, SEEK_SET) < 0)
		err = -errno;
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

static int start(struct coll_exchange *x, int fd)
{
	char since[24];
	const char *argv[] = { x->program, "pulses", "--store", x->url, NULL, NULL, NULL };
	struct coll_child_plan plan = {
		.argv = argv,
		.stdin_fd = fd,
		.output_max = LIVE_ROW_LINE,
		.line = on_line,
		.timeout_s = TIME_S,
		.memory = MEMORY,
	};

	snprintf(since, sizeof(since), "%" PRId64, x->mark);
	if (x->mark)
		coll_child_option(argv, 4, "--since", since);
	x->next_mark = 0;
	return coll_child_start(&x->context->children, &plan, is_done, x);
}

static void exchange(struct coll_exchange *x)
{
	int fd, err;

	x->sent = x->rows.lines;
	x->rows.lines = (struct wire_buf){ .data = NULL };
	fd = file_of(&x->sent);
	err = fd < 0 ? fd : start(x, fd);
	if (fd >= 0)
		close(fd);
	x->busy = !err;
	x->next_ns = coll_now_ns() + x->pause_ns;
	if (err)
		failed(x, strerror(-err));
}

bool coll_exchange_ending(struct coll_exchange *x)
{
	if (!x->context || x->busy)
		return x->busy;
	if (x->last || !x->rows.lines.len)
		return false;
	x->last = true;
	exchange(x);
	return x->busy;
}

void coll_exchange_tick(struct coll_exchange *x)
{
	if (!x->context)
		return;
	if (!x->pause_ns)
		x->pause_ns = EVERY_NS;
	x->context->count.pulse_rows = x->rows.rows;
	x->context->count.pulse_dropped = x->rows.dropped;
	x->runs.sure = x->told_ns && !x->failed && coll_now_ns() - x->told_ns < FRESH_NS &&
		       coll_now_ns() >= x->sure_ns;
	coll_runs_tick(&x->runs);
	x->context->count.live_unwatched = x->runs.unwatched;
	if (!x->busy && coll_now_ns() >= x->next_ns)
		exchange(x);
}
