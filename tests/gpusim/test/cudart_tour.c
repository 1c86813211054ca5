/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of the CUDA runtime as nvcc would have compiled it, its registration written by hand:
 * cudart_tour GROUP. Each group expects what NVIDIA documents; test_gpusim_cudart.py compares what
 * it did with the truth file.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "../cudart/api.h"
#include "harness.h"

#define OK(call) EXPECT_INT(call, 0)

enum {
	H2D = 1,
	D2H = 2,
	D2D = 3
};

#define MB (1u << 20)

/*
 * ---- what nvcc makes of `__global__ void gemm(float *), relu(float *); __device__ float
 * table[64];` ----
 */

static void **binary;
static float table[64];
static const char gemm_name[] = "_Z4gemmPf", relu_name[] = "_Z4reluPf";

static void gemm(float *x)
{
	static void *handle;
	struct rt_dim grid, block;
	void *params[] = { &x }, *stream;
	size_t shared;

	if (!handle)
		OK(__cudaGetKernel(&handle, (const void *)gemm));
	OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
	__cudaLaunchKernel(handle, grid, block, params, shared, stream);
}

static void relu(float *x)
{
	struct rt_dim grid, block;
	void *params[] = { &x }, *stream;
	size_t shared;

	OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
	cudaLaunchKernel((const void *)relu, grid, block, params, shared, stream);
}

__attribute__((constructor)) static void register_all(void)
{
	static int code[4];

	binary = __cudaRegisterFatBinary(code);
	__cudaRegisterFunction(binary, (const char *)gemm, (char *)gemm, gemm_name, -1, NULL, NULL,
			       NULL, NULL, NULL);
	__cudaRegisterFunction(binary, (const char *)relu, (char *)relu, relu_name, -1, NULL, NULL,
			       NULL, NULL, NULL);
	__cudaRegisterVar(binary, (char *)table, (char *)table, "table", 0, sizeof table, 0, 0);
	__cudaRegisterFatBinaryEnd(binary);
}

__attribute__((destructor)) static void unregister_all(void)
{
	__cudaUnregisterFatBinary(binary);
}

static const struct rt_dim one = { 1, 1, 1 }, warp = { 32, 1, 1 };

/* kernel<<<grid, block, 0, stream>>>(x) */
static void launch(void (*kernel)(float *), unsigned grid, unsigned block, void *stream, float *x)
{
	struct rt_dim g = { grid, 1, 1 }, b = { block, 1, 1 };

	if (!__cudaPushCallConfiguration(g, b, 0, stream))
		kernel(x);
}

/* ---- groups ---- */

/* Registering alone asks nothing of the driver: the first call that does is this one. */
static void group_devices(void)
{
	struct rt_properties p;
	int n, value, version;
	char id[32];
	size_t left, then, total;
	void *at;

	OK(cudaGetDeviceCount(&n));
	EXPECT_INT(n, 2);
	OK(cudaGetDevice(&n));
	EXPECT_INT(n, 0);
	OK(cudaGetDeviceProperties(&p, 0));
	EXPECT_STR(p.name, "NVIDIA H100 80GB HBM3 (simulated)");
	EXPECT_INT(p.major, 9);
	EXPECT_INT(p.multiprocessors, 132);
	EXPECT_INT(p.warp, 32);
	EXPECT_UINT(p.memory, 85520809984);
	OK(cudaDeviceGetAttribute(&value, 75, 1));
	EXPECT_INT(value, 9);
	OK(cudaDeviceGetPCIBusId(id, sizeof id, 0));
	EXPECT_INT(strlen(id), 12);
	OK(cudaRuntimeGetVersion(&version));
	EXPECT_INT(version, 13000);
	OK(cudaDriverGetVersion(&value));
	EXPECT(value >= version);
	OK(cudaSetDevice(1));
	OK(cudaGetDevice(&n));
	EXPECT_INT(n, 1);
	OK(cudaMemGetInfo(&left, &total));
	EXPECT(left <= total);
	EXPECT_UINT(total, p.memory);
	OK(cudaMalloc(&at, MB));
	OK(cudaMemGetInfo(&then, &total));
	EXPECT_UINT(left - then, MB);
	OK(cudaFree(at));
	OK(cudaDeviceGetStreamPriorityRange(&n, &value));
	EXPECT(value < n);
	EXPECT_INT(cudaSetDevice(2), 101);
	EXPECT_INT(cudaGetLastError(), 101);
	OK(cudaDeviceCanAccessPeer(&n, 1, 0));
	EXPECT_INT(n, 1);
	OK(cudaDeviceEnablePeerAccess(0, 0));
	EXPECT_INT(cudaDeviceEnablePeerAccess(0, 0), 704);
	OK(cudaDeviceDisablePeerAccess(0));
	OK(cudaDeviceSynchronize());
}

