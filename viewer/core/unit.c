/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include "log.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_name(const char *text, size_t len)
{
	if (!len || len >= VIEW_UNIT_NAME || text[0] < 'a' || text[0] > 'z')
		return false;
	for (size_t i = 0; i < len; i++)
		if (!((text[i] >= 'a' && text[i] <= 'z') || is_digit(text[i]) || text[i] == '_'))
			return false;
	return len != 5 || memcmp(text, "steps", 5) != 0;
}

bool view_unit_parse(const char *text, size_t len, struct view_unit *u)
{
	size_t name = 0, i;
	int64_t v = 0;

	while (name < len && text[name] != '=' && text[name] != ' ')
		name++;
	if (!is_name(text, name) || name + 1 >= len)
		return false;
	for (i = name + 1; i < len; i++) {
		if (!is_digit(text[i]))
			return false;
		v = v * 10 + (text[i] - '0');
		if (v > VIEW_UNIT_COUNT_MAX)
			return false;
	}
	memcpy(u->name, text, name);
	u->name[name] = '\0';
	u->count = v;
	return v > 0;
}

static struct view_unit *find(struct view_unit *unit, size_t *n, const char *name)
{
	for (size_t i = 0; i < *n; i++)
		if (!strcmp(unit[i].name, name))
			return &unit[i];
	if (*n == VIEW_UNITS_MAX)
		return NULL;
	unit[*n] = (struct view_unit){ 0 };
	snprintf(unit[*n].name, sizeof(unit[*n].name), "%s", name);
	return &unit[(*n)++];
}

bool view_unit_add(struct view_unit unit[VIEW_UNITS_MAX], size_t *n, const struct view_unit *u)
{
	struct view_unit *to = find(unit, n, u->name);

	if (!to || to->count > VIEW_UNIT_COUNT_MAX - u->count)
		return false;
	to->count += u->count;
	return true;
}

bool view_option_unit(struct view_unit unit[VIEW_UNITS_MAX], size_t *n, const char *text)
{
	struct view_unit u, *to;

	if (!view_unit_parse(text, strlen(text), &u)) {
		view_error("--unit %s: no count; write NAME=COUNT, such as tokens=1048576", text);
		return false;
	}
	to = find(unit, n, u.name);
	if (!to) {
		view_error("--unit %s: more than %d units; leave some out", text, VIEW_UNITS_MAX);
		return false;
	}
	*to = u;
	return true;
}

int64_t view_unit_per(const char *name)
{
	return !strcmp(name, "epochs") ? 1 : !strcmp(name, "tokens") ? 1000000 : 1000;
}

const char *view_unit_metric(char out[VIEW_UNIT_METRIC], const char *name)
{
	int64_t per = view_unit_per(name);

	if (per == 1)
		snprintf(out, VIEW_UNIT_METRIC, "usd_per_epoch");
	else
		snprintf(out, VIEW_UNIT_METRIC, "usd_per_1%c_%s", per == 1000 ? 'k' : 'm', name);
	return out;
}
