/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x86-64. call rel32: e8; call *...: ff /2. A stub of the procedure linkage table: endbr64 or not,
 * bnd or not, jmp *disp32(%rip).
 */
#include "callsite.h"

#include <string.h>

#define LONGEST 7u /* bytes of a call */
#define DIRECT 5u
#define BY_TABLE 6u /* call *disp32(%rip), as -fno-plt makes it */

bool prof_callsite_before_x86(const struct prof_cfi_memory *mem, uint64_t address)
{
	/* where ff stands in calls of 7 to 2 bytes */
	static const uint8_t at[] = { 0, 1, 3, 4, 5 };
	uint8_t code[LONGEST];
	size_t i;

	if (address < LONGEST || !mem->read(mem->arg, address - LONGEST, code, LONGEST))
		return false;
	if (code[LONGEST - DIRECT] == 0xe8)
		return true;
	for (i = 0; i < sizeof(at); i++)
		if (code[at[i]] == 0xff && (code[at[i] + 1] >> 3 & 7) == 2)
			return true;
	return false;
}

/* Where a displacement leads whose last byte lies right before @next. */
static uint64_t displaced(const uint8_t *code, uint64_t next)
{
	int32_t by;

	memcpy(&by, code, sizeof(by));
	return next + (uint64_t)(int64_t)by;
}

static uint64_t read_word(const struct prof_cfi_memory *mem, uint64_t at)
{
	uint64_t word;

	return mem->read(mem->arg, at, &word, sizeof(word)) ? word : 0;
}

/* What a stub at @at jumps to; 0: it is none. */
static uint64_t behind_stub(const struct prof_cfi_memory *mem, uint64_t at)
{
	uint8_t code[11];
	size_t i = 0;

	if (!mem->read(mem->arg, at, code, sizeof(code)))
		return 0;
	if (!memcmp(code, "\xf3\x0f\x1e\xfa", 4))
		i = 4;
	i += code[i] == 0xf2;
	if (code[i] != 0xff || code[i + 1] != 0x25)
		return 0;
	return read_word(mem, displaced(code + i + 2, at + i + 6));
}

bool prof_callsite_calls_x86(const struct prof_cfi_memory *mem, uint64_t address, uint64_t function)
{
	uint8_t code[BY_TABLE];
	uint64_t to;

	if (address < BY_TABLE || !mem->read(mem->arg, address - BY_TABLE, code, BY_TABLE))
		return false;
	if (code[0] == 0xff && code[1] == 0x15 &&
	    read_word(mem, displaced(code + 2, address)) == function)
		return true;
	if (code[BY_TABLE - DIRECT] != 0xe8)
		return false;
	to = displaced(code + BY_TABLE - DIRECT + 1, address);
	return to == function || behind_stub(mem, to) == function;
}
