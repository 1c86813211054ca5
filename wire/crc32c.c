/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRC32C by the CPU's instruction, or by a table. Which one is asked at each call: a cached
 * answer would be a global, and a resolver (ifunc) would run before a sanitizer is ready.
 */
#include "crc32c.h"
#include "bytes.h"

/* One table entry: eight steps of the reflected division, unrolled by the preprocessor. */
#define STEP(c) (((c) >> 1) ^ (0x82f63b78u & (0u - ((c)&1u))))
#define STEP2(c) STEP(STEP(c))
#define STEP4(c) STEP2(STEP2(c))

/*
 * Sixteen entries, a nibble at a time: small enough to write down and to stay in the cache of a
 * process that is not ours.
 */
static const uint32_t nibble[16] = {
	STEP4(0u),  STEP4(1u),	STEP4(2u),  STEP4(3u),	STEP4(4u),  STEP4(5u),
	STEP4(6u),  STEP4(7u),	STEP4(8u),  STEP4(9u),	STEP4(10u), STEP4(11u),
	STEP4(12u), STEP4(13u), STEP4(14u), STEP4(15u),
};

uint32_t wire_crc32c_table(uint32_t crc, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;

	crc = ~crc;
	while (len--) {
		crc ^= *p++;
		crc = (crc >> 4) ^ nibble[crc & 15];
		crc = (crc >> 4) ^ nibble[crc & 15];
	}
	return ~crc;
}

#if defined(__x86_64__)

__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc, const uint8_t *p,
								 size_t len)
{
	uint64_t c = (uint32_t)~crc;

	for (; len >= 8; len -= 8, p += 8)
		c = __builtin_ia32_crc32di(c, wire_get64(p));
	while (len--)
		c = __builtin_ia32_crc32qi((uint32_t)c, *p++);
	return ~(uint32_t)c;
}

uint32_t wire_crc32c(uint32_t crc, const void *bytes, size_t len)
{
	if (!__builtin_cpu_supports("sse4.2"))
		return wire_crc32c_table(crc, bytes, len);
	return by_instruction(crc, bytes, len);
}

#elif defined(__ARM_FEATURE_CRC32)

#include <arm_acle.h>

uint32_t wire_crc32c(uint32_t crc, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;

	crc = ~crc;
	for (; len >= 8; len -= 8, p += 8)
		crc = __crc32cd(crc, wire_get64(p));
	while (len--)
		crc = __crc32cb(crc, *p++);
	return ~crc;
}

#else

uint32_t wire_crc32c(uint32_t crc, const void *bytes, size_t len)
{
	return wire_crc32c_table(crc, bytes, len);
}

#endif
