/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules for Go code, from the table of frame sizes at each pc that the linker puts into
 * each program (base/gopclntab.h). Go has no .eh_frame, and .debug_frame, which is derived
 * from that table, is removed by strip; nor does it tell where functions continue on
 * another stack.
 */
#ifndef PMP_UNWIND_GO_RULES_H
#define PMP_UNWIND_GO_RULES_H

#include "base/reader.h"
#include "unwind/arch.h"
#include "unwind/cfa-rules.h"

struct pmp_go_rules;
struct pmp_section_budget;

/* Find the table of a module's file, which is mapped bias bytes above its ELF addresses.
 * fd is read only during this call; memory: of the target. If no section tells where the
 * table is, memory is searched within the budget. NULL: no table, or no memory. */
struct pmp_go_rules *pmp_go_rules_new(const struct pmp_arch *arch, int fd, uint64_t bias,
				      const struct pmp_reader *memory,
				      struct pmp_section_budget *budget);
void pmp_go_rules_free(struct pmp_go_rules *rules);
/*
 * The rule at pc if exact, else at the call before it. False: pc is in no Go function, or
 * the frame is unknown there. Adds the bytes read to *work.
 */
bool pmp_go_rule(struct pmp_go_rules *rules, const struct pmp_reader *memory, uint64_t pc,
		 bool exact, struct pmp_rule *rule, size_t *work);
/*
 * Step from the first frame of a thread's own stack to the goroutine that switched to it:
 * regs are those of a frame with a PMP_RULE_SWITCH, whose function begins at start; their
 * frame pointer is the goroutine's. A place on its stack is accepted only if the return
 * address there follows a call of that function, from a frame of exactly that size. False,
 * with regs unchanged: there is none, its stack cannot be read, or the table is crafted to
 * take long. Adds the bytes read from the table to *work.
 */
bool pmp_go_join(struct pmp_go_rules *rules, const struct pmp_reader *memory,
		 const struct pmp_reader *stack, uint64_t start, struct pmp_regs *regs,
		 size_t *work);

#endif