static void group_none(void)
{
	void *p;
	int n = -1;

	EXPECT_INT(cudaGetDeviceCount(&n), 100);
	EXPECT_INT(n, 0);
	EXPECT_INT(cudaMalloc(&p, 1), 100);
	EXPECT_INT(cudaSetDevice(0), 100);
	EXPECT_INT(cudaGetLastError(), 100);
}

static void *other_thread(void *arg)
{
	(void)arg;
	EXPECT_INT(cudaPeekAtLastError(), 0);
	return NULL;
}

/* A driver that is older than the runtime. */
static void group_old(void)
{
	void *p;
	int n = -1;

	EXPECT_INT(cudaGetDeviceCount(&n), 35);
	EXPECT_INT(cudaMalloc(&p, 1), 35);
	EXPECT_INT(cudaGetDevice(&n), 35);
	OK(cudaDriverGetVersion(&n));
	EXPECT_INT(n, 12040);
	EXPECT_STR(cudaGetErrorName(35), "cudaErrorInsufficientDriver");
}

static void *first_call(void *arg)
{
	void *p;

	(void)arg;
	OK(cudaMalloc(&p, 4096));
	return NULL;
}

/* The first call of a process comes from many threads at once. */
static void group_race(void)
{
	pthread_t thread[8];
	int i;

	for (i = 0; i < 8; i++)
		pthread_create(&thread[i], NULL, first_call, NULL);
	for (i = 0; i < 8; i++)
		pthread_join(thread[i], NULL);
}

static void group_errors(void)
{
	pthread_t thread;
	void *fn = NULL, *p;
	int status = -1;

	OK(cudaFree(NULL));
	EXPECT_INT(cudaFree((void *)(uintptr_t)0x1000), 1);
	EXPECT_INT(cudaPeekAtLastError(), 1);
	pthread_create(&thread, NULL, other_thread, NULL);
	pthread_join(thread, NULL);
	EXPECT_INT(cudaGetLastError(), 1);
	EXPECT_INT(cudaGetLastError(), 0);
	EXPECT_STR(cudaGetErrorName(2), "cudaErrorMemoryAllocation");
	EXPECT_STR(cudaGetErrorString(600), "device not ready");
	EXPECT_STR(cudaGetErrorName(12345), "unrecognized error code");
	EXPECT_INT(cudaMalloc(&p, (size_t)1 << 40), 2);
	EXPECT_INT(cudaGetLastError(), 2);
	OK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &fn, 12000, 0, &status));
	EXPECT(fn);
	EXPECT_INT(status, 0);
	OK(cudaGetDriverEntryPointByVersion("cuNoSuchThing", &fn, 12000, 0, &status));
	EXPECT(!fn);
	EXPECT_INT(status, 1);
	/* Kernels and variables that nobody registered, and blocks that no device takes. */
	EXPECT_INT(cudaLaunchKernel(table, one, one, NULL, 0, NULL), 98);
	EXPECT_INT(cudaGetSymbolAddress(&p, gemm_name), 13);
	EXPECT_INT(cudaLaunchKernel((const void *)relu, one, (struct rt_dim){ 1025, 1, 1 }, NULL, 0,
				    NULL),
		   9);
	EXPECT_INT(cudaLaunchKernel((const void *)relu, one, warp, NULL, 60000, NULL), 9);
	EXPECT_INT(cudaLaunchKernel((const void *)relu, (struct rt_dim){ 1, 65536, 1 }, warp, NULL,
				    0, NULL),
		   9);
	EXPECT_INT(cudaGetLastError(), 9);
}

