/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run brought forth besides steps: a name and a whole number, as --unit and the lines of the
 * program's own counter say it: "tokens=1048576".
 */
#ifndef VIEW_UNIT_H
#define VIEW_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VIEW_UNITS_MAX 8
#define VIEW_UNIT_NAME 32 /* bytes, with the zero */
#define VIEW_UNIT_COUNT_MAX INT64_C(1000000000000000000)

struct view_unit {
	char name[VIEW_UNIT_NAME];
	int64_t count; /* 1 to VIEW_UNIT_COUNT_MAX */
};

/*
 * NAME=COUNT or NAME COUNT: lower-case letters, digits and _, a letter first; all digits. "steps"
 * is none: those are counted. @len bytes, without a newline. False: it is no such thing.
 */
bool view_unit_parse(const char *text, size_t len, struct view_unit *u);

/*
 * Adds a count to the one of its name among @n, which is made if it is new. False: there are too
 * many, or the sum is too large, and then nothing changed.
 */
bool view_unit_add(struct view_unit unit[VIEW_UNITS_MAX], size_t *n, const struct view_unit *u);

/* --unit: says what is wrong. Of one name the last holds. */
bool view_option_unit(struct view_unit unit[VIEW_UNITS_MAX], size_t *n, const char *text);

/* For how many of them a price is told: 1 epoch, a million tokens, 1,000 of anything else. */
int64_t view_unit_per(const char *name);

/* "usd_per_1k_samples", "usd_per_epoch", "usd_per_1m_tokens" */
#define VIEW_UNIT_METRIC (VIEW_UNIT_NAME + 16)
const char *view_unit_metric(char out[VIEW_UNIT_METRIC], const char *name);

#endif
