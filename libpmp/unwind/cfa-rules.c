/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a call-frame program to the rule at one pc. walk.c asks once for each pc and caches
 * the answer. No thread is held here.
 *
 * All instructions are executed except those with expressions, of which only the one that
 * linkers emit for procedure linkage tables is known; a rule that would need more than the
 * frame pointer, the stack pointer and the return address is PMP_RULE_LIBUNWIND. The
 * program is trusted no more than in cfi.c: execution ends with its bytes, and no number
 * in it is used as an index.
 */
#include "unwind/cfa-rules.h"

#include <dwarf.h>

#include "base/fault.h"
#include "unwind/cursor.h"

#define REMEMBER_MAX 8 /* compilers need two */

/* Registers that the rule is about. FROM_OTHER: in a way that a rule cannot express. */
enum { FROM_OTHER = PMP_WHERE_LOST + 1 };
enum tracked { FP, RA, SP, TRACKED };

struct register_rule {
	uint8_t where; /* enum pmp_rule_where or FROM_OTHER */
	int64_t offset;
};

struct cfa_row {
	struct register_rule registers[TRACKED];
	uint64_t cfa_reg;
	int64_t cfa_offset;
	const uint8_t *expression; /* if it defines the CFA, else NULL */
	size_t expression_size;
};

/* A program being executed. */
struct execution {
	struct pmp_cursor c;
	const struct pmp_cfi_cie *cie;
	uint64_t location, pc; /* of the current row; the wanted one */
	struct cfa_row row, initial, remembered[REMEMBER_MAX];
	unsigned depth;
	bool done; /* the next row begins after pc */
};

static struct register_rule *find(const struct pmp_arch *arch, struct cfa_row *row,
				  uint64_t reg)
{
	if (reg == (uint64_t)arch->fp)
		return &row->registers[FP];
	if (reg == (uint64_t)arch->link)
		return &row->registers[RA];
	return reg == (uint64_t)arch->sp ? &row->registers[SP] : NULL;
}

static void set(struct execution *run, uint64_t reg, uint8_t where, int64_t offset)
{
	struct register_rule *rule = find(run->cie->arch, &run->row, reg);

	if (rule)
		*rule = (struct register_rule){ where, offset };
}

/* Multiply by the CIE's factor; overflows are rejected on use. */
static int64_t scaled(const struct execution *run, uint64_t value)
{
	return (int64_t)(value * (uint64_t)run->cie->data_align);
}

static void restore(struct execution *run, uint64_t reg)
{
	struct register_rule *rule = find(run->cie->arch, &run->row, reg),
			     *from = find(run->cie->arch, &run->initial, reg);

	if (rule)
		*rule = *from;
}

static void advance(struct execution *run, uint64_t delta)
{
	uint64_t next = run->location + delta * run->cie->code_align;

	run->done = next > run->pc;
	if (!run->done)
		run->location = next;
}

static void skip_block(struct execution *run)
{
	pmp_skip(&run->c, pmp_take_uleb(&run->c));
}

static void define_cfa(struct execution *run, uint64_t reg, int64_t offset)
{
	run->row.cfa_reg = reg;
	run->row.cfa_offset = offset;
	run->row.expression = NULL;
}

static void define_cfa_expression(struct execution *run)
{
	run->row.expression_size = pmp_take_uleb(&run->c);
	run->row.expression = run->c.data + run->c.at;
	pmp_skip(&run->c, run->row.expression_size);
}

/* Instructions about the CFA. False: not one of them. */
static bool execute_cfa(struct execution *run, uint8_t op)
{
	struct pmp_cursor *c = &run->c;
	struct cfa_row *row = &run->row;
	uint64_t reg;

	/* These change register or offset, which an expression does not have. */
	if (row->expression &&
	    (op == DW_CFA_def_cfa_register || op == DW_CFA_def_cfa_offset ||
	     op == DW_CFA_def_cfa_offset_sf))
		return false;
	switch (op) {
	case DW_CFA_def_cfa:
		reg = pmp_take_uleb(c);
		define_cfa(run, reg, (int64_t)pmp_take_uleb(c));
		return true;
	case DW_CFA_def_cfa_sf:
		reg = pmp_take_uleb(c);
		define_cfa(run, reg, scaled(run, (uint64_t)pmp_take_sleb(c)));
		return true;
	case DW_CFA_def_cfa_register:
		define_cfa(run, pmp_take_uleb(c), row->cfa_offset);
		return true;
	case DW_CFA_def_cfa_offset:
		define_cfa(run, row->cfa_reg, (int64_t)pmp_take_uleb(c));
		return true;
	case DW_CFA_def_cfa_offset_sf:
		define_cfa(run, row->cfa_reg, scaled(run, (uint64_t)pmp_take_sleb(c)));
		return true;
	case DW_CFA_def_cfa_expression: define_cfa_expression(run); return true;
	}
	return false;
}

