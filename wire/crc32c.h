/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRC32C (Castagnoli; the reflected polynomial 0x82f63b78), as iSCSI defines it.
 * Any thread. Uses the CPU's instruction where it has one.
 */
#ifndef WIRE_CRC32C_H
#define WIRE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Extends @crc (0 for the first piece) by @len bytes. */
uint32_t wire_crc32c(uint32_t crc, const void *bytes, size_t len);

/* The portable one, for tests and CPUs without the instruction. */
uint32_t wire_crc32c_table(uint32_t crc, const void *bytes, size_t len);

#endif
