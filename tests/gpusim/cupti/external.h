/* SPDX-License-Identifier: Apache-2.0 */
/*
 * external.h - external correlation: what a client has pushed on the calling thread, one stack per
 * kind. By CUPTI's manual (cupti_activity.h at cuptiActivityPushExternalCorrelationId) the record
 * of each API call is preceded by one for every kind whose stack is not empty.
 */
#ifndef SIM_CUPTI_EXTERNAL_H
#define SIM_CUPTI_EXTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#define EXT_KINDS 6 /* 1 to 5: unknown, OpenACC, three of the client's own */

/* False: no memory. 1 <= kind < EXT_KINDS, here and below. */
bool ext_push(int kind, uint64_t id);

/* False: the thread has pushed none of this kind, or not since ext_forget(). */
bool ext_pop(int kind, uint64_t *id);
bool ext_top(int kind, uint64_t *id);

/* What all threads have pushed. */
void ext_forget(void);

#endif
