/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a file in order, unpacked if it is gzip (by content, not by name). Unpacking runs
 * in a thread of its own, so that it costs the reader no time where there are two processors.
 * One reading thread.
 */
#ifndef VIEW_IMPORT_INPUT_H
#define VIEW_IMPORT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct view_import_input;

/*
 * 0 or -errno of opening and reading; -EISDIR; -ENODATA: empty; -EBADMSG: damaged gzip; -EPIPE:
 * gzip cut short. @why gets a clause for the user, static.
 */
int view_import_input_open(struct view_import_input **in, const char *path, const char **why);
void view_import_input_close(struct view_import_input *in);

/*
 * The next bytes, valid until the next call: 1, or 0 at the end, or an error as above. @peek
 * leaves them to be read again.
 */
int view_import_input_read(struct view_import_input *in, const uint8_t **data, size_t *len,
			   bool peek, const char **why);

bool view_import_input_packed(const struct view_import_input *in); /* it is gzip */

/* Share of the file's own bytes read so far, 0 to 1; -1: not known. */
double view_import_input_done(const struct view_import_input *in);

#endif
