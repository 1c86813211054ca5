/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Little-endian loads and stores, zigzag, and base-128 varints, inline because the inner loops of
 * the columns use them. Signed values travel as their two's complement bits: no overflow is ever
 * computed in a signed type.
 */
#ifndef WIRE_BYTES_H
#define WIRE_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WIRE_VARINT_MAX 10 /* bytes of the longest varint */

/* Every host of an NVIDIA GPU is little-endian; so loads and stores need not swap. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the format's byte order is the host's");

static inline uint16_t wire_get16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint32_t wire_get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint64_t wire_get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline void wire_put16(uint8_t *p, uint16_t v)
{
	memcpy(p, &v, sizeof(v));
}

static inline void wire_put32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, sizeof(v));
}

static inline void wire_put64(uint8_t *p, uint64_t v)
{
	memcpy(p, &v, sizeof(v));
}

/* Small magnitudes of either sign become small numbers. */
static inline uint64_t wire_zigzag(uint64_t v)
{
	return (v << 1) ^ (0 - (v >> 63));
}

static inline uint64_t wire_unzigzag(uint64_t v)
{
	return (v >> 1) ^ (0 - (v & 1));
}

/* Writes at most WIRE_VARINT_MAX bytes; returns the byte behind them. */
static inline uint8_t *wire_varint_put(uint8_t *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)v | 0x80;
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

static inline size_t wire_varint_size(uint64_t v)
{
	return (70 - (size_t)__builtin_clzll(v | 1)) / 7;
}

/* Reads one varint of [p, end); returns the byte behind it, NULL if it is cut or over 64 bits. */
static inline const uint8_t *wire_varint_get(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
	uint64_t out = 0;
	unsigned int shift;

	for (shift = 0; shift < 64 && p < end; shift += 7) {
		uint8_t byte = *p++;

		if (shift == 63 && byte > 1)
			return NULL;
		out |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*v = out;
			return p;
		}
	}
	return NULL;
}

#endif
