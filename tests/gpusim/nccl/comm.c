/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comm.c - communicators: made, found, split, given up.
 */
#include "comm.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "driver.h"
#include "group.h"
#include "ranges.h"

#define MAGIC 0x6d6f6363u
#define WATCH_NS 100000000u /* how often it is looked whether ranks live */

/* Memory has content once a program uses NCCL: what it sends is read again. */
__attribute__((constructor)) static void content(void)
{
	gpusim_content();
}

/* ---- errors ---- */

static char last_error[256]; /* of the process, as in the original */

int nccl_fail(int result, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(last_error, sizeof last_error, format, args);
	va_end(args);
	return result;
}

const char *ncclGetLastError(struct ncclComm *comm)
{
	(void)comm;
	return last_error;
}

const char *ncclGetErrorString(int result)
{
	static const char *const text[NCCL_RESULTS] = {
		"no error",
		"unhandled cuda error (simulated NCCL)",
		"unhandled system error (simulated NCCL)",
		"internal error (simulated NCCL)",
		"invalid argument (simulated NCCL)",
		"invalid usage (simulated NCCL)",
		"remote process exited or there was a network error (simulated NCCL)",
		"NCCL operation in progress",
		"timeout (simulated NCCL)"
	};

	return (unsigned)result < NCCL_RESULTS ? text[result] : "unknown result code";
}

int ncclGetVersion(int *version)
{
	if (!version)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: nowhere to put it", __func__);
	*version = NCCL_VERSION;
	return NCCL_SUCCESS;
}

/* ---- unique ids ---- */

int ncclGetUniqueId(struct nccl_unique_id *id)
{
	if (!id)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: nowhere to put it", __func__);
	if (getrandom(id->bytes, sizeof id->bytes, 0) != sizeof id->bytes)
		return nccl_fail(NCCL_SYSTEM_ERROR, "%s: no random bytes", __func__);
	return NCCL_SUCCESS;
}

static uint64_t key_of(const struct nccl_unique_id *ids, int n)
{
	uint64_t key = 0, word;
	size_t i;
	int id;

	for (id = 0; id < n; id++)
		for (i = 0; i < sizeof ids->bytes; i += sizeof word) {
			memcpy(&word, ids[id].bytes + i, sizeof word);
			key = nccl_mix(key, word);
		}
	return key;
}

/* ---- finding the ranks ---- */

/* Words of a rank at the meeting. */
enum {
	WORD_PID,
	WORD_BEGAN,
	WORD_DEVICE,
	WORD_WISH /* color and key of a split */
};

static int wished_color(const uint64_t words[GPUSIM_WORDS])
{
	return (int32_t)(words[WORD_WISH] >> 32);
}

static int wished_key(const uint64_t words[GPUSIM_WORDS])
{
	return (int32_t)words[WORD_WISH];
}

/* Does a come before b, in the order of a split? */
static bool before(uint64_t all[GPUSIM_RANKS][GPUSIM_WORDS], uint32_t a, uint32_t b)
{
	int ka = wished_key(all[a]), kb = wished_key(all[b]);

	return ka < kb || (ka == kb && a < b);
}

static bool same_device(uint64_t all[GPUSIM_RANKS][GPUSIM_WORDS], uint32_t a, uint32_t b)
{
	return a != b && all[a][WORD_DEVICE] == all[b][WORD_DEVICE];
}

