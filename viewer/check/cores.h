/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a thread that wakes waits for a core when others use them: Erlang's queue of @cores
 * servers, whom threads ask at random and keep for a slice of the scheduler at a time. A model, for
 * predictions alone; what a run really waited stands in its trace. Pure integers.
 */
#ifndef CHECK_CORES_H
#define CHECK_CORES_H

#include <stdint.h>

#define CHECK_CORES_FULL_NS 3600000000000 /* an hour: nobody gets a core any more */

/*
 * @used_ppm: CPU time that is used per time, in millionths of a core. Grows with it;
 * CHECK_CORES_FULL_NS from where all cores are used all the time. 0 for no cores: nothing is known.
 */
int64_t check_cores_wait_ns(int64_t used_ppm, int64_t cores);

#endif