/* Instructions about other registers. False: not one of them. */
static bool execute_register(struct execution *run, uint8_t op)
{
	struct pmp_cursor *c = &run->c;
	uint64_t reg;

	if (op < DW_CFA_offset_extended ||
	    (op > DW_CFA_register && op < DW_CFA_expression))
		return false;
	reg = pmp_take_uleb(c);
	switch (op) {
	case DW_CFA_offset_extended:
		set(run, reg, PMP_WHERE_SAVED, scaled(run, pmp_take_uleb(c)));
		return true;
	case DW_CFA_offset_extended_sf:
		set(run, reg, PMP_WHERE_SAVED, scaled(run, (uint64_t)pmp_take_sleb(c)));
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		set(run, reg, PMP_WHERE_SAVED, -scaled(run, pmp_take_uleb(c)));
		return true;
	case DW_CFA_restore_extended: restore(run, reg); return true;
	case DW_CFA_undefined: set(run, reg, PMP_WHERE_LOST, 0); return true;
	case DW_CFA_same_value: set(run, reg, PMP_WHERE_SAME, 0); return true;
	case DW_CFA_register:
		pmp_take_uleb(c);
		set(run, reg, FROM_OTHER, 0);
		return true;
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		skip_block(run);
		set(run, reg, FROM_OTHER, 0);
		return true;
	}
	return false;
}

/* False: an unknown or invalid instruction. */
static bool execute(struct execution *run)
{
	uint8_t op = (uint8_t)pmp_take(&run->c, 1), low = op & ~PMP_CFA_PRIMARY;

	switch (op & PMP_CFA_PRIMARY ? op & PMP_CFA_PRIMARY : op) {
	case DW_CFA_advance_loc: advance(run, low); return true;
	case DW_CFA_offset:
		set(run, low, PMP_WHERE_SAVED, scaled(run, pmp_take_uleb(&run->c)));
		return true;
	case DW_CFA_restore: restore(run, low); return true;
	case DW_CFA_advance_loc1: advance(run, pmp_take(&run->c, 1)); return true;
	case DW_CFA_advance_loc2: advance(run, pmp_take(&run->c, 2)); return true;
	case DW_CFA_advance_loc4: advance(run, pmp_take(&run->c, 4)); return true;
	case DW_CFA_remember_state:
		if (run->depth == REMEMBER_MAX)
			return false;
		run->remembered[run->depth++] = run->row;
		return true;
	case DW_CFA_restore_state:
		if (run->depth == 0)
			return false;
		run->row = run->remembered[--run->depth];
		return true;
	case DW_CFA_GNU_args_size: pmp_take_uleb(&run->c); return true;
	case DW_CFA_nop:
	case DW_CFA_AARCH64_negate_ra_state: /* pmp_arch_code() removes signatures */
		return true;
	}
	return execute_cfa(run, op) || execute_register(run, op);
}

static bool execute_all(struct execution *run, const uint8_t *program, size_t size)
{
	run->c = (struct pmp_cursor){ .data = program, .end = size };
	run->depth = 0;
	while (run->c.at < run->c.end && !run->done)
		if (!execute(run) || run->c.failed)
			return false;
	return true;
}

/*
 * What linkers emit for a procedure linkage table on x86-64: from the n-th of
 * the 16 bytes of an entry on, one more word is on the stack.
 *
 *	77 08		breg7 (rsp) 8
 *	80 00		breg16 (rip) 0
 *	3f 1a		lit15, and
 *	30+n 2a		lit n, ge
 *	33 24 22	lit3, shl, plus
 */
static bool is_plt(const struct pmp_arch *arch, const struct cfa_row *row, uint64_t pc,
		   int64_t *offset)
{
	static const uint8_t plt[] = {
		DW_OP_breg7, 8,	       DW_OP_breg16, 0,		DW_OP_lit15, DW_OP_and,
		0xff,	     DW_OP_ge, DW_OP_lit3,   DW_OP_shl, DW_OP_plus,
	};
	const uint8_t *e = row->expression;
	enum { N = 6 };

	if (arch != &pmp_arch_x86_64 || row->expression_size != sizeof(plt) ||
	    memcmp(e, plt, N) || memcmp(e + N + 1, plt + N + 1, sizeof(plt) - N - 1) ||
	    e[N] < DW_OP_lit0 || e[N] > DW_OP_lit15)
		return false;
	*offset = 8 + ((pc & 15) >= e[N] - (unsigned)DW_OP_lit0 ? 8 : 0);
	return true;
}

