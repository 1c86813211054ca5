/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A short list of sentences.
 */
#include "notes.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "log.h"

static struct {
	char text[PROF_NOTES][240];
	atomic_bool whole[PROF_NOTES]; /* its text is there */
	atomic_uint taken;
} list;

static unsigned int count(void)
{
	unsigned int n = atomic_load(&list.taken);

	return n < PROF_NOTES ? n : PROF_NOTES;
}

static bool is_there(const char *text)
{
	unsigned int n = count(), i;

	for (i = 0; i < n; i++)
		if (atomic_load(&list.whole[i]) && !strcmp(list.text[i], text))
			return true;
	return false;
}

/*
 * Nobody waits for anybody: a place that another thread has taken and not filled is passed over. In
 * a forked child that thread is not there, and the place stays empty.
 */
void prof_note(const char *format, ...)
{
	char text[240];
	va_list arguments;
	unsigned int i;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (is_there(text))
		return;
	prof_debug("note: %s", text);
	if (count() == PROF_NOTES)
		return;
	i = atomic_fetch_add(&list.taken, 1);
	if (i >= PROF_NOTES)
		return;
	memcpy(list.text[i], text, sizeof(text));
	atomic_store(&list.whole[i], true);
}

size_t prof_notes(const char **out)
{
	unsigned int most = count(), i;
	size_t n = 0;

	for (i = 0; i < most; i++)
		if (atomic_load(&list.whole[i]))
			out[n++] = list.text[i];
	return n;
}
