/* SPDX-License-Identifier: Apache-2.0 */
/*
 * no_faults.c - in place of cupti/faults.c: nothing goes wrong.
 */
#include "../cupti/faults.h"

enum fault_stamp fault_record(const struct sim_op *op)
{
	(void)op;
	return FAULT_NONE;
}

void fault_lost(const struct sim_export *driver, const struct sim_op *op)
{
	(void)driver;
	(void)op;
}

uint64_t fault_full(void)
{
	return 0;
}

bool fault_no_buffer(void)
{
	return false;
}

uint64_t fault_late(void)
{
	return 0;
}

bool fault_early(void)
{
	return false;
}
