/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading, checking and rewriting call-frame information. image.c finds the
 * bytes, general.c hands the result to libunwind. No thread is held meanwhile.
 *
 * libunwind 1.6.2 indexes arrays by numbers it finds in call-frame information,
 * asserts that a CFA is defined, and follows branches of expressions without
 * end: hence the check. It also refuses whole functions for registers it does
 * not keep, which are left out here.
 */
#include "capture/cfi.h"

#include <string.h>

#include "capture/arch.h"
#include "capture/cursor.h"

#define REMEMBER_MAX 64		/* depth of DW_CFA_remember_state */
#define EXPRESSION_STACK 32	/* libunwind has room for 64 */
#define AUGMENTATION_MAX 8

/* Pointer encodings */
enum {
	PE_FORMAT = 0x0f, PE_APPLICATION = 0x70,
	PE_ABSPTR = 0x00, PE_ULEB = 0x01, PE_UDATA2 = 0x02, PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SLEB = 0x09, PE_SDATA2 = 0x0a, PE_SDATA4 = 0x0b, PE_SDATA8 = 0x0c,
	PE_PCREL = 0x10, PE_DATAREL = 0x30, PE_INDIRECT = 0x80, PE_OMIT = 0xff,
};

/*
 * Operands by instruction: r register, u unsigned and s signed LEB128, 1 2 4
 * bytes, b block that is an expression, "" none, NULL: not understood (set_loc and
 * val_offset among them: no compiler makes them for these processors).
 */
static const char *const cfa_operands[0x40] = {
	[0x00] = "", [0x02] = "1", [0x03] = "2", [0x04] = "4", [0x05] = "ru",
	[0x06] = "r", [0x07] = "r", [0x08] = "r", [0x09] = "rr", [0x0a] = "",
	[0x0b] = "", [0x0c] = "ru", [0x0d] = "r", [0x0e] = "u", [0x0f] = "b",
	[0x10] = "rb", [0x11] = "rs", [0x12] = "rs", [0x13] = "s", [0x16] = "rb",
	[0x2d] = "", [0x2e] = "u", [0x2f] = "ru",
};

/* ---- pointers ---------------------------------------------------------------- */

/* The number alone, without what it is relative to. */
static uint64_t take_format(struct pmp_cursor *c, uint8_t encoding)
{
	switch (encoding & PE_FORMAT) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		return pmp_take(c, 8);
	case PE_ULEB:
		return pmp_take_uleb(c);
	case PE_SLEB:
		return (uint64_t)pmp_take_sleb(c);
	case PE_UDATA2:
		return pmp_take(c, 2);
	case PE_SDATA2:
		return (uint64_t)pmp_take_signed(c, 2);
	case PE_UDATA4:
		return pmp_take(c, 4);
	case PE_SDATA4:
		return (uint64_t)pmp_take_signed(c, 4);
	}
	c->failed = true;
	return 0;
}

static uint64_t take_pointer(struct pmp_cursor *c, const struct pmp_cfi_bytes *bytes,
			     uint8_t encoding, uint64_t data_base)
{
	uint64_t here = bytes->address + c->at;
	uint64_t value = take_format(c, encoding);

	if (encoding & PE_INDIRECT)
		c->failed = true;
	switch (encoding & PE_APPLICATION) {
	case 0:
		return value + (bytes->debug_frame ? bytes->bias : 0);
	case PE_PCREL:
		return value + here;
	case PE_DATAREL:
		return value + data_base;
	}
	c->failed = true;
	return 0;
}

bool pmp_cfi_pointer(const struct pmp_cfi_bytes *bytes, size_t *offset, uint8_t encoding,
		     uint64_t data_base, uint64_t *value)
{
	struct pmp_cursor c = { .data = bytes->data, .at = *offset, .end = bytes->size };

	if (*offset > bytes->size || encoding == PE_OMIT)
		return false;
	*value = take_pointer(&c, bytes, encoding, data_base);
	*offset = c.at;
	return !c.failed;
}

/* ---- CIE and FDE ------------------------------------------------------------- */

/*
 *	length (4, or ffffffff and 8)
 *	link (as wide as the length): in a CIE 0 or, in .debug_frame, all ones; in an
 *	FDE the way back to its CIE or, in .debug_frame, the offset of its CIE
 */
bool pmp_cfi_entry(const struct pmp_cfi_bytes *bytes, size_t offset,
		   struct pmp_cfi_entry *entry)
{
	struct pmp_cursor c = { .data = bytes->data, .at = offset, .end = bytes->size };
	size_t width = 4;
	uint64_t length, link;