/* Everybody has come: those of this rank's color are its ranks, by key and former rank. */
static int found(struct ncclComm *comm, uint64_t all[GPUSIM_RANKS][GPUSIM_WORDS])
{
	const uint64_t *mine = all[comm->seat];
	uint32_t i, j;

	comm->ranks = 0;
	for (i = 0; i < comm->seats; i++) {
		int place = 0;

		if (wished_color(all[i]) != wished_color(mine))
			continue;
		for (j = 0; j < comm->seats; j++) {
			if (wished_color(all[j]) != wished_color(mine))
				continue;
			place += before(all, j, i);
			if (same_device(all, i, j))
				return nccl_fail(NCCL_INVALID_USAGE,
						 "Duplicate GPU detected: ranks %u and %u", i, j);
		}
		comm->member[place] =
			(struct nccl_member){ (int32_t)all[i][WORD_PID], all[i][WORD_BEGAN] };
		comm->rank = i == comm->seat ? place : comm->rank;
		comm->ranks++;
	}
	comm->id = nccl_mix(comm->key, (uint32_t)wished_color(mine));
	return NCCL_SUCCESS;
}

static bool dead(const struct nccl_member *m)
{
	return m->pid && gpusim_process_began(m->pid) != m->began;
}

static bool time_to_watch(struct ncclComm *comm)
{
	uint64_t now = sim_now();

	if (now - comm->watched_ns < WATCH_NS)
		return false;
	comm->watched_ns = now;
	return true;
}

/* Did somebody come and die before all were there? */
static int look_for_dead(struct ncclComm *comm, uint64_t all[GPUSIM_RANKS][GPUSIM_WORDS])
{
	uint32_t i;

	if (!time_to_watch(comm))
		return NCCL_IN_PROGRESS;
	for (i = 0; i < comm->seats; i++)
		if (dead(&(struct nccl_member){ (int32_t)all[i][WORD_PID], all[i][WORD_BEGAN] }))
			return nccl_fail(NCCL_REMOTE_ERROR, "rank %u died before all had come", i);
	return NCCL_IN_PROGRESS;
}

static int find_ranks(struct ncclComm *comm)
{
	uint64_t all[GPUSIM_RANKS][GPUSIM_WORDS];

	if (gpusim_gather(comm->key, comm->seats, comm->seat, comm->words, all))
		return found(comm, all);
	return look_for_dead(comm, all);
}

/*
 * A rank that is no more will not come to what is open; NVLink would stand still, and NCCL says so.
 */
static int look_after(struct ncclComm *comm)
{
	int i;

	if (!time_to_watch(comm) || !gpusim_collectives_open(comm->id))
		return NCCL_SUCCESS;
	for (i = 0; i < comm->ranks; i++)
		if (dead(&comm->member[i]))
			return nccl_fail(NCCL_REMOTE_ERROR, "rank %d is gone, others wait for it",
					 i);
	return NCCL_SUCCESS;
}

int nccl_comm_look(struct ncclComm *comm)
{
	int state;

	pthread_mutex_lock(&comm->lock);
	state = atomic_load(&comm->state);
	if (atomic_load(&comm->aborted))
		state = state == NCCL_IN_PROGRESS ? NCCL_INTERNAL_ERROR : state;
	else if (state == NCCL_IN_PROGRESS && !comm->finalizing)
		state = find_ranks(comm);
	else if (state == NCCL_IN_PROGRESS || state == NCCL_SUCCESS)
		state = look_after(comm);
	if (state == NCCL_SUCCESS && comm->finalizing && gpusim_collectives_open(comm->id))
		state = NCCL_IN_PROGRESS;
	atomic_store(&comm->state, state);
	pthread_mutex_unlock(&comm->lock);
	return state;
}

int nccl_comm_wait(struct ncclComm *comm)
{
	struct timespec pause = { 0, 100000 };
	int state;

	while (state = nccl_comm_look(comm), state == NCCL_IN_PROGRESS) {
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < 1000000)
			pause.tv_nsec += 100000;
	}
	return state;
}

static bool is_one(struct ncclComm *comm)
{
	return comm && comm->magic == MAGIC;
}

int nccl_comm_check(struct ncclComm *comm, const char *what)
{
	int state;

	if (!is_one(comm))
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: no communicator", what);
	state = atomic_load(&comm->state);
	if (state == NCCL_IN_PROGRESS)
		state = nccl_comm_look(comm);
	if (state == NCCL_IN_PROGRESS)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: the communicator is still in progress",
				 what);
	return state ? nccl_fail(state, "%s: the communicator has failed", what) : NCCL_SUCCESS;
}

