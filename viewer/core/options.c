/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "log.h"
#include "base/spelling.h"

/* The long option that @word, "--prise=2", may have been meant as; NULL: none. */
static const char *meant(const char *word, const struct option *longs)
{
	size_t len = strcspn(word, "="), best = BASE_SPELLING_OTHER;
	const char *name = NULL;

	for (const struct option *o = longs; len > 2 && !strncmp(word, "--", 2) && o->name; o++) {
		size_t far = base_spelling_distance(word + 2, len - 2, o->name);
		if (far < best) {
			best = far;
			name = o->name;
		}
	}
	return name;
}

int view_getopt(int argc, char **argv, const char *shorts, const struct option *longs)
{
	int at = optind ? optind : 1;

	opterr = 0;
	int c = getopt_long(argc, argv, shorts, longs, NULL);
	if (c != '?' && c != ':')
		return c;
	const char *word = at < argc ? argv[optind > at ? optind - 1 : at] : "";
	const char *name = meant(word, longs);
	if (c == ':')
		view_error("%s: %s needs a value; see gpustarve %s --help", argv[0], word, argv[0]);
	else if (name)
		view_error("%s: unknown option %s; did you mean --%s? See gpustarve %s --help",
			   argv[0], word, name, argv[0]);
	else
		view_error("%s: unknown option %s; see gpustarve %s --help", argv[0], word,
			   argv[0]);
	return '?';
}

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
