/* SPDX-License-Identifier: Apache-2.0 */
#include "reads.h"

uint64_t view_reads_of_step(const struct view_summary *s)
{
	const struct ana_copies *d = &s->result->copies[ANA_D2H];
	uint64_t reads = s->result->steps ? d->count / s->result->steps : 0;

	return reads >= VIEW_READS_MIN && d->bytes / d->count <= VIEW_READ_BYTES ? reads : 0;
}
