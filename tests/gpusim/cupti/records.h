/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.h - turns what the driver tells into activity records of this version's layout.
 */
#ifndef SIM_CUPTI_RECORDS_H
#define SIM_CUPTI_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../trace.h"

struct rec_config {
	bool kind[64];
	bool all_sync; /* query records too */
	bool latency; /* queued and submitted stamps */
	bool system_tids; /* the kernel's thread ids, not what pthread_self() gives */
	/* event records carry a time; the call's, for the model knows no other */
	bool event_stamps;
	uint8_t api[3][2048]; /* by domain and cbid: 1 on, 2 off, 0 as the kind says */
	bool any_cbid;
	bool subscribed;
};

extern struct rec_config rec_config;
extern const struct sim_export *rec_driver; /* once it is attached */
extern const struct sim_tracer rec_tracer;

/* Kind of the record that an operation has, 0: none; and that record, of rec_size bytes. */
uint32_t rec_kind_of(const struct sim_op *op);
void rec_whole(uint8_t *record, uint32_t kind, const struct sim_op *op);

/* cuptiActivityGetNextRecord: a pure function of the buffer. */
int rec_next(uint8_t *buffer, size_t valid, void **record);

/* A DEVICE record for each device of the process. */
void rec_devices(const struct sim_export *driver);

#endif
