/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers by string id: what was put, nothing of what was not, however the array grew. */
#include "harness.h"
#include "analysis/ids.h"

static void test_nothing_is_there(void)
{
	struct ana_ids m = { 0 };

	EXPECT_INT(ana_ids_get(&m, 0), ANA_IDS_NONE);
	EXPECT_INT(ana_ids_get(&m, UINT32_MAX), ANA_IDS_NONE);
	ana_ids_fini(&m);
}

/* Out of order, far apart, the number 0 among them; what lies between is not there. */
static void test_grows(void)
{
	static const uint32_t id[] = { 15, 16, 3, 5000, 17, 1 };
	struct ana_ids m = { 0 };
	uint32_t i, k, there = 0;

	for (i = 0; i < 6; i++)
		REQUIRE(!ana_ids_put(&m, id[i], i));
	for (i = 0; i < 6; i++)
		EXPECT_INT(ana_ids_get(&m, id[i]), i + 1);
	for (k = 0; k < 20000; k++)
		there += ana_ids_get(&m, k) != ANA_IDS_NONE;
	EXPECT_INT(there, 6);
	REQUIRE(!ana_ids_put(&m, 3, 9));
	EXPECT_INT(ana_ids_get(&m, 3), 10);
	ana_ids_fini(&m);
	EXPECT_INT(ana_ids_get(&m, 3), ANA_IDS_NONE);
}

int main(void)
{
	return RUN(test_nothing_is_there, test_grows);
}
