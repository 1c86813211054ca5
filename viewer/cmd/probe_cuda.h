/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of NVIDIA's libraries is on this machine, asked in a process of its own: loading a driver
 * may crash or hang, and doctor must not. Needs no GPU.
 */
#ifndef VIEW_PROBE_CUDA_H
#define VIEW_PROBE_CUDA_H

#include <stdbool.h>
#include <stdint.h>
#include "probe_meter.h"

enum { /* kinds of records whose size is told */
	VIEW_RECORDS = 0
#define KIND(symbol, number, bytes, event, only, when, needed, handed, parse, words, place, name) \
	+((place) > 0)
#include "facts/cupti_kinds.def"
};

struct view_probed_library {
	bool loaded;
	char path[512]; /* where it was found; "": nowhere */
	char why[256]; /* why not */
};

struct view_cuda_probe {
	bool finished; /* false: the probe itself crashed or hung */
	struct view_probed_library driver, cupti, nvml;
	int driver_init; /* what cuInit said, 0: fine, -1: not asked */
	int driver_version; /* 13000 is 13.0; 0: not known */
	int devices; /* -1: not known */
	char device_name[8][96]; /* of the first few */
	uint32_t cupti_version; /* as cuptiGetVersion numbers; 0: not known */
	uint32_t cupti_at_least; /* by what it exports (facts/cupti.h); 0: nothing new */
	struct {
		const char *name; /* static */
		uint32_t bytes, least; /* the record in this CUPTI; what libprof reads of it */
	} record[VIEW_RECORDS];
	int nvml_init; /* what nvmlInit said, 0: fine, -1: not asked */
	enum view_probed_meter meter[VIEW_PROBED_METERS];
};

void view_probe_cuda(struct view_cuda_probe *p);

#endif
