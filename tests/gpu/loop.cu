// SPDX-License-Identifier: Apache-2.0
// Kernels of a known length with the static runtime.
//   loop count N                 N kernels and N/100 pinned copies, then synchronise
//   loop steps US KERNELS STEPS  steps of KERNELS kernels of US microseconds; --step-times FILE
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

__global__ void spin(unsigned long long ns)
{
	unsigned long long t0, t;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0));
	do
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
	while (t - t0 < ns);
}

static long long now(void)
{
	timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int count(int n)
{
	void *host, *dev;
	if (cudaMallocHost(&host, 1 << 20) || cudaMalloc(&dev, 1 << 20))
		return 1;
	for (int i = 0; i < n; i++) {
		spin<<<1, 1>>>(1000);
		if (i % 100 == 0)
			cudaMemcpyAsync(dev, host, 1 << 20, cudaMemcpyHostToDevice);
	}
	return cudaDeviceSynchronize() != cudaSuccess;
}

static int steps(int us, int kernels, int n, const char *file)
{
	FILE *f = file ? fopen(file, "w") : NULL;
	spin<<<1, 1>>>(1000);
	cudaDeviceSynchronize();
	for (int s = 0; s < n; s++) {
		long long begin = now();
		for (int i = 0; i < kernels; i++)
			spin<<<1, 1>>>(us * 1000ULL);
		if (cudaDeviceSynchronize() != cudaSuccess)
			return 1;
		if (f)
			fprintf(f, "%lld %lld %lld\n", begin, begin, now());
	}
	return f ? fclose(f) : 0;
}

int main(int argc, char **argv)
{
	const char *file = NULL;
	if (argc > 2 && !strcmp(argv[argc - 2], "--step-times"))
		file = argv[argc - 1];
	if (argc >= 3 && !strcmp(argv[1], "count"))
		return count(atoi(argv[2]));
	if (argc >= 5 && !strcmp(argv[1], "steps"))
		return steps(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]), file);
	return 2;
}
