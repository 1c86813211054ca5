/* SPDX-License-Identifier: Apache-2.0 */
#include "hours.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/minmax.h"

#define NS INT64_C(1000000000)
#define MORNING 7
#define EVENING 19
#define PIECES_MAX 12000 /* ten years; what is beyond is of the last */
#define ZONES "/usr/share/zoneinfo"

const char *const fleet_when_names[FLEET_WHENS] = { "daytime", "overnight", "weekend" };

/* Of a local time, with when it ends, which mktime sets right. */
static enum fleet_when judge(struct tm *tm)
{
	bool weekend = tm->tm_wday == 0 || tm->tm_wday == 6;
	int hour = tm->tm_hour;

	tm->tm_min = tm->tm_sec = 0;
	tm->tm_isdst = -1;
	tm->tm_hour = !weekend && hour < MORNING   ? MORNING
		      : !weekend && hour < EVENING ? EVENING
						   : 0;
	if (!tm->tm_hour)
		tm->tm_mday += tm->tm_wday == 6 ? 2 : 1;
	if (weekend)
		return FLEET_WHEN_WEEKEND;
	return hour < MORNING || hour >= EVENING ? FLEET_WHEN_NIGHT : FLEET_WHEN_DAY;
}

enum fleet_when fleet_when(int64_t unix_ns, int64_t *next_ns)
{
	time_t t = (time_t)(unix_ns / NS - (unix_ns % NS < 0)), next;
	struct tm tm = { 0 };

	*next_ns = INT64_MAX;
	if (!localtime_r(&t, &tm))
		return FLEET_WHEN_DAY;
	enum fleet_when is = judge(&tm);
	next = mktime(&tm);
	if (next <= t) /* a clock that was set at just that time */
		next = t + 3600;
	if (next < INT64_MAX / NS)
		*next_ns = (int64_t)next * NS;
	return is;
}

static void add(struct fleet_sums *to, const struct fleet_line_row *l, int64_t from, int64_t until)
{
	struct fleet_sums piece;

	fleet_line_cut(&piece, l, from, until);
	fleet_sums_add(to, &piece);
}

bool fleet_hours_of(const struct fleet_line_row *l, int64_t since, int64_t until,
		    struct fleet_sums part[FLEET_WHENS], bool has[FLEET_WHENS])
{
	int64_t at = base_max(l->start_ns, since), end = fleet_line_end(l, until), next;
	bool any = false;

	memset(part, 0, FLEET_WHENS * sizeof(*part));
	memset(has, 0, FLEET_WHENS * sizeof(*has));
	for (int n = 0; at < end && n < PIECES_MAX; n++, at = next) {
		enum fleet_when when = fleet_when(at, &next);

		if (n == PIECES_MAX - 1 || next > end)
			next = end;
		add(&part[when], l, at, next);
		any = has[when] = true;
	}
	for (int w = 0; w < FLEET_WHENS; w++)
		if (has[w])
			fleet_line_count(&part[w], l);
	return any;
}

static const char *given;

bool fleet_zone_set(const char *name)
{
	char path[256];

	if (!name[0] || name[0] == '/' || strstr(name, "..") ||
	    snprintf(path, sizeof(path), ZONES "/%s", name) >= (int)sizeof(path) ||
	    access(path, R_OK) || setenv("TZ", name, 1))
		return false;
	given = name;
	tzset();
	return true;
}

const char *fleet_zone(void)
{
	const char *env = getenv("TZ");

	tzset();
	return given ? given : env && env[0] ? env : tzname[0];
}
