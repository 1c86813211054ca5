/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_module.c - modules and functions. The model computes times, not results: of device code it
 * takes none but kernels that do nothing else than wait for as long as they are told.
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
};

/*
 * A kernel that somebody wrote to compute would be told a duration by its first parameter, a pointer,
 * and its program would go on with results that nobody computed. So the model is a machine without
 * the compiler's library (PTX) and of another architecture than any binary. PTX that reads the
 * device's clock is taken for a kernel that waits; what is no code at all for a name and nothing else.
 */
static int judge(const char *image)
{
	static const char binary[] = "\177ELF", fat[] = "\x50\xed\x55\xba";

	if (!image)
		return SIM_INVALID_VALUE;
	if (!strncmp(image, binary, 4) || !strncmp(image, fat, 4))
		return SIM_NO_BINARY_FOR_GPU;
	if (strstr(image, ".target") && strstr(image, ".entry") && !strstr(image, "%globaltimer"))
		return SIM_NO_JIT_COMPILER;
	return SIM_OK;
}

static int judge_file(const char *path)
{
	char *head = calloc(1, IMAGE_HEAD + 1);
	int fd = head ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	int rc = SIM_FILE_NOT_FOUND;

	if (fd >= 0 && read(fd, head, IMAGE_HEAD) >= 0)
		rc = judge(head);
	if (fd >= 0)
		close(fd);
	free(head);
	return rc;
}

static int load(void **out)
{
	struct sim_module *m;

	if (!sim_thread.current)
		return SIM_INVALID_CONTEXT;
	m = calloc(1, sizeof *m);
	if (!m)
		return SIM_OUT_OF_MEMORY;
	sim_sleep_until(sim_now() + sim_config()->module_ns);
	*out = m;
	return SIM_OK;
}

int cuModuleLoad(void **out, const char *path)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuModuleLoad);

	if (!rc)
		rc = judge_file(path);
	if (!rc)
		rc = load(out);
	return sim_call_end(&call, rc);
}

int cuModuleLoadData(void **out, const void *image)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuModuleLoadData);

	if (!rc)
		rc = judge(image);
	if (!rc)
		rc = load(out);
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
		rc = judge(image);
	if (!rc)
		rc = load(out);
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

/* Kernels that wait have no variables. */
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

/* Functions stay valid: the model does not check what the driver does not check either. */
int cuModuleUnload(void *module)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuModuleUnload);

	if (!rc && !module)
		rc = SIM_INVALID_HANDLE;
	if (!rc)
		sim_labels_drop(&((struct sim_module *)module)->labels);
	return sim_call_end(&call, rc);
}
