/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the centre's answer to a batch of frames means: what it has, what is sent again, what never
 * will be. For upstream.c alone.
 */
#ifndef COLL_FRAMES_ANSWER_H
#define COLL_FRAMES_ANSWER_H

#include "forward.h"

/* The answer to u->batch, which is empty after. */
void coll_frames_answer(struct coll_upstream *u, const struct coll_answer *a);

#endif
