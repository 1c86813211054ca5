/* SPDX-License-Identifier: Apache-2.0 */
/* Integers that never overflow, and decimals read without a double. Pure functions. */
#ifndef LIVE_NUMBERS_H
#define LIVE_NUMBERS_H

#include <stdint.h>
#include "base/minmax.h"

#define LIVE_NUMBER_MAX (INT64_MAX / 4) /* where sums stay */

/* a + b, of numbers from 0 up. */
int64_t live_add(int64_t a, int64_t b);

/* A counter of a stream, as far as we count. */
int64_t live_count(uint64_t v);

/* part x 1e6 / whole, half up, between 0 and 1e6; 0 if whole is not positive. */
int64_t live_ppm(int64_t part, int64_t whole);

/* price per hour x ns. */
int64_t live_amount(int64_t nano_usd_per_hour, int64_t ns);

/*
 * The decimal number at *text in units of 1 / @scale (a power of ten, 1e9 at most); moves *text
 * behind it. 0; -EINVAL: no number; -ERANGE: larger than @max, or decimals that the scale loses.
 */
int live_decimal(const char **text, int64_t scale, int64_t max, int64_t *out);

/* Of a stream, or of the run itself. saved.c */
struct live_run;
struct live_stream;
void live_saved_fini(struct live_run *r, struct live_stream *s);

/* Of the stream's saves not all is known that was told before @t_ns. */
void live_saved_miss(struct live_stream *s, int64_t t_ns);
/* So many things were told before, and up to this one @told: missed is what did not come here. */
void live_saved_count(struct live_stream *s, uint64_t before, uint64_t told, int64_t t_ns);

#endif
