/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way of a buffer through the sender.
 */
#include "intake.h"

#include <string.h>

#include "bufpool.h"
#include "core/clockpoll.h"
#include "exposure.h"
#include "names.h"
#include "sample/submitters.h"
#include "stream/loss.h"
#include "stream/stream.h"
#include "translate.h"
#include "walk.h"

static const struct prof_cupti *cupti;
static struct prof_translator translator;
static struct prof_intake sum;

void prof_intake_init(const struct prof_cupti *c)
{
	static const uint32_t none[CUPTI_KIND_PROBED];

	cupti = c;
	memset(&sum, 0, sizeof(sum));
	prof_translator_init(&translator, prof_stream_names(), c ? c->record_bytes : none);
}

static void add_event(const struct wire_event *ev, uint8_t kind)
{
	sum.ops += kind == WIRE_KIND_OP;
	sum.graphs += kind == WIRE_KIND_OP && ev->graph;
	prof_exposure_add(ev);
	prof_stream_commit(kind);
}

static void translate_record(const uint8_t *record, const struct prof_pool_done *d)
{
	uint8_t kind = prof_translate_kind(rec_u32(record, REC_KIND));
	struct wire_event *ev = prof_stream_slot(kind ? kind : WIRE_KIND_OP);

	switch (prof_translate(&translator, record, ev)) {
	case PROF_LAUNCH:
		sum.launches++;
		prof_submitters_saw(ev->tid);
		add_event(ev, kind);
		break;
	case PROF_MAYBE_LAUNCH:
		sum.maybe_launches++;
		prof_submitters_saw(ev->tid);
		add_event(ev, kind);
		break;
	case PROF_WAIT:
		sum.waits++;
		prof_submitters_saw(ev->tid);
		add_event(ev, kind);
		break;
	case PROF_CAPTURED:
		sum.captures++;
		add_event(ev, kind);
		break;
	case PROF_EVENT:
		add_event(ev, kind);
		break;
	case PROF_BAD:
		sum.invalid++;
		prof_loss_bad_stamp(ev, d->request_ns);
		break;
	case PROF_UNKNOWN:
		sum.unknown++;
		break;
	case PROF_CANARY:
		sum.canaries++;
		break;
	case PROF_SKIP:
		break;
	}
}

static void translate_buffer(const struct prof_pool_done *d)
{
	struct prof_record_walk walk = { .cupti = cupti, .data = d->data, .valid = d->valid };

	while (prof_record_next(&walk))
		translate_record(walk.record, d);
	if (walk.cut) {
		sum.cut++;
		prof_loss_span(WIRE__LOSS_REASON__LOSS_DROPPED, d->request_ns, prof_now_ns(), 0);
	}
	sum.bytes += d->valid;
}

void prof_intake_drain(int64_t last_flush_ns)
{
	struct prof_pool_done d;

	prof_translator_window(&translator, last_flush_ns, prof_now_ns());
	while (prof_pool_next(&d)) {
		prof_names_collect(prof_stream_names());
		translate_buffer(&d);
		prof_pool_give_back(&d);
	}
	sum.calls = translator.latest_corr;
}

const struct prof_intake *prof_intake(void)
{
	return &sum;
}
