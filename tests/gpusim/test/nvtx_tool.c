/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvtx_tool.c - an NVTX tool for NVTX_INJECTION64_PATH: a line into the file NVTX_TOOL_OUT for each
 * range that is pushed in a domain ("push DOMAIN NAME SCHEMA HEX", the payload's bytes) and popped
 * ("pop DOMAIN"). One thread. The numbers are NVTX 3's.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, payloads;
	uint64_t payload;
	int32_t message_type;
	const char *message;
};

struct payload {
	uint64_t schema;
	size_t bytes;
	const unsigned char *at;
};

typedef void (*slot_fn)(void);

struct callbacks {
	size_t size;
	int (*get_module)(int module, slot_fn ***slots, unsigned *count);
};

static FILE *out;

static void put_payload(const struct payload *p)
{
	size_t i;

	fprintf(out, " %llu ", (unsigned long long)p->schema);
	for (i = 0; i < p->bytes; i++)
		fprintf(out, "%02x", p->at[i]);
}

static int push(void *domain, const struct attributes *a)
{
	fprintf(out, "push %s %s", (char *)domain, a->message_type == 3 ? a->message : "?");
	if ((uint32_t)a->payload_type == 0xDFBD0009u && a->payloads == 1)
		put_payload((const struct payload *)(uintptr_t)a->payload);
	fputc('\n', out);
	return 0;
}

static int pop(void *domain)
{
	fprintf(out, "pop %s\n", (char *)domain);
	fflush(out);
	return 0;
}

static void *string(void *domain, const char *text)
{
	(void)domain;
	return strdup(text);
}

static void *domain(const char *name)
{
	return strdup(name);
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(
	const void *(*get_table)(uint32_t id));

int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t id))
{
	const struct callbacks *table = get_table(1);
	const char *path = getenv("NVTX_TOOL_OUT");
	slot_fn **slots = NULL;
	unsigned count = 0;

	out = path ? fopen(path, "a") : NULL;
	if (!out || !table || !table->get_module(5, &slots, &count) || count < 13)
		return 0;
	*slots[4] = (slot_fn)push;
	*slots[5] = (slot_fn)pop;
	*slots[10] = (slot_fn)string;
	*slots[12] = (slot_fn)domain;
	return 1;
}
