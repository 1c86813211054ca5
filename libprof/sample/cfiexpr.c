/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stack machine: DWARF 5, section 2.5, without what names variables and types.
 */
#include "cfiexpr.h"

#define DEPTH 32u
#define STEPS 1000u /* a loop ends */

enum {
	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST8S = 0x0f,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_DUP = 0x12,
	OP_DROP = 0x13,
	OP_OVER = 0x14,
	OP_PICK = 0x15,
	OP_SWAP = 0x16,
	OP_ROT = 0x17,
	OP_ABS = 0x19,
	OP_AND = 0x1a,
	OP_DIV = 0x1b,
	OP_MINUS = 0x1c,
	OP_MOD = 0x1d,
	OP_MUL = 0x1e,
	OP_NEG = 0x1f,
	OP_NOT = 0x20,
	OP_OR = 0x21,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_SHR = 0x25,
	OP_SHRA = 0x26,
	OP_XOR = 0x27,
	OP_BRA = 0x28,
	OP_EQ = 0x29,
	OP_GE = 0x2a,
	OP_GT = 0x2b,
	OP_LE = 0x2c,
	OP_LT = 0x2d,
	OP_NE = 0x2e,
	OP_SKIP = 0x2f,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96,
};

struct machine {
	struct prof_cfi_bytes b;
	const struct prof_cfi_frame *f;
	uint64_t begin;
	uint64_t stack[DEPTH];
	unsigned int n;
	bool bad;
};

static void push(struct machine *m, uint64_t value)
{
	if (m->n == DEPTH)
		m->bad = true;
	else
		m->stack[m->n++] = value;
}

static uint64_t pop(struct machine *m)
{
	if (m->n)
		return m->stack[--m->n];
	m->bad = true;
	return 0;
}

static void pick(struct machine *m, uint64_t below)
{
	if (below < m->n)
		push(m, m->stack[m->n - 1 - below]);
	else
		m->bad = true;
}

static void push_register(struct machine *m, uint64_t reg)
{
	int64_t offset = prof_cfi_sleb(&m->b);

	if (!prof_cfi_knows(m->f, reg))
		m->bad = true;
	else
		push(m, m->f->reg[reg] + (uint64_t)offset);
}

static void dereference(struct machine *m, uint64_t bytes)
{
	uint64_t value = 0, at = pop(m);

	if (!bytes || bytes > sizeof(value) ||
	    !m->b.mem->read(m->b.mem->arg, at, &value, (size_t)bytes))
		m->bad = true;
	push(m, value);
}

/* Only to where the expression is. */
static void jump(struct machine *m, bool wanted)
{
	int64_t by = prof_cfi_signed(&m->b, 2);
	uint64_t to = m->b.at + (uint64_t)by;

	if (!wanted)
		return;
	if (to < m->begin || to > m->b.end)
		m->bad = true;
	else
		m->b.at = to;
}

static void rotate(struct machine *m)
{
	uint64_t first = pop(m), second = pop(m), third = pop(m);

	push(m, first);
	push(m, third);
	push(m, second);
}

static uint64_t divide(struct machine *m, uint64_t a, uint64_t b)
{
	if (!b || (a == UINT64_C(1) << 63 && b == UINT64_MAX)) {
		m->bad = true;
		return 0;
	}
	return (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t two(struct machine *m, uint8_t op, uint64_t a, uint64_t b)
{
	int64_t x = (int64_t)a, y = (int64_t)b;

	switch (op) {
	case OP_AND:
		return a & b;
	case OP_DIV:
		return divide(m, a, b);
	case OP_MINUS:
		return a - b;
	case OP_MOD:
		m->bad |= !b;
		return b ? a % b : 0;
	case OP_MUL:
		return a * b;
	case OP_OR:
		return a | b;
	case OP_PLUS:
		return a + b;
	case OP_SHL:
		return b < 64 ? a << b : 0;
	case OP_SHR:
		return b < 64 ? a >> b : 0;
	case OP_SHRA:
		return (uint64_t)(x >> (b < 64 ? b : 63));
	case OP_XOR:
		return a ^ b;
	case OP_EQ:
		return x == y;
	case OP_GE:
		return x >= y;
	case OP_GT:
		return x > y;
	case OP_LE:
		return x <= y;
	case OP_LT:
		return x < y;
	case OP_NE:
		return x != y;
	default:
		m->bad = true;
		return 0;
	}
}

static void on_stack(struct machine *m, uint8_t op)
{
	uint64_t a, b;

	switch (op) {
	case OP_DROP:
		pop(m);
		break;
	case OP_SWAP:
		b = pop(m);
		a = pop(m);
		push(m, b);
		push(m, a);
		break;
	case OP_ROT:
		rotate(m);
		break;
	case OP_ABS:
		a = pop(m);
		push(m, a >> 63 ? -a : a);
		break;
	case OP_NEG:
		push(m, -pop(m));
		break;
	case OP_NOT:
		push(m, ~pop(m));
		break;
	default:
		b = pop(m);
		a = pop(m);
		push(m, two(m, op, a, b));
	}
}

static void one(struct machine *m, uint8_t op)
{
	if (op >= OP_LIT0 && op <= OP_LIT31)
		push(m, op - OP_LIT0);
	else if (op >= OP_BREG0 && op <= OP_BREG31)
		push_register(m, op - OP_BREG0);
	else if (op >= OP_CONST1U && op <= OP_CONST8S && (op & 1))
		push(m, (uint64_t)prof_cfi_signed(&m->b, 1u << ((op - OP_CONST1U) / 2)));
	else if (op >= OP_CONST1U && op <= OP_CONST8S)
		push(m, prof_cfi_unsigned(&m->b, 1u << ((op - OP_CONST1U) / 2)));
	else if (op == OP_ADDR)
		push(m, prof_cfi_unsigned(&m->b, 8));
	else if (op == OP_DEREF)
		dereference(m, 8);
	else if (op == OP_DEREF_SIZE)
		dereference(m, prof_cfi_unsigned(&m->b, 1));
	else if (op == OP_CONSTU)
		push(m, prof_cfi_uleb(&m->b));
	else if (op == OP_CONSTS)
		push(m, (uint64_t)prof_cfi_sleb(&m->b));
	else if (op == OP_DUP || op == OP_OVER)
		pick(m, op == OP_OVER);
	else if (op == OP_PICK)
		pick(m, prof_cfi_unsigned(&m->b, 1));
	else if (op == OP_PLUS_UCONST)
		push(m, pop(m) + prof_cfi_uleb(&m->b));
	else if (op == OP_BRA)
		jump(m, pop(m));
	else if (op == OP_SKIP)
		jump(m, true);
	else if (op == OP_BREGX)
		push_register(m, prof_cfi_uleb(&m->b));
	else if (op != OP_NOP)
		on_stack(m, op);
}

bool prof_cfi_evaluate(const struct prof_cfi_memory *mem, const struct prof_cfi_frame *f,
		       struct prof_cfi_expr e, const uint64_t *first, uint64_t *value)
{
	struct machine m = { .f = f, .begin = e.at };
	unsigned int steps;

	prof_cfi_bytes(&m.b, mem, e.at, e.at + e.bytes);
	if (first)
		push(&m, *first);
	for (steps = 0; m.b.at < m.b.end && !m.bad && !m.b.bad; steps++) {
		if (steps == STEPS)
			return false;
		one(&m, (uint8_t)prof_cfi_unsigned(&m.b, 1));
	}
	*value = pop(&m);
	return !m.bad && !m.b.bad;
}
