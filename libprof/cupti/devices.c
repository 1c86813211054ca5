/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices from the driver, details from NVML.
 */
#include "devices.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fork_lock.h"
#include "core/log.h"
#include "core/notes.h"
#include "cuda_api.h"
#include "nvmlcall.h"

#define NVML_PROCESSES 64

enum answer { /* of NVML, to the first question */
	ANSWER_NONE,
	ANSWER_NO,
	ANSWER_YES,
};

static struct {
	struct prof_cuda cuda;
	bool cuda_found;
	struct prof_device device[PROF_DEVICES_MAX];
	size_t count;
	uint32_t driver_version;

	struct prof_device asked[PROF_DEVICES_MAX]; /* a copy for the thread that asks ... */
	atomic_int answer; /* ... until this is there */
	bool learnt, told_shut; /* the sender's */
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

/*
 * ---- NVML -------------------------------------------------------------------------------------
 */

static void *nvml_handle(const struct prof_device *d)
{
	static const char *const prefix[] = { "GPU-", "MIG-" };
	char text[64];
	void *handle = NULL;
	size_t i;

	for (i = 0; i < 2 && !handle; i++) {
		uuid_text(d->uuid, prefix[i], text);
		if (PROF_NVML(DeviceGetHandleByUUID, text, &handle))
			handle = NULL;
	}
	return handle;
}

/* "NVIDIA H100 80GB HBM3 MIG 1g.10gb": the profile ends the name. */
static void read_mig(struct prof_device *d, void *parent)
{
	struct nvml_device_attributes own = { 0 };
	char name[96] = "", uuid[96] = "", *profile;

	if (!PROF_NVML(DeviceGetName, d->nvml, name, sizeof(name))) {
		profile = strstr(name, "MIG ");
		if (profile)
			snprintf(d->mig_profile, sizeof(d->mig_profile), "%s", profile + 4);
	}
	if (!PROF_NVML(DeviceGetUUID, parent, uuid, sizeof(uuid)))
		uuid_parse(uuid, d->mig_parent);
	if (!PROF_NVML(DeviceGetAttributes, d->nvml, &own)) {
		d->mig_slices = own.compute_instance_slices;
		d->mig_slices_total = 7; /* of every GPU that has MIG */
	}
	d->nvml_gpu = parent;
	d->whole_instance = own.gpu_instance_slices == own.compute_instance_slices &&
			    !PROF_NVML(DeviceGetGpuInstanceId, d->nvml, &d->gpu_instance);
}

static void identify(struct prof_device *d)
{
	unsigned int index, processes = 0;
	void *parent = NULL;
	int rc;

	d->nvml = nvml_handle(d);
	if (!d->nvml)
		return;
	if (!PROF_NVML(DeviceGetDeviceHandleFromMigDeviceHandle, d->nvml, &parent) && parent)
		read_mig(d, parent);
	if (!PROF_NVML(DeviceGetIndex, parent ? parent : d->nvml, &index))
		d->nvml_index = (int)index;
	rc = PROF_NVML(DeviceGetMPSComputeRunningProcesses, d->nvml, &processes, NULL);
	if (rc >= 0 && rc != 3)
		d->mps = processes > 0;
}

void prof_devices_identify(void)
{
	int init;
	size_t i;

	if (atomic_load(&dev.answer))
		return;
	init = prof_nvmlcall() ? PROF_NVML(Init) : 1;
	if (init < 0)
		return; /* a fork took long: the next time */
	for (i = 0; i < dev.count && !init; i++)
		identify(&dev.asked[i]);
	atomic_store(&dev.answer, init ? ANSWER_NO : ANSWER_YES);
}

/*
 * Processes on the device that are not this one, which has worked on it; those of the same run are
 * the reader's to take off. Pids tell nothing: NVML may count in a namespace around ours.
 */
static uint32_t other_processes(void *handle)
{
	struct nvml_process list[NVML_PROCESSES];
	unsigned int count = NVML_PROCESSES;

	if (PROF_NVML(DeviceGetComputeRunningProcesses, handle, &count, list))
		return 0;
	return count ? count - 1 : 0;
}

const struct prof_device *prof_devices_asked(uint32_t ordinal)
{
	if (atomic_load(&dev.answer) != ANSWER_YES || ordinal >= dev.count)
		return NULL;
	return dev.asked[ordinal].nvml ? &dev.asked[ordinal] : NULL;
}

bool prof_devices_facts(uint32_t ordinal, struct prof_device_facts *f)
{
	const struct prof_device *d = prof_devices_asked(ordinal);
	struct nvml_utilization u;
	struct nvml_memory m;
	void *handle;

	memset(f, 0, sizeof(*f));
	if (!d)
		return false;
	handle = d->nvml;
	if (!PROF_NVML(DeviceGetMemoryInfo, handle, &m)) {
		f->memory_used = m.used;
		f->memory_total = m.total;
	}
	if (!PROF_NVML(DeviceGetUtilizationRates, handle, &u)) {
		f->utilization = u.gpu;
		f->has_utilization = true;
	}
	f->other_processes = other_processes(handle);
	return !prof_fork_lock_nvml_shut();
}

/*
 * ---- the driver -------------------------------------------------------------------------------
 */

void prof_devices_load(void)
{
	dev.cuda_found = !prof_cuda_open(&dev.cuda);
	prof_nvmlcall_load();
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
	return 0;
}

int prof_devices_read(void)
{
	int count = 0, i, version;

	if (!dev.cuda_found)
		return -ENOENT;
	if (!dev.cuda.DriverGetVersion(&version))
		dev.driver_version = (uint32_t)version;
	if (dev.cuda.DeviceGetCount(&count))
		return -EAGAIN;
	for (i = 0; i < count && i < PROF_DEVICES_MAX; i++)
		if (read_device(&dev.device[i], i))
			return -EIO;
	dev.count = (size_t)i;
	memcpy(dev.asked, dev.device, dev.count * sizeof(dev.device[0]));
	return 0;
}

static bool note_shut(void)
{
	if (dev.told_shut || !prof_fork_lock_nvml_shut())
		return false;
	dev.told_shut = true;
	prof_note("a call into NVML took longer than the program's fork could wait: memory, "
		  "utilisation and other processes are not known from then on");
	return true;
}

bool prof_devices_learn(void)
{
	enum answer answer = (enum answer)atomic_load(&dev.answer);
	bool shut = note_shut();

	if (dev.learnt || answer == ANSWER_NONE)
		return shut;
	dev.learnt = true;
	if (answer == ANSWER_YES)
		memcpy(dev.device, dev.asked, dev.count * sizeof(dev.device[0]));
	else
		prof_note("NVML is not available: memory, utilisation and other processes are not "
			  "known");
	return true;
}

void prof_devices_canary(void)
{
	int version;

	if (dev.cuda_found)
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
