/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A provider's charges as FOCUS (1.0 to 1.2) has them: BilledCost of every row; GPU-hours of those
 * whose unit says so ("GPU-Hours"), from PricingQuantity, else from ConsumedQuantity. A row without
 * an end has no length.
 */
#include <errno.h>
#include <string.h>
#include <time.h>
#include "base/csv.h"
#include "whole.h"

#define NS INT64_C(1000000000)
#define HOUR_NS ((base_wide)3600 * NS)
#define DIGITS_MAX 40
#define EXPONENT_MAX 40

static bool read_exponent(const char **p, int *exponent)
{
	bool minus;
	int v = 0;

	if (**p != 'e' && **p != 'E')
		return true;
	(*p)++;
	minus = **p == '-';
	*p += **p == '-' || **p == '+';
	if (**p < '0' || **p > '9')
		return false;
	for (; **p >= '0' && **p <= '9'; (*p)++) {
		v = v * 10 + (**p - '0');
		if (v > EXPONENT_MAX)
			return false;
	}
	*exponent += minus ? -v : v;
	return true;
}

/* Digits and where the point stands among them: digits x 10^exponent. */
static bool read_digits(const char **p, base_wide *digits, int *exponent)
{
	bool point = false, any = false;
	int n = 0;

	for (*digits = 0, *exponent = 0;; (*p)++) {
		if (**p == '.' && !point) {
			point = true;
			continue;
		}
		if (**p < '0' || **p > '9')
			return any;
		any = true;
		if (*digits == 0 && **p == '0') {
			*exponent -= point;
			continue;
		}
		if (++n >
		    36) { /* what is far behind says nothing; what is far before is too large */
			if (!point)
				return false;
			continue;
		}
		*digits = *digits * 10 + (**p - '0');
		*exponent -= point;
	}
}

bool fleet_decimal(const char *text, base_wide unit, base_wide *v)
{
	bool minus = *text == '-';
	int exponent;

	text += *text == '-' || *text == '+';
	if (!read_digits(&text, v, &exponent) || !read_exponent(&text, &exponent) || *text)
		return false;
	for (; unit > 1; unit /= 10)
		exponent++;
	for (; exponent > 0 && *v; exponent--)
		if (__builtin_mul_overflow(*v, 10, v))
			return false;
	if (exponent < 0) {
		base_wide by = 1;

		for (; exponent < 0 && by <= BASE_WIDE_MAX; exponent++)
			by *= 10;
		*v = exponent < 0 ? 0 : base_div_even_wide(*v, by);
	}
	if (*v > BASE_WIDE_MAX)
		return false;
	*v = minus ? -*v : *v;
	return true;
}

enum column {
	COST,
	CURRENCY,
	START,
	END,
	UNIT,
	QUANTITY,
	USED_UNIT,
	USED,
	COLUMNS
};

static const char *const names[COLUMNS] = { "BilledCost",	 "BillingCurrency",
					    "ChargePeriodStart", "ChargePeriodEnd",
					    "PricingUnit",	 "PricingQuantity",
					    "ConsumedUnit",	 "ConsumedQuantity" };

struct table {
	int at[COLUMNS], columns;
};

static const char *read_head(struct table *t, const char **field, int n)
{
	t->columns = n;
	for (int c = 0; c < COLUMNS; c++) {
		t->at[c] = -1;
		for (int i = 0; i < n; i++)
			if (!strcasecmp(field[i], names[c]))
				t->at[c] = i;
	}
	if (t->at[COST] < 0 || t->at[CURRENCY] < 0 || t->at[START] < 0 || t->at[END] < 0)
		return "its first line names no BilledCost, BillingCurrency, ChargePeriodStart and "
		       "ChargePeriodEnd; export it as FOCUS";
	return NULL;
}

static const char *cell(const struct table *t, const char **field, enum column c)
{
	return t->at[c] < 0 ? "" : field[t->at[c]];
}

/* "GPU-Hours", "gpu hour" */
static bool is_gpu_hours(const char *unit)
{
	return !strncasecmp(unit, "gpu", 3) && strlen(unit) < 12 && strcasestr(unit, "hour");
}

static bool read_hours(const struct table *t, const char **field, base_wide *ns)
{
	const char *q = is_gpu_hours(cell(t, field, UNIT))	  ? cell(t, field, QUANTITY)
			: is_gpu_hours(cell(t, field, USED_UNIT)) ? cell(t, field, USED)
								  : NULL;
	base_wide pico;

	*ns = 0;
	if (!q)
		return true;
	if (!fleet_decimal(q, FLEET_PICO, &pico) || base_wide_size(pico) > BASE_WIDE_MAX / 3600)
		return false;
	*ns = base_div_even_wide(pico * 3600, FLEET_PICO / NS);
	return true;
}

/* Behind a point: of a second. What is below a nanosecond is cut. */
static const char *read_fraction(const char *p, int64_t *ns)
{
	int64_t digit = NS / 10;

	for (; *p >= '0' && *p <= '9'; p++, digit /= 10)
		*ns += (*p - '0') * digit;
	return p;
}

/* "2026-11-01T00:00:00Z", without the time, or with a space and fractions as some have it. */
static bool read_time(const char *text, int64_t *ns)
{
	struct tm tm = { 0 };
	const char *end = strptime(text, "%Y-%m-%d", &tm);
	int64_t fraction = 0;

	if (end && (*end == 'T' || *end == ' '))
		end = strptime(end + 1, "%H:%M:%S", &tm);
	if (end && *end == '.')
		end = read_fraction(end + 1, &fraction);
	if (end && *end == 'Z')
		end++;
	if (!end || *end || tm.tm_year < 70 || tm.tm_year > 200)
		return false;
	*ns = (int64_t)timegm(&tm) * NS + fraction;
	return true;
}

static bool read_period(const struct table *t, const char **field, struct fleet_charge_row *r)
{
	const char *end = cell(t, field, END);

	if (!read_time(cell(t, field, START), &r->start_ns))
		return false;
	r->end_ns = r->start_ns;
	return !*end || (read_time(end, &r->end_ns) && r->end_ns >= r->start_ns);
}

static bool read_row(const struct table *t, const char **field, int n, struct fleet_charge_row *r)
{
	*r = (struct fleet_charge_row){ .currency =
						n == t->columns ? cell(t, field, CURRENCY) : "" };
	return n == t->columns && fleet_decimal(cell(t, field, COST), FLEET_PICO, &r->pico) &&
	       r->currency[0] && strlen(r->currency) < 16 && read_period(t, field, r) &&
	       read_hours(t, field, &r->gpu_ns);
}

int fleet_invoice_read(const char *text, size_t len, fleet_on_charge *on_charge, void *arg,
		       uint64_t *bad, const char **why)
{
	const char *field[BASE_CSV_FIELDS];
	struct base_arena mem = { 0 };
	struct fleet_charge_row row;
	struct base_csv csv;
	struct table t;
	int n;

	*bad = 0;
	base_csv_init(&csv, text, len);
	n = base_csv_row(&csv, &mem, field);
	*why = n ? read_head(&t, field, n) : "it is empty";
	while (!*why && (base_arena_fini(&mem), n = base_csv_row(&csv, &mem, field)) > 0) {
		if (read_row(&t, field, n, &row))
			on_charge(arg, &row);
		else
			(*bad)++;
	}
	base_arena_fini(&mem);
	return *why ? -EBADMSG : 0;
}
