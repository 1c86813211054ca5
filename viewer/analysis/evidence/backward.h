/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who has another thread run a backward pass: torch's engine gives the GPU its work from threads of
 * its own, which run no Python, while the thread that called backward() sleeps in that call. One
 * thread.
 */
#ifndef ANALYSIS_BACKWARD_H
#define ANALYSIS_BACKWARD_H

#include "evidence.h"

/*
 * The stack (string id) of the thread of the process that slept in backward() when @s, a thread
 * without Python, was seen at @t. 0: there is none, or there are several.
 */
uint32_t ana_backward_caller(struct ana_evidence *e, const struct ana_thread_samples *s, int64_t t);

#endif
