/* SPDX-License-Identifier: Apache-2.0 */
/* What options tell a plan. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "core/log.h"
#include "cost/amount.h"
#include "capacity.h"

#define YEARS_MAX 100
#define GPUS_MAX 1000000000

/* Cuts "H100=..." in two; NULL: it is none. */
static char *after_name(char *text)
{
	char *value = strchr(text, '=');

	if (!value || value == text)
		return NULL;
	*value = '\0';
	return value + 1;
}

static bool whole(const char *text, int64_t most, int64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoll(text, &end, 10);
	return text[0] >= '0' && text[0] <= '9' && !*end && !errno && *out <= most;
}

/* "31000,4,0.35" */
static bool parse_own(struct fleet_plan_own *own, char *text)
{
	char *years = strchr(text, ','), *running = years ? strchr(years + 1, ',') : NULL;

	if (!running)
		return false;
	*years = *running = '\0';
	return !view_cost_parse(text, &own->nano_usd) && whole(years + 1, YEARS_MAX, &own->years) &&
	       own->years > 0 && !view_cost_parse(running + 1, &own->running);
}

bool fleet_plan_add_own(struct fleet_plan_given *g, char *text)
{
	struct fleet_plan_own own = { .gpu = text };
	char *value = after_name(text);

	if (value && parse_own(&own, value)) {
		if (g->owns < FLEET_PLAN_GIVEN_MAX) {
			g->own[g->owns++] = own;
			return true;
		}
		view_error("--own: more than %d kinds of GPU", FLEET_PLAN_GIVEN_MAX);
		return false;
	}
	view_error("--own %s: give the GPU, what one costs, the whole years over which that is "
		   "paid, and what it costs an hour to run, such as H100=31000,4,0.35",
		   text);
	return false;
}

bool fleet_plan_add_reserved(struct fleet_plan_given *g, char *text)
{
	struct fleet_plan_reserved r = { .gpu = text };
	char *value = after_name(text);

	if (value && whole(value, GPUS_MAX, &r.gpus)) {
		if (g->reserveds < FLEET_PLAN_GIVEN_MAX) {
			g->reserved[g->reserveds++] = r;
			return true;
		}
		view_error("--reserved: more than %d kinds of GPU", FLEET_PLAN_GIVEN_MAX);
		return false;
	}
	view_error("--reserved %s: give the GPU and how many are reserved, such as H100=16", text);
	return false;
}
