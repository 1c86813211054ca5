/* SPDX-License-Identifier: Apache-2.0 */
#include "maker.h"

enum ana_class ana_maker_class(const struct wire_sample *s, enum ana_producer producer)
{
	switch (s->wait) {
	case WIRE_WAIT_READ:
	case WIRE_WAIT_WRITE:
	case WIRE_WAIT_FAULT:
	case WIRE_WAIT_SOCKET:
	case WIRE_WAIT_PIPE:
	case WIRE_WAIT_SLEEP:
		return ANA_INPUT_FETCH;
	case WIRE_WAIT_GIL:
	case WIRE_WAIT_LOCK:
	case WIRE_WAIT_LOCK_SHARED:
		return ANA_INPUT_PIPELINE;
	case WIRE_WAIT_QUEUE:
		return producer == ANA_PRODUCER_TRAINER ? ANA_INPUT_UNKNOWN : ANA_INPUT_PIPELINE;
	default:
		return s->state == WIRE_STATE_DISK ? ANA_INPUT_FETCH : ANA_INPUT_UNKNOWN;
	}
}
