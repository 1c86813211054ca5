/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger's rule, or the user's list. */
#include "waste.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include "amount.h"

void view_waste_default(bool waste[ANA_CLASSES])
{
	for (int c = 0; c < ANA_CLASSES; c++)
		waste[c] = ana_class_is_waste(c);
}

static bool add_matching(const char *pattern, bool waste[ANA_CLASSES])
{
	bool any = false;

	for (int c = 0; c < ANA_CLASSES; c++) {
		if (fnmatch(pattern, ana_class_names[c], 0))
			continue;
		waste[c] = true;
		any = true;
	}
	return any;
}

int view_waste_parse(const char *text, bool waste[ANA_CLASSES], char bad[64])
{
	memset(waste, 0, ANA_CLASSES * sizeof(*waste));
	for (;;) {
		size_t len = strcspn(text, ",");
		snprintf(bad, 64, "%.*s", (int)len, text);
		if (len > 60 || !add_matching(bad, waste))
			return -EINVAL;
		if (!text[len])
			return 0;
		text += len + 1;
	}
}

void view_starved_set(bool starved[ANA_CLASSES])
{
	for (int c = 0; c < ANA_CLASSES; c++)
		starved[c] = ana_class_is_input(c);
}

int64_t view_set_sum(const bool set[ANA_CLASSES], const int64_t classes[ANA_CLASSES],
		     const int64_t skew[ANA_CLASSES])
{
	int64_t sum = 0;

	for (int c = 0; c < ANA_CLASSES; c++) {
		if (set[c])
			view_cost_add(&sum, classes[c]);
		if (set[c] && !set[ANA_COMM_SKEW])
			view_cost_add(&sum, skew[c]);
	}
	return sum;
}
