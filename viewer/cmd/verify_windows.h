/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws a trace's windows of full recording once more from the seeds that its pulses tell, and
 * holds them against where these windows lie (FORMAT 5.3). Pure but for what it prints.
 */
#ifndef VIEW_VERIFY_WINDOWS_H
#define VIEW_VERIFY_WINDOWS_H

#include <stdio.h>
#include "trace/trace.h"

struct view_windows_checked {
	size_t windows; /* that a pulse tells of */
	size_t wrong; /* of these and of times with kernels outside of any; the first are printed */
};

/* Adds a stream's to @c. */
void view_verify_windows(struct view_windows_checked *c, const struct view_stream *s, FILE *out);

#endif
