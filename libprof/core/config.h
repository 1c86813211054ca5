/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The GPUSTARVE_* environment of libprof, read in one table before any thread of ours runs; by a
 * loader's worker that arms itself later, twice. What prof_config() gives never changes: the second
 * reading is another struct. A value that cannot be read keeps its default and is named in a note.
 */
#ifndef PROF_CONFIG_H
#define PROF_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum prof_graphs {
	PROF_GRAPHS_GRAPH,
	PROF_GRAPHS_NODE,
	PROF_GRAPHS_OFF
};

/* What GPUSTARVE_ONLY names: records of these, and of nothing else, are asked of CUPTI. */
enum prof_only {
#define SWITCH(symbol, bit, word) PROF_ONLY_##symbol = bit,
#include "facts/cupti_kinds.def"
	PROF_ONLY_ALL = 0
#define SWITCH(symbol, bit, word) | bit
#include "facts/cupti_kinds.def"
};

struct prof_config {
	bool on; /* GPUSTARVE, 0 turns everything off */
	char out[3072]; /* GPUSTARVE_OUT, absolute: where run directories are made */
	char run_id[252]; /* GPUSTARVE_RUN_ID as given; "" if unset (see procinfo.h) */
	char socket[108]; /* GPUSTARVE_SOCKET, the collector's Unix socket; "" for none */
	uint64_t level; /* GPUSTARVE_LEVEL 0, 1, 2 */
	enum prof_graphs graphs; /* GPUSTARVE_GRAPHS graph, node, off */
	bool graphs_given;
	uint64_t max_overhead; /* GPUSTARVE_MAX_OVERHEAD percent, here in millionths; 0: no limit */
	bool windows; /* GPUSTARVE_WINDOWS, default off: windows.h */
	uint64_t max_trace; /* GPUSTARVE_MAX_TRACE bytes (K, M, G, T allowed); 0: no limit */
	char labels[1024]; /* GPUSTARVE_LABELS k=v,k=v */
	bool debug; /* GPUSTARVE_DEBUG */
	/* GPUSTARVE_QUIET_ERRORS, a wrapper tells of a trace that cannot be written */
	bool quiet_errors;
	bool nvtx; /* GPUSTARVE_NVTX, default on */
	bool torch; /* GPUSTARVE_TORCH, default on */
	bool shim; /* GPUSTARVE_SHIM, default on: the Python shim is handed to Python */
	/* GPUSTARVE_LOADER, gpustarve loader: what feeds is recorded, and no GPU is looked for */
	bool loader;
	bool sampler; /* GPUSTARVE_SAMPLER, default on: samples threads */
	char cupti[1024]; /* GPUSTARVE_CUPTI, path of the libcupti to use; "" finds one */
	char dmi[256]; /* GPUSTARVE_DMI, folder where the machine says what it is */
	uint64_t rearm_seconds; /* GPUSTARVE_REARM_SECONDS, how long we yield to another client */
	uint32_t only; /* GPUSTARVE_ONLY, for measuring what each costs; a set of enum prof_only */
	const char *bad; /* name of a variable whose value could not be read, or NULL */
};

/* Reads the environment, a few times in a process at most. Any thread. */
void prof_config_read(void);

/* The last reading; all zero before the first. Any thread. */
const struct prof_config *prof_config(void);

#endif
