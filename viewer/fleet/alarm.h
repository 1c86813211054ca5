/* SPDX-License-Identifier: Apache-2.0 */
/* A command that is told of a budget. What runs brought along stands in its environment only. */
#ifndef FLEET_ALARM_H
#define FLEET_ALARM_H

#include "fleet.h"

/* Starts it and does not wait. An error is said on stderr. */
void fleet_alarm(const char *command, const struct fleet_budget_state *b, const char *text,
		 int64_t at_ns);

#endif
