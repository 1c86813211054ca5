/* SPDX-License-Identifier: Apache-2.0 */
/*
 * second.h - CUPTI's second interface: subscribers with kinds and buffers of their own, of 13.4.
 * Structs and prototypes are those of NVIDIA's headers of 13.4 Update 1 (a test compares them where
 * its wheel is). What the two interfaces answer each other is from documents and two clients'
 * sources, never seen; README.md lists it, and which of it GPUSIM_V2 changes.
 *
 * Any thread. second_op runs under the driver's lock; client callbacks run without any.
 */
#ifndef SIM_CUPTI_SECOND_H
#define SIM_CUPTI_SECOND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../trace.h"
#include "cupti.h"

#define SECOND_NAME 64 /* with the end */

struct second_params { /* CUpti_SubscriberParams */
	size_t size;
	const char *name;
	char *old_name;
	size_t old_size;
	uint8_t allow;
	uint8_t padding[7];
};

struct second_selection { /* CUpti_ActivityFieldSelection */
	size_t size, fields;
	int *field;
};

struct second_config { /* CUpti_ActivityConfig */
	size_t size;
	struct second_selection selection;
	void *options;
};

struct second_request { /* CUpti_BufferCallbackRequestInfo */
	size_t size;
};

struct second_entry { /* CUpti_ActivityFieldLayoutEntry */
	size_t size;
	int field;
	size_t offset, bytes, alignment;
};

struct second_layout { /* CUpti_ActivityRecordLayout */
	size_t size;
	struct second_entry *entry;
	size_t fields, bytes;
};

struct second_complete { /* CUpti_BufferCallbackCompleteInfo */
	size_t size;
	uint64_t thread;
	struct second_layout **layout; /* by kind */
	size_t layouts;
};

enum second_attribute {
	SECOND_USER_DEFINED = 11,
	SECOND_STATE = 12, /* 0 one subscriber, 1 several, 2 nobody has said */
	SECOND_HES = 13,
	SECOND_GRAPHS = 20,
	SECOND_TIMESTAMP = 22,
	SECOND_ATTRIBUTES = 24
};

typedef void (*second_request_fn)(uint8_t **buffer, size_t *size, size_t *max,
				  struct second_request *info);
typedef void (*second_complete_fn)(uint8_t *buffer, size_t size, size_t valid,
				   struct second_complete *info);

/* ---- for the first interface ---- */

/* What it answers: 0, or 14 because the process is the second one's. */
int second_refuses(void);

/* It was used in a way by which the process becomes its own. @subscribed: with a subscriber. */
void second_first_used(bool subscribed);

/* Has somebody subscribed to the second one now? Then records are its alone. */
bool second_holds(void);

/* cuptiFinalize: false, nothing is to be done, because several are there. */
bool second_finalize(void);

/* Was CUPTI ended after the second interface was used? Then no buffer ever comes. */
bool second_poisoned(void);

/* ---- for records ---- */

void second_op(const struct sim_op *op);
void second_flush(bool force);

#if SIM_CUPTI_API >= 130300
SIM_CUPTI int cuptiSubscribe_v2(void **handle, sub_fn fn, void *data, struct second_params *p);
SIM_CUPTI int cuptiActivitySetAttribute_v2(void *handle, int attribute, size_t *size, void *value);
SIM_CUPTI int cuptiActivityGetAttribute_v2(void *handle, int attribute, size_t *size, void *value);
SIM_CUPTI int cuptiActivityRegisterCallbacks_v2(void *handle, second_request_fn request,
						second_complete_fn complete);
SIM_CUPTI int cuptiActivityEnable_v2(void *handle, int kind, struct second_config *config);
SIM_CUPTI int cuptiActivityDisable_v2(void *handle, int kind, struct second_config *config);
SIM_CUPTI int cuptiActivityEnableRuntimeApi_v2(void *handle, uint32_t cbid, uint8_t enable);
SIM_CUPTI int cuptiActivityEnableDriverApi_v2(void *handle, uint32_t cbid, uint8_t enable);
SIM_CUPTI int cuptiActivityGetNextRecord_v2(void *handle, uint8_t *buffer, size_t valid,
					    void **record);
SIM_CUPTI int cuptiActivityGetNumDroppedRecords_v2(void *handle, void *context, uint32_t stream,
						   size_t *dropped);
SIM_CUPTI int cuptiGetTimestamp_v2(void *handle, uint64_t *t);
SIM_CUPTI int cuptiActivityPushExternalCorrelationId_v2(void *handle, int kind, uint64_t id);
SIM_CUPTI int cuptiActivityPopExternalCorrelationId_v2(void *handle, int kind, uint64_t *last);
SIM_CUPTI int cuptiIsTracingSessionRunning(uint8_t *running);
SIM_CUPTI int cuptiActivityGetStructSize(int kind, uint32_t version, size_t *bytes);

/* cuptiUnsubscribe knows both kinds of handles: false, it is none of these. */
bool second_leave(void *handle);
#endif

#endif
