/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.c - reads the GPUSIM_* environment into one struct, once per process.
 */
#include "config.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MULTIPROCESSORS 132
#define SLICE_MULTIPROCESSORS 16 /* of each compute slice */

static struct sim_config config;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const char *text(const char *key, const char *fallback)
{
	const char *v = getenv(key);

	return v && *v ? v : fallback;
}

static uint64_t number(const char *key, uint64_t fallback)
{
	const char *v = getenv(key);
	char *end;
	unsigned long long x;

	if (!v || !*v)
		return fallback;
	x = strtoull(v, &end, 10);
	return end == v ? fallback : x;
}

static double rate(const char *key, double fallback)
{
	const char *v = getenv(key);
	double x = v ? strtod(v, NULL) : 0;

	return x > 0 ? x : fallback;
}

/* "80G", "512M" or plain bytes. */
static uint64_t size_of(const char *v, const char **rest)
{
	char *end;
	unsigned long long x = strtoull(v, &end, 10);

	if (*end == 'G' || *end == 'g')
		x <<= 30, end++;
	else if (*end == 'M' || *end == 'm')
		x <<= 20, end++;
	*rest = end;
	return x;
}

static void read_names(void)
{
	const char *v = text("GPUSIM_NAME", "NVIDIA H100 80GB HBM3");
	uint32_t i;

	for (i = 0; i < SIM_MAX_DEVICES; i++) {
		size_t n = strcspn(v, ",");

		snprintf(config.name[i], sizeof config.name[i], "%.*s (simulated)",
			 (int)(n < 48 ? n : 48), v);
		if (v[n])
			v += n + 1;
	}
}

static void read_memory(void)
{
	const char *v = text("GPUSIM_MEMORY", "85520809984"), *rest;
	uint32_t i;

	for (i = 0; i < SIM_MAX_DEVICES; i++) {
		uint64_t x = size_of(v, &rest);

		config.memory[i] = x ? x : 85520809984u;
		if (*rest == ',')
			v = rest + 1;
	}
}

/* "1,1,1.25": how much longer the kernels of each device take, the last for the rest. */
static void read_slow(void)
{
	const char *v = text("GPUSIM_SLOW", "1");
	uint32_t i;

	for (i = 0; i < SIM_MAX_DEVICES; i++) {
		char *end;
		double x = strtod(v, &end);

		config.slow[i] = x >= 0.1 && x <= 100 ? (uint32_t)(x * 1000 + 0.5) : 1000;
		if (*end == ',')
			v = end + 1;
	}
}

static struct sim_unit *new_unit(uint32_t gpu)
{
	struct sim_unit *u;

	if (config.devices == SIM_MAX_DEVICES)
		return NULL;
	u = &config.unit[config.devices++];
	u->gpu = gpu;
	u->memory = config.memory[gpu];
	memcpy(u->name, config.name[gpu], sizeof u->name);
	return u;
}

/* "1g.10gb": one of seven compute slices, ten gigabytes. */
static void new_slice(uint32_t gpu, const char *profile, size_t n, uint32_t instance)
{
	struct sim_unit *u = new_unit(gpu);
	const char *gigabytes;

	if (!u)
		return;
	snprintf(u->profile, sizeof u->profile, "%.*s", (int)n, profile);
	strcat(strcat(u->name, " MIG "), u->profile); /* at most 60 + 5 + 23 of 96 */
	gigabytes = strchr(u->profile, '.');
	u->memory = gigabytes ? strtoull(gigabytes + 1, NULL, 10) << 30 : u->memory;
	u->slices = (uint32_t)strtoul(u->profile, NULL, 10);
	u->instance = instance;
}

/* The slices of one GPU out of GPUSIM_MIG="0:1g.10gb,3g.40gb;1:7g.80gb"; how many. */
static uint32_t read_slices(uint32_t gpu)
{
	const char *v = text("GPUSIM_MIG", "");
	uint32_t n = 0;

	while (*v) {
		size_t length = strcspn(v, ";"), used;
		char *p;

		if (strtoul(v, &p, 10) == gpu && *p == ':') {
			for (p++; p < v + length; p += used + (p[used] == ',')) {
				used = strcspn(p, ",;");
				new_slice(gpu, p, used, ++n);
			}
			return n;
		}
		v += length + (v[length] == ';');
	}
	return 0;
}

static void read_units(void)
{
	uint32_t i;

	for (i = 0; i < config.gpus; i++)
		if (!read_slices(i))
			new_unit(i);
}

/* The program may change its directory, so a relative path is completed now. */
static void read_truth(void)
{
	const char *v = text("GPUSIM_TRUTH", "");
	char dir[2000];

	if (!*v)
		return;
	if (*v == '/' || !getcwd(dir, sizeof dir))
		snprintf(config.truth, sizeof config.truth, "%s", v);
	else
		snprintf(config.truth, sizeof config.truth, "%s/%.1900s", dir, v);
}

