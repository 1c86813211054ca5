/* SPDX-License-Identifier: Apache-2.0 */
#include "note.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int ana_quality_note(struct ana_quality *q, const char *text)
{
	size_t i;
	char **more;

	for (i = 0; i < q->note_count; i++)
		if (!strcmp(q->notes[i], text))
			return 0;
	more = reallocarray(q->notes, q->note_count + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	q->notes = more;
	q->notes[q->note_count] = strdup(text);
	return q->notes[q->note_count++] ? 0 : -ENOMEM;
}