/* ---- making ---- */

static uint64_t device_word(int device)
{
	struct sim_uuid uuid;
	uint64_t word[2];

	if (cuDeviceGetUuid(&uuid, device))
		return 0;
	memcpy(word, &uuid, sizeof word);
	return nccl_mix(word[0], word[1]);
}

/* On the thread's current device, which it takes as its own. */
static int comm_new(struct ncclComm **out, uint64_t key, int seats, int seat, bool blocking)
{
	struct ncclComm *comm;
	int rc = gpusim_ready();

	if (rc)
		return nccl_fail(NCCL_UNHANDLED_CUDA_ERROR, "CUDA error %d", rc);
	if (seats < 1 || seats > GPUSIM_RANKS || seat < 0 || seat >= seats)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "rank %d of %d; at most %d are simulated",
				 seat, seats, GPUSIM_RANKS);
	comm = calloc(1, sizeof *comm);
	if (!comm)
		return NCCL_SYSTEM_ERROR;
	comm->magic = MAGIC;
	pthread_mutex_init(&comm->lock, NULL);
	atomic_store(&comm->state, NCCL_IN_PROGRESS);
	comm->blocking = blocking;
	comm->key = key;
	comm->seats = (uint32_t)seats;
	comm->seat = (uint32_t)seat;
	comm->ranks = seats;
	comm->rank = seat;
	cuCtxGetCurrent(&comm->context);
	cuCtxGetDevice(&comm->device);
	comm->words[WORD_PID] = (uint64_t)getpid();
	comm->words[WORD_BEGAN] = gpusim_process_began(getpid());
	comm->words[WORD_DEVICE] = device_word(comm->device);
	*out = comm;
	return NCCL_SUCCESS;
}

static int blocking_of(const struct nccl_config *config, bool otherwise, bool *blocking)
{
	const char *text = getenv("NCCL_COMM_BLOCKING");

	*blocking = otherwise;
	if (config && (config->size < sizeof *config || config->magic != NCCL_MAGIC))
		return nccl_fail(NCCL_INVALID_ARGUMENT, "a configuration that was not initialized");
	if (config && config->blocking != NCCL_UNDEFINED)
		*blocking = config->blocking;
	if (text)
		*blocking = strtol(text, NULL, 0);
	return NCCL_SUCCESS;
}

/* Within a group or alone: the group's end waits for it. */
static int join(struct ncclComm *comm)
{
	int rc;

	nccl_group_begin();
	nccl_comm_look(comm); /* the others see it from now on */
	nccl_group_comm(comm);
	rc = nccl_group_end();
	return rc;
}

static int init(struct ncclComm **out, int ranks, int rank, const struct nccl_unique_id *ids,
		int n_ids, const struct nccl_config *config)
{
	bool blocking;
	int rc = blocking_of(config, true, &blocking);

	if (!rc && (!out || n_ids < 1))
		rc = nccl_fail(NCCL_INVALID_ARGUMENT, "nowhere to put the communicator, or no id");
	if (!rc)
		rc = comm_new(out, key_of(ids, n_ids), ranks, rank, blocking);
	return rc ? rc : join(*out);
}

struct payload {
	uint64_t comm;
	int ranks, rank, device;
};

#define RANGE(id, comm, ranks, rank)                  \
	struct payload p_ = { comm, ranks, rank, 0 }; \
	NCCL_RANGE_OF(id, &p_, sizeof p_)

int ncclCommInitRank(struct ncclComm **comm, int ranks, struct nccl_unique_id id, int rank)
{
	RANGE(NCCL_PAYLOAD_INIT_RANK, key_of(&id, 1), ranks, rank);
	return init(comm, ranks, rank, &id, 1, NULL);
}