static uint32_t clamp(uint64_t x, uint32_t low, uint32_t high)
{
	return x < low ? low : x > high ? high : (uint32_t)x;
}

static void read_config(void)
{
	config.gpus = clamp(number("GPUSIM_DEVICES", 1), 0, SIM_MAX_DEVICES);
	config.mps = number("GPUSIM_MPS", 0) != 0;
	config.concurrency = clamp(number("GPUSIM_CONCURRENCY", 4), 1, SIM_MAX_SLOTS);
	config.queue = clamp(number("GPUSIM_QUEUE", 1024), 1, 1024);
	config.driver_version = (int)number("GPUSIM_DRIVER_VERSION", 13000);
	config.launch_ns = number("GPUSIM_LAUNCH_NS", 5000);
	config.turnaround_ns = number("GPUSIM_TURNAROUND_NS", 1200);
	config.node_gap_ns = number("GPUSIM_NODE_GAP_NS", 130);
	config.copy_ns = number("GPUSIM_COPY_NS", 1000);
	config.init_ns = number("GPUSIM_INIT_MS", 0) * 1000000;
	config.module_ns = number("GPUSIM_MODULE_MS", 0) * 1000000;
	config.lazy_ns = number("GPUSIM_LAZY_MS", 0) * 1000000;
	config.malloc_ns = number("GPUSIM_MALLOC_US", 10) * 1000;
	config.h2d = rate("GPUSIM_H2D_GBPS", 50);
	config.d2h = rate("GPUSIM_D2H_GBPS", 50);
	config.pageable = rate("GPUSIM_PAGEABLE_GBPS", 5);
	config.d2d = rate("GPUSIM_D2D_GBPS", 1200);
	config.peer = rate("GPUSIM_PEER_GBPS", 200);
	config.fill = rate("GPUSIM_FILL_GBPS", 2500);
	config.node = (uint32_t)number("GPUSIM_NODE", 0);
	config.nccl_ranks = clamp(number("GPUSIM_NCCL_RANKS", number("WORLD_SIZE", 1)), 1, 4096);
	config.nccl_param = number("GPUSIM_NCCL_PARAM", 0) != 0;
	config.data = number("GPUSIM_DATA", 0) != 0;
	config.launches_block = number("CUDA_LAUNCH_BLOCKING", 0) != 0;
	config.truth_ops = number("GPUSIM_TRUTH_OPS", 1) != 0;
	config.truth_api = number("GPUSIM_TRUTH_API", 0) != 0;
	config.runtime_nested = number("GPUSIM_RUNTIME_NESTED", 0) != 0;
	config.shm = text("GPUSIM_SHM", NULL);
	read_names();
	read_memory();
	read_slow();
	read_units();
	read_truth();
}

const struct sim_config *sim_config(void)
{
	pthread_once(&once, read_config);
	return &config;
}

void sim_config_content(void)
{
	pthread_once(&once, read_config);
	config.data = true;
}

uint32_t sim_multiprocessors(uint32_t device)
{
	const struct sim_unit *u = &sim_config()->unit[device];

	return *u->profile ? SLICE_MULTIPROCESSORS * u->slices : MULTIPROCESSORS;
}

/* A few rounds of a mixing function: any two devices or nodes differ in most bytes. */
static void make_uuid(uint32_t index, uint8_t uuid[16])
{
	uint64_t x = 0x9e3779b97f4a7c15u * (index + 1) + sim_config()->node * 0xd1342543de82ef95u;
	int i;

	for (i = 0; i < 16; i++) {
		x ^= x >> 30;
		x *= 0xbf58476d1ce4e5b9u;
		x ^= x >> 27;
		uuid[i] = (uint8_t)(x >> 32);
	}
	uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x50); /* version 5, variant 1 */
	uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
}

void sim_gpu_uuid(uint32_t gpu, uint8_t uuid[16])
{
	make_uuid(gpu, uuid);
}

void sim_device_uuid(uint32_t device, uint8_t uuid[16])
{
	const struct sim_unit *u = &sim_config()->unit[device];

	make_uuid(*u->profile ? 1000 * (u->gpu + 1) + u->instance : u->gpu, uuid);
}

void sim_device_uuid_text(uint32_t device, char out[41])
{
	uint8_t uuid[16];

	sim_device_uuid(device, uuid);
	sim_uuid_text(uuid, *sim_config()->unit[device].profile ? "MIG-" : "GPU-", out);
}

void sim_uuid_text(const uint8_t u[16], const char *prefix, char out[41])
{
	snprintf(out, 41,
		 "%.4s%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", prefix,
		 u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12],
		 u[13], u[14], u[15]);
}
