/* SPDX-License-Identifier: Apache-2.0 */
#include "conditions.h"

#include <string.h>
#include "core/log.h"

bool coll_conditions_alert(struct coll_conditions *c, const char *text)
{
	struct live_condition_error e;
	struct live_condition condition;

	c->watch.by = "collector";
	if (live_condition_parse(&condition, text, &e)) {
		coll_log("--alert %s: at character %zu: %s; such as 'idle_for>15m'", text,
			 e.offset + 1, e.why);
		return false;
	}
	if (!live_watch_add(&c->watch, &condition, NULL, 0))
		return true;
	coll_log("--alert %s: more than %d conditions; leave some out", text, LIVE_ALERTS_MAX);
	return false;
}

bool coll_conditions_exec(struct coll_conditions *c, const char *command)
{
	struct live_watch_entry *last =
		c->watch.entries ? &c->watch.entry[c->watch.entries - 1] : NULL;

	if (!last || last->exec) {
		coll_log("--exec %s: no --alert comes before it", command);
		return false;
	}
	if (!command[0] || strlen(command) >= LIVE_FIRED_TEXT) {
		coll_log("--exec: empty, or longer than %d bytes; put it into a script",
			 LIVE_FIRED_TEXT - 1);
		return false;
	}
	last->exec = command;
	return true;
}

bool coll_conditions_price(struct coll_conditions *c, const char *usd)
{
	if (!live_usd_parse(usd, &c->nano_usd_per_hour))
		return true;
	coll_log("--usd-per-gpu-hour %s: not a price; give dollars such as 2.50", usd);
	return false;
}

bool coll_conditions_want(const struct coll_conditions *c, enum live_metric metric)
{
	for (size_t i = 0; i < c->watch.entries; i++)
		if (c->watch.entry[i].alert.condition.metric == metric)
			return true;
	return false;
}

bool coll_conditions_complete(const struct coll_conditions *c)
{
	for (size_t i = 0; i < c->watch.entries; i++) {
		const struct live_condition *one = &c->watch.entry[i].alert.condition;
		if (c->nano_usd_per_hour >= 0 || !live_condition_needs_price(one))
			continue;
		coll_log("--alert %s: dollars need a price; give --usd-per-gpu-hour USD",
			 one->text);
		return false;
	}
	return true;
}
