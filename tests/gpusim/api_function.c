/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_function.c - what a kernel is said to need, and how many of it fit. The model reads no device
 * code: every kernel has the same facts, those of a small one for an H100, and what a program sets
 * it gets back.
 */
#include <string.h>

#include "driver.h"
#include "state.h"

/* Of an H100 (compute capability 9.0), by CUDA's table of compute capabilities. */
#define THREADS_PER_BLOCK 1024
#define THREADS_PER_SM 2048
#define BLOCKS_PER_SM 32
#define REGISTERS_PER_SM 65536
#define SHARED_PER_SM 233472
#define SHARED_PER_BLOCK 49152 /* without being asked for more */
#define SHARED_OPT_IN 232448
#define SHARED_RESERVED 1024 /* of each block */
#define MULTIPROCESSORS 132
#define CLUSTER 8
#define CLUSTER_OPT_IN 16

#define REGISTERS 32 /* of a thread: as many as let every thread in */
#define WARP 32

/* CUfunction_attribute */
enum {
	MAX_THREADS = 0,
	NUM_REGS = 4,
	PTX_VERSION = 5,
	BINARY_VERSION = 6,
	MAX_DYNAMIC_SHARED = 8,
	CARVEOUT = 9,
	CLUSTER_WIDTH = 11,
	CLUSTER_HEIGHT = 12,
	CLUSTER_DEPTH = 13,
	BIG_CLUSTER = 14,
	CLUSTER_POLICY = 15
};

void sim_function_init(struct sim_function *f)
{
	memset(f->attribute, 0, sizeof f->attribute);
	f->attribute[MAX_THREADS] = THREADS_PER_BLOCK;
	f->attribute[NUM_REGS] = REGISTERS;
	f->attribute[PTX_VERSION] = 90;
	f->attribute[BINARY_VERSION] = 90;
	f->attribute[MAX_DYNAMIC_SHARED] = SHARED_PER_BLOCK;
	f->attribute[CARVEOUT] = -1; /* as the driver likes */
}

/* ---- attributes ---- */

static int get(int *value, int attribute, const struct sim_function *f)
{
	if (!f)
		return SIM_INVALID_HANDLE;
	if (!value || attribute < 0 || attribute >= SIM_FUNCTION_ATTRIBUTES)
		return SIM_INVALID_VALUE;
	*value = f->attribute[attribute];
	return SIM_OK;
}

static bool may_be(int attribute, int value)
{
	switch (attribute) {
	case MAX_DYNAMIC_SHARED:
		return value >= 0 && value <= SHARED_OPT_IN;
	case CARVEOUT:
		return value >= -1 && value <= 100;
	case CLUSTER_WIDTH:
	case CLUSTER_HEIGHT:
	case CLUSTER_DEPTH:
		return value >= 0 && value <= CLUSTER_OPT_IN;
	case BIG_CLUSTER:
		return value == 0 || value == 1;
	case CLUSTER_POLICY:
		return value >= 0 && value <= 2;
	}
	return false; /* facts of the code */
}

static int set(struct sim_function *f, int attribute, int value)
{
	if (!f)
		return SIM_INVALID_HANDLE;
	if (!may_be(attribute, value))
		return SIM_INVALID_VALUE;
	f->attribute[attribute] = value;
	return SIM_OK;
}

int cuFuncGetAttribute(int *value, int attribute, void *function)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuFuncGetAttribute);

	if (!rc)
		rc = get(value, attribute, function);
	return sim_call_end(&call, rc);
}

int cuFuncSetAttribute(void *function, int attribute, int value)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuFuncSetAttribute);

	if (!rc)
		rc = set(function, attribute, value);
	return sim_call_end(&call, rc);
}

static int on_device(int device)
{
	return device >= 0 && (uint32_t)device < sim_state.devices ? SIM_OK : SIM_INVALID_DEVICE;
}

/* One value for all devices. */
int cuKernelGetAttribute(int *value, int attribute, void *kernel, int device)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuKernelGetAttribute);

	if (!rc)
		rc = on_device(device);
	if (!rc)
		rc = get(value, attribute, kernel);
	return sim_call_end(&call, rc);
}

int cuKernelSetAttribute(int attribute, int value, void *kernel, int device)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuKernelSetAttribute);

	if (!rc)
		rc = on_device(device);
	if (!rc)
		rc = set(kernel, attribute, value);
	return sim_call_end(&call, rc);
}

/* A preference. */
int cuFuncSetCacheConfig(void *function, int config)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuFuncSetCacheConfig);

	if (!rc && (!function || config < 0 || config > 3))
		rc = function ? SIM_INVALID_VALUE : SIM_INVALID_HANDLE;
	return sim_call_end(&call, rc);
}

