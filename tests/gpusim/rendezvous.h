/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rendezvous.h - processes tell each other a few words, in the shared segment. Any thread, without
 * the process's lock.
 */
#ifndef SIM_RENDEZVOUS_H
#define SIM_RENDEZVOUS_H

#include <stdint.h>

#define SIM_MAX_GATHERINGS 128
#define SIM_GATHERING_RANKS 16
#define SIM_GATHERING_WORDS 4

struct sim_gathering {
	uint64_t key; /* 0: free */
	uint32_t ranks, came, answered; /* the last two: a bit per rank */
	uint32_t pad;
	int32_t pid[SIM_GATHERING_RANKS]; /* of those who came */
	uint64_t began[SIM_GATHERING_RANKS];
	uint64_t word[SIM_GATHERING_RANKS][SIM_GATHERING_WORDS];
};

#endif
