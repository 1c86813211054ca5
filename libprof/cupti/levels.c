/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kinds and calls, on and off.
 */
#include "levels.h"

#include <string.h>

#include "cbids.h"
#include "core/log.h"
#include "core/notes.h"
#include "facts/cupti.h"
#include "wire/event.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

const char *prof_graphs_name(enum prof_graphs graphs)
{
	static const char *const names[] = { "graph", "node", "off" };

	return names[graphs];
}

const char *prof_level_name(const struct prof_level *l)
{
	if (!l->others)
		return "least";
	if (!l->kernels)
		return "copies";
	if (!l->api)
		return "0";
	return l->number == 2 ? "2" : "1";
}

static bool graph_level_safe(const struct prof_cupti *c)
{
	return c->facts & FACTS_CUPTI_GRAPHS_WHOLE && c->record_bytes[CUPTI_KIND_GRAPH_TRACE];
}

void prof_level_choose(struct prof_level *l, const struct prof_config *config,
		       const struct prof_cupti *cupti)
{
	l->number = (int)config->level;
	l->only = config->only;
	l->others = true;
	l->kernels = l->only & PROF_ONLY_KERNEL;
	l->api = config->level >= 1 && l->only & (PROF_ONLY_DRIVER | PROF_ONLY_RUNTIME);
	if (l->only != PROF_ONLY_ALL)
		prof_note(
			"GPUSTARVE_ONLY left out some kinds of records, to measure what the others "
			"cost");
	l->graphs = config->graphs;
	if (!config->graphs_given && config->level == 2)
		l->graphs = PROF_GRAPHS_NODE;
	if (l->graphs != PROF_GRAPHS_NODE && !graph_level_safe(cupti)) {
		if (config->graphs_given)
			prof_note("graphs are traced node by node: this CUPTI cannot trace them as "
				  "a whole safely");
		l->graphs = PROF_GRAPHS_NODE;
	}
}

static void set_switch(const struct prof_cupti *cupti, int attribute, uint8_t value)
{
	size_t size = sizeof(value);
	int rc;

	if (!cupti->SetAttribute)
		return;
	rc = cupti->SetAttribute(attribute, &size, &value);
	if (rc)
		prof_debug("cupti attribute %d: error %d", attribute, rc);
}

void prof_level_prepare(const struct prof_cupti *cupti)
{
	/* Not ZEROED_OUT: it would hold for the buffers of other clients as well. */
	if (cupti->facts & FACTS_CUPTI_PER_THREAD_OFF)
		set_switch(cupti, CUPTI_ATTR_PER_THREAD, 0);
	if (cupti->facts & FACTS_CUPTI_PER_THREAD_ON)
		set_switch(cupti, CUPTI_ATTR_PER_THREAD, 1);
}

static int enable(const struct prof_cupti *cupti, int kind)
{
	int rc = cupti->Enable(kind);

	if (rc)
		prof_debug("cupti kind %d: error %d", kind, rc);
	return rc;
}

/*
 * Calls that were switched off one by one may stay off for every later client: what was never
 * switched on is left alone. Arming thread, then the flusher.
 */
static bool calls_on;

static void switch_calls(uint8_t domain, int (*call)(uint32_t, uint8_t), uint8_t on)
{
	const struct prof_cbid *list;
	size_t n, i;

	list = prof_cbids(domain, &n);
	for (i = 0; i < n; i++)
		call(list[i].cbid, on); /* a CUPTI older than the id refuses it */
}

static bool picks_calls(const struct prof_cupti *cupti)
{
	return cupti->facts & FACTS_CUPTI_PICKS_CALLS && cupti->EnableRuntimeApi &&
	       cupti->EnableDriverApi;
}

/* Picked calls where it can; else all calls, of which the sender keeps those. */
static void switch_domain(const struct prof_cupti *cupti, uint8_t domain, bool on)
{
	bool runtime = domain == WIRE_DOMAIN_RUNTIME;
	int kind = runtime ? CUPTI_KIND_RUNTIME : CUPTI_KIND_DRIVER;

	if (picks_calls(cupti))
		switch_calls(domain, runtime ? cupti->EnableRuntimeApi : cupti->EnableDriverApi,
			     on);
	else if (on)
		enable(cupti, kind);
	else
		cupti->Disable(kind);
}

static void switch_api(const struct prof_cupti *cupti, uint32_t only, bool on)
{
	if (only & PROF_ONLY_RUNTIME)
		switch_domain(cupti, WIRE_DOMAIN_RUNTIME, on);
	if (only & PROF_ONLY_DRIVER)
		switch_domain(cupti, WIRE_DOMAIN_DRIVER, on);
}

enum when {
	WHEN_ALWAYS,
	WHEN_KERNELS,
	WHEN_GRAPHS,
	WHEN_CALLS,
	WHEN_HELD
};

