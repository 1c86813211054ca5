/* SPDX-License-Identifier: Apache-2.0 */
#include "currency.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/csv.h"
#include "base/files.h"
#include "core/log.h"
#include "cost/amount.h"
#include "cost/price_list.h"
#include "digest.h"

#define ENV "GPUSTARVE_CURRENCY"
#define RATE_MAX (INT64_C(1000000) * VIEW_NANO_USD)

static const char *const columns[] = { "currency", "per_usd", "source", "date" };
enum {
	CODE,
	RATE,
	SOURCE,
	DATE,
	COLUMNS
};

static bool is_code(const char *text)
{
	return strlen(text) == 3 && strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 3;
}

/* NULL, or what is wrong. */
static const char *read_row(struct fleet_currency *c, const char *const cell[COLUMNS])
{
	if (!is_code(cell[CODE]))
		return "currency: not three capital letters, such as EUR";
	if (view_cost_parse(cell[RATE], &c->nano_per_usd) || c->nano_per_usd <= 0 ||
	    c->nano_per_usd > RATE_MAX)
		return "per_usd: not what a dollar is worth, such as 0.8612";
	if (!cell[SOURCE][0])
		return "no source of the rate";
	if (!view_prices_is_day(cell[DATE]))
		return "no date of the rate as YYYY-MM-DD";
	if (!strcmp(cell[CODE], "USD") && c->nano_per_usd != VIEW_NANO_USD)
		return "a dollar is worth a dollar";
	fleet_tame(c->code, sizeof(c->code), cell[CODE]);
	fleet_tame(c->source, sizeof(c->source), cell[SOURCE]);
	fleet_tame(c->date, sizeof(c->date), cell[DATE]);
	return NULL;
}

static const char *find_columns(int at[COLUMNS], const char *const *field, int fields)
{
	for (int k = 0; k < COLUMNS; k++) {
		at[k] = -1;
		for (int i = 0; i < fields; i++)
			if (!strcmp(field[i], columns[k]))
				at[k] = i;
		if (at[k] < 0)
			return "its first line does not name the columns currency, per_usd, source, "
			       "date";
	}
	return NULL;
}

static const char *parse(struct fleet_currency *c, const char *text, size_t len)
{
	const char *field[BASE_CSV_FIELDS], *cell[COLUMNS], *why;
	struct base_arena mem = { 0 };
	struct base_csv csv;
	int at[COLUMNS], fields, rows = 0;

	base_csv_init(&csv, text, len);
	fields = base_csv_row(&csv, &mem, field);
	why = find_columns(at, field, fields);
	while (!why && (fields = base_csv_row(&csv, &mem, field)) > 0) {
		for (int k = 0; k < COLUMNS; k++)
			cell[k] = at[k] < fields ? field[at[k]] : "";
		why = rows++ ? "several rates; leave one" : read_row(c, cell);
	}
	base_arena_fini(&mem);
	return why ? why : rows ? NULL : "no rate is in it";
}

int fleet_currency_read(struct fleet_currency *c, const char *file)
{
	const char *env = getenv(ENV), *name = file, *why;
	char *text;
	size_t len;
	int err;

	*c = (struct fleet_currency){ 0 };
	if (!name)
		name = env && env[0] ? env : FLEET_CURRENCY_SITE_FILE;
	if (!strcmp(name, "none"))
		return 0;
	err = base_file_read(name, &text, &len);
	if (err == -ENOENT && !file && !(env && env[0]))
		return 0;
	if (err) {
		view_error("%s: %s; name a file with a currency's rate", name, strerror(-err));
		return err;
	}
	why = parse(c, text, len);
	free(text);
	if (!why)
		return 0;
	*c = (struct fleet_currency){ 0 };
	view_error("%s: %s; see gpustarve-fleet(1)", name, why);
	return -EBADMSG;
}

bool fleet_currency_chosen(const struct fleet_currency *c)
{
	return c && c->code[0] && strcmp(c->code, "USD") != 0;
}

/* In two parts, for the product may be too wide. */
base_wide fleet_currency_of(const struct fleet_currency *c, base_wide nano_usd)
{
	base_wide v = base_wide_size(nano_usd), part = v % VIEW_NANO_USD * c->nano_per_usd;
	base_wide whole = v / VIEW_NANO_USD * c->nano_per_usd + part / VIEW_NANO_USD;
	base_wide rest = part % VIEW_NANO_USD * 2;

	whole += rest > VIEW_NANO_USD || (rest == VIEW_NANO_USD && (whole & 1));
	return nano_usd < 0 ? -whole : whole;
}

const char *fleet_currency_rate(char *out, const struct fleet_currency *c)
{
	return base_dollars_exact(out, c->nano_per_usd);
}

struct base_scale fleet_currency_scale(const struct fleet_currency *c, struct base_scale usd,
				       char room[FLEET_CURRENCY_LEAD])
{
	if (!*usd.before) /* cents of a dollar: of whole units */
		usd.decimals += 2;
	snprintf(room, FLEET_CURRENCY_LEAD, "%s ", c->code);
	usd.before = room;
	usd.after = "";
	return usd;
}

/* "usd" of the head, as a word or behind an underscore or before one. */
static void put_head(const char *head, size_t len, const char *code, FILE *out)
{
	for (size_t i = 0; i < len; i++) {
		if (len - i >= 3 && !strncmp(head + i, "usd", 3)) {
			for (const char *p = code; *p; p++)
				fputc(tolower((unsigned char)*p), out);
			i += 2;
		} else {
			fputc(head[i], out);
		}
	}
}

void fleet_currency_csv(const struct fleet_currency *c, char *csv, FILE *out)
{
	bool first = true;
	base_unit rate;
	char *end;

	for (char *line = csv; (end = strstr(line, "\r\n")) != NULL; line = end + 2) {
		if (first) {
			put_head(line, (size_t)(end - line), c->code, out);
			fputs(",currency,per_usd,rate_source,rate_date\r\n", out);
		} else {
			fwrite(line, 1, (size_t)(end - line), out);
			fprintf(out, ",%s,%s,", c->code, fleet_currency_rate(rate, c));
			base_csv_put_guarded(out, c->source);
			fprintf(out, ",%s\r\n", c->date);
		}
		first = false;
	}
}
