/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers with signs; units.h has those without. Integers only. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "compare_priv.h"

#define NANO_PER_CENT 10000000LL

/* Below ten cents three digits that count: a step often costs less than a cent. */
const char *compare_usd(char *out, int64_t nano)
{
	int64_t unit = 1, cut;

	if (nano >= 10 * NANO_PER_CENT || nano < 0)
		return base_cents(out, nano);
	while (unit * 1000 <= nano)
		unit *= 10;
	cut = base_div_even(nano, unit) * unit;
	return base_price_text(out, cut);
}

const char *compare_figure(char *out, enum view_figure figure, int64_t v)
{
	base_unit text;

	if (v < 0) { /* only out of a summary that nobody should trust */
		snprintf(out, BASE_UNIT_BYTES, "-%.40s", compare_figure(text, figure, -v));
		return out;
	}
	switch (figure) {
	case VIEW_FIGURE_NS:
		return base_duration(out, v);
	case VIEW_FIGURE_PPM:
		snprintf(out, BASE_UNIT_BYTES, "%.40s %%", base_percent(text, v));
		return out;
	case VIEW_FIGURE_USD:
		return compare_usd(out, v);
	case VIEW_FIGURE_BYTES:
		return base_bytes(out, (uint64_t)v);
	default:
		return base_count(out, (uint64_t)v);
	}
}

const char *compare_signed(char *out, enum view_figure figure, int64_t v)
{
	base_unit text;

	if (!v)
		return strcpy(out, "0");
	if (figure == VIEW_FIGURE_PPM) /* between shares: points */
		snprintf(out, BASE_UNIT_BYTES, "%c%.30s points", v < 0 ? '-' : '+',
			 base_percent(text, v < 0 ? -v : v));
	else
		snprintf(out, BASE_UNIT_BYTES, "%c%.40s", v < 0 ? '-' : '+',
			 compare_figure(text, figure, v < 0 ? -v : v));
	return out;
}

const char *compare_change(char *out, int64_t ppm)
{
	base_unit text;
	bool down = ppm < 0;

	if (!ppm)
		return strcpy(out, "0.0 %");
	if (ppm > 9999000)
		return strcpy(out, ">999 %");
	snprintf(out, BASE_UNIT_BYTES, "%c%.30s %%", down ? '-' : '+',
		 base_percent(text, down ? -ppm : ppm));
	return out;
}
