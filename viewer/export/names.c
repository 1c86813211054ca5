/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What exports call operations, threads and what these do, and what every reader must be told.
 */
#include "export.h"

static const char *direction(uint8_t copy)
{
	static const char *const names[] = { NULL,   "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
					     "AtoD", "DtoA", "DtoD", "HtoH", "PtoP" };

	return copy < sizeof(names) / sizeof(names[0]) ? names[copy] : NULL;
}

static const char *memory(uint8_t kind)
{
	static const char *const names[] = { "Unknown", "Pageable", "Pinned",
					     "Device",	"Array",    "Managed" };

	return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : names[0];
}

const char *view_export_copy_name(char out[VIEW_EXPORT_COPY_BYTES], const struct wire_event *e)
{
	const char *way = direction(e->copy);
	size_t n;

	n = (size_t)snprintf(out, VIEW_EXPORT_COPY_BYTES, "Memcpy%s%s", way ? " " : "",
			     way ? way : "");
	if (way && (e->src || e->dst))
		snprintf(out + n, VIEW_EXPORT_COPY_BYTES - n, " (%s -> %s)", memory(e->src),
			 memory(e->dst));
	return out;
}

const char *view_export_op_name(const struct wire_event *e)
{
	switch (e->op) {
	case WIRE_OP_MEMSET:
		return "Memset (Device)";
	case WIRE_OP_GRAPH:
		return "graph launch";
	default:
		return "kernel without a name";
	}
}

const char *view_export_role(uint8_t role)
{
	static const char *const names[] = { "thread of the main process",
					     "training thread",
					     "loader worker",
					     "pin-memory thread",
					     "thread of a loader worker",
					     "producer",
					     "feeding thread" };

	return role < sizeof(names) / sizeof(names[0]) ? names[role] : "thread";
}

const char *view_export_wait(uint8_t wait)
{
	static const char *const names[] = {
#define WAIT(symbol, word, name, short, ...) [WIRE_WAIT_##symbol] = (short),
#include "facts/waits.def"
	};

	return wait < sizeof(names) / sizeof(names[0]) ? names[wait] : "blocked";
}

const char *view_export_doing(const struct wire_sample *w)
{
	const char *wait = view_export_wait(w->wait);

	return wait ? wait : w->state == WIRE_STATE_RUNNING ? "runs" : "does not run";
}

/* --- remarks --- */

void view_export_caveats(const struct view_export *x, void (*tell)(void *arg, const char *text),
			 void *arg)
{
	const struct ana_result *r = x->summary->result;
	char text[200];

	if (r->simulated)
		tell(arg, "simulated GPUs: their times come from a model");
	if (r->quality.dropped) {
		snprintf(text, sizeof(text),
			 "%llu events were dropped while recording; they are in no export",
			 (unsigned long long)r->quality.dropped);
		tell(arg, text);
	}
	if (r->quality.damage_bytes || r->quality.frames_missing)
		tell(arg,
		     "parts of the trace are damaged or missing; what they held is in no export");
	if (r->quality.unobserved_ns) {
		snprintf(text, sizeof(text),
			 "%.3f s of GPU time were not observed (excluded.unobserved) and have no "
			 "events",
			 (double)r->quality.unobserved_ns / 1e9);
		tell(arg, text);
	}
}
