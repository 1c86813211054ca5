/* SPDX-License-Identifier: Apache-2.0 */
/* Which word a mistyped one may have been meant as. */
#include "base/spelling.h"
#include "harness.h"

static void test_distance(void)
{
	EXPECT(view_near("prise", 5, "price") == 1);
	EXPECT(view_near("reprot", 6, "report") == 1); /* swapped */
	EXPECT(view_near("pric", 4, "price") == 1);
	EXPECT(view_near("pricee", 6, "price") == 1);
	EXPECT(view_near("budgte=3", 6, "budget") == 1); /* as many letters as are given */
	EXPECT(view_near("no-reports", 10, "no-report") == 1);
	EXPECT(view_near("tpo", 3, "top") == 1);
	EXPECT(view_near("run", 3, "top") == VIEW_NEAR_NOT);
	EXPECT(view_near("", 0, "top") == VIEW_NEAR_NOT);
	EXPECT(view_near("nonsense", 8, "samples") == VIEW_NEAR_NOT);
	EXPECT(view_near("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 56,
				      "alert") == VIEW_NEAR_NOT);
}

int main(void)
{
	return RUN(test_distance);
}
