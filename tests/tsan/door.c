/* SPDX-License-Identifier: Apache-2.0 */
/*
 * door.c - what the simulated driver injects into a program that has libprof in itself: leads to
 * it.
 */
#include <dlfcn.h>
#include <stddef.h>

int InitializeInjection(void);

__attribute__((visibility("default"))) int InitializeInjection(void)
{
	void *program = dlopen(NULL, RTLD_NOW);
	int (*arm)(void);

	*(void **)&arm = program ? dlsym(program, "InitializeInjection") : NULL;
	return arm ? arm() : 1;
}