static bool fits(int64_t offset)
{
	return offset == (int32_t)offset;
}

void pmp_rule_make(const struct pmp_cfi_cie *cie, const struct pmp_cfi_fde *fde,
		   uint64_t pc, struct pmp_rule *rule)
{
	const struct pmp_arch *arch = cie->arch;
	struct execution run = { .cie = cie,
				 .pc = UINT64_MAX,
				 .row.cfa_reg = UINT64_MAX };
	const struct register_rule *fp = &run.row.registers[FP],
				   *ra = &run.row.registers[RA];
	int64_t offset;

	*rule = (struct pmp_rule){ .kind = PMP_RULE_LIBUNWIND,
				   .function_start = fde->start,
				   .function_end = fde->end,
				   .signal = cie->signal };
	/* Initial instructions apply to the whole function: there is no row to advance
	 * from. libdw and libunwind treat them the same way. */
	if (!execute_all(&run, cie->program, cie->program_size))
		return;
	run.initial = run.row;
	run.location = fde->start;
	run.pc = pc;
	if (!execute_all(&run, fde->program, fde->program_size))
		return;
	offset = run.row.cfa_offset;
	if (run.row.expression) {
		if (!is_plt(arch, &run.row, pc, &offset))
			return;
		run.row.cfa_reg = (uint64_t)arch->sp;
	}
	if ((run.row.cfa_reg != (uint64_t)arch->sp &&
	     run.row.cfa_reg != (uint64_t)arch->fp) ||
	    run.row.registers[SP].where != PMP_WHERE_SAME || fp->where == FROM_OTHER ||
	    ra->where == FROM_OTHER || !fits(offset) || !fits(fp->offset) ||
	    !fits(ra->offset) || cie->signal)
		return;
	/* If the return address is the pc itself, it cannot still be in that register. */
	if (ra->where == PMP_WHERE_SAME && arch->link == arch->pc)
		return;
	rule->kind = ra->where == PMP_WHERE_LOST ? PMP_RULE_ROOT : PMP_RULE_FRAME;
	rule->cfa_fp = run.row.cfa_reg == (uint64_t)arch->fp;
	rule->cfa_offset = (int32_t)offset;
	rule->fp = fp->where;
	rule->fp_offset = (int32_t)fp->offset;
	rule->ra = ra->where;
	rule->ra_offset = (int32_t)ra->offset;
}

/* Read both words at once if they are adjacent, as nearly always. */
static bool read_record(const struct pmp_rule *rule, const struct pmp_reader *stack,
			uint64_t cfa, uint64_t record[2])
{
	return rule->ra == PMP_WHERE_SAVED && rule->fp == PMP_WHERE_SAVED &&
	       rule->fp_offset + 8 == rule->ra_offset &&
	       pmp_read(stack, cfa + (uint64_t)(int64_t)rule->fp_offset, record, 16);
}

bool pmp_rule_apply(const struct pmp_arch *arch, const struct pmp_rule *rule,
		    const struct pmp_reader *stack, struct pmp_regs *regs)
{
	uint64_t cfa = pmp_regs_get(regs, rule->cfa_fp ? arch->fp : arch->sp) +
		       (uint64_t)(int64_t)rule->cfa_offset;
	bool has_fp = rule->fp == PMP_WHERE_SAME && pmp_regs_has(regs, arch->fp);
	uint64_t record[2] = { pmp_regs_get(regs, arch->fp),
			       pmp_regs_get(regs, arch->link) };

	if (PMP_FAULT("wrong-rule"))
		cfa += 8;
	if (read_record(rule, stack, cfa, record)) {
		has_fp = true;
	} else {
		if (rule->ra == PMP_WHERE_SAVED &&
		    !pmp_read(stack, cfa + (uint64_t)(int64_t)rule->ra_offset, &record[1],
			      8))
			return false;
		/* An unreadable frame pointer is not a failure until it is needed. */
		if (rule->fp == PMP_WHERE_SAVED)
			has_fp = pmp_read(stack, cfa + (uint64_t)(int64_t)rule->fp_offset,
					  &record[0], 8);
	}
	regs->valid = 0;
	pmp_regs_set(regs, arch->pc, pmp_arch_code(arch, record[1]));
	pmp_regs_set(regs, arch->sp, cfa);
	if (has_fp)
		pmp_regs_set(regs, arch->fp, record[0]);
	return true;
}
