/* SPDX-License-Identifier: Apache-2.0 */
/* A client of the NVTX tool interface; see nvtxmini.h. */
#include "nvtxmini.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

enum {
	SLOTS = 16,
	TABLE_CALLBACKS = 1,
	TABLE_VERSION = 3,
	MODULE_CORE = 1,
	MODULE_CORE2 = 5
};

typedef void (*slot_fn)(void);

static slot_fn core[SLOTS], core2[SLOTS];
static slot_fn *core_slots[SLOTS], *core2_slots[SLOTS];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int attached;

static int get_module(int module, slot_fn ***slots, unsigned int *count)
{
	if (module != MODULE_CORE && module != MODULE_CORE2)
		return 0;
	*slots = module == MODULE_CORE ? core_slots : core2_slots;
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
		int (*get_module)(int module, slot_fn ***slots, unsigned int *count);
	} callbacks = { sizeof(callbacks), get_module };
	static const struct {
		size_t size;
		uint32_t version, reserved;
		void (*set_tool_version)(uint32_t version);
	} version = { sizeof(version), 3, 0, set_tool_version };

	return id == TABLE_CALLBACKS ? (const void *)&callbacks
	       : id == TABLE_VERSION ? (const void *)&version
				     : NULL;
}

void nvtxmini_attach(int (*tool)(const void *(*get_table)(uint32_t id)))
{
	int i;

	for (i = 1; i < SLOTS; i++) {
		core_slots[i] = &core[i];
		core2_slots[i] = &core2[i];
	}
	attached = 1;
	tool(get_table);
}

static void load_tool(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *lib = path && !attached ? dlopen(path, RTLD_LAZY) : NULL;
	int (*tool)(const void *(*)(uint32_t));

	if (!lib)
		return;
	*(void **)&tool = dlsym(lib, "InitializeInjectionNvtx2");
	if (tool)
		nvtxmini_attach(tool);
}

static slot_fn slot(slot_fn *module, int id)
{
	pthread_once(&once, load_tool);
	return module[id];
}

unsigned int nvtxmini_slots(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < SLOTS; i++)
		n += !!core[i] + !!core2[i];
	return n;
}

/* CALL(module, id, type of the function, value without a tool, arguments) */
#define CALL(module, id, type, none, ...)        \
	do {                                     \
		slot_fn fn_ = slot(module, id);  \
		if (!fn_)                        \
			return none;             \
		return ((type)fn_)(__VA_ARGS__); \
	} while (0)

int nvtxmini_push(const char *text)
{
	CALL(core, 9, int (*)(const char *), -2, text);
}

int nvtxmini_push_wide(const wchar_t *text)
{
	CALL(core, 10, int (*)(const wchar_t *), -2, text);
}

int nvtxmini_push_attributes(const struct nvtxmini_attributes *a)
{
	CALL(core, 8, int (*)(const struct nvtxmini_attributes *), -2, a);
}

int nvtxmini_pop(void)
{
	CALL(core, 11, int (*)(void), -2, );
}

uint64_t nvtxmini_start(const char *text)
{
	CALL(core, 5, uint64_t(*)(const char *), 0, text);
}

uint64_t nvtxmini_start_wide(const wchar_t *text)
{
	CALL(core, 6, uint64_t(*)(const wchar_t *), 0, text);
}

uint64_t nvtxmini_start_attributes(const struct nvtxmini_attributes *a)
{
	CALL(core, 4, uint64_t(*)(const struct nvtxmini_attributes *), 0, a);
}

void nvtxmini_end(uint64_t id)
{
	CALL(core, 7, void (*)(uint64_t), , id);
}

void nvtxmini_mark(const char *text)
{
	CALL(core, 2, void (*)(const char *), , text);
}

void *nvtxmini_domain(const char *name)
{
	CALL(core2, 12, void *(*)(const char *), NULL, name);
}

void *nvtxmini_string(void *domain, const char *text)
{
	CALL(core2, 10, void *(*)(void *, const char *), NULL, domain, text);
}

void *nvtxmini_string_wide(void *domain, const wchar_t *text)
{
	CALL(core2, 11, void *(*)(void *, const wchar_t *), NULL, domain, text);
}

int nvtxmini_domain_push(void *domain, const struct nvtxmini_attributes *a)
{
	CALL(core2, 4, int (*)(void *, const struct nvtxmini_attributes *), -2, domain, a);
}

int nvtxmini_domain_pop(void *domain)
{
	CALL(core2, 5, int (*)(void *), -2, domain);
}

uint64_t nvtxmini_domain_start(void *domain, const struct nvtxmini_attributes *a)
{
	CALL(core2, 2, uint64_t(*)(void *, const struct nvtxmini_attributes *), 0, domain, a);
}

void nvtxmini_domain_end(void *domain, uint64_t id)
{
	CALL(core2, 3, void (*)(void *, uint64_t), , domain, id);
}
