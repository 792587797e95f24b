/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads, checks and rewrites call-frame information. fde.c finds the bytes and has them
 * checked, libunwind.c has them rewritten for libunwind. No thread is held here.
 *
 * libunwind 1.6.2 indexes arrays with numbers from call-frame information, asserts that a
 * CFA is defined, and follows branches in expressions endlessly: hence the check. It also
 * rejects whole functions because of registers that it does not keep; these are omitted
 * here.
 */
#include "unwind/cfi.h"

#include <dwarf.h>
#include <string.h>

#include "unwind/arch.h"
#include "unwind/cursor.h"

#define REMEMBER_MAX 64	    /* depth of DW_CFA_remember_state */
#define EXPRESSION_STACK 32 /* libunwind has room for 64 */
#define AUGMENTATION_MAX 8

/* Pointer encodings: the format of the number, and what it is relative to. */
enum { PE_FORMAT = 0x0f, PE_APPLICATION = 0x70 };

/*
 * Operands by instruction: r register, u unsigned and s signed LEB128, 1 2 4 bytes, b
 * block that is an expression, "" none, NULL: not understood (including set_loc and
 * val_offset: no compiler emits them for these architectures).
 */
static const char *const cfa_operands[0x40] = {
	[DW_CFA_nop] = "",
	[DW_CFA_advance_loc1] = "1",
	[DW_CFA_advance_loc2] = "2",
	[DW_CFA_advance_loc4] = "4",
	[DW_CFA_offset_extended] = "ru",
	[DW_CFA_restore_extended] = "r",
	[DW_CFA_undefined] = "r",
	[DW_CFA_same_value] = "r",
	[DW_CFA_register] = "rr",
	[DW_CFA_remember_state] = "",
	[DW_CFA_restore_state] = "",
	[DW_CFA_def_cfa] = "ru",
	[DW_CFA_def_cfa_register] = "r",
	[DW_CFA_def_cfa_offset] = "u",
	[DW_CFA_def_cfa_expression] = "b",
	[DW_CFA_expression] = "rb",
	[DW_CFA_offset_extended_sf] = "rs",
	[DW_CFA_def_cfa_sf] = "rs",
	[DW_CFA_def_cfa_offset_sf] = "s",
	[DW_CFA_val_expression] = "rb",
	[DW_CFA_AARCH64_negate_ra_state] = "",
	[DW_CFA_GNU_args_size] = "u",
	[DW_CFA_GNU_negative_offset_extended] = "ru",
};

/* ---- pointers ---------------------------------------------------------------- */

/* The number alone, without what it is relative to. */
static uint64_t take_format(struct pmp_cursor *c, uint8_t encoding)
{
	switch (encoding & PE_FORMAT) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8: return pmp_take(c, 8);
	case DW_EH_PE_uleb128: return pmp_take_uleb(c);
	case DW_EH_PE_sleb128: return (uint64_t)pmp_take_sleb(c);
	case DW_EH_PE_udata2: return pmp_take(c, 2);
	case DW_EH_PE_sdata2: return (uint64_t)pmp_take_signed(c, 2);
	case DW_EH_PE_udata4: return pmp_take(c, 4);
	case DW_EH_PE_sdata4: return (uint64_t)pmp_take_signed(c, 4);
	}
	c->failed = true;
	return 0;
}

static uint64_t take_pointer(struct pmp_cursor *c, const struct pmp_cfi_bytes *bytes,
			     uint8_t encoding, uint64_t data_base)
{
	uint64_t here = bytes->address + c->at;
	uint64_t value = take_format(c, encoding);

	if (encoding & DW_EH_PE_indirect)
		c->failed = true;
	switch (encoding & PE_APPLICATION) {
	case 0: return value + (bytes->debug_frame ? bytes->bias : 0);
	case DW_EH_PE_pcrel: return value + here;
	case DW_EH_PE_datarel: return value + data_base;
	}
	c->failed = true;
	return 0;
}

