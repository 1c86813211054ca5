/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of a stack's text (wire/evidence.h). Pure.
 */
#ifndef ANALYSIS_FRAMES_H
#define ANALYSIS_FRAMES_H

#include <stddef.h>
#include "modules.h"

struct ana_frame {
	struct ana_text function, file;
	uint32_t line; /* 0: not known */
	bool generator; /* or a coroutine */
};

/* At most @max frames of a text, innermost first, without libprof's own. Pure; borrows. */
size_t ana_frames_read(struct ana_frame *frame, size_t max, const char *text, uint32_t len);

/* The frame at *p of [*p, end), whosever it is, and *p behind it. */
void ana_frames_next(struct ana_frame *f, const char **p, const char *end);

/*
 * Of a native stack the innermost frame below Python that is not libc's, else the innermost; its
 * line.
 */
struct ana_text ana_frames_native(struct ana_text stack);

/* The file of that frame; empty: all are libc's, or Python's. */
struct ana_text ana_frames_library(struct ana_text stack);

#endif