	memset(entry, 0, sizeof(*entry));
	if (offset > bytes->size)
		return false;
	length = pmp_take(&c, 4);
	if (length == UINT32_MAX) {
		width = 8;
		length = pmp_take(&c, 8);
	}
	entry->link = c.at;
	if (c.failed || length > c.end - c.at)
		return false;
	entry->body = entry->end = c.at + length;
	if (length == 0) {
		entry->is_filler = true;
		return true;
	}
	c.end = entry->end;
	link = pmp_take(&c, width);
	entry->body = c.at;
	if (bytes->debug_frame) {
		entry->is_cie = link == (width == 4 ? UINT32_MAX : UINT64_MAX);
		entry->cie = link;
	} else {
		entry->is_cie = link == 0;
		entry->cie = entry->link - link;	/* wraps where it is outside */
		entry->cie_address = bytes->address + entry->cie;
	}
	return !c.failed;
}

/* What an augmentation "zPLR" says; c stands at its data. */
static void parse_augmentation(struct pmp_cursor *c, const char *text,
			       struct pmp_cfi_cie *cie)
{
	for (; *text && !c->failed; text++) {
		switch (*text) {
		case 'L':
			pmp_take(c, 1);
			break;
		case 'R':
			cie->encoding = (uint8_t)pmp_take(c, 1);
			break;
		case 'P':
			take_format(c, (uint8_t)pmp_take(c, 1));
			break;
		case 'S':
			cie->signal = true;
			break;
		case 'B':	/* aarch64: return addresses signed with key B */
			break;
		default:
			return;
		}
	}
}

bool pmp_cfi_parse_cie(const struct pmp_cfi_bytes *bytes, size_t offset,
		       struct pmp_cfi_cie *cie)
{
	struct pmp_cursor c = { .data = bytes->data };
	struct pmp_cfi_entry entry;
	char augmentation[AUGMENTATION_MAX] = "";
	uint64_t version, size;
	size_t length = 0;

	memset(cie, 0, sizeof(*cie));
	if (!pmp_cfi_entry(bytes, offset, &entry) || !entry.is_cie)
		return false;
	c.at = entry.body;
	c.end = entry.end;
	version = pmp_take(&c, 1);
	if (version != 1 && version != 3 && version != 4)
		return false;
	while ((augmentation[length] = (char)pmp_take(&c, 1)))
		if (++length == AUGMENTATION_MAX)
			return false;
	if (version == 4 && pmp_take(&c, 2) != 8)	/* 8 bytes an address, no segments */
		return false;
	cie->code_align = pmp_take_uleb(&c);
	cie->data_align = pmp_take_sleb(&c);
	if ((version == 1 ? pmp_take(&c, 1) : pmp_take_uleb(&c)) != (uint64_t)pmp_reg_return)
		return false;
	if (augmentation[0] == 'z') {
		struct pmp_cursor data;

		cie->augmented = true;
		size = pmp_take_uleb(&c);
		data = c;
		pmp_skip(&c, size);
		data.end = c.at;
		parse_augmentation(&data, augmentation + 1, cie);
		c.failed |= data.failed;
	} else if (augmentation[0]) {
		return false;
	}
	cie->program = bytes->data + c.at;
	cie->program_size = c.end - c.at;
	return !c.failed && cie->encoding != PE_OMIT;
}

bool pmp_cfi_parse_fde(const struct pmp_cfi_bytes *bytes,
		       const struct pmp_cfi_entry *entry, const struct pmp_cfi_cie *cie,
		       struct pmp_cfi_fde *fde)
{
	struct pmp_cursor c = { .data = bytes->data, .at = entry->body, .end = entry->end };

	fde->start = take_pointer(&c, bytes, cie->encoding, 0);
	fde->end = fde->start + take_format(&c, cie->encoding);
	if (cie->augmented)
		pmp_skip(&c, pmp_take_uleb(&c));
	fde->program = bytes->data + c.at;
	fde->program_size = c.end - c.at;
	return !c.failed && fde->start < fde->end;
}

/* ---- the check --------------------------------------------------------------- */

/*
 * Operations of expressions that are allowed: what they take, what they give,
 * and their operand. No branch, no division, nothing that looks elsewhere.
 */
struct operation {
	uint8_t pops, pushes;
	char operand;		/* 1 2 4 8 bytes, u s LEB128, r register and s, 0 none */
	bool known;
};

