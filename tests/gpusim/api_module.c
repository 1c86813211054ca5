/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_module.c - modules, libraries and the kernels in them. The model computes times, not results:
 * of somebody else's device code it runs nothing, its own kernels wait for as long as they are
 * told.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "config.h"
#include "driver.h"
#include "labels.h"
#include "names.h"
#include "state.h"

#define IMAGE_HEAD 65536 /* of a file, as much as is judged */

struct sim_module {
	struct sim_labels labels;
	bool foreign; /* code that somebody wrote to compute */
};

/* What fat binaries begin with, and the record of the runtime's that points at one. */
#define FATBIN 0xba55ed50u
#define FATBIN_RECORD 0x466243b1u

#define EM_CUDA 190

static bool is_fat(const char *image)
{
	struct {
		uint32_t magic;
		uint16_t version, size; /* of this header */
	} head;

	memcpy(&head, image, sizeof head);
	return head.magic == FATBIN_RECORD || (head.magic == FATBIN && head.version && head.size);
}

static bool is_binary(const char *image)
{
	static const char elf[] = "\177ELF";

	return !strncmp(image, elf, 4);
}

static bool of_cuda(const char *image)
{
	uint16_t machine;

	memcpy(&machine, image + 18, sizeof machine);
	return machine == EM_CUDA;
}

/*
 * Binaries for a GPU are taken: their kernels, of whatever name, last a while and write nothing
 * (standin.h). PTX is not: the model is a machine without the compiler's library, so that what is
 * shipped as PTX ends with the driver's word for that. PTX that reads the device's clock is taken
 * for a kernel that waits, what is no code at all for a name and nothing else: these are the
 * model's own, and their first parameter is their length.
 */
static int judge(const char *image, bool *foreign)
{
	*foreign = false;
	if (!image)
		return SIM_INVALID_VALUE;
	if (is_binary(image) || is_fat(image)) {
		*foreign = true;
		return is_fat(image) || of_cuda(image) ? SIM_OK : SIM_NO_BINARY_FOR_GPU;
	}
	if (strstr(image, ".target") && strstr(image, ".entry") && !strstr(image, "%globaltimer"))
		return SIM_NO_JIT_COMPILER;
	return SIM_OK;
}

static int judge_file(const char *path, bool *foreign)
{
	char *head = calloc(1, IMAGE_HEAD + 1);
	int fd = head ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	int rc = SIM_FILE_NOT_FOUND;

	if (fd >= 0 && read(fd, head, IMAGE_HEAD) >= 0)
		rc = judge(head, foreign);
	if (fd >= 0)
		close(fd);
	free(head);
	return rc;
}

static int load(void **out, bool foreign)
{
	struct sim_module *m = calloc(1, sizeof *m);

	if (!m)
		return SIM_OUT_OF_MEMORY;
	m->foreign = foreign;
	sim_sleep_until(sim_now() + sim_config()->module_ns);
	*out = m;
	return SIM_OK;
}

static int load_image(void **out, const void *image)
{
	bool foreign;
	int rc = judge(image, &foreign);

	return rc ? rc : load(out, foreign);
}

static int load_file(void **out, const char *path)
{
	bool foreign;
	int rc = judge_file(path, &foreign);

	return rc ? rc : load(out, foreign);
}

/* A module is of a context, a library of none. */
static int in_context(void)
{
	return sim_ctx_current() ? SIM_OK : SIM_INVALID_CONTEXT;
}

int cuModuleLoad(void **out, const char *path)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuModuleLoad);

	if (!rc)
		rc = in_context();
	if (!rc)
		rc = load_file(out, path);
	return sim_call_end(&call, rc);
}

int cuModuleLoadData(void **out, const void *image)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuModuleLoadData);

	if (!rc)
		rc = in_context();
	if (!rc)
		rc = load_image(out, image);
	return sim_call_end(&call, rc);
}

int cuModuleLoadDataEx(void **out, const void *image, unsigned n, int *options, void **values)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuModuleLoadDataEx);

	(void)n;
	(void)options;
	(void)values;
	if (!rc)
		rc = in_context();
	if (!rc)
		rc = load_image(out, image);
	return sim_call_end(&call, rc);
}

int cuModuleLoadFatBinary(void **out, const void *image)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuModuleLoadFatBinary);

	if (!rc)
		rc = in_context();
	if (!rc)
		rc = load_image(out, image);
	return sim_call_end(&call, rc);
}

