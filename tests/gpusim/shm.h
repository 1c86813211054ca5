/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shm.h - what the processes of one simulated node share: the engines of its devices, who uses
 * them, and the meeting points of collectives. One segment, mapped from GPUSIM_SHM (private to
 * the process when unset). No descriptor is kept, because programs close what they did not open.
 * Locks are robust: a process that is killed while it holds one leaves the others running.
 */
#ifndef SIM_SHM_H
#define SIM_SHM_H

#include <pthread.h>
#include <stdint.h>

#include "config.h"
#include "engine.h"
#include "rendezvous.h"

#define SIM_MAX_PROCS 256
#define SIM_MAX_MEETINGS 1024
#define SIM_MEETING_RANKS 16 /* of those whose processes and bytes are known */
#define SIM_MAX_BLOCKS 1024
#define SIM_BUCKETS 24576
#define SIM_PAST_BUCKETS 16384 /* of them behind now; the rest are ahead of it */
#define SIM_BUCKET_NS 1000000u

enum sim_engine {
	SIM_ENGINE_COMPUTE,
	SIM_ENGINE_H2D,
	SIM_ENGINE_D2H,
	SIM_ENGINE_D2D,
	SIM_ENGINES
};

struct sim_proc {
	int32_t pid; /* 0: free */
	int32_t pad;
	uint64_t start_time; /* of /proc/PID/stat, tells a reused pid apart */
	uint32_t contexts[SIM_MAX_DEVICES];
	uint64_t memory[SIM_MAX_DEVICES];
};

/* Kernel time per millisecond, from which busy.h answers what NVML and PM sampling ask. */
struct sim_bucket {
	uint64_t index; /* ms since the epoch */
	uint32_t busy_ns; /* more than a millisecond where kernels overlapped, as the next two */
	uint32_t sm_ns, warp_ns; /* times what they occupied (busy.h) */
	uint32_t tensor_ns, dram_ns; /* times what they used of these by script (busy.h) */
	uint32_t around_ns; /* for which the engine was busy around them */
	uint16_t launches; /* kernels that began in it */
	int16_t owner; /* process slot of the last of them */
};

struct sim_device {
	pthread_mutex_t lock;
	uint64_t floor; /* nothing before it is free; used after a repair */
	uint64_t last_end; /* latest end ever given */
	uint64_t memory_used;
	struct sim_line owner; /* which process has the compute engine */
	struct sim_line slot[SIM_MAX_SLOTS];
	struct sim_line copy[SIM_ENGINES]; /* by enum sim_engine; [0] is unused */
	/* Of the buckets that others have taken the place of. */
	uint64_t past_ns, past_engine_ns, past_sm_ns, past_warp_ns, past_launches;
	uint64_t past_tensor_ns, past_dram_ns;
	uint64_t busy_until; /* when the last of the kernels ends */
	uint32_t sampled_mhz; /* what a PM sampling session has set the SM clock to; 0: none */
	struct sim_bucket busy[SIM_BUCKETS];
};

/* One call of one collective: whoever comes, until all ranks are there. */
struct sim_meeting {
	uint64_t key; /* hash of name and communicator; 0: free */
	uint32_t sequence, ranks, seated, arrived, left;
	uint32_t broken; /* somebody left before all were there */
	uint64_t latest, longest; /* start of the last arrival, longest duration asked for */
	int16_t member[SIM_MEETING_RANKS]; /* process slot + 1, in the order of coming; 0: left */
	int16_t block[SIM_MEETING_RANKS]; /* by rank, what it shows (shown.h), + 1; 0: nothing */
};

struct sim_shm {
	uint64_t magic;
	uint32_t version, ready;
	pthread_mutex_t lock; /* processes, meetings, gatherings and blocks */
	struct sim_proc proc[SIM_MAX_PROCS];
	struct sim_meeting meeting[SIM_MAX_MEETINGS];
	struct sim_gathering gathering[SIM_MAX_GATHERINGS];
	uint8_t block_used[SIM_MAX_BLOCKS];
	uint32_t block_bytes[SIM_MAX_BLOCKS]; /* of its memory in the file */
	struct sim_device device[SIM_MAX_DEVICES];
};

/* The mapped segment, or NULL (said once on stderr). Any thread. */
struct sim_shm *sim_shm(void);

/* The caller's process slot; registers it at the first call. -1: table full. */
int32_t sim_proc_slot(void);

/* Gives up the slot and the work of the caller that has not begun: the process ends. */
void sim_proc_leave(void);

/*
 * When a process began, in ticks since the machine did; 0: there is none of this pid, or only its
 * remains.
 */
uint64_t sim_process_began(int32_t pid);

/* Is the process of this entry still the one that was registered? */
bool sim_proc_alive(const struct sim_proc *p);

/* Is the process of this slot gone? If so its future on all devices is freed. */
int sim_proc_reap(int32_t slot);

/* Lock and unlock; a dead owner's damage is repaired. */
void sim_device_lock(struct sim_device *device);
void sim_device_unlock(struct sim_device *device);
void sim_shm_lock(struct sim_shm *shm);
void sim_shm_unlock(struct sim_shm *shm);

/* In a forked child: the parent's slot is not the child's. */
void sim_proc_forget(void);

#endif
