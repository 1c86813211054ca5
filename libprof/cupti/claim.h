/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of the run's processes on a device asks NVML about it, every ten seconds: the answer is the
 * same for all. Whoever has bound an abstract socket with the run's and the device's name. It needs
 * no file, is there as long as its process, and is never waited for.
 *
 * The name is of this network namespace and of this user: ranks in containers of their own, and
 * those that cannot have a socket, each ask for themselves.
 */
#ifndef PROF_CLAIM_H
#define PROF_CLAIM_H

#include <stdint.h>

/*
 * Sender: claims devices, a bit for each ordinal. Those of them that this process is to ask about:
 * claimed now or before, or nobody can tell. Calls the writer (writer.h).
 */
uint64_t prof_claim_devices(const char *run_id, uint64_t devices);

/* Sender: leaves all of them to others. */
void prof_claim_release(void);

#endif
