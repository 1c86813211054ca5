/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_value.c - numbers that a stream writes into memory in its turn. Waiting for one is not
 * supported: the model's streams wait for what has a time.
 */
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "driver.h"
#include "ranges.h"
#include "state.h"
#include "submit.h"

/* The value as the bytes of a copy. */
static bool carry(struct sim_data *data, uint64_t address, uint64_t value, size_t n)
{
	struct sim_box box = { .width = n, .height = 1, .depth = 1 };

	*data = (struct sim_data){ .kind = SIM_DATA_COPY, .dst = address, .box = box };
	data->staged = malloc(sizeof value);
	if (!data->staged)
		return false;
	memcpy(data->staged, &value, sizeof value); /* little endian */
	data->src = (uintptr_t)data->staged;
	return true;
}

static bool has_content(const struct sim_range *range)
{
	return range->kind == SIM_PINNED || range->kind == SIM_MANAGED || sim_config()->data;
}

/* A moment of the stream and no device operation. */
static int write_value(void *stream, uint64_t address, uint64_t value, size_t n, unsigned flags)
{
	struct sim_work work = { .data = { .kind = SIM_DATA_NONE } };
	struct sim_stream *s = sim_stream_get(stream);
	struct sim_range range;
	struct sim_op op;

	if (!s)
		return sim_ctx_current() ? SIM_INVALID_HANDLE : SIM_INVALID_CONTEXT;
	if (flags > 1 || address % n || !sim_range_find(address, &range))
		return SIM_INVALID_VALUE;
	if (s->capture)
		return SIM_NOT_SUPPORTED;
	if (has_content(&range) && !carry(&work.data, address, value, n))
		return SIM_OUT_OF_MEMORY;
	sim_lock();
	sim_op_init(&op, SIM_MARKER, s);
	sim_submit_work(s, &op, NULL, 0, &work);
	sim_data_move(&work.data);
	sim_unlock();
	return SIM_OK;
}

int cuStreamWriteValue32_v2(void *stream, uint64_t address, uint32_t value, unsigned flags)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuStreamWriteValue32_v2);

	if (!rc)
		rc = write_value(stream, address, value, sizeof value, flags);
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuStreamWriteValue32, cuStreamWriteValue32_v2);

int cuStreamWriteValue64_v2(void *stream, uint64_t address, uint64_t value, unsigned flags)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuStreamWriteValue64_v2);

	if (!rc)
		rc = write_value(stream, address, value, sizeof value, flags);
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuStreamWriteValue64, cuStreamWriteValue64_v2);

static int refuse(uint32_t cbid)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, cbid);

	return sim_call_end(&call, rc ? rc : SIM_NOT_SUPPORTED);
}

int cuStreamWaitValue32_v2(void *stream, uint64_t address, uint32_t value, unsigned flags)
{
	(void)stream;
	(void)address;
	(void)value;
	(void)flags;
	return refuse(SIM_CBID_cuStreamWaitValue32_v2);
}
SIM_ALIAS(cuStreamWaitValue32, cuStreamWaitValue32_v2);

int cuStreamWaitValue64_v2(void *stream, uint64_t address, uint64_t value, unsigned flags)
{
	(void)stream;
	(void)address;
	(void)value;
	(void)flags;
	return refuse(SIM_CBID_cuStreamWaitValue64_v2);
}
SIM_ALIAS(cuStreamWaitValue64, cuStreamWaitValue64_v2);

int cuStreamBatchMemOp_v2(void *stream, unsigned n, void *ops, unsigned flags)
{
	(void)stream;
	(void)n;
	(void)ops;
	(void)flags;
	return refuse(SIM_CBID_cuStreamBatchMemOp_v2);
}
SIM_ALIAS(cuStreamBatchMemOp, cuStreamBatchMemOp_v2);