/* What was written comes back, by every way; what was not reads as zero. */
static void group_copies(void)
{
	unsigned char *here = malloc(MB), *back = malloc(MB);
	struct rt_pointer is;
	float part[4] = { 1, 2, 3, 4 }, whole[64];
	void *a, *b, *pinned, *symbol;
	size_t i, bytes;

	for (i = 0; i < MB; i++)
		here[i] = (unsigned char)(i * 7 % 251);
	OK(cudaMalloc(&a, MB));
	OK(cudaMalloc(&b, MB));
	OK(cudaHostAlloc(&pinned, MB, 0));
	OK(cudaMemcpy(back, a, MB, D2H));
	EXPECT(!back[0] && !memcmp(back, back + 1, MB - 1));
	OK(cudaMemcpy(a, here, MB, H2D));
	OK(cudaMemcpyAsync(b, a, MB, D2D, NULL));
	OK(cudaMemcpyAsync(pinned, b, MB, D2H, NULL));
	OK(cudaDeviceSynchronize());
	EXPECT_MEM(pinned, here, MB);
	OK(cudaMemset(a, 0x5a, 1000));
	OK(cudaMemsetAsync((char *)a + 1000, 1, 24, NULL));
	OK(cudaMemcpy(back, a, 2000, 4));
	EXPECT_INT(back[999], 0x5a);
	EXPECT_INT(back[1023], 1);
	EXPECT_MEM(back + 1024, here + 1024, 976);
	OK(cudaMemcpy2DAsync(back, 10, (char *)b + 5, 100, 10, 20, D2H, NULL));
	OK(cudaDeviceSynchronize());
	EXPECT_MEM(back + 30, here + 305, 10);
	OK(cudaMemcpyPeerAsync(a, 0, b, 0, 4096, NULL));
	OK(cudaMemcpyToSymbol(table, part, sizeof part, 16, H2D));
	OK(cudaMemcpyFromSymbol(whole, table, sizeof whole, 0, D2H));
	EXPECT(whole[3] == 0 && whole[4] == 1 && whole[7] == 4 && whole[8] == 0);
	EXPECT_INT(cudaMemcpyToSymbol(table, part, sizeof part, 250, H2D), 1);
	OK(cudaGetSymbolAddress(&symbol, table));
	OK(cudaGetSymbolSize(&bytes, table));
	EXPECT_UINT(bytes, sizeof table);
	OK(cudaPointerGetAttributes(&is, (char *)a + 100));
	EXPECT(is.type == 2 && is.device == 0 && is.on_device == (char *)a + 100);
	OK(cudaPointerGetAttributes(&is, pinned));
	EXPECT(is.type == 1 && is.on_host == pinned && is.on_device == pinned);
	OK(cudaPointerGetAttributes(&is, here));
	EXPECT(is.type == 0);
	EXPECT_INT(cudaMemcpy(a, here, 1, 5), 21);
	OK(cudaHostRegister(here, MB, 0));
	OK(cudaPointerGetAttributes(&is, here));
	EXPECT(is.type == 1);
	OK(cudaHostUnregister(here));
	OK(cudaFree(a));
	OK(cudaFree(b));
	OK(cudaFreeHost(pinned));
	free(here);
	free(back);
}

/*
 * Memory that is neither plain device memory nor plainly pinned, and what is left of it after a
 * reset.
 */
static void group_kinds(void)
{
	unsigned char here[64], back[16];
	struct rt_pointer is;
	void *managed, *rows, *pinned, *seen;
	size_t pitch, before, left, total, i;

	for (i = 0; i < sizeof here; i++)
		here[i] = (unsigned char)i;
	OK(cudaMemGetInfo(&before, &total));
	OK(cudaMallocManaged(&managed, MB, 1));
	OK(cudaMemset(managed, 3, 10));
	OK(cudaDeviceSynchronize());
	EXPECT(((char *)managed)[9] == 3 && !((char *)managed)[10]);
	OK(cudaPointerGetAttributes(&is, managed));
	EXPECT(is.type == 3 && is.on_host == managed && is.on_device == managed);
	OK(cudaMallocPitch(&rows, &pitch, 16, 4));
	EXPECT_UINT(pitch, 512);
	OK(cudaMemcpy2D(rows, pitch, here, 16, 16, 4, H2D));
	OK(cudaMemcpy(back, (char *)rows + 3 * pitch, sizeof back, D2H));
	EXPECT_MEM(back, here + 48, sizeof back);
	OK(cudaMallocHost(&pinned, 64));
	OK(cudaHostGetDevicePointer(&seen, pinned, 0));
	EXPECT(seen == pinned);
	OK(cudaFreeHost(pinned));
	OK(cudaDeviceReset());
	OK(cudaMemGetInfo(&left, &total));
	EXPECT_UINT(left, before);
	EXPECT_INT(cudaFree(rows), 1);
}

