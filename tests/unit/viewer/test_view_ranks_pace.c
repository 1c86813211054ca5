/* SPDX-License-Identifier: Apache-2.0 */
/* Slow GPUs: the same kernels, as often, longer. More work is another matter. */
#include "analysis/ranks/kernel_speed.h"
#include "harness.h"

static void test_slow(void)
{
	struct ana_kernel_speed_row row[8];
	struct ana_kernel_speed_found f[4];
	uint32_t g;

	for (g = 0; g < 4; g++) {
		row[g] = (struct ana_kernel_speed_row){ 1, g, 100, 10000000 };
		row[4 + g] = (struct ana_kernel_speed_row){ 2, g, 50, 5000000 };
	}
	row[2].ns = 11000000; /* a tenth slower in both */
	row[6].ns = 5500000;
	ana_kernel_speed_compare(row, 8, f, 4);
	EXPECT(f[2].known);
	EXPECT_INT(f[2].ppm, 100000);
	EXPECT_INT(f[0].ppm, 0);
}

static void test_more_work_is_not_slow(void)
{
	struct ana_kernel_speed_row row[3] = { { 1, 0, 100, 10000000 },
					       { 1, 1, 100, 10000000 },
					       { 1, 2, 150, 30000000 } };
	struct ana_kernel_speed_found f[3];

	ana_kernel_speed_compare(row, 3, f, 3);
	EXPECT(f[0].known && f[1].known);
	EXPECT(!f[2].known);
}

static void test_collecting(void)
{
	struct ana_kernel_speed p = { 0 };

	ana_kernel_speed_add(&p, 3, 500, 10);
	ana_kernel_speed_add(&p, 3, 500, 20);
	ana_kernel_speed_add(&p, 4, 1, 5);
	ana_kernel_speed_add(&p, 3, ANA_KERNEL_NAMES_MAX, 5); /* too many names: left out */
	EXPECT_INT(p.err, 0);
	EXPECT_UINT(p.lists, 2);
	EXPECT_INT(p.list[0].cell[500].ns, 30);
	EXPECT_UINT(p.list[0].cell[500].count, 2);
	EXPECT_INT(p.list[1].cell[1].ns, 5);
	ana_kernel_speed_fini(&p);
}

int main(void)
{
	return RUN(test_slow, test_more_work_is_not_slow, test_collecting);
}
