/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts until a command may start.
 */
#include "behind.h"

#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>
#include "core/clock.h"
#include "core/log.h"
#include "live/command.h"

#define EVERY_NS (60 * COLL_SECOND_NS)

void coll_behind_note(struct coll_behind *b, bool lost)
{
	b->files++;
	b->lost += lost;
}

static int start(struct coll_behind *b, const char *to)
{
	struct live_command *c = live_command_new();
	int err;

	if (!c)
		return -1;
	live_command_variable(c, "GPUSTARVE_ALERT_CONDITION=%s",
			      b->lost ? "upstream_lost" : "upstream_behind");
	live_command_variable(c, "GPUSTARVE_ALERT_VALUE=%" PRIu64, b->files);
	live_command_variable(
		c,
		"GPUSTARVE_ALERT_TEXT=%s had less than it had acknowledged of %" PRIu64
		" files; %" PRIu64 " of them are lost, the others are sent again",
		to, b->files, b->lost);
	live_command_variable(c, "GPUSTARVE_ALERT_BY=collector");
	live_command_variable(c, "GPUSTARVE_ALERT_TIME_NS=%" PRId64, coll_clock_ns(CLOCK_REALTIME));
	err = live_command_start(c, b->exec, &b->pid);
	live_command_free(c);
	return err;
}

void coll_behind_tick(struct coll_behind *b, const char *to)
{
	int64_t now = coll_now_ns();

	if (b->pid && waitpid(b->pid, NULL, WNOHANG))
		b->pid = 0;
	if (!b->exec || !b->files || b->pid || (b->started_ns && now - b->started_ns < EVERY_NS))
		return;
	if (start(b, to)) {
		b->pid = 0;
		coll_log("--upstream-exec: the command cannot be started");
	}
	b->started_ns = now;
	b->files = b->lost = 0;
}
