/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules for code of Go, from the table that the linker puts into each program
 * (base/gopclntab.h): how large the frame is at each pc. Go has no .eh_frame, and
 * .debug_frame, which is made of that table, does not survive strip; nor does it say where
 * functions go on on another stack.
 */
#ifndef PMP_UNWIND_GO_RULES_H
#define PMP_UNWIND_GO_RULES_H

#include "base/reader.h"
#include "unwind/arch.h"
#include "unwind/cfa-rules.h"

struct pmp_go_rules;
struct pmp_section_budget;

/* The table of a module's file, which is mapped so many bytes above its ELF addresses. fd
 * is read only here; memory: of the target. Where no section says where it is memory is
 * searched, as far as the budget reaches. NULL: none, or no memory. */
struct pmp_go_rules *pmp_go_rules_new(const struct pmp_arch *arch, int fd, uint64_t bias,
				      const struct pmp_reader *memory,
				      struct pmp_section_budget *budget);
void pmp_go_rules_free(struct pmp_go_rules *rules);
/*
 * The rule at pc, for a caller that of the call before it. False: it is in no function of
 * Go, or nothing is known of it there. Adds the bytes that were read to *work.
 */
bool pmp_go_rule(struct pmp_go_rules *rules, const struct pmp_reader *memory, uint64_t pc,
		 bool exact, struct pmp_rule *rule, size_t *work);
/*
 * From the first frame of a thread's own stack to the goroutine that has switched to it: regs
 * are those of a frame with a PMP_RULE_SWITCH, whose function begins at start; their frame
 * pointer is that of the goroutine. The place on its stack is taken only if the return
 * address there follows a call of that function, from a frame of just that size. False, and
 * regs as they were: there is none, its stack cannot be read, or the table is made so that it
 * takes long. Adds the bytes that were read of the table to *work.
 */
bool pmp_go_join(struct pmp_go_rules *rules, const struct pmp_reader *memory,
		 const struct pmp_reader *stack, uint64_t start, struct pmp_regs *regs,
		 size_t *work);

#endif
