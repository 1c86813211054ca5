/* SPDX-License-Identifier: Apache-2.0 */
/* Text for a terminal that has no letters but ASCII's. */
#include <stdlib.h>
#include <string.h>
#include "text.h"

#define CENT "\302\242"

FILE *view_text_begin(struct view_text_ascii *a, FILE *to, const struct view_text_style *style)
{
	*a = (struct view_text_ascii){ .to = to };
	if (style->box && !style->utf8)
		a->f = open_memstream(&a->text, &a->len);
	return a->f ? a->f : to;
}

/*
 * " 0.140 ¢" as " 0.140 ct": a blank of several before the amount goes, so that columns stay where
 * they are.
 * @at: where in @text the sign is. Returns how many bytes are to be written before the sign.
 */
static size_t before_sign(const char *text, size_t at, bool *drop)
{
	size_t n = at;

	while (n && text[n - 1] == ' ')
		n--;
	while (n && text[n - 1] != ' ' && text[n - 1] != '\n')
		n--;
	*drop = n >= 2 && text[n - 1] == ' ' && text[n - 2] == ' ';
	return n;
}

static void spell(FILE *f, const char *text, size_t len)
{
	const char *sign;

	while (len && (sign = memmem(text, len, CENT, 2)) != NULL) {
		size_t at = (size_t)(sign - text), n;
		bool drop;

		n = before_sign(text, at, &drop);
		fwrite(text, 1, n - drop, f);
		fwrite(text + n, 1, at - n, f);
		fputs("ct", f);
		len -= at + 2;
		text += at + 2;
	}
	fwrite(text, 1, len, f);
}

void view_text_end(struct view_text_ascii *a)
{
	if (!a->f)
		return;
	if (!fclose(a->f))
		spell(a->to, a->text, a->len);
	free(a->text);
}