int cuKernelSetCacheConfig(void *kernel, int config, int device)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuKernelSetCacheConfig);

	if (!rc)
		rc = on_device(device);
	if (!rc && (!kernel || config < 0 || config > 3))
		rc = kernel ? SIM_INVALID_VALUE : SIM_INVALID_HANDLE;
	return sim_call_end(&call, rc);
}

static int name_of(const char **name, const struct sim_function *f)
{
	if (!f)
		return SIM_INVALID_HANDLE;
	*name = f->name;
	return SIM_OK;
}

int cuFuncGetName(const char **name, void *function)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuFuncGetName);

	if (!rc)
		rc = name_of(name, function);
	return sim_call_end(&call, rc);
}

int cuKernelGetName(const char **name, void *kernel)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuKernelGetName);

	if (!rc)
		rc = name_of(name, kernel);
	return sim_call_end(&call, rc);
}

/* Loading is never put off here. */
int cuFuncIsLoaded(int *state, void *function)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuFuncIsLoaded);

	if (!rc && !function)
		rc = SIM_INVALID_HANDLE;
	if (!rc)
		*state = 1;
	return sim_call_end(&call, rc);
}

int cuFuncLoad(void *function)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuFuncLoad);

	if (!rc && !function)
		rc = SIM_INVALID_HANDLE;
	return sim_call_end(&call, rc);
}

/* ---- occupancy ---- */

static int smaller(int a, int b)
{
	return a < b ? a : b;
}

/*
 * Blocks of so many threads and so much dynamic shared memory that a multiprocessor holds at once.
 */
static int blocks_per_sm(const struct sim_function *f, int threads, size_t shared)
{
	int warps = (threads + WARP - 1) / WARP;
	int n = smaller(BLOCKS_PER_SM, THREADS_PER_SM / (warps * WARP));

	if (shared > SHARED_OPT_IN || shared > (size_t)f->attribute[MAX_DYNAMIC_SHARED])
		return 0;
	n = smaller(n, REGISTERS_PER_SM / (f->attribute[NUM_REGS] * warps * WARP));
	return smaller(n, (int)(SHARED_PER_SM / (shared + SHARED_RESERVED)));
}

static int occupancy(int *blocks, const struct sim_function *f, int threads, size_t shared)
{
	if (!f)
		return SIM_INVALID_HANDLE;
	if (!blocks || threads <= 0)
		return SIM_INVALID_VALUE;
	*blocks = threads > f->attribute[MAX_THREADS] ? 0 : blocks_per_sm(f, threads, shared);
	return SIM_OK;
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads,
						size_t shared)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuOccupancyMaxActiveBlocksPerMultiprocessor);

	if (!rc)
		rc = occupancy(blocks, function, threads, shared);
	return sim_call_end(&call, rc);
}

int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, void *function, int threads,
							 size_t shared, unsigned flags)
{
	struct sim_call call;
	int rc = sim_call_begin(&call,
				SIM_CBID_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags);

	if (!rc && flags > 1)
		rc = SIM_INVALID_VALUE;
	if (!rc)
		rc = occupancy(blocks, function, threads, shared);
	return sim_call_end(&call, rc);
}

/* The largest block of whole warps that keeps most threads on a multiprocessor. */
static int best_block(int *grid, int *block, const struct sim_function *f, size_t (*shared_of)(int),
		      size_t shared, int limit)
{
	int threads, most = 0;

	if (!f)
		return SIM_INVALID_HANDLE;
	if (!grid || !block)
		return SIM_INVALID_VALUE;
	if (limit <= 0 || limit > f->attribute[MAX_THREADS])
		limit = f->attribute[MAX_THREADS];
	*grid = *block = 0;
	for (threads = limit; threads > 0; threads -= threads % WARP ? threads % WARP : WARP) {
		int n = blocks_per_sm(f, threads, shared_of ? shared_of(threads) : shared);

		if (n * threads <= most)
			continue;
		most = n * threads;
		*block = threads;
		*grid = n * MULTIPROCESSORS;
	}
	return SIM_OK;
}

int cuOccupancyMaxPotentialBlockSize(int *grid, int *block, void *function,
				     size_t (*shared_of)(int), size_t shared, int limit)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuOccupancyMaxPotentialBlockSize);

	if (!rc)
		rc = best_block(grid, block, function, shared_of, shared, limit);
	return sim_call_end(&call, rc);
}

int cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, void *function,
					      size_t (*shared_of)(int), size_t shared, int limit,
					      unsigned flags)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuOccupancyMaxPotentialBlockSizeWithFlags);

	if (!rc && flags > 1)
		rc = SIM_INVALID_VALUE;
	if (!rc)
		rc = best_block(grid, block, function, shared_of, shared, limit);
	return sim_call_end(&call, rc);
}

