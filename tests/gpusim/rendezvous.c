/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rendezvous.c - the table of gatherings.
 */
#include "rendezvous.h"

#include <string.h>
#include <unistd.h>

#include "shm.h"
#include "standin.h"

_Static_assert(SIM_GATHERING_RANKS == GPUSIM_RANKS, "the table has a place for each rank");
_Static_assert(SIM_GATHERING_WORDS == GPUSIM_WORDS, "and for its words");

/* Nobody is left who could complete it or ask for it. */
static bool deserted(const struct sim_gathering *g)
{
	uint32_t i;

	for (i = 0; i < g->ranks; i++)
		if ((g->came & ~g->answered) >> i & 1 &&
		    sim_process_began(g->pid[i]) == g->began[i])
			return false;
	return true;
}

static struct sim_gathering *find(struct sim_shm *shm, uint64_t key)
{
	struct sim_gathering *g;

	for (g = shm->gathering; g < shm->gathering + SIM_MAX_GATHERINGS; g++)
		if (g->key == key)
			return g;
	return NULL;
}

static struct sim_gathering *find_free(struct sim_shm *shm)
{
	struct sim_gathering *g = find(shm, 0);

	for (g = g ? g : shm->gathering; g < shm->gathering + SIM_MAX_GATHERINGS; g++)
		if (!g->key || deserted(g))
			return g;
	return NULL;
}

static void come(struct sim_gathering *g, uint32_t rank, const uint64_t mine[GPUSIM_WORDS])
{
	g->came |= 1u << rank;
	g->pid[rank] = getpid();
	g->began[rank] = sim_process_began(getpid());
	memcpy(g->word[rank], mine, sizeof g->word[rank]);
}

static bool answer(struct sim_gathering *g, uint32_t rank)
{
	uint32_t everybody = (1u << g->ranks) - 1;

	if (g->came != everybody)
		return false;
	g->answered |= 1u << rank;
	if (g->answered == everybody)
		memset(g, 0, sizeof *g);
	return true;
}

bool gpusim_gather(uint64_t key, uint32_t ranks, uint32_t rank, const uint64_t mine[GPUSIM_WORDS],
		   uint64_t all[GPUSIM_RANKS][GPUSIM_WORDS])
{
	struct sim_shm *shm = sim_shm();
	struct sim_gathering *g;
	bool complete = false;

	memset(all, 0, sizeof(uint64_t[GPUSIM_RANKS][GPUSIM_WORDS]));
	if (!shm || !key || !ranks || ranks > GPUSIM_RANKS || rank >= ranks)
		return false;
	sim_shm_lock(shm);
	g = find(shm, key);
	if (!g && (g = find_free(shm))) {
		memset(g, 0, sizeof *g);
		g->key = key;
		g->ranks = ranks;
	}
	if (g && g->ranks == ranks) { /* no place, or not the same: it is waited for in vain */
		if (!(g->came >> rank & 1))
			come(g, rank, mine);
		memcpy(all, g->word, sizeof g->word);
		complete = answer(g, rank);
	}
	sim_shm_unlock(shm);
	return complete;
}

void gpusim_gather_leave(uint64_t key, uint32_t rank)
{
	struct sim_shm *shm = sim_shm();
	struct sim_gathering *g;

	if (!shm || !key || rank >= GPUSIM_RANKS)
		return;
	sim_shm_lock(shm);
	g = find(shm, key);
	if (g && g->pid[rank] == getpid() && !answer(g, rank))
		g->came &= ~(1u << rank);
	if (g && !g->came)
		memset(g, 0, sizeof *g);
	sim_shm_unlock(shm);
}

uint64_t gpusim_process_began(int32_t pid)
{
	return sim_process_began(pid);
}
