/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's versions: the one place for what differs between them. libprof does what a row says, and
 * `gpustarve doctor` tells of it. Constant data: any thread, any time.
 *
 * Record sizes and exported functions are those of the wheels that PyPI has
 * (nvidia-cuda-cupti-cu11, nvidia-cuda-cupti-cu12, nvidia-cuda-cupti; docs/MEASUREMENTS.md names
 * each), which tests/e2e/libprof/test_cupti_wheels.py compares with these rows. The rest is from
 * NVIDIA's release notes.
 */
#ifndef FACTS_CUPTI_H
#define FACTS_CUPTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FACTS_CUPTI_OLDEST 18u /* cuptiGetVersion of CUDA 11.8, the oldest that is read */

enum facts_cupti_fact {
	/* API records call by call; else whole kinds, of which most records are thrown away. */
	FACTS_CUPTI_PICKS_CALLS = 1u << 0,
	/* A graph's launch can be traced as a whole; else node by node. */
	FACTS_CUPTI_GRAPHS_WHOLE = 1u << 1,
	/* Buffers per thread must not be used; must be asked for. Else as CUPTI has it. */
	FACTS_CUPTI_PER_THREAD_OFF = 1u << 2,
	FACTS_CUPTI_PER_THREAD_ON = 1u << 3,
	/* Not used at all: it may end the program by what every client does. */
	FACTS_CUPTI_PASSIVE = 1u << 4,
	/* May end long programs that launch graphs: said once graphs are seen. */
	FACTS_CUPTI_LONG_GRAPHS = 1u << 5,
	/* Names of kernels may be gone or another's after a module was loaded again. */
	FACTS_CUPTI_STALE_NAMES = 1u << 6,
	/* Every call wants the driver, GetVersion, too: without one it answers 999 ... */
	FACTS_CUPTI_NEEDS_DRIVER = 1u << 7,
	/* ... or calls itself until the stack is used up. */
	FACTS_CUPTI_ENDLESS = 1u << 8,
	/* A request for a buffer may be answered by NULL: a counted loss. Before, a crash. */
	FACTS_CUPTI_TAKES_NULL = 1u << 9,
	/*
	 * Tells what streams and calls are held up by: functions of the program on the CPU, full
	 * queues, code that is loaded. Older ones have records of overhead, too, of other things.
	 */
	FACTS_CUPTI_TELLS_HELD = 1u << 10,
};

struct facts_cupti_bytes { /* of the record that this version writes */
	uint16_t kernel, memcpy, memset, peer, sync, api, graph;
};

struct facts_cupti {
	uint32_t version; /* cuptiGetVersion */
	const char *release; /* of the CUDA toolkit: "12.9 U1" */
	uint32_t facts;
	struct facts_cupti_bytes bytes;
};

/*
 * The row of a version: its own, else that of the last version before it. @kernel_bytes tells
 * releases apart that share a number, 0: not known. NULL for versions before the oldest.
 */
const struct facts_cupti *facts_cupti(uint32_t version, uint32_t kernel_bytes);
const struct facts_cupti *facts_cupti_rows(size_t *count);

/* "12.6", "13.0 U1"; "not known" for a number that stands nowhere. */
void facts_cupti_release(char out[32], uint32_t version, uint32_t kernel_bytes);

/*
 * At least which version a library is, by what it exports, for one that may not be asked or does
 * not answer: 130200, 130300 or 130400; 0: one that may be asked. @has: does it export a function
 * of this name?
 */
uint32_t facts_cupti_by_symbols(bool (*has)(void *library, const char *name), void *library);

/*
 * A library that calls itself endlessly without a driver may be asked beside one as new as itself.
 */
#define FACTS_CUPTI_ENDLESS_DRIVER 13020 /* as cuDriverGetVersion counts */

struct facts_cupti_trouble { /* what a person should know, and where NVIDIA says so */
	enum facts_cupti_fact fact;
	const char *what, *remedy;
	const char *source;
};

/* The trouble that comes with this fact; NULL: none that concerns anybody. */
const struct facts_cupti_trouble *facts_cupti_trouble(enum facts_cupti_fact fact);

#endif
