/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a fuzz target is: libFuzzer's entry point, and good inputs to begin with. The target aborts
 * where what it finds is wrong. Programs: with driver.c everywhere, with libFuzzer where clang is
 * and -DGPUSTARVE_FUZZ=ON was given.
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "wire/crc32c.h"
#include "wire/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Good input number @number in fresh memory, the caller's to free; 0: there are no more. */
size_t fuzz_seed(unsigned int number, uint8_t **data);

/*
 * What the target makes a file of out of an input, a run's or a trace's, in fresh memory, the
 * caller's to free; 0: nothing. Targets of other things have none.
 */
size_t fuzz_file(const uint8_t *data, size_t len, uint8_t **file);

static inline void fuzz_put32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, sizeof(v));
}

static inline uint32_t fuzz_get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Makes all frames' checksums good, so that what they protect is reached. */
static inline void fuzz_seal(uint8_t *data, size_t len)
{
	size_t at;

	for (at = 0; at + WIRE_FRAME_HEADER_BYTES <= len; at++) {
		uint8_t *p = data + at;
		uint64_t payload;

		if (memcmp(p, WIRE_FRAME_MAGIC, 4))
			continue;
		payload = (uint64_t)fuzz_get32(p + 12) + fuzz_get32(p + 48);
		if (payload <= len - at - WIRE_FRAME_HEADER_BYTES)
			fuzz_put32(p + 56, wire_crc32c(0, p + WIRE_FRAME_HEADER_BYTES, payload));
		fuzz_put32(p + 60, wire_crc32c(0, p, 60));
	}
}

/* fuzz_file() of targets whose first byte says whether checksums are made good, @seals times. */
static inline size_t fuzz_take(const uint8_t *data, size_t len, uint8_t **file, unsigned int seals)
{
	if (!len)
		return 0;
	*file = malloc(len);
	memcpy(*file, data + 1, len - 1);
	while (data[0] & 1 && seals--)
		fuzz_seal(*file, len - 1);
	return len - 1;
}

#endif
