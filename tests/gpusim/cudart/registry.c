/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registry.c - what nvcc's host code registers from a library's constructors: kernels by the
 * address of their host stub, variables by the address of their shadow. A framework registers tens
 * of thousands, of which a run launches hundreds: registering is one insertion into a table and
 * touches neither the driver nor the code in the fat binary.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cudart.h"

/*
 * Open addressing. Who looks something up takes no lock: slots are filled from empty to full and
 * never emptied, and a table that has become too small stays where it is for those who look into
 * it.
 */
struct table {
	size_t room, n; /* room: a power of two */
	struct slot {
		_Atomic(const void *) key;
		void *value;
	} slot[];
};

static _Atomic(struct table *) kernels, variables;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static size_t hash(const void *key)
{
	return (size_t)((ADDRESS(key) >> 4) * 0x9e3779b97f4a7c15u >> 20);
}

/* The key's slot, or the empty one where it would go. */
static struct slot *probe(struct table *t, const void *key)
{
	size_t i = hash(key);
	const void *k;

	for (;; i++) {
		k = atomic_load_explicit(&t->slot[i & (t->room - 1)].key, memory_order_acquire);
		if (!k || k == key)
			return &t->slot[i & (t->room - 1)];
	}
}

static void *find(_Atomic(struct table *) *which, const void *key)
{
	struct table *t = atomic_load_explicit(which, memory_order_acquire);
	struct slot *s = t && key ? probe(t, key) : NULL;

	return s && atomic_load_explicit(&s->key, memory_order_acquire) ? s->value : NULL;
}

static void fill(struct table *t, const void *key, void *value)
{
	struct slot *s = probe(t, key);

	s->value = value;
	t->n += !s->key;
	atomic_store_explicit(&s->key, key, memory_order_release);
}

static struct table *grown(struct table *old)
{
	size_t i, room = old ? 2 * old->room : 1024;
	struct table *t = calloc(1, sizeof *t + room * sizeof t->slot[0]);

	if (!t)
		return NULL;
	t->room = room;
	for (i = 0; old && i < old->room; i++)
		if (old->slot[i].key)
			fill(t, old->slot[i].key, old->slot[i].value);
	return t;
}

/* Lock held. false without memory. */
static bool put(_Atomic(struct table *) *which, const void *key, void *value)
{
	struct table *t = *which;

	if (!t || 2 * t->n >= t->room) {
		t = grown(t);
		if (!t)
			return false;
		atomic_store_explicit(which, t, memory_order_release);
	}
	fill(t, key, value);
	return true;
}

/* ---- fat binaries ---- */

/* Programs hand the handle back and look at nothing behind it. */
void **__cudaRegisterFatBinary(void *binary)
{
	void **handle = calloc(2, sizeof *handle);

	if (handle)
		handle[0] = binary;
	return handle;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

/* What it registered stays: whoever is loaded to the same addresses next registers anew. */
void __cudaUnregisterFatBinary(void **handle)
{
	free(handle);
}

char __cudaInitModule(void **handle)
{
	(void)handle;
	return 1;
}

/* ---- kernels ---- */

/*
 * By the address of its host stub, or by itself: the handle that a program holds is this struct's
 * address. The driver's kernel is made when somebody asks for it.
 */
struct kernel {
	const char *name; /* mangled, as CUPTI shows it; the program's text */
	void *_Atomic driver;
};

/* Known by its stub, if it has one, and by itself. Lock held. */
static struct kernel *add_kernel(const void *stub, const char *name, void *driver)
{
	struct kernel *k = calloc(1, sizeof *k);

	if (!k)
		return NULL;
	k->name = name;
	k->driver = driver;
	if (put(&kernels, k, k) && (!stub || put(&kernels, stub, k)))
		return k;
	return NULL; /* the table may point at it: it is not freed */
}

void __cudaRegisterFunction(void **handle, const char *stub, char *on_device, const char *name,
			    int thread_limit, void *tid, void *bid, void *block, void *grid,
			    int *warp)
{
	struct kernel *k;

	(void)handle, (void)on_device, (void)thread_limit;
	(void)tid, (void)bid, (void)block, (void)grid, (void)warp;
	pthread_mutex_lock(&lock);
	k = find(&kernels, stub);
	if (!k) {
		add_kernel(stub, name, NULL);
	} else { /* another library, where an unloaded one was */
		k->name = name;
		atomic_store(&k->driver, NULL);
	}
	pthread_mutex_unlock(&lock);
}

void *rt_kernel_new(void *driver)
{
	struct kernel *k;

	pthread_mutex_lock(&lock);
	k = add_kernel(NULL, NULL, driver);
	pthread_mutex_unlock(&lock);
	return k;
}

void *rt_kernel(const void *stub_or_handle)
{
	struct kernel *k = find(&kernels, stub_or_handle);
	void *driver = k ? atomic_load_explicit(&k->driver, memory_order_acquire)
			 : rt_unregistered(stub_or_handle);

	if (k && !driver) {
		driver = gpusim_kernel(k->name);
		atomic_store_explicit(&k->driver, driver, memory_order_release);
	}
	return driver;
}

static int get_kernel(void **kernel, const void *stub)
{
	struct kernel *k = find(&kernels, stub);

	*kernel = k;
	return k ? SIM_OK : RT_INVALID_FUNCTION;
}

RUNTIME_EARLY(__cudaGetKernel, (void **kernel, const void *stub), get_kernel(kernel, stub))

/* ---- variables ---- */

#define MAX_DEVICES 16

struct variable {
	size_t bytes;
	uint64_t on[MAX_DEVICES]; /* device memory, made when somebody asks for it; zero, whatever
				     the program initialises it to */
};

void __cudaRegisterVar(void **handle, char *on_host, char *on_device, const char *name,
		       int external, size_t size, int constant, int global)
{
	struct variable *v = calloc(1, sizeof *v);

	(void)handle, (void)on_device, (void)name, (void)external, (void)constant, (void)global;
	if (!v)
		return;
	v->bytes = size;
	pthread_mutex_lock(&lock);
	put(&variables, on_host, v);
	pthread_mutex_unlock(&lock);
}

int rt_symbol(const void *symbol, uint64_t *address, size_t *bytes)
{
	struct variable *v = find(&variables, symbol);
	int device, rc = rt_device(&device);

	if (rc)
		return rc;
	if (!v || device >= MAX_DEVICES)
		return RT_INVALID_SYMBOL;
	pthread_mutex_lock(&lock);
	if (!v->on[device])
		rc = cuMemAlloc_v2(&v->on[device], v->bytes);
	*address = v->on[device];
	*bytes = v->bytes;
	pthread_mutex_unlock(&lock);
	return rc;
}
