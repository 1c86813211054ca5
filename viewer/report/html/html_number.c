/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and foreign texts of the page, each with the place of summary.json that it comes from. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "html_priv.h"

/* The key is ours; it is escaped like everything that stands in quotes. */
HTML_KEY_LIST(3) static void put_key(struct html *h, const char *name, const char *key, va_list ap)
{
	char *text = NULL;

	fprintf(h->f, " %s=\"", name);
	if (vasprintf(&text, key, ap) >= 0) {
		html_escape(h->f, text);
		free(text);
	}
	fputc('"', h->f);
}

HTML_KEY_LIST(5)
static void put(struct html *h, const char *unit, const char *value, const char *shown,
		const char *key, va_list ap)
{
	fprintf(h->f, "<data value=\"%s\"", value);
	put_key(h, "data-key", key, ap);
	fprintf(h->f, " data-unit=\"%s\">", unit);
	html_escape(h->f, shown);
	fputs("</data>", h->f);
}

#define PUT(unit, value, shown)                      \
	do {                                         \
		va_list ap;                          \
		va_start(ap, key);                   \
		put(h, unit, value, shown, key, ap); \
		va_end(ap);                          \
	} while (0)

static const char *decimal(char *out, int64_t n)
{
	snprintf(out, BASE_UNIT_BYTES, "%" PRId64, n);
	return out;
}

static const char *decimal_unsigned(char *out, uint64_t n)
{
	snprintf(out, BASE_UNIT_BYTES, "%" PRIu64, n);
	return out;
}

void html_ns(struct html *h, int64_t ns, const char *key, ...)
{
	base_unit value, shown;

	PUT("ns", decimal(value, ns), base_duration(shown, ns));
}

void html_usd(struct html *h, int64_t nano, const char *key, ...)
{
	const struct base_scale scale = view_cost_scale(&h->s->cost);
	int64_t quanta = view_cost_quanta(&h->s->cost, nano);
	bool moved = quanta != base_quanta(scale, nano);
	base_unit value, shown;

	PUT(moved ? "usd\" data-closed=\"" : "usd", base_dollars_exact(value, nano),
	    base_scaled_quanta(shown, scale, nano, quanta));
}

void html_usd_closed(struct html *h, int64_t nano, int64_t quanta, const char *key, ...)
{
	base_unit value, shown;

	PUT("usd\" data-closed=\"", base_dollars_exact(value, nano),
	    base_scaled_quanta(shown, view_cost_scale(&h->s->cost), nano, quanta));
}

void html_money(struct html *h, int64_t nano, const char *key, ...)
{
	base_unit value, shown;

	PUT("money", base_dollars_exact(value, nano), base_money(shown, nano));
}

void html_about(struct html *h, int64_t nano, const char *key, ...)
{
	base_unit value, shown;

	PUT("about", base_dollars_exact(value, nano), base_money_about(shown, nano));
}

/* In the scale of what it is a part of, whose key stands in data-of. */
void html_part_usd(struct html *h, int64_t nano, int64_t whole, const char *of, const char *key,
		   ...)
{
	const char *unit = base_arena_printf(&h->mem, "money\" data-of=\"%s", of);
	base_unit value, shown;

	PUT(unit, base_dollars_exact(value, nano),
	    base_scaled(shown, base_money_scale(whole), nano));
}

void html_part_gpu_time(struct html *h, int64_t ns, int64_t whole, const char *of, const char *key,
			...)
{
	const char *unit = base_arena_printf(&h->mem, "gpu-time\" data-of=\"%s", of);
	base_unit value, shown;

	PUT(unit, decimal(value, ns), base_scaled(shown, base_gpu_time_scale(whole), ns));
}

void html_price_of(struct html *h, int64_t nano, const char *key, ...)
{
	base_unit value, shown;

	PUT("dollars", base_dollars_exact(value, nano), base_money_ascii(shown, nano));
}

void html_price(struct html *h, int64_t nano, const char *key, ...)
{
	base_unit value, shown;

	PUT("price", base_dollars_exact(value, nano), base_price_text(shown, nano));
}

void html_gpu_time(struct html *h, int64_t ns, const char *key, ...)
{
	base_unit value, shown;

	PUT("gpu-time", decimal(value, ns), base_gpu_time(shown, ns));
}

void html_pct(struct html *h, int64_t ppm, const char *key, ...)
{
	base_unit value, shown, digits;

	snprintf(shown, sizeof(shown), "%.40s %%", base_percent(digits, ppm));
	PUT("pct", base_percent_exact(value, ppm), shown);
}

void html_ppm(struct html *h, int64_t ppm, const char *key, ...)
{
	base_unit value, shown, digits;

	snprintf(shown, sizeof(shown), "%.40s %%", base_percent(digits, ppm));
	PUT("ppm", decimal(value, ppm), shown);
}

void html_pct_closed(struct html *h, int64_t ppm, int64_t tenths, const char *key, ...)
{
	base_unit value, shown, digits;

	snprintf(shown, sizeof(shown), "%.40s %%", base_percent(digits, tenths * 1000));
	PUT("pct\" data-closed=\"", base_percent_exact(value, ppm), shown);
}

void html_bytes(struct html *h, uint64_t bytes, const char *key, ...)
{
	base_unit value, shown;

	PUT("bytes", decimal_unsigned(value, bytes), base_bytes(shown, bytes));
}

void html_rate(struct html *h, uint64_t bytes, const char *key, ...)
{
	base_unit value, shown, digits;

	snprintf(shown, sizeof(shown), "%.40s/s", base_bytes(digits, bytes));
	PUT("bytes/s", decimal_unsigned(value, bytes), shown);
}

void html_count(struct html *h, uint64_t n, const char *key, ...)
{
	base_unit value, shown;

	PUT("count", decimal_unsigned(value, n), base_count(shown, n));
}

void html_id(struct html *h, int64_t n, const char *key, ...)
{
	base_unit value;

	PUT("id", decimal(value, n), value);
}

void html_moment(struct html *h, int64_t unix_ns, const char *key, ...)
{
	base_unit value, shown;

	PUT("moment", decimal(value, unix_ns), base_moment(shown, unix_ns));
}

HTML_KEY_LIST(5)
static void put_text(struct html *h, const char *tag, const char *text, bool sentence,
		     const char *key, va_list ap)
{
	if (!text)
		return;
	fprintf(h->f, "<%s", tag);
	put_key(h, "data-text", key, ap);
	fputs(sentence ? " data-text-as=\"sentence\">" : ">", h->f);
	if (sentence)
		html_escape_sentence(h->f, text);
	else
		html_escape(h->f, text);
	fprintf(h->f, "</%.*s>", (int)strcspn(tag, " "), tag);
}

void html_text(struct html *h, const char *tag, const char *text, const char *key, ...)
{
	va_list ap;

	va_start(ap, key);
	put_text(h, tag, text, false, key, ap);
	va_end(ap);
}

void html_sentence(struct html *h, const char *tag, const char *text, const char *key, ...)
{
	va_list ap;

	va_start(ap, key);
	put_text(h, tag, text, true, key, ap);
	va_end(ap);
}
