/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call frame information: DWARF 5, section 6.4, in the form of .eh_frame (LSB Core 5.0, "Exception
 * Frames").
 */
#include "cfi.h"

#include <errno.h>
#include <string.h>

#include "cfiexpr.h"

#define STATES 8u /* remembered; compilers nest two */
#define OMITTED 0xff /* encoding of a pointer that is not there */

enum { /* how a caller's register is found */
	RULE_SAME = 0, /* it was not touched, or is lost, as the ABI says */
	RULE_UNDEFINED,
	RULE_AT, /* in memory, at the frame's address + number */
	RULE_IS, /* the frame's address + number */
	RULE_REGISTER,
	RULE_AT_EXPRESSION,
	RULE_IS_EXPRESSION,
};

struct rule {
	uint8_t how;
	int64_t number;
	struct prof_cfi_expr e;
};

/* What holds at one address of code. */
struct row {
	bool by_expression; /* the frame's address */
	uint64_t base; /* else: this register ... */
	int64_t offset; /* ... and so much */
	struct prof_cfi_expr e;
	struct rule rule[PROF_CFI_REGS];
};

struct entry { /* a function's, with what all of its kind share */
	uint64_t code_unit;
	int64_t data_unit;
	uint64_t return_register;
	uint8_t pointers; /* their encoding */
	bool augmented, signal;
	uint64_t begin, bytes; /* code */
	uint64_t shared, shared_end, own, own_end; /* instructions */
};

struct program {
	struct prof_cfi_bytes b;
	const struct entry *e;
	struct row row, first, kept[STATES];
	unsigned int depth;
	uint64_t at; /* address of code */
	bool bad;
};

/*
 * ---- finding the entry ------------------------------------------------------------------------
 */

bool prof_cfi_open(const struct prof_cfi_memory *mem, uint64_t header, uint64_t bytes,
		   struct prof_cfi_table *t)
{
	uint8_t head[12];
	uint32_t rows;

	/*
	 * Version, encodings of the pointer to .eh_frame, of the count (four bytes) and of the
	 * rows.
	 */
	if (bytes < sizeof(head) || !mem->read(mem->arg, header, head, sizeof(head)))
		return false;
	if (head[0] != 1 || head[2] != 0x03 || head[3] != 0x3b || (head[1] & 0x0f) != 0x0b)
		return false;
	memcpy(&rows, head + 8, sizeof(rows));
	if (!rows || rows > (bytes - sizeof(head)) / 8)
		return false;
	*t = (struct prof_cfi_table){ .rows = header + sizeof(head),
				      .count = rows,
				      .header = header };
	return true;
}

/* The last row that begins at or below it. */
static bool find_row(const struct prof_cfi_memory *mem, const struct prof_cfi_table *t, uint64_t pc,
		     uint64_t *entry)
{
	uint64_t low = 0, high = t->count;
	int32_t row[2];

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (!mem->read(mem->arg, t->rows + middle * sizeof(row), row, sizeof(row)))
			return false;
		if (t->header + (uint64_t)(int64_t)row[0] <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || !mem->read(mem->arg, t->rows + (low - 1) * sizeof(row), row, sizeof(row)))
		return false;
	*entry = t->header + (uint64_t)(int64_t)row[1];
	return true;
}

/* The length before each entry; what follows it. */
static bool open_entry(const struct prof_cfi_memory *mem, uint64_t at, struct prof_cfi_bytes *b)
{
	uint64_t bytes;

	prof_cfi_bytes(b, mem, at, at + 12);
	bytes = prof_cfi_unsigned(b, 4);
	if (bytes == UINT32_MAX)
		bytes = prof_cfi_unsigned(b, 8);
	if (b->bad || !bytes || bytes > UINT32_MAX)
		return false;
	prof_cfi_bytes(b, mem, b->at, b->at + bytes);
	return true;
}

/* Letters behind "z", each with data of its own. */
static void read_augmentation(struct prof_cfi_bytes *b, const char *letters, struct entry *e)
{
	uint64_t bytes = prof_cfi_uleb(b), end = b->at + bytes;

	for (; *letters && !b->bad; letters++) {
		if (*letters == 'R') {
			e->pointers = (uint8_t)prof_cfi_unsigned(b, 1);
		} else if (*letters == 'S') {
			e->signal = true;
		} else if (*letters == 'L') {
			prof_cfi_unsigned(b, 1);
		} else if (*letters == 'P') {
			/* Its target is of no use, and may not be there. */
			uint8_t encoding = (uint8_t)prof_cfi_unsigned(b, 1);

			prof_cfi_pointer(b, encoding & 0x7f);
		} else {
			break;
		}
	}
	b->bad |= end > b->end;
	b->at = end;
}

static bool read_shared(const struct prof_cfi_memory *mem, uint64_t at, struct entry *e)
{
	struct prof_cfi_bytes b;
	char letters[16];
	unsigned int version;
	size_t i = 0;

	if (!open_entry(mem, at, &b) || prof_cfi_unsigned(&b, 4))
		return false;
	version = (unsigned int)prof_cfi_unsigned(&b, 1);
	if (version != 1 && version != 3)
		return false;
	do
		letters[i] = (char)prof_cfi_unsigned(&b, 1);
	while (letters[i] && ++i < sizeof(letters));
	if (i == sizeof(letters))
		return false;
	e->code_unit = prof_cfi_uleb(&b);
	e->data_unit = prof_cfi_sleb(&b);
	e->return_register = version == 1 ? prof_cfi_unsigned(&b, 1) : prof_cfi_uleb(&b);
	e->augmented = letters[0] == 'z';
	if (e->augmented)
		read_augmentation(&b, letters + 1, e);
	else if (letters[0])
		return false;
	e->shared = b.at;
	e->shared_end = b.end;
	return !b.bad && e->return_register == PROF_CFI_LINK;
}

static bool read_entry(const struct prof_cfi_memory *mem, uint64_t at, struct entry *e)
{
	struct prof_cfi_bytes b;
	uint64_t from, back;

	*e = (struct entry){ 0 };
	if (!open_entry(mem, at, &b))
		return false;
	from = b.at;
	back = prof_cfi_unsigned(&b, 4);
	if (b.bad || !back || !read_shared(mem, from - back, e) || e->pointers == OMITTED)
		return false;
	e->begin = prof_cfi_pointer(&b, e->pointers);
	e->bytes = prof_cfi_pointer(&b, e->pointers & 0x0f);
	if (e->augmented) {
		uint64_t skip = prof_cfi_uleb(&b);

		b.bad |= skip > b.end - b.at;
		b.at += skip;
	}
	e->own = b.at;
	e->own_end = b.end;
	return !b.bad;
}

/*
 * ---- its instructions -------------------------------------------------------------------------
 */

static void set_rule(struct program *p, uint64_t reg, uint8_t how, int64_t number)
{
	if (reg < PROF_CFI_REGS)
		p->row.rule[reg] = (struct rule){ .how = how, .number = number };
}

static struct prof_cfi_expr expression(struct program *p)
{
	uint64_t bytes = prof_cfi_uleb(&p->b);
	struct prof_cfi_expr e = { p->b.at, bytes };

	p->bad |= p->b.bad || bytes > p->b.end - p->b.at;
	p->b.at = p->bad ? p->b.end : p->b.at + bytes;
	return e;
}

static void set_expression(struct program *p, uint8_t how)
{
	uint64_t reg = prof_cfi_uleb(&p->b);
	struct prof_cfi_expr e = expression(p);

	set_rule(p, reg, how, 0);
	if (reg < PROF_CFI_REGS)
		p->row.rule[reg].e = e;
}

static void restore(struct program *p, uint64_t reg)
{
	if (reg < PROF_CFI_REGS)
		p->row.rule[reg] = p->first.rule[reg];
}

static void set_frame(struct program *p, uint64_t base, int64_t offset)
{
	p->row.by_expression = false;
	p->row.base = base;
	p->row.offset = offset;
}

static void remember(struct program *p)
{
	if (p->depth == STATES)
		p->bad = true;
	else
		p->kept[p->depth++] = p->row;
}

static void recall(struct program *p)
{
	if (p->depth)
		p->row = p->kept[--p->depth];
	else
		p->bad = true;
}

static void advance(struct program *p, uint64_t units)
{
	p->at += units * p->e->code_unit;
}

static int64_t scaled(struct program *p, bool is_signed)
{
	int64_t n = is_signed ? prof_cfi_sleb(&p->b) : (int64_t)prof_cfi_uleb(&p->b);

	return (int64_t)((uint64_t)n * (uint64_t)p->e->data_unit);
}

/* DW_CFA_*, those without an operand in the byte itself. */
static void extended(struct program *p, uint8_t op)
{
	struct prof_cfi_bytes *b = &p->b;
	uint64_t reg;

	switch (op) {
	case 0x00: /* nop */
		break;
	case 0x01: /* set_loc */
		p->at = prof_cfi_pointer(b, p->e->pointers);
		break;
	case 0x02: /* advance_loc1, 2, 4 */
	case 0x03:
	case 0x04:
		advance(p, prof_cfi_unsigned(b, 1u << (op - 2)));
		break;
	case 0x05: /* offset_extended */
	case 0x11: /* offset_extended_sf */
		reg = prof_cfi_uleb(b);
		set_rule(p, reg, RULE_AT, scaled(p, op == 0x11));
		break;
	case 0x06: /* restore_extended */
		restore(p, prof_cfi_uleb(b));
		break;
	case 0x07: /* undefined */
		set_rule(p, prof_cfi_uleb(b), RULE_UNDEFINED, 0);
		break;
	case 0x08: /* same_value */
		set_rule(p, prof_cfi_uleb(b), RULE_SAME, 0);
		break;
	case 0x09: /* register */
		reg = prof_cfi_uleb(b);
		set_rule(p, reg, RULE_REGISTER, (int64_t)prof_cfi_uleb(b));
		break;
	case 0x0a: /* remember_state */
		remember(p);
		break;
	case 0x0b: /* restore_state */
		recall(p);
		break;
	case 0x0c: /* def_cfa */
		reg = prof_cfi_uleb(b);
		set_frame(p, reg, (int64_t)prof_cfi_uleb(b));
		break;
	case 0x0d: /* def_cfa_register */
		set_frame(p, prof_cfi_uleb(b), p->row.offset);
		break;
	case 0x0e: /* def_cfa_offset */
		set_frame(p, p->row.base, (int64_t)prof_cfi_uleb(b));
		break;
	case 0x0f: /* def_cfa_expression */
		p->row.e = expression(p);
		p->row.by_expression = true;
		break;
	case 0x10: /* expression */
		set_expression(p, RULE_AT_EXPRESSION);
		break;
	case 0x12: /* def_cfa_sf */
		reg = prof_cfi_uleb(b);
		set_frame(p, reg, scaled(p, true));
		break;
	case 0x13: /* def_cfa_offset_sf */
		set_frame(p, p->row.base, scaled(p, true));
		break;
	case 0x14: /* val_offset */
	case 0x15: /* val_offset_sf */
		reg = prof_cfi_uleb(b);
		set_rule(p, reg, RULE_IS, scaled(p, op == 0x15));
		break;
	case 0x16: /* val_expression */
		set_expression(p, RULE_IS_EXPRESSION);
		break;
	case 0x2e: /* GNU_args_size */
		prof_cfi_uleb(b);
		break;
	default:
		p->bad |= !prof_cfi_signs(op);
	}
}

static void one(struct program *p)
{
	uint8_t op = (uint8_t)prof_cfi_unsigned(&p->b, 1), low = op & 0x3f;

	switch (op >> 6) {
	case 1: /* advance_loc */
		advance(p, low);
		break;
	case 2: /* offset */
		set_rule(p, low, RULE_AT, scaled(p, false));
		break;
	case 3: /* restore */
		restore(p, low);
		break;
	default:
		extended(p, low);
	}
}

/* As far as they hold for @pc. */
static bool execute(struct program *p, const struct prof_cfi_memory *mem, uint64_t at, uint64_t end,
		    uint64_t pc)
{
	struct row before;

	prof_cfi_bytes(&p->b, mem, at, end);
	while (p->b.at < p->b.end && !p->bad && !p->b.bad) {
		before = p->row;
		one(p);
		if (p->at > pc) {
			p->row = before;
			break;
		}
	}
	return !p->bad && !p->b.bad;
}

static int find_row_of_code(const struct prof_cfi_memory *mem, const struct entry *e, uint64_t pc,
			    struct row *row)
{
	struct program p = { .e = e, .at = e->begin };

	if (!execute(&p, mem, e->shared, e->shared_end, UINT64_MAX))
		return -EFAULT;
	p.first = p.row;
	if (!execute(&p, mem, e->own, e->own_end, pc))
		return -EFAULT;
	*row = p.row;
	return 0;
}

/*
 * ---- the caller -------------------------------------------------------------------------------
 */

static int find_frame(const struct prof_cfi_memory *mem, const struct prof_cfi_frame *f,
		      const struct row *row, uint64_t *frame)
{
	if (row->by_expression)
		return prof_cfi_evaluate(mem, f, row->e, NULL, frame) ? 0 : -ENODATA;
	if (!prof_cfi_knows(f, row->base))
		return -ENODATA;
	*frame = f->reg[row->base] + (uint64_t)row->offset;
	return 0;
}

/* The caller's value; false: it is not known. */
static bool apply(const struct prof_cfi_memory *mem, const struct prof_cfi_frame *f,
		  unsigned int reg, const struct rule *r, uint64_t frame, uint64_t *value)
{
	switch (r->how) {
	case RULE_SAME:
		*value = reg == PROF_CFI_STACK ? frame : f->reg[reg];
		return reg == PROF_CFI_STACK ||
		       ((prof_cfi_is_kept(reg) || reg == PROF_CFI_LINK) && prof_cfi_knows(f, reg));
	case RULE_AT:
		return mem->read(mem->arg, frame + (uint64_t)r->number, value, sizeof(*value));
	case RULE_IS:
		*value = frame + (uint64_t)r->number;
		return true;
	case RULE_REGISTER:
		*value = prof_cfi_knows(f, (uint64_t)r->number) ? f->reg[r->number] : 0;
		return prof_cfi_knows(f, (uint64_t)r->number);
	case RULE_AT_EXPRESSION:
		return prof_cfi_evaluate(mem, f, r->e, &frame, value) &&
		       mem->read(mem->arg, *value, value, sizeof(*value));
	case RULE_IS_EXPRESSION:
		return prof_cfi_evaluate(mem, f, r->e, &frame, value);
	default:
		return false;
	}
}

/* Has the outermost function, which nobody called? */
static bool is_outermost(const struct row *row)
{
	uint8_t how = row->rule[PROF_CFI_LINK].how;

	return how == RULE_UNDEFINED || (how == RULE_SAME && PROF_CFI_LINK == PROF_CFI_RETURN);
}

/* A register that holds it is the called function's own from then on. */
static void return_by_link(struct prof_cfi_frame *caller, bool signal)
{
	uint64_t link = UINT64_C(1) << PROF_CFI_LINK;

	prof_cfi_set(caller, PROF_CFI_RETURN, prof_cfi_plain(caller->reg[PROF_CFI_LINK]));
	if (PROF_CFI_LINK != PROF_CFI_RETURN && !signal)
		caller->known &= ~link;
}

static int to_caller(const struct prof_cfi_memory *mem, const struct row *row,
		     struct prof_cfi_frame *f, bool signal)
{
	struct prof_cfi_frame caller = { 0 };
	uint64_t frame, value;
	unsigned int i;
	int err = find_frame(mem, f, row, &frame);

	if (err)
		return err;
	if (is_outermost(row))
		return 0;
	for (i = 0; i < PROF_CFI_REGS; i++)
		if (apply(mem, f, i, &row->rule[i], frame, &value))
			prof_cfi_set(&caller, i, value);
	if (!prof_cfi_knows(&caller, PROF_CFI_LINK))
		return row->rule[PROF_CFI_LINK].how == RULE_SAME ? -ENODATA : -EFAULT;
	return_by_link(&caller, signal);
	*f = caller;
	return f->reg[PROF_CFI_RETURN] ? 1 : 0;
}

int prof_cfi_step(const struct prof_cfi_memory *mem, const struct prof_cfi_table *t,
		  struct prof_cfi_frame *f)
{
	uint64_t pc = f->reg[PROF_CFI_RETURN] - f->returned, at;
	struct entry e;
	struct row row;
	int rc;

	if (!find_row(mem, t, pc, &at))
		return -ENOENT;
	if (!read_entry(mem, at, &e))
		return -EFAULT;
	if (pc - e.begin >= e.bytes)
		return -ENOENT;
	rc = find_row_of_code(mem, &e, pc, &row);
	if (!rc)
		rc = to_caller(mem, &row, f, e.signal);
	if (rc > 0)
		f->returned = !e.signal;
	return rc;
}

uint64_t prof_cfi_begin(const struct prof_cfi_memory *mem, const struct prof_cfi_table *t,
			uint64_t pc)
{
	struct entry e;
	uint64_t at;

	if (!find_row(mem, t, pc, &at) || !read_entry(mem, at, &e) || pc - e.begin >= e.bytes)
		return 0;
	return e.begin;
}