static struct operation operation(uint8_t op)
{
	static const struct operation table[0x100] = {
		[0x06] = { 1, 1, 0, true },				    /* deref */
		[0x08] = { 0, 1, '1', true }, [0x09] = { 0, 1, '1', true }, /* const */
		[0x0a] = { 0, 1, '2', true }, [0x0b] = { 0, 1, '2', true },
		[0x0c] = { 0, 1, '4', true }, [0x0d] = { 0, 1, '4', true },
		[0x0e] = { 0, 1, '8', true }, [0x0f] = { 0, 1, '8', true },
		[0x10] = { 0, 1, 'u', true }, [0x11] = { 0, 1, 's', true },
		[0x12] = { 1, 2, 0, true },   /* dup */
		[0x13] = { 1, 0, 0, true },   /* drop */
		[0x14] = { 2, 3, 0, true },   /* over */
		[0x16] = { 2, 2, 0, true },   /* swap */
		[0x17] = { 3, 3, 0, true },   /* rot */
		[0x1a] = { 2, 1, 0, true },   /* and */
		[0x1c] = { 2, 1, 0, true },   /* minus */
		[0x1e] = { 2, 1, 0, true },   /* mul */
		[0x1f] = { 1, 1, 0, true },   /* neg */
		[0x20] = { 1, 1, 0, true },   /* not */
		[0x21] = { 2, 1, 0, true },   /* or */
		[0x22] = { 2, 1, 0, true },   /* plus */
		[0x23] = { 1, 1, 'u', true }, /* plus_uconst */
		[0x24] = { 2, 1, 0, true },   /* shl */
		[0x25] = { 2, 1, 0, true },   /* shr */
		[0x26] = { 2, 1, 0, true },   /* shra */
		[0x27] = { 2, 1, 0, true },   /* xor */
		[0x29] = { 2, 1, 0, true },   [0x2a] = { 2, 1, 0, true }, /* eq, ge */
		[0x2b] = { 2, 1, 0, true },   [0x2c] = { 2, 1, 0, true }, /* gt, le */
		[0x2d] = { 2, 1, 0, true },   [0x2e] = { 2, 1, 0, true }, /* lt, ne */
		[0x92] = { 0, 1, 'r', true },				  /* bregx */
		[0x94] = { 1, 1, '1', true },				  /* deref_size */
		[0x96] = { 0, 0, 0, true },				  /* nop */
	};

	if (op >= 0x30 && op <= 0x4f)				/* lit0 to lit31 */
		return (struct operation){ 0, 1, 0, true };
	if (op >= 0x70 && op <= 0x8f)				/* breg0 to breg31 */
		return (struct operation){ 0, 1, 's', op - 0x70u < pmp_reg_count };
	return table[op];
}

/* An expression of size bytes at c that starts with depth values on its stack. */
static void check_expression(struct pmp_cursor *c, uint64_t size, unsigned depth)
{
	struct pmp_cursor e = *c;

	pmp_skip(c, size);
	e.end = c->at;
	e.failed = c->failed;
	while (!e.failed && e.at < e.end) {
		struct operation op = operation((uint8_t)pmp_take(&e, 1));

		if (!op.known || depth < op.pops) {
			e.failed = true;
			break;
		}
		depth = depth - op.pops + op.pushes;
		e.failed = depth > EXPRESSION_STACK ||
			   (op.operand == 'r' && pmp_take_uleb(&e) >= pmp_reg_count);
		if (op.operand == 'u')
			pmp_take_uleb(&e);
		else if (op.operand == 's' || op.operand == 'r')
			pmp_take_sleb(&e);
		else if (op.operand)
			pmp_take(&e, (size_t)(op.operand - '0'));
	}
	c->failed |= e.failed || depth == 0;
}

/* What is kept from instruction to instruction. */
struct program {
	struct pmp_buf *out;
	bool has_cfa;		/* defined by now */
	bool expressions;
	unsigned remembered;
};

/* Take the operands of an instruction; *omit: it names a register we do not keep. */
static void check_operands(struct pmp_cursor *c, uint8_t op, const char *operands, bool *omit)
{
	for (; *operands && !c->failed; operands++) {
		switch (*operands) {
		case 'r':
			/* A register that is saved in one we do not keep is lost. */
			if (pmp_take_uleb(c) >= pmp_reg_count) {
				c->failed |= op == PMP_CFA_REGISTER && !operands[1] && !*omit;
				*omit = true;
			}
			break;
		case 'u':
			pmp_take_uleb(c);
			break;
		case 's':
			pmp_take_sleb(c);
			break;
		case 'b':
			check_expression(c, pmp_take_uleb(c), op != PMP_CFA_DEF_CFA_EXPRESSION);
			break;
		default:
			pmp_take(c, (size_t)(*operands - '0'));
		}
	}
}

