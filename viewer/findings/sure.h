/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How sure a gain is, by what its arithmetic rests on (CAUSES, "Findings"): high where all of that
 * was measured in the run itself, medium where one thing is taken to go on as it was seen, low
 * where two are, where those who make batches lack a CPU, or where nothing but the wait was
 * measured. Any thread.
 */
#ifndef VIEW_SURE_H
#define VIEW_SURE_H

#include "model/model.h"

struct view_sure {
	enum ana_confidence grade; /* high, medium or low */
	const char *lacks; /* what it would take to be surer, in words; NULL of high */
};

/*
 * Of a gain of @saved at most and @least at least (0: nothing is sure), by the advice @a whose
 * numbers it has; NULL: of a cause that is taken away as a whole. Both are told: view_gain_words
 * has something to say of @saved. A lower end that is told is worth medium, one of four fifths of
 * @saved high, whatever the rest.
 */
struct view_sure view_gain_sure(const struct view_summary *s, struct base_arena *mem,
				const struct view_advice *a, int64_t saved, int64_t least);

#endif
