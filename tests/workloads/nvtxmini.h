/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client side of NVTX 3 as far as the tests need it, so that they need no CUDA headers: on the
 * first call it loads what NVTX_INJECTION64_PATH names and lets it fill the slots. Without a tool
 * every call does nothing. Thread-safe, as NVTX is.
 */
#ifndef NVTXMINI_H
#define NVTXMINI_H

#include <stdint.h>
#include <wchar.h>

struct nvtxmini_attributes { /* nvtxEventAttributes_t */
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type; /* 1 ascii, 2 wide, 3 registered */
	const void *message;
};

#pragma GCC visibility push(default)
int nvtxmini_push(const char *text);
int nvtxmini_push_wide(const wchar_t *text);
int nvtxmini_push_attributes(const struct nvtxmini_attributes *a);
int nvtxmini_pop(void);
uint64_t nvtxmini_start(const char *text);
uint64_t nvtxmini_start_wide(const wchar_t *text);
uint64_t nvtxmini_start_attributes(const struct nvtxmini_attributes *a);
void nvtxmini_end(uint64_t id);
void nvtxmini_mark(const char *text);
void *nvtxmini_domain(const char *name);
void *nvtxmini_string(void *domain, const char *text);
void *nvtxmini_string_wide(void *domain, const wchar_t *text);
int nvtxmini_domain_push(void *domain, const struct nvtxmini_attributes *a);
int nvtxmini_domain_pop(void *domain);
uint64_t nvtxmini_domain_start(void *domain, const struct nvtxmini_attributes *a);
void nvtxmini_domain_end(void *domain, uint64_t id);

/* How many slots the tool filled; and for tests with a tool linked in: attach to that one. */
unsigned int nvtxmini_slots(void);
void nvtxmini_attach(int (*tool)(const void *(*get_table)(uint32_t id)));
#pragma GCC visibility pop

#endif
