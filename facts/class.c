/* SPDX-License-Identifier: Apache-2.0 */
#include "class.h"

#include <stddef.h>

/* Every row is whole: the compiler says so. */
#define SAID(text) (sizeof(text) > 1)
#define ADVICE(id, title, brief, action) (SAID(id) && SAID(title) && SAID(brief) && SAID(action))
#define NO_ADVICE 1
#define CLASS(symbol, name, group, marks, colour, meaning, loss, proof, basis, advice) \
	_Static_assert(SAID(name) && SAID(meaning) && SAID(loss), name);                       \
	_Static_assert(SAID(proof) && SAID(basis), name);                                      \
	_Static_assert((advice), name);
#define GROUP(symbol, state, chapter) _Static_assert(SAID(chapter), #symbol);
#define COLOUR(symbol, name, words) _Static_assert(SAID(name) && SAID(words), name);
#include "classes.def"
#undef ADVICE
#undef NO_ADVICE

#define ADVICE(id, title, brief, action) { id, title, brief, action }
#define NO_ADVICE { NULL, NULL, NULL, NULL }

const struct facts_class facts_classes[] = {
#define CLASS(symbol, name, group, marks, colour, meaning, loss, proof, basis, advice)           \
	{ name, FACTS_GROUP_##group, marks, FACTS_COLOUR_##colour, meaning, loss, proof, basis, \
	  advice },
#include "classes.def"
};

const struct facts_group_row facts_groups[FACTS_GROUPS] = {
#define GROUP(symbol, state, chapter) { FACTS_STATE_##state, chapter },
#include "classes.def"
};

const struct facts_colour_row facts_colours[FACTS_COLOURS] = {
#define COLOUR(symbol, name, words) { name, words },
#include "classes.def"
};
