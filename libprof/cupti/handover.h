/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI serves one client at a time. The sessions of torch.profiler, jax.profiler, TensorFlow's
 * profiler and Triton's Proton that Python begins are announced beforehand (python/lend.py), so
 * CUPTI is handed over to them for as long as one lasts: what our buffers hold is fetched and our
 * kinds are switched off before it registers, and as soon as it has ended we register again. None
 * of its records falls into a buffer of ours, and none of ours into its. Clients that nobody
 * announces are what watchdog.h is for.
 *
 * python/lend.py calls on threads of the program, without Python's lock; the sender does the work.
 */
#ifndef PROF_HANDOVER_H
#define PROF_HANDOVER_H

#include <stdbool.h>
#include <stdint.h>
#include "core/export.h"

#define PROF_HANDOVER_ABI 2 /* python/lend.py says the same */

/*
 * From now on all sessions of @who are announced. 1: go on; 0: this library is of another version.
 */
PROF_EXPORT int gpustarve_lending(int abi, const char *who);

/* A session of @who is about to begin. Returns when CUPTI is free, or after 5 s, once. */
PROF_EXPORT void gpustarve_lend(const char *who);

/*
 * It has ended. Returns when we have registered again, or after 5 s, once. @detaches: the client
 * will still detach CUPTI from the process (TEARDOWN_CUPTI=1), at the next calls that the program
 * makes; so it is left alone for two seconds more, and this returns at once.
 */
PROF_EXPORT void gpustarve_lent(uint32_t detaches);

/*
 * At arm, once the sender can be started and before CUPTI's callbacks are registered: from here on
 * a session is handed over by the sender, which waits for the arm's end. True if one is going on
 * already: then nothing may be registered.
 */
bool prof_handover_init(void (*start_sender)(void), void (*wake_sender)(void));

bool prof_handover_knows_torch(void); /* are torch's sessions announced? Any thread */
const char *prof_handover_client(void); /* who had it last */

/*
 * The sender's side: is there something to do? Then it does it, says so with the number, and who
 * waits for it goes on. @out: to hand CUPTI over; else to take it back.
 */
bool prof_handover_pending(bool *out, unsigned int *number);
void prof_handover_done(unsigned int number);

/* Nobody waits until it is taken back (gpustarve_lent, @detaches). */
bool prof_handover_unwaited(void);

/* atfork's child handler. Async-signal-safe. */
void prof_handover_forked(void);

#endif
