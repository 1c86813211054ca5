/* SPDX-License-Identifier: Apache-2.0 */
#include "asked.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "core/log.h"

/* Of these the label is what people mean. */
static const char *const labels[] = { "namespace" };

const char *fleet_asked_label(size_t i)
{
	return i < sizeof(labels) / sizeof(labels[0]) ? labels[i] : NULL;
}

static bool by_label(const char *key, struct fleet_options *o)
{
	o->by = FLEET_DIM_LABEL;
	o->query.label = key;
	return true;
}

bool fleet_asked_by(const char *text, struct fleet_options *o)
{
	const char *label;

	if (!strncmp(text, "label:", 6) && text[6])
		return by_label(text + 6, o);
	for (size_t i = 0; (label = fleet_asked_label(i)); i++)
		if (!strcmp(text, label))
			return by_label(label, o);
	for (int by = 0; by < FLEET_BYS; by++) {
		if (by != FLEET_DIM_LABEL && !strcmp(text, fleet_by_name(by))) {
			o->by = by;
			return true;
		}
	}
	view_error("--by %s: no such table; see gpustarve fleet --help", text);
	return false;
}

/* "30d": seconds; 0: it is none. */
static int64_t ago(const char *text)
{
	static const struct {
		char unit;
		int64_t s;
	} units[] = { { 'h', 3600 }, { 'd', 86400 }, { 'w', 7 * 86400 } };
	char *end;

	errno = 0;
	long long n = strtoll(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || errno || n > 1000000 || !*end || end[1])
		return 0;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (*end == units[i].unit)
			return n * units[i].s;
	return 0;
}

static bool moment(const char *text, int64_t *s)
{
	static const char *const form[] = { "%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ" };

	for (int i = 0; i < 2; i++) {
		struct tm tm = { 0 };
		const char *end = strptime(text, form[i], &tm);

		if (!end || *end || tm.tm_year < 70 || tm.tm_year > 200)
			continue;
		*s = timegm(&tm);
		return true;
	}
	return false;
}

bool fleet_asked_time(const char *option, const char *text, int64_t *unix_ns)
{
	int64_t s = ago(text);

	if (s)
		s = (int64_t)time(NULL) - s;
	else if (!moment(text, &s)) {
		view_error("%s %s: not a time; give a date such as 2026-11-09, or 12h, 30d, 8w "
			   "ago",
			   option, text);
		return false;
	}
	*unix_ns = s * 1000000000LL;
	return true;
}
