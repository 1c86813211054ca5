/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_absent.c - calls for what the model does not have, so that a program which looks up all of
 * its entry points at once finds them: textures, OpenGL, memory shared between processes, and the
 * linker of device code. They answer as a driver does on a machine that lacks it.
 */
#include "driver.h"

static int absent(uint32_t cbid, enum sim_result result)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, cbid);

	return sim_call_end(&call, rc ? rc : (int)result);
}

/* ---- device code comes from the compiler's library, which is not installed ---- */

int cuLinkCreate_v2(unsigned n, int *options, void **values, void **link)
{
	(void)n;
	(void)options;
	(void)values;
	(void)link;
	return absent(SIM_CBID_cuLinkCreate_v2, SIM_NO_JIT_COMPILER);
}
SIM_ALIAS(cuLinkCreate, cuLinkCreate_v2);

int cuLinkAddData_v2(void *link, int type, void *data, size_t size, const char *name, unsigned n,
		     int *options, void **values)
{
	(void)link;
	(void)type;
	(void)data;
	(void)size;
	(void)name;
	(void)n;
	(void)options;
	(void)values;
	return absent(SIM_CBID_cuLinkAddData_v2, SIM_INVALID_HANDLE);
}
SIM_ALIAS(cuLinkAddData, cuLinkAddData_v2);

int cuLinkComplete(void *link, void **image, size_t *size)
{
	(void)link;
	(void)image;
	(void)size;
	return absent(SIM_CBID_cuLinkComplete, SIM_INVALID_HANDLE);
}

int cuLinkDestroy(void *link)
{
	(void)link;
	return absent(SIM_CBID_cuLinkDestroy, SIM_INVALID_HANDLE);
}

/* ---- memory of another process: each has its own address space and nothing else ---- */

int cuIpcGetMemHandle(struct sim_ipc *handle, uint64_t address)
{
	(void)handle;
	(void)address;
	return absent(SIM_CBID_cuIpcGetMemHandle, SIM_NOT_SUPPORTED);
}

int cuIpcOpenMemHandle_v2(uint64_t *address, struct sim_ipc handle, unsigned flags)
{
	(void)address;
	(void)handle;
	(void)flags;
	return absent(SIM_CBID_cuIpcOpenMemHandle_v2, SIM_NOT_SUPPORTED);
}
SIM_ALIAS(cuIpcOpenMemHandle, cuIpcOpenMemHandle_v2);

int cuIpcCloseMemHandle(uint64_t address)
{
	(void)address;
	return absent(SIM_CBID_cuIpcCloseMemHandle, SIM_INVALID_VALUE);
}

int cuIpcGetEventHandle(struct sim_ipc *handle, void *event)
{
	(void)handle;
	(void)event;
	return absent(SIM_CBID_cuIpcGetEventHandle, SIM_NOT_SUPPORTED);
}

int cuIpcOpenEventHandle(void **event, struct sim_ipc handle)
{
	(void)event;
	(void)handle;
	return absent(SIM_CBID_cuIpcOpenEventHandle, SIM_NOT_SUPPORTED);
}

/* ---- textures: only a kernel could read one ---- */

int cuTexObjectCreate(uint64_t *texture, const void *resource, const void *how, const void *view)
{
	(void)texture;
	(void)resource;
	(void)how;
	(void)view;
	return absent(SIM_CBID_cuTexObjectCreate, SIM_NOT_SUPPORTED);
}

int cuTexObjectDestroy(uint64_t texture)
{
	(void)texture;
	return absent(SIM_CBID_cuTexObjectDestroy, SIM_INVALID_VALUE);
}

/* ---- OpenGL: the thread has no context of it, and so nothing can be registered ---- */

int cuGLGetDevices_v2(unsigned *n, int *devices, unsigned room, int list)
{
	(void)n;
	(void)devices;
	(void)room;
	(void)list;
	return absent(SIM_CBID_cuGLGetDevices_v2, SIM_INVALID_GRAPHICS_CONTEXT);
}
SIM_ALIAS(cuGLGetDevices, cuGLGetDevices_v2);

int cuGraphicsGLRegisterImage(void **resource, unsigned image, unsigned target, unsigned flags)
{
	(void)resource;
	(void)image;
	(void)target;
	(void)flags;
	return absent(SIM_CBID_cuGraphicsGLRegisterImage, SIM_INVALID_GRAPHICS_CONTEXT);
}

int cuGraphicsUnregisterResource(void *resource)
{
	(void)resource;
	return absent(SIM_CBID_cuGraphicsUnregisterResource, SIM_INVALID_HANDLE);
}

int cuGraphicsMapResources(unsigned n, void **resources, void *stream)
{
	(void)n;
	(void)resources;
	(void)stream;
	return absent(SIM_CBID_cuGraphicsMapResources, SIM_INVALID_HANDLE);
}

int cuGraphicsUnmapResources(unsigned n, void **resources, void *stream)
{
	(void)n;
	(void)resources;
	(void)stream;
	return absent(SIM_CBID_cuGraphicsUnmapResources, SIM_INVALID_HANDLE);
}

int cuGraphicsSubResourceGetMappedArray(void **array, void *resource, unsigned index,
					unsigned level)
{
	(void)array;
	(void)resource;
	(void)index;
	(void)level;
	return absent(SIM_CBID_cuGraphicsSubResourceGetMappedArray, SIM_INVALID_HANDLE);
}

int cuGraphicsResourceGetMappedPointer_v2(uint64_t *address, size_t *size, void *resource)
{
	(void)address;
	(void)size;
	(void)resource;
	return absent(SIM_CBID_cuGraphicsResourceGetMappedPointer_v2, SIM_INVALID_HANDLE);
}
SIM_ALIAS(cuGraphicsResourceGetMappedPointer, cuGraphicsResourceGetMappedPointer_v2);
