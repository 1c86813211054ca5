/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of environment variables and how each is read. docs/OPERATIONS.md lists the same ones.
 */
#include "config.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "env.h"

/*
 * A loader's worker and its arm may read on two threads, while others ask whether to print: each
 * reading fills a place of its own and is shown when it is whole. The first place stays empty.
 */
#define READINGS 4u

static struct prof_config config[1 + READINGS];
static _Atomic(const struct prof_config *) shown = &config[0];
static atomic_uint readings;

struct variable {
	const char *name;
	int (*read)(const char *text, void *field, size_t size);
	size_t field; /* where in struct prof_config */
	size_t size;
	const char *fallback; /* NULL: zero */
};

static int read_text(const char *text, void *field, size_t size)
{
	if (strlen(text) >= size)
		return -1;
	memcpy(field, text, strlen(text) + 1);
	return 0;
}

static int read_switch(const char *text, void *field, size_t size)
{
	(void)size;
	*(bool *)field = !prof_env_off(text);
	return 0;
}

static int read_level(const char *text, void *field, size_t size)
{
	(void)size;
	if (text[0] < '0' || text[0] > '2' || text[1])
		return -1;
	*(uint64_t *)field = (uint64_t)(text[0] - '0');
	return 0;
}

static int read_graphs(const char *text, void *field, size_t size)
{
	static const char *const names[] = { "graph", "node", "off" };
	size_t i;

	(void)size;
	for (i = 0; i < 3; i++)
		if (!strcmp(text, names[i])) {
			*(enum prof_graphs *)field = (enum prof_graphs)i;
			return 0;
		}
	return -1;
}

/* A percentage with up to four decimals, in millionths. Read by hand: strtod minds the locale. */
static int read_percent(const char *text, void *field, size_t size)
{
	uint64_t value = 0, unit = 10000;
	const char *p = text;

	(void)size;
	for (; *p >= '0' && *p <= '9' && value < 100000000; p++)
		value = value * 10 + (uint64_t)(*p - '0') * 10000;
	if (p == text)
		return -1;
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9'; p++)
			value += (uint64_t)(*p - '0') * (unit /= 10);
	if (*p == '%')
		p++;
	if (*p)
		return -1;
	*(uint64_t *)field = value;
	return 0;
}

static int read_bytes(const char *text, void *field, size_t size)
{
	static const char units[] = "KMGT";
	const char *unit;
	char *end;
	unsigned long long value = strtoull(text, &end, 10);

	(void)size;
	if (end == text || *text == '-')
		return -1;
	unit = *end ? strchr(units, *end) : NULL;
	if (unit) {
		value <<= 10 * (unit - units + 1);
		end++;
		if (*end == 'i')
			end++;
	}
	if (*end == 'B')
		end++;
	if (*end)
		return -1;
	*(uint64_t *)field = value;
	return 0;
}

static uint32_t only_named(const char *word, size_t length)
{
	static const struct {
		const char *name;
		uint32_t set;
	} known[] = {
		{ "all", PROF_ONLY_ALL },
#define SWITCH(symbol, bit, word) { word, PROF_ONLY_##symbol },
#include "facts/cupti_kinds.def"
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i].name) == length && !memcmp(known[i].name, word, length))
			return known[i].set;
	return 0;
}

/* Words between commas, or "none". */
static int read_only(const char *text, void *field, size_t size)
{
	uint32_t set = 0, one;
	size_t length;

	(void)size;
	for (; strcmp(text, "none") != 0; text += length + 1) {
		length = strcspn(text, ",");
		one = only_named(text, length);
		if (!one)
			return -1;
		set |= one;
		if (!text[length])
			break;
	}
	*(uint32_t *)field = set;
	return 0;
}

#define AT(member) offsetof(struct prof_config, member)
#define SIZE(member) sizeof(((struct prof_config *)NULL)->member)

static const struct variable table[] = {
	{ "GPUSTARVE", read_switch, AT(on), 0, "1" },
	{ "GPUSTARVE_OUT", read_text, AT(out), SIZE(out), "gpustarve-runs" },
	{ "GPUSTARVE_RUN_ID", read_text, AT(run_id), SIZE(run_id), NULL },
	{ "GPUSTARVE_SOCKET", read_text, AT(socket), SIZE(socket), NULL },
	{ "GPUSTARVE_LEVEL", read_level, AT(level), 0, "1" },
	{ "GPUSTARVE_GRAPHS", read_graphs, AT(graphs), 0, NULL },
	{ "GPUSTARVE_MAX_OVERHEAD", read_percent, AT(max_overhead), 0, "1" },
	{ "GPUSTARVE_WINDOWS", read_switch, AT(windows), 0, "0" },
	{ "GPUSTARVE_MAX_TRACE", read_bytes, AT(max_trace), 0, "0" },
	{ "GPUSTARVE_LABELS", read_text, AT(labels), SIZE(labels), NULL },
	{ "GPUSTARVE_DEBUG", read_switch, AT(debug), 0, "0" },
	{ "GPUSTARVE_QUIET_ERRORS", read_switch, AT(quiet_errors), 0, "0" },
	{ "GPUSTARVE_NVTX", read_switch, AT(nvtx), 0, "1" },
	{ "GPUSTARVE_TORCH", read_switch, AT(torch), 0, "1" },
	{ "GPUSTARVE_SHIM", read_switch, AT(shim), 0, "1" },
	{ "GPUSTARVE_LOADER", read_switch, AT(loader), 0, "0" },
	{ "GPUSTARVE_SAMPLER", read_switch, AT(sampler), 0, "1" },
	{ "GPUSTARVE_CUPTI", read_text, AT(cupti), SIZE(cupti), NULL },
	{ "GPUSTARVE_REARM_SECONDS", read_bytes, AT(rearm_seconds), 0, "60" },
	{ "GPUSTARVE_ONLY", read_only, AT(only), 0, "all" },
	{ "GPUSTARVE_DMI", read_text, AT(dmi), SIZE(dmi), "/sys/class/dmi/id" },
};

static void read_variable(struct prof_config *c, const struct variable *v)
{
	const char *text = prof_env(v->name);
	void *field = (char *)c + v->field;

	if (v->fallback)
		v->read(v->fallback, field, v->size);
	if (!text || !*text)
		return;
	if (v->read(text, field, v->size))
		c->bad = v->name;
	else if (v->read == read_graphs)
		c->graphs_given = true;
}

/* The program may change its directory, so a relative path is completed now. */
static void make_absolute(char *path, size_t size)
{
	char dir[2048], joined[3072];

	if (*path == '/' || !getcwd(dir, sizeof(dir)))
		return;
	if (snprintf(joined, sizeof(joined), "%s/%s", dir, path) >= (int)sizeof(joined))
		return;
	if (strlen(joined) < size)
		strcpy(path, joined);
}

void prof_config_read(void)
{
	unsigned int n = atomic_fetch_add_explicit(&readings, 1, memory_order_relaxed);
	struct prof_config *c = &config[1 + n % READINGS];
	size_t i;

	memset(c, 0, sizeof(*c));
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		read_variable(c, &table[i]);
	make_absolute(c->out, sizeof(c->out));
	atomic_store_explicit(&shown, c, memory_order_release);
}

const struct prof_config *prof_config(void)
{
	return atomic_load_explicit(&shown, memory_order_acquire);
}
