/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A digest from any bytes: what is accepted can be written within its bound and read again with the
 * same sums, and makes a row for a server. And any bytes as that server's answer.
 */
#include "fuzz.h"

#include "fleet/clickhouse_priv.h"
#include "fleet/digest.h"
#include "unit/viewer/view_made.h"

static void as_digest(const uint8_t *data, size_t len)
{
	static struct fleet_digest d, back;
	const char *why;
	char *row = NULL;
	size_t row_len;

	if (fleet_digest_read(&d, (const char *)data, len, &why))
		return;
	char *text = fleet_digest_write(&d);
	if (!text || strlen(text) > FLEET_DIGEST_BYTES_MAX ||
	    fleet_digest_read(&back, text, strlen(text), &why) ||
	    fleet_digest_held_ns(&back) != fleet_digest_held_ns(&d) ||
	    fleet_digest_usd(&back) != fleet_digest_usd(&d) || strcmp(back.run, d.run) != 0)
		abort();
	free(text);
	FILE *f = open_memstream(&row, &row_len);
	click_put_row(f, &d);
	fclose(f);
	free(row);
}

static void on_row(void *arg, const struct fleet_cell *cell)
{
	*(size_t *)arg += cell[0].text ? strlen(cell[0].text) : 0;
}

static void as_answer(const uint8_t *data, size_t len)
{
	for (int view = 0; view < FLEET_VIEWS; view++) {
		char *text = malloc(len + 1);
		size_t sum = 0;

		memcpy(text, data, len);
		text[len] = '\0';
		click_rows(text, fleet_view_columns[view], on_row, &sum);
		free(text);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	as_digest(data, len);
	as_answer(data, len);
	return 0;
}

size_t fuzz_seed(unsigned int number, uint8_t **data)
{
	static struct fleet_digest d;
	struct view_summary *s;
	char *text;

	if (number >= 4)
		return 0;
	if (number == 3) {
		text = strdup("a\tb\t1\t2\t3\t4\t5\t6\nc\\td\te\t1\t2\t3\t4\t5\t6\n");
	} else {
		s = made_summary_of(made_starved(number == 1 ? MADE_EVIL : NULL), "x",
				    number == 2 ? 0 : 6880000000LL);
		fleet_digest_make(&d, s, number == 1 ? MADE_EVIL : NULL, 1);
		view_summary_free(s);
		text = fleet_digest_write(&d);
	}
	*data = (uint8_t *)text;
	return strlen(text);
}
