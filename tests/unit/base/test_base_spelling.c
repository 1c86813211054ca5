/* SPDX-License-Identifier: Apache-2.0 */
/* Which word a mistyped one may have been meant as. */
#include "base/spelling.h"
#include "harness.h"

static void test_distance(void)
{
	EXPECT(base_spelling_distance("prise", 5, "price") == 1);
	EXPECT(base_spelling_distance("reprot", 6, "report") == 1); /* swapped */
	EXPECT(base_spelling_distance("pric", 4, "price") == 1);
	EXPECT(base_spelling_distance("pricee", 6, "price") == 1);
	EXPECT(base_spelling_distance("budgte=3", 6, "budget") ==
	       1); /* as many letters as are given */
	EXPECT(base_spelling_distance("no-reports", 10, "no-report") == 1);
	EXPECT(base_spelling_distance("tpo", 3, "top") == 1);
	EXPECT(base_spelling_distance("run", 3, "top") == BASE_SPELLING_OTHER);
	EXPECT(base_spelling_distance("", 0, "top") == BASE_SPELLING_OTHER);
	EXPECT(base_spelling_distance("nonsense", 8, "samples") == BASE_SPELLING_OTHER);
	EXPECT(base_spelling_distance("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
				      56, "alert") == BASE_SPELLING_OTHER);
}

int main(void)
{
	return RUN(test_distance);
}