/* All at once: the driver's CUDA_MODULE_LOADING=EAGER. */
int cuModuleGetLoadingMode(int *mode)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuModuleGetLoadingMode);

	if (!rc && !mode)
		rc = SIM_INVALID_VALUE;
	if (!rc)
		*mode = 1;
	return sim_call_end(&call, rc);
}

/* Any name is a kernel of any module. */
static int get_function(void **out, struct sim_module *m, const char *name)
{
	struct sim_function *f;

	if (!m || !name || !*name)
		return SIM_INVALID_HANDLE;
	f = calloc(1, sizeof *f);
	if (!f)
		return SIM_OUT_OF_MEMORY;
	f->name = sim_name(name);
	f->label = sim_label(&m->labels, f->name);
	f->nccl = !strncmp(name, "nccl", 4);
	f->module = m;
	f->foreign = m->foreign;
	sim_function_init(f);
	*out = f;
	return SIM_OK;
}

int cuModuleGetFunction(void **out, void *module, const char *name)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuModuleGetFunction);

	if (!rc)
		rc = get_function(out, module, name);
	return sim_call_end(&call, rc);
}

/* Kernels that wait have no variables; those of others are not read. */
int cuModuleGetGlobal_v2(uint64_t *address, size_t *bytes, void *module, const char *name)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuModuleGetGlobal_v2);

	(void)address;
	(void)bytes;
	if (!rc)
		rc = module && name ? SIM_NOT_FOUND : SIM_INVALID_VALUE;
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuModuleGetGlobal, cuModuleGetGlobal_v2);

static int unload(struct sim_module *m)
{
	if (!m)
		return SIM_INVALID_HANDLE;
	sim_labels_drop(&m->labels);
	return SIM_OK;
}

/* Functions stay valid: the model does not check what the driver does not check either. */
int cuModuleUnload(void *module)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuModuleUnload);

	if (!rc)
		rc = unload(module);
	return sim_call_end(&call, rc);
}

/* ---- libraries: modules of no context, whose kernels are functions in all of them ---- */

int cuLibraryLoadData(void **out, const void *image, int *jit, void **jit_values, unsigned jit_n,
		      int *options, void **values, unsigned n)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuLibraryLoadData);

	(void)jit;
	(void)jit_values;
	(void)jit_n;
	(void)options;
	(void)values;
	(void)n;
	if (!rc)
		rc = load_image(out, image);
	return sim_call_end(&call, rc);
}

int cuLibraryLoadFromFile(void **out, const char *path, int *jit, void **jit_values, unsigned jit_n,
			  int *options, void **values, unsigned n)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuLibraryLoadFromFile);

	(void)jit;
	(void)jit_values;
	(void)jit_n;
	(void)options;
	(void)values;
	(void)n;
	if (!rc)
		rc = load_file(out, path);
	return sim_call_end(&call, rc);
}

int cuLibraryUnload(void *library)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuLibraryUnload);

	if (!rc)
		rc = unload(library);
	return sim_call_end(&call, rc);
}

int cuLibraryGetKernel(void **out, void *library, const char *name)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuLibraryGetKernel);

	if (!rc)
		rc = get_function(out, library, name);
	return sim_call_end(&call, rc);
}

int cuLibraryGetModule(void **out, void *library)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuLibraryGetModule);

	if (!rc && !library)
		rc = SIM_INVALID_HANDLE;
	if (!rc)
		rc = in_context();
	if (!rc)
		*out = library;
	return sim_call_end(&call, rc);
}

/* As of modules. */
int cuLibraryGetGlobal(uint64_t *address, size_t *bytes, void *library, const char *name)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuLibraryGetGlobal);

	(void)address;
	(void)bytes;
	if (!rc)
		rc = library && name ? SIM_NOT_FOUND : SIM_INVALID_VALUE;
	return sim_call_end(&call, rc);
}

int cuKernelGetFunction(void **function, void *kernel)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuKernelGetFunction);

	if (!rc && !kernel)
		rc = SIM_INVALID_HANDLE;
	if (!rc)
		rc = in_context();
	if (!rc)
		*function = kernel;
	return sim_call_end(&call, rc);
}

/* Of a stand-in's kernel there is none. */
static int owner(void **out, const struct sim_function *f)
{
	if (!f || !f->module)
		return SIM_INVALID_HANDLE;
	*out = f->module;
	return SIM_OK;
}

int cuKernelGetLibrary(void **library, void *kernel)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuKernelGetLibrary);

	if (!rc)
		rc = owner(library, kernel);
	return sim_call_end(&call, rc);
}

int cuFuncGetModule(void **module, void *function)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuFuncGetModule);

	if (!rc)
		rc = owner(module, function);
	return sim_call_end(&call, rc);
}
