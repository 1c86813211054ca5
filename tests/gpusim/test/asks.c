/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asks.c - asks the driver for a table that only NVIDIA knows: as a library with a static runtime
 * in it, and (under the name of one) as a compiler.
 */
#include <dlfcn.h>

int asks(void);

__attribute__((visibility("default"))) int asks(void)
{
	static const unsigned char id[16] = { 1, 2, 3 };
	int (*get)(const void **table, const void *id);
	const void *table;
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);

	if (!lib)
		return -1;
	*(void **)&get = dlsym(lib, "cuGetExportTable");
	return get ? get(&table, id) + (table != 0) : -1;
}
