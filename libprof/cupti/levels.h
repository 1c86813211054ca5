/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which CUPTI kinds and API calls are traced at which level, how they are switched on. What is
 * different from one CUPTI version to the next stands in facts/cupti.h.
 *
 * The calls go to CUPTI: on the arming thread, later on the flusher only.
 */
#ifndef PROF_LEVELS_H
#define PROF_LEVELS_H

#include <stdbool.h>
#include "core/config.h"
#include "cuda_api.h"

struct prof_level {
	bool kernels, api;
	bool others; /* copies, memsets and synchronisation; graphs as a whole are always on ... */
	uint32_t only; /* ... unless this set of enum prof_only lacks them */
	enum prof_graphs graphs;
	int number; /* as configured: 0, 1, 2 */
};

/* What the configuration asks for and this CUPTI can do safely; notes what it cannot. */
void prof_level_choose(struct prof_level *l, const struct prof_config *config,
		       const struct prof_cupti *cupti);

/* Attributes; before anything is enabled. */
void prof_level_prepare(const struct prof_cupti *cupti);

/*
 * Switches on what @l says. 0, or CUPTI's error for copies or kernels: then all is off again,
 * whatever was on before. Other kinds that are refused become notes.
 */
int prof_level_enable(const struct prof_level *l, const struct prof_cupti *cupti);

/* Switches off what @before has and @after has not. */
void prof_level_reduce(const struct prof_level *before, const struct prof_level *after,
		       const struct prof_cupti *cupti);

/*
 * Switches off what another client must not find switched on, because its records would then be its
 * burden: all but graphs as a whole, which are never toggled. prof_level_enable takes it back.
 */
void prof_level_hand_over(const struct prof_cupti *cupti);

/* Switches everything off. For other clients all is as CUPTI has it. */
void prof_level_disable(const struct prof_cupti *cupti);

/* Can the watchdog's canary, cuDriverGetVersion, be traced? */
bool prof_level_has_canary(const struct prof_level *l, const struct prof_cupti *cupti);

const char *prof_level_name(const struct prof_level *l); /* "0", "1", "2", "copies", "least" */
const char *prof_graphs_name(enum prof_graphs graphs);

#endif
