/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names to flags. The lists are the rules' own, in their order.
 */
#include "name_flags.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "facts/kernel.h"
#include "facts/kernel_kind.h"

static const char *const sync_begins[] = {
	"cudaStreamSynchronize",
	"cudaDeviceSynchronize",
	"cudaCtxSynchronize",
	"cudaEventSynchronize",
	"cuStreamSynchronize",
	"cuDeviceSynchronize",
	"cuCtxSynchronize",
	"cuEventSynchronize",
	"hipStreamSynchronize",
	"hipDeviceSynchronize",
	"hipCtxSynchronize",
	"hipEventSynchronize",
	"cudaExecutionCtxSynchronize",
};
static const char *const alloc_parts[] = {
	"Malloc",  "MemAlloc",	"Free",	  "HostAlloc",	"HostRegister", "HostUnregister",
	"MemPool", "MemCreate", "MemMap", "MemRelease", "MemUnmap",
};
static const char *const load_parts[] = {
	"ModuleLoad",	     "LibraryLoad",	 "LinkCreate",	      "LinkComplete",
	"ModuleGetFunction", "LibraryGetKernel", "KernelGetFunction",
};
/* Not in the rules: calls that submit no operation, so that nobody waits for theirs. */
static const char *const idle_parts[] = {
	"Wait",	   "EventRecord", "Query",	  "HostFunc",	  "Create",
	"Destroy", "Prefetch",	  "GetAttribute", "SetAttribute", "CopyAttribute",
};
static const char *const checkpoint_words[] = { "ckpt", "checkpoint", "save", "saving" };
static const char *const phase_words[] = { "eval", "valid", "log" };

#define COUNT(list) (sizeof(list) / sizeof(list[0]))

static bool begins(const char *text, const char *const *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strncmp(text, list[i], strlen(list[i])))
			return true;
	return false;
}

static bool contains(const char *text, const char *const *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strstr(text, list[i]))
			return true;
	return false;
}

static bool letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Some word of the text begins with one of the list, in any case. */
static bool word_begins(const char *text, const char *const *list, size_t n)
{
	const char *p;
	size_t i;

	for (p = text; *p; p++) {
		if (!letter(*p) || (p > text && letter(p[-1])))
			continue;
		for (i = 0; i < n; i++)
			if (!strncasecmp(p, list[i], strlen(list[i])))
				return true;
	}
	return false;
}

static uint16_t api_flags(const char *text)
{
	uint16_t f = 0;

	if (begins(text, sync_begins, COUNT(sync_begins)))
		f |= ANA_NAME_SYNC | ANA_NAME_NO_OP;
	else if (contains(text, alloc_parts, COUNT(alloc_parts)))
		f |= ANA_NAME_ALLOC | ANA_NAME_NO_OP;
	else if (contains(text, load_parts, COUNT(load_parts)))
		f |= ANA_NAME_LOAD | ANA_NAME_NO_OP;
	else if (contains(text, idle_parts, COUNT(idle_parts)))
		f |= ANA_NAME_NO_OP;
	if (strstr(text, "Launch"))
		f |= ANA_NAME_LAUNCH;
	if (strstr(text, "GraphLaunch"))
		f |= ANA_NAME_GRAPH | ANA_NAME_MANY;
	if (strstr(text, "Batch"))
		f |= ANA_NAME_MANY;
	return f;
}

uint16_t ana_name_flags(const char *text)
{
	uint16_t f = ANA_NAME_SEEN | api_flags(text);

	if (facts_kernel_is_collective(text))
		f |= ANA_NAME_COMM;
	else if (facts_kernel_input(text))
		f |= ANA_NAME_INPUT;
	if (word_begins(text, checkpoint_words, COUNT(checkpoint_words)))
		f |= ANA_NAME_CHECKPOINT;
	else if (word_begins(text, phase_words, COUNT(phase_words)))
		f |= ANA_NAME_PHASE;
	if (!strcmp(text, "ncclGroupStart"))
		f |= ANA_NAME_GROUP_BEGIN;
	else if (!strcmp(text, "ncclGroupEnd"))
		f |= ANA_NAME_GROUP_END;
	return f;
}

int ana_names_init(struct ana_names *n, const struct wire_strtab *table)
{
	n->table = table;
	n->count = wire_strtab_count(table);
	n->flag = calloc((size_t)n->count + 1, sizeof(*n->flag));
	n->work = calloc((size_t)n->count + 1, sizeof(*n->work));
	return n->flag && n->work ? 0 : -ENOMEM;
}

void ana_names_fini(struct ana_names *n)
{
	free(n->flag);
	free(n->work);
	n->flag = NULL;
	n->work = NULL;
}

uint16_t ana_names_look(struct ana_names *n, uint32_t id)
{
	if (id > n->count) /* no such name */
		return ANA_NAME_SEEN;
	n->flag[id] = ana_name_flags(wire_strtab_get(n->table, id, NULL));
	return n->flag[id];
}

uint8_t ana_names_look_work(struct ana_names *n, uint32_t id)
{
	struct facts_kernel_kind k;

	if (id > n->count)
		return ANA_WORK(FACTS_KIND_UNKNOWN, FACTS_PRECISION_UNKNOWN);
	k = facts_kernel_kind(wire_strtab_get(n->table, id, NULL));
	n->work[id] = (uint8_t)(ANA_WORK(k.kind, k.precision) + 1);
	n->hints |= (k.backward ? ANA_HINT_BACKWARD : 0) | (k.generates ? ANA_HINT_GENERATES : 0) |
		   (k.kind == FACTS_KIND_OPTIMIZER ? ANA_HINT_OPTIMIZER : 0);
	return n->work[id] - 1;
}