int cuOccupancyAvailableDynamicSMemPerBlock(size_t *shared, void *function, int blocks, int threads)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuOccupancyAvailableDynamicSMemPerBlock);

	if (!rc && !function)
		rc = SIM_INVALID_HANDLE;
	if (!rc && (!shared || blocks <= 0 || threads <= 0 || blocks > BLOCKS_PER_SM ||
		    blocks > THREADS_PER_SM / threads))
		rc = SIM_INVALID_VALUE;
	if (!rc) {
		*shared = (size_t)(SHARED_PER_SM / blocks - SHARED_RESERVED);
		if (*shared > SHARED_OPT_IN)
			*shared = SHARED_OPT_IN;
	}
	return sim_call_end(&call, rc);
}

/* ---- clusters of blocks ---- */

#define ATTRIBUTE_CLUSTER 4 /* CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION */

/* CUlaunchAttribute */
struct attribute {
	unsigned id, pad;
	unsigned value[16];
};

static unsigned cluster_size(const struct sim_launch_config *c)
{
	const struct attribute *a = c->attrs;
	unsigned i;

	for (i = 0; a && i < c->n_attrs; i++)
		if (a[i].id == ATTRIBUTE_CLUSTER)
			return a[i].value[0] * a[i].value[1] * a[i].value[2];
	return 1;
}

static unsigned cluster_limit(const struct sim_function *f)
{
	return f->attribute[BIG_CLUSTER] ? CLUSTER_OPT_IN : CLUSTER;
}

int cuOccupancyMaxActiveClusters(int *clusters, void *function, const struct sim_launch_config *c)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuOccupancyMaxActiveClusters);
	const struct sim_function *f = function;
	unsigned size;
	int blocks;

	if (!rc && !f)
		rc = SIM_INVALID_HANDLE;
	if (!rc && (!clusters || !c))
		rc = SIM_INVALID_VALUE;
	if (!rc)
		rc = occupancy(&blocks, f, (int)(c->block[0] * c->block[1] * c->block[2]),
			       c->shared);
	if (!rc) {
		size = cluster_size(c);
		*clusters =
			size && size <= cluster_limit(f) ? blocks * MULTIPROCESSORS / (int)size : 0;
	}
	return sim_call_end(&call, rc);
}

int cuOccupancyMaxPotentialClusterSize(int *size, void *function, const struct sim_launch_config *c)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuOccupancyMaxPotentialClusterSize);

	if (!rc && !function)
		rc = SIM_INVALID_HANDLE;
	if (!rc && (!size || !c))
		rc = SIM_INVALID_VALUE;
	if (!rc)
		*size = (int)cluster_limit(function);
	return sim_call_end(&call, rc);
}

/*
 * ---- tensor maps: what a kernel would read of memory's layout; 128 bytes that nobody here reads
 * ----
 */

static int encode(struct sim_tensor_map *map, int type, unsigned rank, const void *address,
		  const uint64_t *dims)
{
	struct sim_tensor_map m = { { 0 } };
	unsigned i;

	if (!map || ((uintptr_t)map & 63) || !address || ((uintptr_t)address & 15) || !dims ||
	    type < 0 || rank < 1 || rank > 5)
		return SIM_INVALID_VALUE;
	for (i = 0; i < rank; i++)
		if (!dims[i] || dims[i] > 1ull << 32)
			return SIM_INVALID_VALUE;
	m.words[0] = (uint64_t)(uintptr_t)address;
	m.words[1] = (uint64_t)type << 8 | rank;
	memcpy(&m.words[2], dims, rank * sizeof *dims);
	*map = m;
	return SIM_OK;
}

int cuTensorMapEncodeTiled(struct sim_tensor_map *map, int type, unsigned rank, void *address,
			   const uint64_t *dims, const uint64_t *strides, const unsigned *box,
			   const unsigned *element_strides, int interleave, int swizzle, int l2,
			   int fill)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuTensorMapEncodeTiled);

	(void)interleave;
	(void)swizzle;
	(void)l2;
	(void)fill;
	if (!rc && (!box || !element_strides || (rank > 1 && !strides)))
		rc = SIM_INVALID_VALUE;
	if (!rc)
		rc = encode(map, type, rank, address, dims);
	return sim_call_end(&call, rc);
}

int cuTensorMapReplaceAddress(struct sim_tensor_map *map, void *address)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuTensorMapReplaceAddress);

	if (!rc && (!map || ((uintptr_t)address & 15)))
		rc = SIM_INVALID_VALUE;
	if (!rc)
		map->words[0] = (uint64_t)(uintptr_t)address;
	return sim_call_end(&call, rc);
}