static void group_pools(void)
{
	uint64_t most = 1 << 20, used;
	char here[64], back[64];
	void *pool, *s, *a, *b;

	memset(here, 7, sizeof here);
	OK(cudaStreamCreateWithFlags(&s, 1));
	OK(cudaDeviceGetDefaultMemPool(&pool, 0));
	OK(cudaMemPoolSetAttribute(pool, 4, &most));
	OK(cudaMallocAsync(&a, MB, s));
	OK(cudaMallocFromPoolAsync(&b, MB, pool, s));
	OK(cudaMemcpyAsync(a, here, sizeof here, H2D, s));
	OK(cudaMemcpyAsync(b, a, sizeof here, D2D, s));
	OK(cudaMemcpyAsync(back, b, sizeof here, D2H, s));
	OK(cudaStreamSynchronize(s));
	EXPECT_MEM(back, here, sizeof here);
	OK(cudaMemPoolGetAttribute(pool, 7, &used));
	EXPECT_UINT(used, 2 * MB);
	OK(cudaFreeAsync(a, s));
	OK(cudaFreeAsync(b, s));
	OK(cudaStreamSynchronize(s));
	OK(cudaMemPoolGetAttribute(pool, 7, &used));
	EXPECT_UINT(used, 0);
	OK(cudaMemPoolTrimTo(pool, 0));
	OK(cudaStreamDestroy(s));
}

static void group_absent(void)
{
	struct sim_ipc ipc;
	void *a, *library, *kernel;

	OK(cudaMalloc(&a, 512));
	EXPECT_INT(cudaIpcGetMemHandle(&ipc, a), 801);
	EXPECT_INT(cudaGetLastError(), 801);
	OK(cudaFree(a));
	/* A cubin's beginning: its kernels are taken by name. */
	OK(cudaLibraryLoadData(&library, "\177ELF\2\1\1A\7\0\0\0\0\0\0\0\2\0\276\0", NULL, NULL, 0,
			       NULL, NULL, 0));
	OK(cudaLibraryGetKernel(&kernel, library, "attention"));
	OK(cudaKernelSetAttributeForDevice(kernel, 8, 1000, 0));
	OK(cudaLaunchKernel(kernel, one, warp, NULL, 0, NULL));
	OK(cudaDeviceSynchronize());
	OK(cudaLibraryUnload(library));
}

static void called(void *stream, int status, void *data)
{
	(void)stream;
	EXPECT_INT(status, 0);
	++*(int *)data;
}

static void bump(void *data)
{
	++*(int *)data;
}

/* Holds its stream until it is let go, however slow the machine is. */
static void hold(void *let_go)
{
	while (!atomic_load((atomic_bool *)let_go))
		usleep(100);
}

static void group_streams(void)
{
	void *s, *t, *start, *mid, *end;
	unsigned long long id_s, id_t;
	atomic_bool let_go = false;
	int count = 0, i;
	float ms;

	OK(cudaStreamCreateWithPriority(&s, 1, -5));
	OK(cudaStreamCreateWithFlags(&t, 1));
	OK(cudaStreamGetPriority(s, &i));
	EXPECT_INT(i, -5);
	OK(cudaStreamGetPriority(t, &i));
	EXPECT_INT(i, 0);
	OK(cudaStreamGetDevice(s, &i));
	EXPECT_INT(i, 0);
	OK(cudaStreamGetId(s, &id_s));
	OK(cudaStreamGetId(t, &id_t));
	EXPECT(id_s != id_t);
	OK(cudaEventCreate(&start));
	OK(cudaEventCreateWithFlags(&mid, 2));
	OK(cudaEventCreate(&end));
	OK(cudaEventRecord(start, s));
	OK(cudaLaunchHostFunc(s, hold, &let_go));
	for (i = 0; i < 100; i++)
		launch(gemm, 1000, 256, s, NULL);
	OK(cudaEventRecord(mid, s));
	OK(cudaStreamWaitEvent(t, mid, 0));
	launch(relu, 10, 128, t, NULL);
	OK(cudaEventRecordWithFlags(end, t, 0));
	EXPECT_INT(cudaEventQuery(end), 600);
	EXPECT_INT(cudaStreamQuery(t), 600);
	atomic_store(&let_go, true);
	OK(cudaLaunchHostFunc(t, bump, &count));
	OK(cudaStreamAddCallback(t, called, &count, 0));
	OK(cudaEventSynchronize(end));
	OK(cudaEventQuery(end));
	OK(cudaEventElapsedTime(&ms, start, end));
	printf("%.6f\n", (double)ms);
	OK(cudaStreamSynchronize(t));
	EXPECT_INT(count, 2);
	OK(cudaStreamQuery(t));
	OK(cudaEventDestroy(start));
	OK(cudaEventDestroy(mid));
	OK(cudaEventDestroy(end));
	OK(cudaStreamDestroy(s));
	OK(cudaStreamDestroy(t));
}

