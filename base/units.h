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

/*
 * A sum over any number of runs, ns or nano-dollars: int64 ends at 2,562,047 GPU-hours, which a
 * large cluster holds in two weeks. What is shown here may be up to BASE_WIDE_MAX either way.
 */
typedef __int128 base_wide;
#define BASE_WIDE_MAX ((base_wide)1 << 86) /* 77 million billion dollars; whole cents fit int64 */

static inline base_wide base_wide_size(base_wide v)
{
	return v < 0 ? -v : v;
}

/* num / den, half to even, kept within int64; den > 0. The second: as it is. */
int64_t base_div_even(base_wide num, base_wide den);
base_wide base_div_even_wide(base_wide num, base_wide den);

/* Millionths: part x 1e6 / whole, half to even; 0 of 0 is 0. Percent with four decimals. */
int64_t base_ppm(base_wide part, base_wide whole);

/* All digits: "-170141183460469231731687303715884105728" is the longest. */
const char *base_wide_text(char *out, base_wide v);

const char *base_duration(char *out, int64_t ns); /* "2 h 14 m", "12.3 s", "831 ms" */
/* The same in the units of a longer one, as marks of one axis want it: of 5 days "6 h", "1 d 6 h" */
const char *base_duration_like(char *out, int64_t ns, int64_t like);
const char *base_percent(char *out, int64_t ppm); /* "38.1" */
const char *base_percent_exact(char *out, int64_t ppm); /* "38.0951", zeros trimmed */
/* "$46.86" from whole cents; amounts.h has the rest */
const char *base_cents_of(char *out, int64_t cents);
const char *base_dollars_exact(char *out, base_wide nano_usd); /* "46.86", all digits that count */
const char *base_price_exact(char *out, int64_t nano_usd); /* the same as "$6.88", "$2.7447" */
const char *base_hours_exact(char *out, base_wide ns); /* nine decimals at most */
const char *base_bytes(char *out, uint64_t bytes); /* "1.5 GB" */
const char *base_count(char *out, uint64_t n); /* "1,234,567" */
const char *base_day(char *out, int64_t unix_ns); /* "2026-11-09", UTC */
const char *base_moment(char *out, int64_t unix_ns); /* "2026-11-09 14:02:11 UTC" */

#endif
