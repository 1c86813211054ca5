/* SPDX-License-Identifier: Apache-2.0 */
/* 128-bit products, rounded once; decimal text. */
#include "amount.h"

#include <errno.h>
#include "base/units.h"

#define NS_PER_HOUR ((__int128)3600 * 1000000000)
#define USD_MAX 1000000000LL

int64_t view_cost_amount(int64_t nano_usd_per_hour, int64_t ns)
{
	return base_div_even((__int128)nano_usd_per_hour * ns, NS_PER_HOUR);
}

static int whole_part(const char **p, int64_t *usd)
{
	if (**p < '0' || **p > '9')
		return -EINVAL;
	for (*usd = 0; **p >= '0' && **p <= '9'; (*p)++) {
		*usd = *usd * 10 + (**p - '0');
		if (*usd > USD_MAX)
			return -ERANGE;
	}
	return 0;
}

/* The digits behind the point; zeros beyond the ninth say nothing and are let through. */
static int decimal_part(const char **p, int64_t *nano)
{
	int64_t digit = VIEW_NANO_USD / 10;

	*nano = 0;
	if (**p == '\0')
		return 0;
	if (**p != '.' || (*p)[1] < '0' || (*p)[1] > '9')
		return -EINVAL;
	for ((*p)++; **p >= '0' && **p <= '9'; (*p)++, digit /= 10) {
		if (!digit && **p != '0')
			return -ERANGE;
		*nano += (**p - '0') * digit;
	}
	return **p == '\0' ? 0 : -EINVAL;
}

int view_cost_parse(const char *text, int64_t *nano_usd)
{
	int64_t usd, nano;
	int err = whole_part(&text, &usd);

	if (!err)
		err = decimal_part(&text, &nano);
	if (err)
		return err;
	if (usd == USD_MAX && nano)
		return -ERANGE;
	*nano_usd = usd * VIEW_NANO_USD + nano;
	return 0;
}

void view_cost_add(int64_t *sum, int64_t usd)
{
	if (__builtin_add_overflow(*sum, usd, sum))
		*sum = INT64_MAX;
}
