/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unwinder with tables and a stack that are not what they should be: it ends, reads nothing but
 * through the function it is given, and gives a caller only where it says so.
 *
 * An input is memory from BASE on; its last words are registers.
 */
#include <stdlib.h>

#include "fuzz.h"
#include "sample/cfi.h"

#define BASE UINT64_C(0x10000)
#define STEPS 16

struct memory {
	const uint8_t *data;
	size_t len;
};

static bool read_input(void *arg, uint64_t at, void *to, size_t bytes)
{
	const struct memory *m = arg;

	if (at < BASE || at - BASE > m->len || m->len - (at - BASE) < bytes)
		return false;
	memcpy(to, m->data + (at - BASE), bytes);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct prof_cfi_frame f = { .known = (UINT64_C(1) << PROF_CFI_REGS) - 1 };
	struct memory m = { data, len };
	struct prof_cfi_memory mem = { read_input, &m };
	struct prof_cfi_table t;
	int i;

	if (len < sizeof(f.reg) || !prof_cfi_open(&mem, BASE, len, &t))
		return 0;
	memcpy(f.reg, data + len - sizeof(f.reg), sizeof(f.reg));
	for (i = 0; i < STEPS && prof_cfi_step(&mem, &t, &f) > 0; i++)
		if (!prof_cfi_knows(&f, PROF_CFI_RETURN) || f.known >> PROF_CFI_REGS)
			abort();
	return 0;
}

static size_t put(uint8_t *to, size_t at, const void *bytes, size_t n)
{
	memcpy(to + at, bytes, n);
	return at + n;
}

/* One function of 256 bytes of code behind the tables, its instructions, a stack, registers. */
size_t fuzz_seed(unsigned int number, uint8_t **data)
{
	static const uint8_t program[][24] = {
		{ 0x41, 0x0e, 0x10, 0x86, 0x02, 0x43, 0x0d, 0x06 }, /* push rbp; mov rsp */
		{ 0x41, 0x0e, 0x10, 0x83, 0x02, 0x44, 0x0a, 0x0e, 0x20, 0x42, 0x0b },
		{ 0x0f, 0x0b, 0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22 },
		{ 0x10, 0x06, 0x02, 0x77, 0x00, 0x16, 0x03, 0x02, 0x77, 0x10, 0x09, 0x0c, 0x0d },
		{ 0x02, 0x04, 0x03, 0x01, 0x00, 0x05, 0x0c, 0x02, 0x11, 0x0d, 0x7d, 0x2e, 0x10 },
		{ 0x07, 0x10, 0x06, 0x10, 0xc6, 0x14, 0x03, 0x02, 0x12, 0x07, 0x7f, 0x13, 0x7e },
	};
	static const uint8_t shared[] = { 1,
					  'z',
					  'R',
					  0,
					  1,
					  0x78,
					  PROF_CFI_LINK,
					  1,
					  0x1b,
					  0x0c,
					  PROF_CFI_STACK,
					  8,
					  0x80 | PROF_CFI_LINK,
					  1,
					  0,
					  0 };
	static const uint8_t head[] = { 1, 0x1b, 0x03, 0x3b, 0, 0, 0, 0, 1, 0, 0, 0 };
	const size_t cie = 20, fde = 44, code = 100, stack = 360, all = 640;
	uint64_t reg[PROF_CFI_REGS];
	uint8_t *to;
	size_t at, i;
	int32_t word;

	if (number >= sizeof(program) / sizeof(program[0]))
		return 0;
	*data = to = calloc(1, all);
	put(to, 0, head, sizeof(head));
	word = (int32_t)code;
	at = put(to, sizeof(head), &word, 4);
	word = (int32_t)fde;
	put(to, at, &word, 4);
	word = 4 + (int32_t)sizeof(shared);
	at = put(to, cie, &word, 4);
	put(to, at + 4, shared, sizeof(shared));
	word = 4 + 4 + 4 + 1 + (int32_t)sizeof(program[0]);
	at = put(to, fde, &word, 4);
	word = (int32_t)(at - cie);
	at = put(to, at, &word, 4);
	word = (int32_t)(code - at);
	at = put(to, at, &word, 4);
	word = 256;
	at = put(to, at, &word, 4) + 1;
	put(to, at, program[number], sizeof(program[0]));
	for (i = stack; i + 8 <= all - sizeof(reg); i += 8) {
		uint64_t value = BASE + code + i % 200;

		put(to, i, &value, 8);
	}
	for (i = 0; i < PROF_CFI_REGS; i++)
		reg[i] = BASE + stack + 8 * i;
	reg[PROF_CFI_RETURN] = BASE + code + 20;
	put(to, all - sizeof(reg), reg, sizeof(reg));
	return all;
}
