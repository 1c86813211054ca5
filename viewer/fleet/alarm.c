/* SPDX-License-Identifier: Apache-2.0 */
#include "alarm.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "base/units.h"
#include "core/log.h"
#include "live/command.h"

static void tell(struct live_command *c, const struct fleet_budget_state *b, const char *text,
		 int64_t at_ns)
{
	base_unit usd;

	live_command_variable(c, "GPUSTARVE_ALERT_CONDITION=%s at %d %%", b->condition, b->level);
	live_command_variable(c, "GPUSTARVE_ALERT_METRIC=usd");
	live_command_variable(c, "GPUSTARVE_ALERT_VALUE=%s", base_wide_text(usd, b->usd));
	live_command_variable(c, "GPUSTARVE_ALERT_UNIT=nano_usd");
	live_command_variable(c, "GPUSTARVE_ALERT_TEXT=%s", text);
	live_command_variable(c, "GPUSTARVE_ALERT_BY=fleet");
	live_command_variable(c, "GPUSTARVE_ALERT_TIME_NS=%" PRId64, at_ns);
	if (b->run)
		live_command_variable(c, "GPUSTARVE_ALERT_RUN_ID=%s", b->run);
	else
		live_command_variable(c, "GPUSTARVE_ALERT_TEAM=%s", b->team);
}

void fleet_alarm(const char *command, const struct fleet_budget_state *b, const char *text,
		 int64_t at_ns)
{
	struct live_command *c = live_command_new();
	int err = -ENOMEM;
	pid_t pid;

	if (c) {
		tell(c, b, text, at_ns);
		err = live_command_start(c, command, &pid);
	}
	if (err)
		view_error("--exec %s: %s; it was not run", command, strerror(-err));
	live_command_free(c);
}
