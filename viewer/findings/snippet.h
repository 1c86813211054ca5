/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A piece of advice as the call to write instead: "DataLoader(..., num_workers=4)". Whose call it
 * is, the loader's settings or the stacks tell; what stands for the rest of it is "...".
 */
#ifndef VIEW_SNIPPET_H
#define VIEW_SNIPPET_H

#include "model/model.h"

/*
 * Where that call stands: the line that the loader was made at, as it told, if it is no library's.
 * False: not known.
 */
bool view_change_at(const struct view_summary *s, const struct view_advice *a,
		    struct view_hotspot *at);

/* Fills change of all advice; it stays NULL where the advice is no setting of a call. */
void view_snippets_add(struct view_summary *s);

#endif
