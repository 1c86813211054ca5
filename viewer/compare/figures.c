/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers with signs; units.h has those without. Integers only. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/amounts.h"
#include "base/minmax.h"
#include "compare_priv.h"

const char *compare_usd(char *out, int64_t nano)
{
	return base_money(out, nano);
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

void compare_row(enum view_figure figure, const int64_t v[2], base_unit text[2],
		 base_unit difference)
{
	int64_t less = v[1] - v[0];
	base_unit digits;

	compare_signed(difference, figure, less);
	if (figure != VIEW_FIGURE_USD || v[0] < 0 || v[1] < 0) {
		for (int i = 0; i < 2; i++)
			compare_figure(text[i], figure, v[i]);
		return;
	}
	struct base_scale scale = base_money_scale(base_max(v[0], v[1]));
	int64_t quanta = base_quanta(scale, v[1]) - base_quanta(scale, v[0]);
	for (int i = 0; i < 2; i++)
		base_scaled(text[i], scale, v[i]);
	if (quanta) /* so that it is what a reader gets who takes one from the other */
		snprintf(difference, BASE_UNIT_BYTES, "%c%.40s", quanta < 0 ? '-' : '+',
			 base_scaled_quanta(digits, scale, quanta, quanta < 0 ? -quanta : quanta));
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
