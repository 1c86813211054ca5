/* SPDX-License-Identifier: Apache-2.0 */
#include "student.h"

#include <math.h>

/* By bisection, for tails down to 1e-12: called a few times per comparison, so it may be slow. */
double check_normal(double alpha)
{
	double low = 0, high = 8;

	for (int i = 0; i < 80; i++) {
		double mid = (low + high) / 2;
		if (erfc(mid / M_SQRT2) > alpha)
			low = mid;
		else
			high = mid;
	}
	return (low + high) / 2;
}

double check_student(double alpha, double freedom)
{
	double z = check_normal(alpha), v = freedom;

	return z + (pow(z, 3) + z) / (4 * v) +
	       (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * v * v) +
	       (3 * pow(z, 7) + 19 * pow(z, 5) + 17 * pow(z, 3) - 15 * z) / (384 * v * v * v);
}
