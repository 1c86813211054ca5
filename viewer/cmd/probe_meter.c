/* SPDX-License-Identifier: Apache-2.0 */
#include "probe_meter.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "job/nvml.h"

#define NOT_FOUND 6 /* NVML's */
#define NO_FUNCTION 13
#define UTILIZATION_SAMPLES 1
#define RING 256

struct support { /* nvmlGpmSupport_t */
	uint32_t version, supported;
};

struct sample { /* nvmlSample_t */
	unsigned long long us, value;
};

struct nvml {
	int (*count)(unsigned int *n);
	int (*by_index)(unsigned int i, void **d);
	int (*mig_mode)(void *d, unsigned int *now, unsigned int *pending);
	int (*support)(void *d, struct support *s);
	int (*alloc)(void **sample);
	int (*release)(void *sample);
	int (*take)(void *d, void *sample);
	int (*ring)(void *d, int type, unsigned long long since, int *value_type, unsigned int *n,
		    struct sample *list);
};

static void find_all(void *handle, struct nvml *n)
{
	view_nvml_find(handle, &n->count, "nvmlDeviceGetCount_v2");
	view_nvml_find(handle, &n->by_index, "nvmlDeviceGetHandleByIndex_v2");
	view_nvml_find(handle, &n->mig_mode, "nvmlDeviceGetMigMode");
	view_nvml_find(handle, &n->support, "nvmlGpmQueryDeviceSupport");
	view_nvml_find(handle, &n->alloc, "nvmlGpmSampleAlloc");
	view_nvml_find(handle, &n->release, "nvmlGpmSampleFree");
	view_nvml_find(handle, &n->take, "nvmlGpmSampleGet");
	view_nvml_find(handle, &n->ring, "nvmlDeviceGetSamples");
}

static bool has_mig(const struct nvml *n, void *d)
{
	unsigned int now = 0, pending;

	return n->mig_mode && !n->mig_mode(d, &now, &pending) && now;
}

static bool knows_gpm(const struct nvml *n, void *d)
{
	struct support s = { .version = 1 };

	return n->support && n->alloc && n->release && n->take && !n->support(d, &s) && s.supported;
}

static bool gives_gpm(const struct nvml *n, void *d)
{
	void *sample = NULL;
	int rc = n->alloc(&sample);

	if (rc)
		return false;
	rc = n->take(d, sample);
	n->release(sample);
	return !rc;
}

static bool gives_samples(const struct nvml *n, void *d)
{
	struct sample *list = calloc(RING, sizeof(*list));
	unsigned int count = RING;
	int type, rc = NO_FUNCTION;

	if (n->ring && list)
		rc = n->ring(d, UTILIZATION_SAMPLES, 0, &type, &count, list);
	free(list);
	return !rc || rc == NOT_FOUND; /* none yet */
}

static enum view_probed_meter ask(const struct nvml *n, void *d)
{
	if (has_mig(n, d))
		return knows_gpm(n, d) ? VIEW_METER_GPM_MIG : VIEW_METER_NONE;
	if (knows_gpm(n, d) && gives_gpm(n, d))
		return VIEW_METER_GPM;
	return gives_samples(n, d) ? VIEW_METER_SAMPLES : VIEW_METER_NONE;
}

void view_probe_meters(void *handle, enum view_probed_meter meter[VIEW_PROBED_METERS])
{
	struct nvml n = { 0 };
	unsigned int count = 0;
	void *d;

	find_all(handle, &n);
	if (!n.count || !n.by_index || n.count(&count))
		return;
	for (unsigned int i = 0; i < count && i < VIEW_PROBED_METERS; i++) {
		meter[i] = VIEW_METER_ASKED; /* the memory is the caller's process's, too */
		meter[i] = n.by_index(i, &d) ? VIEW_METER_NONE : ask(&n, d);
	}
}