/* From one device to the other, pushed and pulled, with and without being told so. */
static void group_peers(void)
{
	char here[256], back[256];
	void *on[2], *s;
	int i;

	memset(here, 9, sizeof here);
	for (i = 0; i < 2; i++) {
		OK(cudaSetDevice(i));
		OK(cudaMalloc(&on[i], sizeof here));
	}
	OK(cudaSetDevice(0));
	OK(cudaStreamCreateWithFlags(&s, 1));
	OK(cudaMemcpy(on[0], here, sizeof here, H2D));
	OK(cudaMemcpyAsync(on[1], on[0], 100, 4, s));
	OK(cudaMemcpyPeerAsync(on[1], 1, on[0], 0, 256, s));
	OK(cudaStreamSynchronize(s));
	OK(cudaMemcpy(back, on[1], sizeof back, D2H));
	EXPECT_MEM(back, here, sizeof here);
	OK(cudaMemcpyAsync(on[0], on[1], 50, 4, s));
	OK(cudaStreamSynchronize(s));
	OK(cudaMemset(on[1], 8, 64));
	OK(cudaMemcpyPeer(on[0], 0, on[1], 1, 64));
	memset(here, 8, 64);
	OK(cudaMemcpy(back, on[0], sizeof back, D2H));
	EXPECT_MEM(back, here, sizeof here);
}

static void group_launches(void)
{
	struct rt_launch_attribute cluster = { .id = 4 }, event = { .id = 7 };
	struct rt_launch with = { { 8, 1, 1 }, { 64, 1, 1 }, 0, NULL, &cluster, 1 };
	struct rt_function is;
	const char *name;
	void *handle;
	int blocks;

	launch(gemm, 4, 128, NULL, NULL);
	launch(relu, 4, 128, NULL, NULL);
	OK(cudaLaunchKernelExC(&with, (const void *)gemm, NULL));
	OK(cudaLaunchCooperativeKernel((const void *)relu, one, warp, NULL, 0, NULL));
	OK(cudaLaunchKernel_ptsz((const void *)gemm, one, warp, NULL, 0, NULL));
	OK(__cudaGetKernel(&handle, (const void *)relu));
	OK(__cudaLaunchKernel_ptsz(handle, one, warp, NULL, 0, NULL));
	OK(cudaFuncGetName(&name, (const void *)gemm));
	EXPECT_STR(name, gemm_name);
	with.attributes = &event;
	EXPECT_INT(cudaLaunchKernelExC(&with, (const void *)gemm, NULL), 801);
	OK(cudaFuncGetAttributes(&is, (const void *)gemm));
	EXPECT(is.threads == 1024 && is.ptx == 90 && is.binary == 90);
	OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)gemm, 256, 0));
	EXPECT_INT(blocks, 8);
	OK(cudaFuncSetAttribute((const void *)gemm, 8, 100000));
	OK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, (const void *)gemm, 1024,
								  100000, 0));
	EXPECT_INT(blocks, 2);
	OK(cudaLaunchKernel((const void *)gemm, one, warp, NULL, 100000, NULL));
	OK(cudaDeviceSynchronize());
	/* A library in the place of one that was unloaded. */
	__cudaRegisterFunction(binary, (const char *)gemm, (char *)gemm, "_Z5laterPf", -1, NULL,
			       NULL, NULL, NULL, NULL);
	launch(gemm, 1, 32, NULL, NULL);
	OK(cudaDeviceSynchronize());
}