int ncclCommInitRankConfig(struct ncclComm **comm, int ranks, struct nccl_unique_id id, int rank,
			   const struct nccl_config *config)
{
	RANGE(NCCL_PAYLOAD_INIT_RANK, key_of(&id, 1), ranks, rank);
	return init(comm, ranks, rank, &id, 1, config);
}

int ncclCommInitRankScalable(struct ncclComm **comm, int ranks, int rank, int n_ids,
			     const struct nccl_unique_id *ids, const struct nccl_config *config)
{
	RANGE(NCCL_PAYLOAD_INIT_RANK, key_of(ids, n_ids), ranks, rank);
	return init(comm, ranks, rank, ids, n_ids, config);
}

/* One rank on a device of this process. */
static int init_on(int device, struct ncclComm **comm, int ranks, const struct nccl_unique_id *id,
		   int rank)
{
	void *context;
	int rc = cuDevicePrimaryCtxRetain(&context, device);

	if (!rc)
		rc = cuCtxSetCurrent(context);
	if (rc)
		return nccl_fail(NCCL_UNHANDLED_CUDA_ERROR, "device %d: CUDA error %d", device, rc);
	return init(comm, ranks, rank, id, 1, NULL);
}

int ncclCommInitAll(struct ncclComm **comms, int n, const int *devices)
{
	struct nccl_unique_id id;
	void *before = NULL;
	int rc, end, i;

	NCCL_RANGE();
	rc = gpusim_ready() ? NCCL_UNHANDLED_CUDA_ERROR : ncclGetUniqueId(&id);
	if (rc)
		return rc;
	cuCtxGetCurrent(&before);
	nccl_group_begin();
	for (i = 0; !rc && i < n; i++)
		rc = init_on(devices ? devices[i] : i, &comms[i], n, &id, i);
	if (rc)
		nccl_group_error(rc);
	end = nccl_group_end();
	cuCtxSetCurrent(before);
	return rc ? rc : end;
}

/* ---- out of others ---- */

/* Every rank of the parent comes, and says where it wants to go; who says nowhere gets nothing. */
int ncclCommSplit(struct ncclComm *parent, int color, int key, struct ncclComm **out,
		  const struct nccl_config *config)
{
	int rc = nccl_comm_check(parent, __func__);
	bool blocking;
	struct ncclComm *comm;

	NCCL_RANGE();
	if (!rc)
		rc = blocking_of(config, parent->blocking, &blocking);
	if (!rc && (!out || (color < 0 && color != NCCL_NO_COLOR)))
		rc = nccl_fail(NCCL_INVALID_ARGUMENT, "%s: color %d", __func__, color);
	if (!rc)
		rc = comm_new(&comm, nccl_mix(parent->id, ++parent->splits), parent->ranks,
			      parent->rank, blocking || color == NCCL_NO_COLOR);
	if (rc)
		return rc;
	comm->words[WORD_WISH] = (uint64_t)(uint32_t)color << 32 | (uint32_t)key;
	*out = color == NCCL_NO_COLOR ? NULL : comm;
	return join(comm);
}

static bool listed(int rank, const int *list, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (list[i] == rank)
			return true;
	return false;
}

/* Those that are left come. */
int ncclCommShrink(struct ncclComm *parent, const int *excluded, int n, struct ncclComm **out,
		   const struct nccl_config *config, int flags)
{
	int rc = is_one(parent) ? NCCL_SUCCESS : NCCL_INVALID_ARGUMENT, r, ranks = 0, rank = 0;
	uint64_t key;
	bool blocking;

	NCCL_RANGE();
	if (!rc && flags & 1) /* what is under way is given up first */
		gpusim_collectives_abandon(parent->id);
	if (!rc)
		rc = blocking_of(config, parent->blocking, &blocking);
	if (rc || n < 1 || !excluded || listed(parent->rank, excluded, n))
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: who is excluded has no part",
				 __func__);
	key = nccl_mix(parent->id, 0x5481cull << 32 | ++parent->splits);
	for (r = 0; r < parent->ranks; r++) {
		if (listed(r, excluded, n))
			continue;
		key = nccl_mix(key, (uint64_t)r);
		rank += r < parent->rank;
		ranks++;
	}
	rc = comm_new(out, key, ranks, rank, blocking);
	return rc ? rc : join(*out);
}

