/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A short list of sentences.
 */
#include "notes.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "log.h"

static struct {
	char text[PROF_NOTES][240];
	atomic_uint taken, ready;
} list;

void prof_note(const char *format, ...)
{
	char text[240];
	unsigned int i, n = atomic_load(&list.ready);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	for (i = 0; i < n; i++)
		if (!strcmp(list.text[i], text))
			return;
	prof_debug("note: %s", text);
	i = atomic_fetch_add(&list.taken, 1);
	if (i >= PROF_NOTES)
		return;
	memcpy(list.text[i], text, sizeof(text));
	while (atomic_load(&list.ready) != i) /* in order; notes are rare and the wait is short */
		;
	atomic_store(&list.ready, i + 1);
}

size_t prof_notes(const char **out)
{
	size_t n = atomic_load(&list.ready), i;

	for (i = 0; i < n; i++)
		out[i] = list.text[i];
	return n;
}
