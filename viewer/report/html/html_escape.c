/* SPDX-License-Identifier: Apache-2.0 */
#include "html_shared.h"

#include <string.h>
#include "base/escape.h"

void html_escape(FILE *f, const char *text)
{
	base_put(f, BASE_AS_HTML, text);
}

void html_escape_sentence(FILE *f, const char *text)
{
	size_t len = strlen(text);

	if (!len)
		return;
	size_t word = strcspn(text, " ,");

	/* gc.freeze() and num_workers keep their letters */
	if (text[0] >= 'a' && text[0] <= 'z' && strcspn(text, "._(") >= word) {
		fputc(text[0] - 'a' + 'A', f);
		base_put(f, BASE_AS_HTML, text + 1);
	} else {
		base_put(f, BASE_AS_HTML, text);
	}
	if (!strchr(".!?", text[len - 1]))
		fputc('.', f);
}
