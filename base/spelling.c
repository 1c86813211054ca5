/* SPDX-License-Identifier: Apache-2.0 */
#include "spelling.h"

#include <string.h>

#define LETTERS 31

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t base_spelling_distance(const char *word, size_t len, const char *other)
{
	size_t cost[LETTERS + 1][LETTERS + 1], m = strlen(other);

	if (len > LETTERS || m > LETTERS)
		return BASE_SPELLING_OTHER;
	for (size_t i = 0; i <= len; i++)
		cost[i][0] = i;
	for (size_t k = 0; k <= m; k++)
		cost[0][k] = k;
	for (size_t i = 1; i <= len; i++) {
		for (size_t k = 1; k <= m; k++) {
			size_t c = cost[i - 1][k - 1] + (word[i - 1] != other[k - 1]);
			c = least(c, least(cost[i - 1][k], cost[i][k - 1]) + 1);
			if (i > 1 && k > 1 && word[i - 1] == other[k - 2] &&
			    word[i - 2] == other[k - 1])
				c = least(c, cost[i - 2][k - 2] + 1);
			cost[i][k] = c;
		}
	}
	return 3 * cost[len][m] <= least(len, m) ? cost[len][m] : BASE_SPELLING_OTHER;
}
