/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that a word of a sample or of settings cannot hold, as '%' and two digits. Pure. */
#ifndef ANALYSIS_PERCENT_H
#define ANALYSIS_PERCENT_H

#include <stddef.h>

static inline int ana_percent_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "%20", of which @left bytes are there: the byte; -1: it is none. */
static inline int ana_percent(const char *at, size_t left)
{
	int high, low;

	if (left < 3 || *at != '%')
		return -1;
	high = ana_percent_digit(at[1]);
	low = ana_percent_digit(at[2]);
	return high < 0 || low < 0 ? -1 : 16 * high + low;
}

#endif
