/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranges.c - the client's side of NVTX 3's tool interface, as far as NCCL uses it. Its payload
 * extension is a second door of the tool's, InitializeInjectionNvtxExtension: the tool is loaded
 * once more for it and let go if it has none. Schemas are not registered, so a tool with that door
 * sees payloads by their static ids alone.
 */
#include "ranges.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define SLOTS 16
#define STATIC_SCHEMAS (1u << 24)
#define PAYLOAD_EXTENSION ((int32_t)0xDFBD0009u)

enum {
	TABLE_CALLBACKS = 1,
	TABLE_VERSION = 3,
	MODULE_CORE2 = 5,
	SLOT_PUSH = 4,
	SLOT_POP = 5,
	SLOT_REGISTER = 10,
	SLOT_DOMAIN = 12,
	MESSAGE_REGISTERED = 3
};

struct attributes { /* nvtxEventAttributes_t */
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, payloads;
	uint64_t payload;
	int32_t message_type;
	const void *message;
};
_Static_assert(sizeof(struct attributes) == 48, "layout of nvtxEventAttributes_t");

struct payload { /* nvtxPayloadData_t */
	uint64_t schema;
	size_t bytes;
	const void *at;
};

typedef void (*slot_fn)(void);

static slot_fn core2[SLOTS], *slots[SLOTS];
static void *domain; /* NULL: nobody looks */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- attaching a tool ---- */

static int get_module(int module, slot_fn ***to, unsigned *count)
{
	if (module != MODULE_CORE2)
		return 0;
	*to = slots;
	*count = SLOTS;
	return 1;
}

static void set_tool_version(uint32_t version)
{
	(void)version;
}

static const void *get_table(uint32_t id)
{
	static const struct {
		size_t size;
		int (*get_module)(int module, slot_fn ***slots, unsigned *count);
	} callbacks = { sizeof callbacks, get_module };
	static const struct {
		size_t size;
		uint32_t version, reserved;
		void (*set_tool_version)(uint32_t version);
	} version = { sizeof version, 3, 0, set_tool_version };

	return id == TABLE_CALLBACKS ? (const void *)&callbacks
	       : id == TABLE_VERSION ? (const void *)&version
				     : NULL;
}

static bool disabled(void)
{
	const char *text = getenv("NCCL_NVTX_DISABLE");

	return text && strtol(text, NULL, 0);
}

static void ask_for_extension(const char *path)
{
	void *tool = dlopen(path, RTLD_LAZY);

	if (tool && !dlsym(tool, "InitializeInjectionNvtxExtension"))
		dlclose(tool);
}

static void attach(void)
{
	const char *path = disabled() ? NULL : getenv("NVTX_INJECTION64_PATH");
	void *tool = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*init)(const void *(*)(uint32_t));
	int i;

	if (!tool)
		return;
	*(void **)&init = dlsym(tool, "InitializeInjectionNvtx2");
	for (i = 1; i < SLOTS; i++)
		slots[i] = &core2[i];
	if (!init || !init(get_table) || !core2[SLOT_DOMAIN])
		return;
	ask_for_extension(path);
	domain = ((void *(*)(const char *))core2[SLOT_DOMAIN])("NCCL");
}

/* ---- ranges ---- */

/* Two threads may register it at once; both handles are good. */
static void *string_of(struct nccl_range_site *site)
{
	void *string = atomic_load_explicit(&site->string, memory_order_acquire);

	if (string || !core2[SLOT_REGISTER])
		return string;
	string = ((void *(*)(void *, const char *))core2[SLOT_REGISTER])(domain, site->name);
	atomic_store_explicit(&site->string, string, memory_order_release);
	return string;
}

struct nccl_range nccl_range_push(struct nccl_range_site *site, int id, const void *payload,
				  size_t bytes)
{
	struct payload data = { STATIC_SCHEMAS + (uint64_t)id, bytes, payload };
	struct attributes a = { .version = 3,
				.size = sizeof a,
				.message_type = MESSAGE_REGISTERED };

	pthread_once(&once, attach);
	if (!domain || !core2[SLOT_PUSH])
		return (struct nccl_range){ NULL };
	a.message = string_of(site);
	if (id != NCCL_PAYLOAD_NONE) {
		a.payload_type = PAYLOAD_EXTENSION;
		a.payloads = 1;
		a.payload = (uintptr_t)&data;
	}
	((int (*)(void *, const struct attributes *))core2[SLOT_PUSH])(domain, &a);
	return (struct nccl_range){ domain };
}

void nccl_range_pop(struct nccl_range *range)
{
	if (range->domain && core2[SLOT_POP])
		((int (*)(void *))core2[SLOT_POP])(range->domain);
}
