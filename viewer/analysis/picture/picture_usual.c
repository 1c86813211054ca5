/* SPDX-License-Identifier: Apache-2.0 */
#include "picture_usual.h"

/* Of the time of all rows of the kind. */
static int64_t part(const struct ana_picture_step *s, enum ana_picture_kind kind, int state)
{
	__int128 ns = 0, all = 0;

	for (size_t i = 0; i < s->rows; i++) {
		if (s->row[i].kind != kind)
			continue;
		ns += s->row[i].ns[state];
		all += s->step.end_ns - s->step.start_ns;
	}
	return all > 0 ? (int64_t)(ns * 1000000 / all) : 0;
}

static int64_t distance(const struct ana_picture_step *a, const struct ana_picture_step *b)
{
	int64_t sum = 0;

	for (int kind = 0; kind < ANA_ROW_KINDS; kind++)
		for (int k = 0; k < ANA_DOES; k++) {
			int64_t x = part(a, (enum ana_picture_kind)kind, k);
			int64_t y = part(b, (enum ana_picture_kind)kind, k);

			sum += x < y ? y - x : x - y;
		}
	return sum;
}

static bool is_looked_at(const struct ana_picture_step *s)
{
	for (size_t i = 0; i < s->rows; i++)
		if (s->row[i].kind == ANA_ROW_MAIN && s->row[i].samples)
			return true;
	return false;
}

/*
 * Of steps shorter than the time from look to look most show nothing of who was to give the GPU
 * work.
 */
bool ana_picture_any_looked_at(const struct ana_picture_step *step, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_looked_at(&step[i]))
			return true;
	return false;
}

size_t ana_picture_usual(const struct ana_picture_step *step, size_t n)
{
	const bool looks = ana_picture_any_looked_at(step, n);
	int64_t least = INT64_MAX;
	size_t usual = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t sum = 0;

		if (looks && !is_looked_at(&step[i]))
			continue;
		for (size_t k = 0; k < n; k++)
			sum += looks && !is_looked_at(&step[k]) ? 0 : distance(&step[i], &step[k]);
		if (sum < least) {
			least = sum;
			usual = i;
		}
	}
	return usual;
}
