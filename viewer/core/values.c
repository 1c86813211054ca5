/* SPDX-License-Identifier: Apache-2.0 */
#include "values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "log.h"

bool view_option_price_model(const char *text)
{
	static const char *const model[] = { "on-demand", "spot", "reserved", "owned" };

	for (size_t i = 0; i < sizeof(model) / sizeof(model[0]); i++)
		if (!strcmp(text, model[i]))
			return true;
	view_error("--price-model %s: no such model; one of on-demand, spot, reserved, owned",
		   text);
	return false;
}

bool view_option_size(const char *text, uint64_t *bytes)
{
	static const char units[] = "kmgt";
	char *end;

	errno = 0;
	unsigned long long v = strtoull(text, &end, 10);
	bool ok = !errno && end > text && text[0] != '-';
	if (ok && *end) {
		const char *unit = strchr(units, *end | 32);
		for (long i = unit ? unit - units : -1; i >= 0 && ok; i--)
			ok = !__builtin_mul_overflow(v, 1024ull, &v);
		end++;
		if (*end == 'i')
			end++;
		if (*end == 'B')
			end++;
		ok = ok && unit && !*end;
	}
	*bytes = v;
	return ok;
}

bool view_option_json(const char *text, bool *json)
{
	*json = !strcmp(text, "json");
	if (*json || !strcmp(text, "text"))
		return true;
	view_error("--format %s: no such format; one of text, json", text);
	return false;
}

bool view_option_number(const char *name, const char *text, long most, long *n)
{
	char *end;

	*n = strtol(text, &end, 10);
	if (text[0] >= '1' && text[0] <= '9' && !*end && *n <= most)
		return true;
	view_error("%s %s: not a whole number from 1 to %ld", name, text, most);
	return false;
}
