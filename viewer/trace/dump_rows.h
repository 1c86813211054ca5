/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of evidence as lines of tab-separated text, and the words for their numbers. */
#ifndef VIEW_TRACE_DUMP_ROWS_H
#define VIEW_TRACE_DUMP_ROWS_H

#include <stdio.h>
#include "trace.h"

/* One word each; NULL for a number that this version does not know. */
const char *view_role_word(uint8_t role); /* enum wire_role */
const char *view_state_word(uint8_t state); /* enum wire_state */
const char *view_wait_word(uint8_t wait); /* enum wire_wait */
const char *view_batch_word(uint8_t what); /* enum wire_batch_what */

/*
 * A stack in one line, innermost first: "func file:line < func file:line", of native frames
 * "module+offset@build". Whatever the text holds, nothing but its own characters is left out.
 */
void view_put_stack(FILE *f, const char *text);
void view_put_native(FILE *f, const char *text);

/* One line each, as gpustarve-dump(1) says. @stream: its id in hexadecimal. */
void view_put_sample(FILE *f, const char *stream, const struct view_stream *s,
		     const struct wire_sample *row);
void view_put_batch(FILE *f, const char *stream, const struct view_stream *s,
		    const struct wire_batch *row);

#endif
