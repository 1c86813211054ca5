/* SPDX-License-Identifier: Apache-2.0 */
/* Quantiles of Student's t, for intervals from few values. Pure. */
#ifndef CHECK_STUDENT_H
#define CHECK_STUDENT_H

/*
 * What |t| with @freedom > 0 exceeds with the chance @alpha of (0, 1), both sides together. Within
 * 1 % from 4 on, by the usual expansion in 1 / freedom; below that too small.
 */
double check_student(double alpha, double freedom);

/* The same of the normal distribution. */
double check_normal(double alpha);

#endif
