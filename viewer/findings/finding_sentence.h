/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finding's sentence: what was lost, to whom, at which line, what it would bring, and how sure
 * all that is. Texts live in @mem. Any thread.
 */
#ifndef VIEW_FINDING_SENTENCE_H
#define VIEW_FINDING_SENTENCE_H

#include "sure.h"
#include "told.h"

/*
 * "The GPU waited 36.0 % of the training time for batches: both workers were decoding images
 * (data.py:56 load). 4 workers would hide it: at most 1.42 times the steps per hour." The second
 * sentence stands where there is arithmetic behind it: of a number of workers or makers, or on one
 * GPU of the wait as a whole. Of several lines of one cause (view_causes_told) it stands with the
 * first alone, and is about all of them: one cause has one gain.
 */
const char *view_finding_sentence(const struct view_summary *s, struct base_arena *mem, size_t at);
/*
 * Of @n findings of which the others are like the first one, as view_causes_told has them: the same
 * with all of their lines ("(data.py:24 load, also 37 and 41)"). Of one that is a cause by itself it
 * is view_finding_sentence.
 */
const char *view_alike_sentence(const struct view_summary *s, struct base_arena *mem,
				const struct view_told *told, size_t n);

/*
 * "confidence: cause and line high, gain medium: batches take uneven times": all that the sentence
 * names. A line that stands for more of its class than samples saw of it is medium if it has most
 * of what they saw, and that is a quarter of it, else low. A gain goes by sure.h.
 */
const char *view_alike_confidence_words(const struct view_summary *s, struct base_arena *mem,
					const struct view_told *told, size_t n);
/* Of the gain alone; its words end those of view_alike_confidence_words. */
struct view_sure view_alike_gain_sure(const struct view_summary *s, struct base_arena *mem,
				      const struct view_told *told, size_t n);
/* The same of what view_finding_sentence says. */
const char *view_finding_confidence_words(const struct view_summary *s, struct base_arena *mem,
					  size_t at);
/* Of its gain alone, which is no surer than its cause; grade ANA_NONE: it tells none. */
struct view_sure view_finding_gain_sure(const struct view_summary *s, struct base_arena *mem,
					size_t at);

/* What confidence is about: once on each page. */
const char *view_confidence_words(const struct view_summary *s);

#endif
