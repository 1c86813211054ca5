/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spec.c - parses fault scripts.
 */
#include "spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seconds(const char *v)
{
	if (!strcmp(v, "ever"))
		return SIM_SPEC_FOREVER;
	return (uint64_t)(strtod(v, NULL) * 1e9);
}

static void set(struct sim_spec *s, const char *key, const char *value)
{
	static const struct {
		const char *key;
		size_t offset;
	} numbers[] = {
		{ "every", offsetof(struct sim_spec, every) },
		{ "nth", offsetof(struct sim_spec, nth) },
		{ "count", offsetof(struct sim_spec, count) },
		{ "records", offsetof(struct sim_spec, records) },
		{ "code", offsetof(struct sim_spec, code) },
		{ "ms", offsetof(struct sim_spec, ms) },
		{ "kind", offsetof(struct sim_spec, kind) },
		{ "kb", offsetof(struct sim_spec, kb) },
	};
	size_t i;

	for (i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		if (!strcmp(key, numbers[i].key))
			*(uint64_t *)((char *)s + numbers[i].offset) = strtoull(value, NULL, 10);
	if (!strcmp(key, "from"))
		s->from = seconds(value);
	else if (!strcmp(key, "for"))
		s->duration = seconds(value);
	else if (!strcmp(key, "clock"))
		s->clock = strtod(value, NULL);
	else if (!strcmp(key, "rank"))
		s->rank = atoi(value);
	else if (!strcmp(key, "finalize"))
		s->finalize = atoi(value) != 0;
	else if (!strcmp(key, "flush"))
		s->no_flush = atoi(value) == 0;
	else if (!strcmp(key, "kind"))
		snprintf(s->client, sizeof s->client, "%s", value);
	else if (!strcmp(key, "call"))
		snprintf(s->call, sizeof s->call, "%s", value);
}

static void parse(struct sim_spec *s, char *text)
{
	char *keys = strchr(text, ':'), *pair, *save = NULL;

	memset(s, 0, sizeof *s);
	s->duration = SIM_SPEC_FOREVER;
	s->rank = -1;
	if (keys)
		*keys++ = 0;
	snprintf(s->name, sizeof s->name, "%s", text);
	for (pair = keys ? strtok_r(keys, ",", &save) : NULL; pair;
	     pair = strtok_r(NULL, ",", &save)) {
		char *value = strchr(pair, '=');

		if (!value)
			continue;
		*value++ = 0;
		set(s, pair, value);
	}
}

static bool meant(const struct sim_spec *s)
{
	const char *rank = getenv("RANK");

	if (!rank)
		rank = getenv("MIXLOOP_RANK");
	return s->rank < 0 || (rank && atoi(rank) == s->rank);
}

size_t sim_spec_read(const char *key, struct sim_spec *out, size_t max)
{
	const char *v = getenv(key);
	char *copy, *text, *save = NULL;
	size_t n = 0;

	if (!v || !*v)
		return 0;
	copy = strdup(v);
	if (!copy)
		return 0;
	for (text = strtok_r(copy, ";", &save); text && n < max;
	     text = strtok_r(NULL, ";", &save)) {
		parse(&out[n], text);
		if (meant(&out[n]))
			n++;
	}
	free(copy);
	return n;
}
