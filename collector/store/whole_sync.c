/* SPDX-License-Identifier: Apache-2.0 */
#include "whole_sync.h"

#include <inttypes.h>
#include <stdio.h>

bool coll_whole_sync_pays(size_t files, uint64_t dirty)
{
	return files >= COLL_WHOLE_SYNC_FILES && dirty / COLL_WHOLE_SYNC_BYTES <= files;
}

uint64_t coll_whole_sync_dirty(const char *meminfo)
{
	FILE *f = fopen(meminfo, "re");
	uint64_t kb, sum = 0;
	unsigned int told = 0;
	char line[128];

	while (f && told < 2 && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "Dirty: %" SCNu64, &kb) != 1 &&
		    sscanf(line, "Writeback: %" SCNu64, &kb) != 1)
			continue;
		sum += kb < UINT32_MAX ? kb << 10 : UINT64_C(1) << 42;
		told++;
	}
	if (f)
		fclose(f);
	return told == 2 ? sum : UINT64_MAX;
}
