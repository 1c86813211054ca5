/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands once beside a finding's cause: who had what was wanted (CPUs, a lock), what each step
 * asks of the GPU, and, of time that nobody watched, why and what meters and samples tell of it.
 * Any thread.
 */
#ifndef VIEW_BESIDES_H
#define VIEW_BESIDES_H

#include "model/model.h"

/* Who ends the wait is known, and not that it is a wait for data. */
bool view_is_named_wait(const struct view_finding *f);

/* "; who held it is not recorded": it ends the sentence of finding @at, in @mem; "": nothing does. */
const char *view_words_besides(const struct view_summary *s, struct base_arena *mem, size_t at);

#endif