static void group_graphs(void)
{
	struct sim_node_params empty = { .type = 5 }, relu_node = { .type = 0 };
	void *s, *graph, *exec, *node, *object, *nodes[8], *deps_of[1], *const *deps;
	unsigned long long id;
	uint64_t handle;
	size_t n, one_of = 1;
	int capturing, mode = 2, ended = 0, i;

	OK(cudaStreamCreateWithFlags(&s, 1));
	OK(cudaStreamBeginCapture(s, 0));
	OK(cudaStreamIsCapturing(s, &capturing));
	EXPECT_INT(capturing, 1);
	OK(cudaLaunchKernel((const void *)gemm, (struct rt_dim){ 16, 2, 3 },
			    (struct rt_dim){ 32, 4, 2 }, NULL, 1000, s));
	launch(relu, 16, 256, s, NULL);
	OK(cudaStreamGetCaptureInfo(s, &capturing, &id, &graph, &deps, NULL, &n));
	EXPECT(capturing == 1 && id && graph && n == 1 && deps[0]);
	OK(cudaGraphAddNode(&node, graph, deps, NULL, n, &empty));
	OK(cudaStreamUpdateCaptureDependencies(s, &node, NULL, 1, 1));
	relu_node.kernel.is.function = (void *)relu;
	OK(cudaGraphAddNode(&node, graph, &node, NULL, 1, &relu_node));
	OK(cudaStreamUpdateCaptureDependencies(s, &node, NULL, 1, 1));
	OK(cudaThreadExchangeStreamCaptureMode(&mode));
	EXPECT_INT(mode, 0);
	OK(cudaUserObjectCreate(&object, &ended, bump, 1, 1));
	OK(cudaGraphRetainUserObject(graph, object, 1, 1));
	OK(cudaStreamEndCapture(s, &graph));
	OK(cudaGraphGetNodes(graph, NULL, &n));
	EXPECT_UINT(n, 4);
	OK(cudaGraphGetNodes(graph, nodes, &n));
	OK(cudaGraphNodeGetDependencies(nodes[3], deps_of, NULL, &one_of));
	EXPECT(one_of == 1 && deps_of[0] == nodes[2]);
	OK(cudaGraphDebugDotPrint(graph, "graph.dot", 0));
	EXPECT_INT(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0), 801);
	OK(cudaDeviceGetGraphMemAttribute(0, 0, &handle));
	EXPECT_UINT(handle, 0);
	OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
	for (i = 0; i < 3; i++)
		OK(cudaGraphLaunch(exec, s));
	OK(cudaStreamSynchronize(s));
	OK(cudaGraphDestroy(graph));
	EXPECT_INT(ended, 0); /* what can be launched still holds it */
	OK(cudaGraphExecDestroy(exec));
	EXPECT_INT(ended, 1);
	/* Into a graph that there is. */
	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &empty));
	OK(cudaStreamBeginCaptureToGraph(s, graph, &node, NULL, 1, 0));
	launch(gemm, 16, 256, s, NULL);
	OK(cudaStreamEndCapture(s, &exec));
	EXPECT(exec == graph);
	n = 8;
	OK(cudaGraphGetNodes(graph, nodes, &n));
	EXPECT(n == 2 && nodes[0] == node && !nodes[2]);
	OK(cudaGraphDestroy(graph));
	OK(cudaStreamDestroy(s));
}

/* As many as a framework has: the table grows, and all of them are found. */
static void group_many(void)
{
	enum {
		MANY = 50000
	};
	static char stub[MANY];
	static char name[MANY][16];
	struct rt_function is;
	int i;

	for (i = 0; i < MANY; i++) {
		snprintf(name[i], sizeof name[i], "_Z%05dv", i);
		__cudaRegisterFunction(binary, &stub[i], &stub[i], name[i], -1, NULL, NULL, NULL,
				       NULL, NULL);
	}
	for (i = 0; i < MANY; i++)
		OK(cudaFuncGetAttributes(&is, &stub[i]));
	OK(cudaLaunchKernel(&stub[MANY - 1], one, warp, NULL, 0, NULL));
	OK(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} groups[] = {
		{ "devices", group_devices }, { "none", group_none },
		{ "race", group_race },	      { "old", group_old },
		{ "errors", group_errors },   { "copies", group_copies },
		{ "streams", group_streams }, { "launches", group_launches },
		{ "graphs", group_graphs },   { "many", group_many },
		{ "pools", group_pools },     { "absent", group_absent },
		{ "peers", group_peers },     { "kinds", group_kinds },
	};
	size_t i;

	for (i = 0; argc > 1 && i < sizeof groups / sizeof groups[0]; i++)
		if (!strcmp(groups[i].name, argv[1])) {
			groups[i].run();
			return t_failures != 0;
		}
	return 2;
}
