/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include "model.h"

#define MARK "raining" /* behind the letter that tells how it is written */

const char *view_work_word(const struct view_kind *k)
{
	return facts_run_work[k->kind];
}

const char *view_whole_words(const struct view_kind *k, bool outside)
{
	return outside ? "time held" : facts_run_time[k->kind];
}

bool view_kind_serves(enum facts_run_kind kind)
{
	return kind == FACTS_RUN_INFERENCE;
}

bool view_serves(const struct view_summary *s)
{
	return view_kind_serves(s->kind.kind) && s->window == ANA_WINDOW_JOB &&
	       !s->result->imported;
}

/* The next "training" or "Training" in @text; NULL. */
static const char *next_mark(const char *text)
{
	const char *at = text;

	while ((at = strstr(at, MARK)) != NULL) {
		if (at > text && (at[-1] == 't' || at[-1] == 'T'))
			return at - 1;
		at += strlen(MARK);
	}
	return NULL;
}

/* Of a word of a table, in plain ASCII. */
static char capital(char c)
{
	return (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
}

const char *view_words_of_kind(const struct view_kind *k, struct base_arena *mem, const char *text)
{
	const char *work = view_work_word(k), *at, *made = "";

	if (!strcmp(work, "t" MARK) || !text || !next_mark(text))
		return text;
	for (; (at = next_mark(text)) != NULL; text = at + 1 + strlen(MARK))
		made = base_arena_printf(mem, "%s%.*s%c%s", made, (int)(at - text), text,
					 *at == 'T' ? capital(*work) : *work, work + 1);
	return base_arena_printf(mem, "%s%s", made, text);
}
