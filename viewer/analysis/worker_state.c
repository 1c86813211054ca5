/* SPDX-License-Identifier: Apache-2.0 */
#include "worker_state.h"

#include "wire/evidence.h"

const char *const ana_worker_state_names[ANA_WORKER_STATES] = { "io",	"cpu",	"runnable",
								"idle", "lock", "other" };

const char *const ana_worker_state_words[ANA_WORKER_STATES] = {
	[ANA_WORKER_IO] = "blocked on files or the network",
	[ANA_WORKER_CPU] = "on a CPU",
	[ANA_WORKER_RUNNABLE] = "waiting for a CPU",
	[ANA_WORKER_IDLE] = "without work",
	[ANA_WORKER_LOCK] = "waiting for a lock",
	[ANA_WORKER_OTHER] = "in something else",
};

enum ana_worker_state ana_worker_blocked(uint8_t wait)
{
	switch (wait) {
	case WIRE_WAIT_READ:
	case WIRE_WAIT_WRITE:
	case WIRE_WAIT_FAULT:
	case WIRE_WAIT_SOCKET:
	case WIRE_WAIT_PIPE:
	case WIRE_WAIT_SLEEP:
		return ANA_WORKER_IO;
	case WIRE_WAIT_QUEUE:
		return ANA_WORKER_IDLE;
	case WIRE_WAIT_GIL:
	case WIRE_WAIT_LOCK_SHARED:
	case WIRE_WAIT_LOCK:
		return ANA_WORKER_LOCK;
	default:
		return ANA_WORKER_OTHER;
	}
}