/* ---- ending ---- */

int ncclCommFinalize(struct ncclComm *comm)
{
	int rc = nccl_comm_check(comm, __func__);

	NCCL_RANGE();
	if (rc)
		return rc;
	pthread_mutex_lock(&comm->lock);
	comm->finalizing = true;
	pthread_mutex_unlock(&comm->lock);
	return comm->blocking ? nccl_comm_wait(comm) : nccl_comm_look(comm);
}

/* Its memory stays: a handle that is used once too often is an error and no crash. */
static void let_go(struct ncclComm *comm)
{
	pthread_mutex_lock(&comm->lock);
	free(comm->made);
	comm->made = NULL;
	comm->n_made = 0;
	comm->magic = 0;
	pthread_mutex_unlock(&comm->lock);
}

static void give_up(struct ncclComm *comm)
{
	bool finding;

	pthread_mutex_lock(&comm->lock);
	atomic_store(&comm->aborted, true);
	finding = !comm->id;
	pthread_mutex_unlock(&comm->lock);
	if (finding)
		gpusim_gather_leave(comm->key, comm->seat);
	else
		gpusim_collectives_abandon(comm->id);
}

int ncclCommDestroy(struct ncclComm *comm)
{
	RANGE(NCCL_PAYLOAD_DESTROY, comm ? comm->id : 0, comm ? comm->ranks : 0,
	      comm ? comm->rank : 0);

	if (!comm)
		return NCCL_SUCCESS;
	if (!is_one(comm))
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: no communicator", __func__);
	pthread_mutex_lock(&comm->lock);
	comm->finalizing = comm->id != 0;
	pthread_mutex_unlock(&comm->lock);
	if (nccl_comm_wait(comm))
		give_up(comm);
	let_go(comm);
	return NCCL_SUCCESS;
}

int ncclCommAbort(struct ncclComm *comm)
{
	RANGE(NCCL_PAYLOAD_ABORT, comm ? comm->id : 0, comm ? comm->ranks : 0,
	      comm ? comm->rank : 0);

	if (!comm)
		return NCCL_SUCCESS;
	if (!is_one(comm))
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: no communicator", __func__);
	give_up(comm);
	let_go(comm);
	return NCCL_SUCCESS;
}

/*
 * What is under way ends; it can then be destroyed, split or shrunk, and is good for nothing else.
 */
int ncclCommRevoke(struct ncclComm *comm, int flags)
{
	NCCL_RANGE();
	if (!is_one(comm) || flags)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: no communicator, or flags", __func__);
	give_up(comm);
	return NCCL_SUCCESS;
}

/* ---- questions ---- */

int ncclCommGetAsyncError(struct ncclComm *comm, int *result)
{
	if (!is_one(comm) || !result)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: no communicator", __func__);
	*result = nccl_comm_look(comm);
	return NCCL_SUCCESS;
}

static int answer(struct ncclComm *comm, const char *what, int *to, int value)
{
	if (!is_one(comm) || !to)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: no communicator", what);
	*to = value;
	return NCCL_SUCCESS;
}

int ncclCommCount(struct ncclComm *comm, int *count)
{
	return answer(comm, __func__, count, is_one(comm) ? comm->ranks : 0);
}

int ncclCommCuDevice(struct ncclComm *comm, int *device)
{
	return answer(comm, __func__, device, is_one(comm) ? comm->device : 0);
}

int ncclCommUserRank(struct ncclComm *comm, int *rank)
{
	return answer(comm, __func__, rank, is_one(comm) ? comm->rank : 0);
}