bool pmp_cfi_pointer(const struct pmp_cfi_bytes *bytes, size_t *offset, uint8_t encoding,
		     uint64_t data_base, uint64_t *value)
{
	struct pmp_cursor c = { .data = bytes->data, .at = *offset, .end = bytes->size };

	if (*offset > bytes->size || encoding == DW_EH_PE_omit)
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
		entry->cie = entry->link - link; /* wraps if it is outside */
		entry->cie_address = bytes->address + entry->cie;
	}
	return !c.failed;
}

/* Interpret an augmentation such as "zPLR"; c is at its data. */
static void parse_augmentation(struct pmp_cursor *c, const char *text,
			       struct pmp_cfi_cie *cie)
{
	for (; *text && !c->failed; text++) {
		switch (*text) {
		case 'L': pmp_take(c, 1); break;
		case 'R': cie->encoding = (uint8_t)pmp_take(c, 1); break;
		case 'P': take_format(c, (uint8_t)pmp_take(c, 1)); break;
		case 'S': cie->signal = true; break;
		case 'B': /* aarch64: return addresses signed with key B */ break;
		default: return;
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
	cie->arch = bytes->arch;
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
	if (version == 4 && pmp_take(&c, 2) != 8) /* 8-byte addresses, no segments */
		return false;
	cie->code_align = pmp_take_uleb(&c);
	cie->data_align = pmp_take_sleb(&c);
	if ((version == 1 ? pmp_take(&c, 1) : pmp_take_uleb(&c)) !=
	    (uint64_t)bytes->arch->link)
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
	return !c.failed && cie->encoding != DW_EH_PE_omit &&
	       cie->program_size <= PMP_CFI_PROGRAM_MAX;
}

bool pmp_cfi_parse_fde(const struct pmp_cfi_bytes *bytes,
		       const struct pmp_cfi_entry *entry, const struct pmp_cfi_cie *cie,
		       struct pmp_cfi_fde *fde)
{
	struct pmp_cursor c = { .data = bytes->data,
				.at = entry->body,
				.end = entry->end };

	fde->start = take_pointer(&c, bytes, cie->encoding, 0);
	fde->end = fde->start + take_format(&c, cie->encoding);
	if (cie->augmented)
		pmp_skip(&c, pmp_take_uleb(&c));
	fde->program = bytes->data + c.at;
	fde->program_size = c.end - c.at;
	return !c.failed && fde->start < fde->end &&
	       fde->program_size <= PMP_CFI_PROGRAM_MAX;
}

/* ---- the check --------------------------------------------------------------- */

/*
 * Allowed operations of expressions: what they pop, what they push, and their
 * operand. No branch, no division, nothing that reads other memory.
 */
struct operation {
	uint8_t pops, pushes;
	char operand; /* 1 2 4 8 bytes, u s LEB128, r register and s, 0 none */
	bool known;
};

static struct operation operation(const struct pmp_arch *arch, uint8_t op)
{
	static const struct operation table[0x100] = {
		[DW_OP_deref] = { 1, 1, 0, true },
		[DW_OP_const1u] = { 0, 1, '1', true },
		[DW_OP_const1s] = { 0, 1, '1', true },
		[DW_OP_const2u] = { 0, 1, '2', true },
		[DW_OP_const2s] = { 0, 1, '2', true },
		[DW_OP_const4u] = { 0, 1, '4', true },
		[DW_OP_const4s] = { 0, 1, '4', true },
		[DW_OP_const8u] = { 0, 1, '8', true },
		[DW_OP_const8s] = { 0, 1, '8', true },
		[DW_OP_constu] = { 0, 1, 'u', true },
		[DW_OP_consts] = { 0, 1, 's', true },
		[DW_OP_dup] = { 1, 2, 0, true },
		[DW_OP_drop] = { 1, 0, 0, true },
		[DW_OP_over] = { 2, 3, 0, true },
		[DW_OP_swap] = { 2, 2, 0, true },
		[DW_OP_rot] = { 3, 3, 0, true },
		[DW_OP_and] = { 2, 1, 0, true },
		[DW_OP_minus] = { 2, 1, 0, true },
		[DW_OP_mul] = { 2, 1, 0, true },
		[DW_OP_neg] = { 1, 1, 0, true },
		[DW_OP_not] = { 1, 1, 0, true },
		[DW_OP_or] = { 2, 1, 0, true },
		[DW_OP_plus] = { 2, 1, 0, true },
		[DW_OP_plus_uconst] = { 1, 1, 'u', true },
		[DW_OP_shl] = { 2, 1, 0, true },
		[DW_OP_shr] = { 2, 1, 0, true },
		[DW_OP_shra] = { 2, 1, 0, true },
		[DW_OP_xor] = { 2, 1, 0, true },
		[DW_OP_eq] = { 2, 1, 0, true },
		[DW_OP_ge] = { 2, 1, 0, true },
		[DW_OP_gt] = { 2, 1, 0, true },
		[DW_OP_le] = { 2, 1, 0, true },
		[DW_OP_lt] = { 2, 1, 0, true },
		[DW_OP_ne] = { 2, 1, 0, true },
		[DW_OP_bregx] = { 0, 1, 'r', true },
		[DW_OP_deref_size] = { 1, 1, '1', true },
		[DW_OP_nop] = { 0, 0, 0, true },
	};

	if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
		return (struct operation){ 0, 1, 0, true };
	if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
		return (struct operation){ 0, 1, 's',
					   op - DW_OP_breg0 < (int)arch->reg_count };
	return table[op];
}

/* Check an expression of size bytes at c that starts with depth values on its stack. */
static void check_expression(const struct pmp_arch *arch, struct pmp_cursor *c,
			     uint64_t size, unsigned depth)
{
	struct pmp_cursor e = *c;

	pmp_skip(c, size);
	e.end = c->at;
	e.failed = c->failed;
	while (!e.failed && e.at < e.end) {
		struct operation op = operation(arch, (uint8_t)pmp_take(&e, 1));

		if (!op.known || depth < op.pops) {
			e.failed = true;
			break;
		}
		depth = depth - op.pops + op.pushes;
		e.failed = depth > EXPRESSION_STACK ||
			   (op.operand == 'r' && pmp_take_uleb(&e) >= arch->reg_count);
		if (op.operand == 'u')
			pmp_take_uleb(&e);
		else if (op.operand == 's' || op.operand == 'r')
			pmp_take_sleb(&e);
		else if (op.operand)
			pmp_take(&e, (size_t)(op.operand - '0'));
	}
	c->failed |= e.failed || depth == 0;
}

/* State of a program between instructions. */
struct program {
	const struct pmp_arch *arch;
	struct pmp_buf *out; /* NULL: only check */
	bool of_cie;	     /* of the CIE, which defines what restore would use */
	bool has_cfa;	     /* the CFA has been defined */
	bool expressions;
	size_t states;
	unsigned remembered;
};

/* Read the operands of an instruction; *omit: it names a register that is not kept. */
static void check_operands(const struct pmp_arch *arch, struct pmp_cursor *c, uint8_t op,
			   const char *operands, bool *omit)
{
	for (; *operands && !c->failed; operands++) {
		switch (*operands) {
		case 'r':
			/* A register saved in one that is not kept is lost. */
			if (pmp_take_uleb(c) >= arch->reg_count) {
				c->failed |=
					op == DW_CFA_register && !operands[1] && !*omit;
				*omit = true;
			}
			break;
		case 'u': pmp_take_uleb(c); break;
		case 's': pmp_take_sleb(c); break;
		case 'b':
			check_expression(arch, c, pmp_take_uleb(c),
					 op != DW_CFA_def_cfa_expression);
			break;
		default: pmp_take(c, (size_t)(*operands - '0'));
		}
	}
}

/* Check one instruction and, unless omitted, copy it. */
static bool copy_instruction(struct pmp_cursor *c, struct program *program)
{
	size_t begin = c->at;
	uint8_t op = (uint8_t)pmp_take(c, 1);
	uint8_t primary = op & PMP_CFA_PRIMARY;
	const char *operands = primary == DW_CFA_offset ? "u"
			       : primary		? ""
							: cfa_operands[op];
	bool omit = op == DW_CFA_nop || op == DW_CFA_GNU_args_size ||
		    op == DW_CFA_AARCH64_negate_ra_state;
	bool defines_cfa = op == DW_CFA_def_cfa || op == DW_CFA_def_cfa_sf ||
			   op == DW_CFA_def_cfa_expression;

	if (!operands)
		return false;
	if ((primary == DW_CFA_offset || primary == DW_CFA_restore) &&
	    (op & ~PMP_CFA_PRIMARY) >= (int)program->arch->reg_count)
		omit = true;
	check_operands(program->arch, c, op, operands, &omit);
	if (c->failed)
		return false;
	if ((defines_cfa || op == DW_CFA_def_cfa_register) && omit)
		return false;
	program->has_cfa |= defines_cfa;
	if (!program->has_cfa &&
	    (primary == DW_CFA_advance_loc ||
	     (op >= DW_CFA_advance_loc1 && op <= DW_CFA_advance_loc4)))
		return false;
	if (program->of_cie &&
	    (primary == DW_CFA_restore || op == DW_CFA_restore_extended))
		return false;
	if (op == DW_CFA_remember_state && ++program->remembered > REMEMBER_MAX)
		return false;
	if (op == DW_CFA_restore_state && program->remembered-- == 0)
		return false;
	program->states += op == DW_CFA_remember_state || op == DW_CFA_restore_state;
	program->expressions |= strchr(operands, 'b') && !omit;
	if (!omit && program->out)
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

static bool copy_initial(const struct pmp_cfi_cie *cie, struct program *program)
{
	bool copied;

	program->of_cie = true;
	copied = copy_program(cie->program, cie->program_size, program);
	program->of_cie = false;
	return copied;
}

bool pmp_cfi_check(const struct pmp_cfi_cie *cie, const struct pmp_cfi_fde *fde)
{
	struct program program = { .arch = cie->arch };

	return copy_initial(cie, &program) &&
	       copy_program(fde->program, fde->program_size, &program) && program.has_cfa;
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

/* Pad the entry that begins at `begin`, and write its length. */
static void end_entry(struct pmp_buf *out, size_t begin)
{
	uint32_t length;

	while (out->length % 8 && !out->failed)
		put(out, DW_CFA_nop, 1);
	if (out->failed)
		return;
	length = (uint32_t)(out->length - begin - 4);
	memcpy(out->data + begin, &length, 4);
}

bool pmp_cfi_write(const struct pmp_cfi_cie *cie, const struct pmp_cfi_fde *fde,
		   struct pmp_buf *out, struct pmp_cfi_pair *pair)
{
	struct program program = { .arch = cie->arch, .out = out };

	memset(pair, 0, sizeof(*pair));
	pmp_buf_clear(out);
	put(out, 0, 4); /* length, set by end_entry() */
	put(out, 0, 4); /* a CIE */
	put(out, 1, 1); /* version */
	pmp_buf_add(out, cie->signal ? "zRS" : "zR", cie->signal ? 4 : 3);
	put_uleb(out, cie->code_align);
	put_sleb(out, cie->data_align);
	put(out, (uint64_t)cie->arch->link, 1);
	put_uleb(out, 1);
	put(out, DW_EH_PE_absptr, 1);
	if (!copy_initial(cie, &program))
		return false;
	end_entry(out, 0);

	pair->fde = out->length;
	put(out, 0, 4);
	put(out, pair->fde + 4, 4); /* offset back to the CIE */
	put(out, fde->start, 8);
	put(out, fde->end - fde->start, 8);
	put_uleb(out, 0);
	if (!copy_program(fde->program, fde->program_size, &program) || !program.has_cfa)
		return false;
	end_entry(out, pair->fde);
	pair->expressions = program.expressions;
	pair->states = program.states;
	return !pmp_buf_failed(out);
}
