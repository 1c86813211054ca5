/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as people read them, from integers only. Every function writes into the caller's buffer
 * of VIEW_UNIT_BYTES and returns it, so that it can stand in an argument list. Any thread.
 */
#ifndef VIEW_UNITS_H
#define VIEW_UNITS_H

#include <stdint.h>

#define VIEW_UNIT_BYTES 48
typedef char view_unit[VIEW_UNIT_BYTES];

/* num / den, half to even, kept within int64; den > 0. */
int64_t view_div_even(__int128 num, __int128 den);

/* Millionths: part x 1e6 / whole, half to even; 0 of 0 is 0. Percent with four decimals. */
int64_t view_ppm(int64_t part, int64_t whole);

const char *view_duration(char *out, int64_t ns); /* "2 h 14 m", "12.3 s", "831 ms" */
const char *view_percent(char *out, int64_t ppm); /* "38.1" */
const char *view_percent_exact(char *out, int64_t ppm); /* "38.0951", zeros trimmed */
const char *view_cents(char *out, int64_t nano_usd); /* "$46.86", half to even; "<$0.01" */
const char *view_cents_of(char *out, int64_t cents); /* "$46.86" from whole cents */
/* Of an amount that view_close_cents gave @cents: as it is, "<$0.01" if that hides it. */
const char *view_cents_closed(char *out, int64_t nano_usd, int64_t cents);
const char *view_dollars_exact(char *out, int64_t nano_usd); /* "46.86", all digits that count */
const char *view_price_text(char *out, int64_t nano_usd); /* "$6.88", "$2.7447" */
const char *view_hours(char *out, int64_t ns); /* "17.87" hours, two decimals, half to even */
const char *view_hours_exact(char *out, int64_t ns); /* nine decimals at most */
const char *view_bytes(char *out, uint64_t bytes); /* "1.5 GB" */
const char *view_count(char *out, uint64_t n); /* "1,234,567" */
const char *view_day(char *out, int64_t unix_ns); /* "2026-11-09", UTC */
const char *view_moment(char *out, int64_t unix_ns); /* "2026-11-09 14:02:11 UTC" */

/*
 * Amounts for a table whose cents must add up to the printed total: every amount is cut to cents,
 * and the missing cents go to the largest fractions (the earlier of equals).
 */
void view_close_cents(const int64_t *nano_usd, int n, int64_t total_cents, int64_t *cents);

#endif
