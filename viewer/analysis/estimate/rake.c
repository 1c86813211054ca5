/* SPDX-License-Identifier: Apache-2.0 */
#include "rake.h"

#include "base/minmax.h"

#define ONE_BITS 20 /* of the factor, which is up to 2^20 */
#define FACTOR_MAX (INT64_C(1) << 2 * ONE_BITS)

static int64_t part_of(int64_t ns, int64_t share, int64_t factor)
{
	__int128 odds = (__int128)share * factor;

	return (int64_t)(ns * odds / (odds + ((__int128)(ANA_SHARE_WHOLE - share) << ONE_BITS)));
}

static int64_t parts(const int64_t held[ANA_STATES], const int64_t share[ANA_STATES],
		     int64_t factor, int64_t got[ANA_STATES])
{
	int64_t sum = 0;

	for (int s = 0; s < ANA_STATES; s++)
		sum += got[s] = held[s] ? part_of(held[s], share[s], factor) : 0;
	return sum;
}

/* What is missing, from the first state on that has room. */
static int64_t fill(int64_t got[ANA_STATES], const int64_t room[ANA_STATES], int64_t missing)
{
	for (int s = 0; s < ANA_STATES && missing > 0; s++) {
		int64_t more = base_min(missing, room[s] - got[s]);

		if (more <= 0)
			continue;
		got[s] += more;
		missing -= more;
	}
	return missing;
}

void ana_rake(const int64_t held[ANA_STATES], const int64_t share[ANA_STATES], int64_t idle,
	      int64_t got[ANA_STATES])
{
	int64_t low = 0, high = FACTOR_MAX, most[ANA_STATES], missing;

	while (high - low > 1) {
		int64_t mid = (low + high) / 2;

		if (parts(held, share, mid, most) >= idle)
			high = mid;
		else
			low = mid;
	}
	parts(held, share, high, most);
	missing = idle - parts(held, share, low, got);
	missing = fill(got, most, missing);
	fill(got, held, missing);
}

void ana_apportion(int64_t ns, const int64_t *weight, size_t n, int64_t *part)
{
	__int128 total = 0;
	int64_t left = ns;
	size_t i;

	for (i = 0; i < n; i++)
		total += weight[i];
	for (i = 0; i < n; i++)
		left -= part[i] = (int64_t)((__int128)ns * weight[i] / total);
	for (; left > 0; left--) { /* fewer than @n */
		__int128 best = -1;
		size_t at = 0;

		for (i = 0; i < n; i++) {
			__int128 rest = (__int128)ns * weight[i] - (__int128)part[i] * total;

			if (rest > best) {
				best = rest;
				at = i;
			}
		}
		part[at]++;
	}
}