/* One instruction. */
static bool copy_instruction(struct pmp_cursor *c, struct program *program)
{
	size_t begin = c->at;
	uint8_t op = (uint8_t)pmp_take(c, 1);
	uint8_t primary = op & PMP_CFA_PRIMARY;
	const char *operands = primary == PMP_CFA_OFFSET ? "u"
			       : primary	     ? ""
						     : cfa_operands[op];
	bool omit = op == PMP_CFA_NOP || op == PMP_CFA_ARGS_SIZE || op == PMP_CFA_NEGATE_RA_STATE;
	bool defines_cfa = op == PMP_CFA_DEF_CFA || op == PMP_CFA_DEF_CFA_SF ||
			   op == PMP_CFA_DEF_CFA_EXPRESSION;

	if (!operands)
		return false;
	if ((primary == PMP_CFA_OFFSET || primary == PMP_CFA_RESTORE) &&
	    (op & ~PMP_CFA_PRIMARY) >= (int)pmp_reg_count)
		omit = true;
	check_operands(c, op, operands, &omit);
	if (c->failed)
		return false;
	if ((defines_cfa || op == PMP_CFA_DEF_CFA_REGISTER) && omit)
		return false;
	program->has_cfa |= defines_cfa;
	if ((primary == PMP_CFA_ADVANCE || (op >= 0x02 && op <= 0x04)) && !program->has_cfa)
		return false;
	if (op == PMP_CFA_REMEMBER && ++program->remembered > REMEMBER_MAX)
		return false;
	if (op == PMP_CFA_RESTORE_STATE && program->remembered-- == 0)
		return false;
	program->expressions |= strchr(operands, 'b') && !omit;
	if (!omit)
		pmp_buf_add(program->out, c->data + begin, c->at - begin);
	return true;
}

static bool copy_program(const uint8_t *data, size_t size, struct program *program)
{
	struct pmp_cursor c = { .data = data, .end = size };

	program->remembered = 0;
	while (c.at < c.end)
		if (!copy_instruction(&c, program))
			return false;
	return true;
}

/* ---- writing the pair ---------------------------------------------------------- */

static void put(struct pmp_buf *out, uint64_t value, size_t size)
{
	pmp_buf_add(out, &value, size);
}

static void put_uleb(struct pmp_buf *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put(out, (value & 0x7f) | 0x80, 1);
	put(out, value, 1);
}

static void put_sleb(struct pmp_buf *out, int64_t value)
{
	for (; value < -0x40 || value >= 0x40; value >>= 7)
		put(out, ((uint64_t)value & 0x7f) | 0x80, 1);
	put(out, (uint64_t)value & 0x7f, 1);
}

/* Fill up the entry that begins at `begin`, and write its length. */
static void end_entry(struct pmp_buf *out, size_t begin)
{
	uint32_t length;

	while (out->length % 8 && !out->failed)
		put(out, PMP_CFA_NOP, 1);
	if (out->failed)
		return;
	length = (uint32_t)(out->length - begin - 4);
	memcpy(out->data + begin, &length, 4);
}

bool pmp_cfi_write(const struct pmp_cfi_cie *cie, const struct pmp_cfi_fde *fde,
		   struct pmp_buf *out, struct pmp_cfi_pair *pair)
{
	struct program program = { .out = out };

	memset(pair, 0, sizeof(*pair));
	pmp_buf_clear(out);
	put(out, 0, 4);		/* length: end_entry() */
	put(out, 0, 4);		/* a CIE */
	put(out, 1, 1);		/* version */
	pmp_buf_add(out, cie->signal ? "zRS" : "zR", cie->signal ? 4 : 3);
	put_uleb(out, cie->code_align);
	put_sleb(out, cie->data_align);
	put(out, (uint64_t)pmp_reg_return, 1);
	put_uleb(out, 1);
	put(out, PE_ABSPTR, 1);
	if (!copy_program(cie->program, cie->program_size, &program))
		return false;
	end_entry(out, 0);

	pair->fde = out->length;
	put(out, 0, 4);
	put(out, pair->fde + 4, 4);	/* back to the CIE */
	put(out, fde->start, 8);
	put(out, fde->end - fde->start, 8);
	put_uleb(out, 0);
	if (!copy_program(fde->program, fde->program_size, &program) || !program.has_cfa)
		return false;
	end_entry(out, pair->fde);
	pair->expressions = program.expressions;
	return !pmp_buf_failed(out);
}
