/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI serves one client at a time. The sessions of torch.profiler, jax.profiler, TensorFlow's profiler
 * and Triton's Proton that Python begins are known beforehand (lend.py tells of them), so CUPTI is
 * lent to them for as long as one lasts: what our buffers hold is fetched and
 * our kinds are switched off before it registers, and as soon as it has ended we register again.
 * None of its records falls into a buffer of ours, and none of ours into its. Clients that nobody
 * tells of are what watchdog.h is for.
 *
 * lend.py calls on threads of the program, without Python's lock; the sender does the work.
 */
#ifndef PROF_LEND_H
#define PROF_LEND_H

#include <stdbool.h>
#include <stdint.h>
#include "core/export.h"

#define PROF_LEND_ABI 2 /* lend.py says the same */

/* From now on all sessions of @who are told of. 1: go on; 0: this library is of another version. */
PROF_EXPORT int gpustarve_lending(int abi, const char *who);

/* A session of @who is about to begin. Returns when CUPTI is free, or after 5 s, once. */
PROF_EXPORT void gpustarve_lend(const char *who);

/*
 * It has ended. Returns when we have registered again, or after 5 s, once. @detaches: the client will
 * still detach CUPTI from the process (TEARDOWN_CUPTI=1), at the next calls that the program makes;
 * so it is left alone for two seconds more, and this returns at once.
 */
PROF_EXPORT void gpustarve_lent(uint32_t detaches);

/*
 * At arm, once the sender can be started and before CUPTI's callbacks are registered: from here on a
 * session is handed over by the sender, which waits for the arm's end. True if one is going on
 * already: then nothing may be registered.
 */
bool prof_lend_init(void (*start_sender)(void), void (*wake_sender)(void));

bool prof_lend_told(void); /* are we told of torch's sessions? Any thread */
const char *prof_lend_who(void); /* to whom it was lent last */

/*
 * The sender's side: is there something to do? Then it does it, says so with the number, and who
 * waits for it goes on. @lend: to hand CUPTI over; else to take it back.
 */
bool prof_lend_asked(bool *lend, unsigned int *number);
void prof_lend_done(unsigned int number);

/* Nobody waits until it is taken back (gpustarve_lent, @detaches). */
bool prof_lend_launches_on(void);

/* atfork's child handler. Async-signal-safe. */
void prof_lend_forked(void);

#endif