static const struct kind {
	int number;
	uint8_t event;
	uint32_t only;
	enum when when;
	bool needed, handed;
	const char *words;
} kinds[] = {
#define KIND(symbol, number, bytes, event, only, when, needed, handed, parse, words, ...) \
	{ number, WIRE_KIND_##event, PROF_ONLY_##only, WHEN_##when, needed, handed, words },
#include "facts/cupti_kinds.def"
};

/* Kinds that this CUPTI lacks, or has for others alone, are not touched: they may be another's. */
static bool is_ours(const struct prof_cupti *cupti, const struct kind *k)
{
	return k->when != WHEN_HELD ||
	       (cupti->facts & FACTS_CUPTI_TELLS_HELD && cupti->record_bytes[k->number]);
}

static bool wanted(const struct prof_level *l, const struct prof_cupti *cupti, const struct kind *k)
{
	switch (k->when) {
	case WHEN_HELD:
		return l->api && l->only & k->only && is_ours(cupti, k);
	case WHEN_CALLS: /* switch_api has these */
		return false;
	case WHEN_KERNELS:
		return l->kernels;
	case WHEN_GRAPHS:
		return l->graphs != PROF_GRAPHS_NODE && l->only & k->only;
	default:
		return l->others && l->only & k->only;
	}
}

/* 0, or CUPTI's error for a kind without which nothing is recorded. */
static int enable_kinds(const struct prof_level *l, const struct prof_cupti *cupti)
{
	size_t i;
	int rc;

	for (i = 0; i < COUNT(kinds); i++) {
		if (!wanted(l, cupti, &kinds[i]))
			continue;
		rc = enable(cupti, kinds[i].number);
		if (rc && kinds[i].needed)
			return rc;
		if (rc)
			prof_note("CUPTI refuses records of %s with error %d: they are not in "
				  "this trace",
				  kinds[i].words, rc);
	}
	return 0;
}

static void switch_canary(const struct prof_cupti *cupti, uint8_t on)
{
	if (picks_calls(cupti))
		cupti->EnableDriverApi(CBID_DRIVER_GET_VERSION, on);
}

/*
 * Queries are no waits. Calls name their thread as samples and ranges do, which no default does:
 * without that no gap is known to be anybody's. It holds for all clients of the process, so what is
 * handed over has CUPTI's default again, as those expect it that translate by pthread_self().
 */
static void choose_words(const struct prof_cupti *cupti, bool ours)
{
	int rc = 0;

	if (cupti->EnableAllSyncRecords)
		cupti->EnableAllSyncRecords(!ours);
	if (cupti->SetThreadIdType)
		rc = cupti->SetThreadIdType(ours ? CUPTI_THREAD_ID_SYSTEM
						 : CUPTI_THREAD_ID_DEFAULT);
	if (ours && (rc || !cupti->SetThreadIdType))
		prof_note("CUPTI does not tell Linux's thread ids (error %d): gaps of the host "
			  "have no cause",
			  rc);
}

int prof_level_enable(const struct prof_level *l, const struct prof_cupti *cupti)
{
	int rc;

	choose_words(cupti, true);
	rc = enable_kinds(l, cupti);
	if (rc) {
		prof_level_disable(cupti);
		return rc;
	}
	if (l->api)
		switch_api(cupti, l->only, true);
	switch_canary(cupti, 1);
	calls_on = true;
	return 0;
}

bool prof_level_has_canary(const struct prof_level *l, const struct prof_cupti *cupti)
{
	return picks_calls(cupti) || l->api;
}

void prof_level_disable(const struct prof_cupti *cupti)
{
	size_t i;

	if (calls_on) {
		switch_api(cupti, PROF_ONLY_ALL, false);
		switch_canary(cupti, 0);
	}
	calls_on = false;
	for (i = 0; i < COUNT(kinds); i++)
		if (kinds[i].when != WHEN_CALLS && is_ours(cupti, &kinds[i]))
			cupti->Disable(kinds[i].number);
	choose_words(cupti, false);
}

void prof_level_hand_over(const struct prof_cupti *cupti)
{
	size_t i;
	int ops;

	/*
	 * Whole kinds, as the other client does: calls that are switched off one by one may stay
	 * off. What submits and waits for operations first, then these.
	 */
	for (ops = 0; ops < 2; ops++)
		for (i = 0; i < COUNT(kinds); i++)
			if (kinds[i].handed && (kinds[i].event == WIRE_KIND_OP) == ops &&
			    is_ours(cupti, &kinds[i]))
				cupti->Disable(kinds[i].number);
	choose_words(cupti, false);
}

void prof_level_reduce(const struct prof_level *before, const struct prof_level *after,
		       const struct prof_cupti *cupti)
{
	size_t i;

	if (before->api && !after->api)
		switch_api(cupti, before->only, false);
	if (before->kernels && !after->kernels)
		cupti->Disable(CUPTI_KIND_CONCURRENT_KERNEL);
	for (i = 0; i < COUNT(kinds) && before->others && !after->others; i++)
		if (kinds[i].when == WHEN_ALWAYS)
			cupti->Disable(kinds[i].number);
}
