/* SPDX-License-Identifier: Apache-2.0 */
/* Minutes by how busy they were: bounds of the bands, what is left out, spans that are absurd. */
#include "analysis/time/minutes.h"
#include "harness.h"

#define MINUTE 60000000000LL

static struct ana_spans span(int64_t start, int64_t end)
{
	struct ana_spans s = { 0 };

	EXPECT_INT(ana_spans_add(&s, start, end), 0);
	ana_spans_merge(&s);
	return s;
}

static void test_bounds_of_bands(void)
{
	static const int percent[] = { 0, 4, 5, 19, 20, 39, 40, 59, 60, 79, 80, 100 };
	struct ana_spans none = { 0 };
	int64_t band[ANA_BANDS] = { 0 };
	struct ana_minutes m;

	EXPECT_INT(ana_minutes_init(&m, 7, 7 + 12 * MINUTE + MINUTE / 2), 0);
	for (int i = 0; i < 12; i++) {
		EXPECT_INT(ana_minutes_go(&m, 7 + i * MINUTE), 7 + (i + 1) * MINUTE);
		ana_minutes_add(&m, percent[i] * MINUTE / 100);
	}
	EXPECT_INT(ana_minutes_go(&m, 7 + 12 * MINUTE), INT64_MAX);
	ana_minutes_add(&m, MINUTE); /* half a minute is none */
	ana_minutes_count(&m, &none, &none, &none, band);
	for (int b = 0; b < ANA_BANDS; b++)
		EXPECT_INT(band[b], 2);
	ana_minutes_fini(&m);
}

static void test_what_is_left_out(void)
{
	struct ana_spans held = span(0, 5 * MINUTE - 1), lost = span(MINUTE, MINUTE + 1);
	struct ana_spans unobserved = span(3 * MINUTE - 1, 3 * MINUTE);
	int64_t band[ANA_BANDS] = { 0 };
	struct ana_minutes m;

	EXPECT_INT(ana_minutes_init(&m, 0, 5 * MINUTE), 0);
	ana_minutes_count(&m, &held, &lost, &unobserved, band);
	EXPECT_INT(band[ANA_BAND_IDLE], 2); /* the first and the fourth */
	ana_spans_fini(&held);
	ana_spans_fini(&lost);
	ana_spans_fini(&unobserved);
	ana_minutes_fini(&m);
}

static void test_absurd_spans_have_none(void)
{
	static const int64_t end[] = { 0, -5, MINUTE - 1, INT64_MAX };
	struct ana_minutes m;

	for (size_t i = 0; i < sizeof(end) / sizeof(end[0]); i++) {
		EXPECT_INT(ana_minutes_init(&m, 0, end[i]), 0);
		EXPECT_INT(ana_minutes_go(&m, 100), INT64_MAX);
		ana_minutes_add(&m, 1);
		ana_minutes_fini(&m);
	}
	EXPECT_INT(ana_minutes_init(&m, INT64_MIN, INT64_MAX), 0);
	ana_minutes_fini(&m);
}

int main(void)
{
	return RUN(test_bounds_of_bands, test_what_is_left_out, test_absurd_spans_have_none);
}
