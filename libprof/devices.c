/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices from the driver, details from NVML.
 */
#include "devices.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda_api.h"
#include "log.h"
#include "notes.h"

#define NVML_PROCESSES 64

static struct {
	struct prof_cuda cuda;
	struct prof_nvml nvml;
	bool cuda_open, nvml_tried, nvml_open;
	struct prof_device device[PROF_DEVICES_MAX];
	size_t count;
	uint32_t driver_version;
} dev;

static void uuid_text(const uint8_t u[16], const char *prefix, char out[64])
{
	snprintf(out, 64, "%s%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
		 prefix, u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11],
		 u[12], u[13], u[14], u[15]);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* GPU-xxxxxxxx-... or MIG-... to 16 bytes. */
static bool uuid_parse(const char *text, uint8_t out[16])
{
	int n = 0, high, low;

	while (*text && *text != '-')
		text++;
	for (; *text && n < 16; text++) {
		if (*text == '-')
			continue;
		high = hex_digit(text[0]);
		low = high < 0 ? -1 : hex_digit(text[1]);
		if (low < 0)
			return false;
		out[n++] = (uint8_t)(high << 4 | low);
		text++;
	}
	return n == 16;
}

static void open_nvml(void)
{
	if (dev.nvml_tried)
		return;
	dev.nvml_tried = true;
	dev.nvml_open = !prof_nvml_open(&dev.nvml);
	if (!dev.nvml_open)
		prof_note("NVML is not available: memory, utilisation and other processes are not "
			  "known");
}

static void *nvml_handle(const struct prof_device *d)
{
	static const char *const prefix[] = { "GPU-", "MIG-" };
	char text[64];
	void *handle = NULL;
	size_t i;

	for (i = 0; i < 2 && !handle; i++) {
		uuid_text(d->uuid, prefix[i], text);
		if (dev.nvml.DeviceGetHandleByUUID(text, &handle))
			handle = NULL;
	}
	return handle;
}

/* "NVIDIA H100 80GB HBM3 MIG 1g.10gb": the profile ends the name. */
static void read_mig(struct prof_device *d, void *parent)
{
	struct nvml_device_attributes own = { 0 };
	char name[96] = "", uuid[96] = "", *profile;

	if (dev.nvml.DeviceGetName && !dev.nvml.DeviceGetName(d->nvml, name, sizeof(name))) {
		profile = strstr(name, "MIG ");
		if (profile)
			snprintf(d->mig_profile, sizeof(d->mig_profile), "%s", profile + 4);
	}
	if (dev.nvml.DeviceGetUUID && !dev.nvml.DeviceGetUUID(parent, uuid, sizeof(uuid)))
		uuid_parse(uuid, d->mig_parent);
	if (dev.nvml.DeviceGetAttributes && !dev.nvml.DeviceGetAttributes(d->nvml, &own)) {
		d->mig_slices = own.compute_instance_slices;
		d->mig_slices_total = 7; /* of every GPU that has MIG */
	}
}

static void read_nvml(struct prof_device *d)
{
	unsigned int index, processes = 0;
	void *parent = NULL;

	d->nvml = nvml_handle(d);
	if (!d->nvml)
		return;
	if (dev.nvml.DeviceGetDeviceHandleFromMigDeviceHandle &&
	    !dev.nvml.DeviceGetDeviceHandleFromMigDeviceHandle(d->nvml, &parent) && parent)
		read_mig(d, parent);
	if (dev.nvml.DeviceGetIndex && !dev.nvml.DeviceGetIndex(parent ? parent : d->nvml, &index))
		d->nvml_index = (int)index;
	if (dev.nvml.DeviceGetMPSComputeRunningProcesses &&
	    dev.nvml.DeviceGetMPSComputeRunningProcesses(d->nvml, &processes, NULL) != 3)
		d->mps = processes > 0;
}

static int read_device(struct prof_device *d, int ordinal)
{
	size_t total = 0;
	int handle;

	memset(d, 0, sizeof(*d));
	d->nvml_index = -1;
	if (dev.cuda.DeviceGet(&handle, ordinal) || dev.cuda.DeviceGetUuid(d->uuid, handle))
		return -EIO;
	if (dev.cuda.DeviceGetName(d->name, sizeof(d->name), handle))
		d->name[0] = 0;
	if (!dev.cuda.DeviceTotalMem(&total, handle))
		d->memory_total = total;
	if (!dev.cuda.DeviceGetPCIBusId ||
	    dev.cuda.DeviceGetPCIBusId(d->bus_id, sizeof(d->bus_id), handle))
		d->bus_id[0] = 0;
	if (dev.nvml_open)
		read_nvml(d);
	return 0;
}

int prof_devices_read(void)
{
	int count = 0, i, version;

	if (!dev.cuda_open && prof_cuda_open(&dev.cuda))
		return -ENOENT;
	dev.cuda_open = true;
	if (!dev.cuda.DriverGetVersion(&version))
		dev.driver_version = (uint32_t)version;
	if (dev.cuda.DeviceGetCount(&count))
		return -EAGAIN;
	open_nvml();
	for (i = 0; i < count && i < PROF_DEVICES_MAX; i++)
		if (read_device(&dev.device[i], i))
			return -EIO;
	dev.count = (size_t)i;
	return 0;
}

void prof_devices_canary(void)
{
	int version;

	if (dev.cuda_open)
		dev.cuda.DriverGetVersion(&version);
}

size_t prof_devices(const struct prof_device **list)
{
	*list = dev.device;
	return dev.count;
}

uint32_t prof_devices_driver_version(void)
{
	return dev.driver_version;
}

/*
 * Processes on the device that are not this one, which has worked on it; those of the same run are the
 * reader's to take off. Pids tell nothing: NVML may count in a namespace around ours.
 */
static uint32_t other_processes(void *handle)
{
	struct nvml_process list[NVML_PROCESSES];
	unsigned int count = NVML_PROCESSES;

	if (!dev.nvml.DeviceGetComputeRunningProcesses ||
	    dev.nvml.DeviceGetComputeRunningProcesses(handle, &count, list))
		return 0;
	return count ? count - 1 : 0;
}

bool prof_devices_facts(uint32_t ordinal, struct prof_device_facts *f)
{
	struct nvml_utilization u;
	struct nvml_memory m;
	void *handle;

	memset(f, 0, sizeof(*f));
	handle = ordinal < dev.count ? dev.device[ordinal].nvml : NULL;
	if (!handle)
		return false;
	if (dev.nvml.DeviceGetMemoryInfo && !dev.nvml.DeviceGetMemoryInfo(handle, &m)) {
		f->memory_used = m.used;
		f->memory_total = m.total;
	}
	if (dev.nvml.DeviceGetUtilizationRates && !dev.nvml.DeviceGetUtilizationRates(handle, &u)) {
		f->utilization = u.gpu;
		f->has_utilization = true;
	}
	f->other_processes = other_processes(handle);
	return true;
}
