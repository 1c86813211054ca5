/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as people read them, from integers only. Every function writes into the caller's buffer
 * of BASE_UNIT_BYTES and returns it, so that it can stand in an argument list. Any thread.
 */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stdint.h>

#define BASE_UNIT_BYTES 48
typedef char base_unit[BASE_UNIT_BYTES];

/* num / den, half to even, kept within int64; den > 0. */
int64_t base_div_even(__int128 num, __int128 den);

/* Millionths: part x 1e6 / whole, half to even; 0 of 0 is 0. Percent with four decimals. */
int64_t base_ppm(int64_t part, int64_t whole);

const char *base_duration(char *out, int64_t ns); /* "2 h 14 m", "12.3 s", "831 ms" */
const char *base_percent(char *out, int64_t ppm); /* "38.1" */
const char *base_percent_exact(char *out, int64_t ppm); /* "38.0951", zeros trimmed */
const char *base_cents_of(char *out, int64_t cents); /* "$46.86" from whole cents; amounts.h has the rest */
const char *base_dollars_exact(char *out, int64_t nano_usd); /* "46.86", all digits that count */
const char *base_price_text(char *out, int64_t nano_usd); /* "$6.88", "$2.7447" */
const char *base_hours_exact(char *out, int64_t ns); /* nine decimals at most */
const char *base_bytes(char *out, uint64_t bytes); /* "1.5 GB" */
const char *base_count(char *out, uint64_t n); /* "1,234,567" */
const char *base_day(char *out, int64_t unix_ns); /* "2026-11-09", UTC */
const char *base_moment(char *out, int64_t unix_ns); /* "2026-11-09 14:02:11 UTC" */

#endif
