/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRC32C: known answers, and the instruction against the table at every length and alignment.
 */
#include "harness.h"
#include "wire/crc32c.h"

static void test_known(void)
{
	uint8_t zeros[32] = { 0 }, ones[32];

	memset(ones, 0xff, sizeof(ones));
	EXPECT_UINT(wire_crc32c(0, "123456789", 9), 0xe3069283u);
	EXPECT_UINT(wire_crc32c(0, zeros, sizeof(zeros)), 0x8a9136aau);
	EXPECT_UINT(wire_crc32c(0, ones, sizeof(ones)), 0x62a8ab43u);
	EXPECT_UINT(wire_crc32c(0, "", 0), 0);
}

static void test_pieces(void)
{
	uint64_t seed = t_seed(1);
	uint8_t bytes[300];
	size_t i, from, len;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)t_random(&seed);
	for (from = 0; from < 9; from++) {
		for (len = 0; from + len <= sizeof(bytes); len++) {
			uint32_t whole = wire_crc32c(0, bytes + from, len);
			size_t half = len / 3;
			uint32_t pieces = wire_crc32c(0, bytes + from, half);

			EXPECT_UINT(whole, wire_crc32c_table(0, bytes + from, len));
			EXPECT_UINT(wire_crc32c(pieces, bytes + from + half, len - half), whole);
		}
	}
}

int main(void)
{
	return RUN(test_known, test_pieces);
}
