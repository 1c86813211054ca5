/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h - the GPUSIM_* environment, read once. README.md lists every variable.
 */
#ifndef SIM_CONFIG_H
#define SIM_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_MAX_DEVICES 16
#define SIM_MAX_SLOTS 16

/* What CUDA counts as a device: a GPU, or a slice of one that is partitioned (MIG). */
struct sim_unit {
	char name[96];
	char profile[24]; /* "1g.10gb", "" for a whole GPU */
	uint64_t memory;
	uint32_t gpu; /* index of the GPU */
	uint32_t instance, slices; /* of a slice: its GPU instance, its compute slices */
};

struct sim_config {
	uint32_t gpus; /* of this node */
	uint32_t devices; /* GPUs, with slices in place of those that are partitioned */
	bool mps; /* kernels of different processes may run at once */
	uint32_t concurrency; /* kernels that may run at once on a device */
	uint32_t queue; /* launches a stream holds before a launch blocks */
	int driver_version; /* as cuDriverGetVersion says, 13000 */
	uint64_t launch_ns; /* from the call to the earliest start */
	uint64_t turnaround_ns; /* between two ops of one stream */
	uint64_t node_gap_ns; /* between two nodes of a graph */
	uint64_t copy_ns; /* fixed part of a copy */
	uint64_t init_ns, module_ns, malloc_ns; /* what these calls take */
	uint64_t lazy_ns; /* what the first launch of each function takes longer */
	double h2d, d2h, pageable, d2d, peer, fill; /* bytes per nanosecond */
	uint64_t memory[SIM_MAX_DEVICES]; /* by GPU */
	char name[SIM_MAX_DEVICES][96];
	struct sim_unit unit[SIM_MAX_DEVICES]; /* by device */
	uint32_t node; /* salt of the UUIDs, so that simulated nodes differ */
	uint32_t slow[SIM_MAX_DEVICES]; /* permille of a kernel's own length, by device */
	uint32_t nccl_ranks;
	bool nccl_param; /* nccl* kernels carry (communicator << 32 | ranks) as second parameter */
	bool data; /* copies move bytes */
	bool launches_block; /* until the kernel is over */
	bool truth_ops, truth_api;
	bool runtime_nested; /* driver records inside runtime calls */
	char truth[4000]; /* absolute path, "" for none */
	const char *shm; /* path of the shared segment, or NULL for a private one */
};

/* The configuration; any thread; never fails (a value that cannot be read keeps its default). */
const struct sim_config *sim_config(void);

/* Copies move bytes from now on. */
void sim_config_content(void);

/* Of a device: all of an H100's, or those of a slice of it. */
uint32_t sim_multiprocessors(uint32_t device);

/* 16 bytes that name a GPU, or a device, of this node; the same in every process. */
void sim_gpu_uuid(uint32_t gpu, uint8_t uuid[16]);
void sim_device_uuid(uint32_t device, uint8_t uuid[16]);

/* The device's UUID as text: "GPU-..." or, of a slice, "MIG-...". */
void sim_device_uuid_text(uint32_t device, char text[41]);

/* "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx" of these 16 bytes; text holds 41 bytes. */
void sim_uuid_text(const uint8_t uuid[16], const char *prefix, char text[41]);

#endif
