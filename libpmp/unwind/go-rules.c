/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table is read from the target's memory, where its addresses have been relocated; the
 * file only tells where it is.
 *
 * Functions that write the stack pointer are marked in the table. Most of them continue
 * for a goroutine on the thread's own stack: systemstack() for the runtime, asmcgocall()
 * for C, morestack() for a larger stack. They leave the frame pointer unchanged, so the
 * function they call saves it. mcall() leaves the goroutine for another one, and clone()
 * made the stack.
 */
#include "unwind/go-rules.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/gopclntab.h"
#include "unwind/sections.h"

#define SEGMENTS_MAX 64
#define SCAN_MAX ((uint64_t)64 << 20) /* bytes of segments searched at once */
#define JOIN_WORK ((size_t)64 << 10)  /* bytes of the table: then a join gives up */
#define MODULE_MAX 4096		      /* bytes of section .go.module */
#define JOIN_MAX 1024		      /* bytes of the frame of what switches stacks */

struct pmp_go_rules {
	const struct pmp_arch *arch;
	struct pmp_gopclntab table;
	struct pmp_buf name;
};

/* ---- finding the table ------------------------------------------------------------- */

struct go_range {
	uint64_t start, end;
};

/* Find a loaded section; found has ELF addresses. */
static bool find_section(int fd, const Elf64_Ehdr *header, const char *name,
			 struct go_range *found, struct pmp_section_budget *budget)
{
	char relocated[64];
	const char *const names[] = { name, relocated };
	Elf64_Shdr section;

	snprintf(relocated, sizeof(relocated), ".data.rel.ro%s", name);
	if (!pmp_sections_find(fd, header, names, &section, &budget->work) ||
	    section.sh_type != SHT_PROGBITS ||
	    section.sh_size >= UINT64_MAX - section.sh_addr)
		return false;
	*found = (struct go_range){ section.sh_addr, section.sh_addr + section.sh_size };
	return true;
}

/* Find the loaded segments that are writable, or those that are not: at most SCAN_MAX
 * bytes in total, and no more than is left of the budget, from which they are deducted. */
static size_t find_segments(int fd, const Elf64_Ehdr *header, bool writable,
			    struct go_range *found, struct pmp_section_budget *budget)
{
	Elf64_Phdr segments[SEGMENTS_MAX];
	size_t n = header->e_phnum, count = 0;
	uint64_t left = budget->search < SCAN_MAX ? budget->search : SCAN_MAX, size;

	if (n > SEGMENTS_MAX)
		n = SEGMENTS_MAX;
	if (!pmp_file_read_at(fd, header->e_phoff, segments, n * sizeof(*segments)))
		return 0;
	for (size_t i = 0; i < n; i++) {
		const Elf64_Phdr *segment = &segments[i];

		if (segment->p_type != PT_LOAD || segment->p_flags & PF_X ||
		    !(segment->p_flags & PF_W) == writable)
			continue;
		size = segment->p_filesz < left ? segment->p_filesz : left;
		left -= size;
		budget->search -= size;
		found[count++] =
			(struct go_range){ segment->p_vaddr, segment->p_vaddr + size };
	}
	return count;
}

static bool open_table(struct pmp_go_rules *rules, int fd, const Elf64_Ehdr *header,
		       uint64_t bias, const struct pmp_reader *memory,
		       struct pmp_section_budget *budget)
{
	struct go_range found[SEGMENTS_MAX];
	size_t count;

	if (header->e_shnum && find_section(fd, header, ".gopclntab", found, budget))
		return pmp_gopclntab_open(&rules->table, memory, found->start + bias,
					  found->end + bias);
	if (header->e_shnum && !find_section(fd, header, ".go.buildinfo", found, budget))
		return false;
	/* Other linkers put it into relocated data. */
	for (int writable = 0; writable < 2; writable++) {
		count = find_segments(fd, header, writable, found, budget);
		for (size_t i = 0; i < count; i++)
			if (pmp_gopclntab_scan(&rules->table, memory,
					       found[i].start + bias,
					       found[i].end + bias))
				return true;
	}
	return false;
}

/* Find where the code begins: since Go 1.26 the table does not tell. */
static bool find_text(struct pmp_go_rules *rules, int fd, const Elf64_Ehdr *header,
		      uint64_t bias, struct pmp_section_budget *budget)
{
	struct go_range found[SEGMENTS_MAX];
	size_t count = 1;

	if (rules->table.has_text)
		return true;
	if (!header->e_shnum || !find_section(fd, header, ".go.module", found, budget) ||
	    found->end - found->start > MODULE_MAX)
		count = find_segments(fd, header, true, found, budget);
	for (size_t i = 0; i < count; i++)
		if (pmp_gopclntab_find_module(&rules->table, found[i].start + bias,
					      found[i].end + bias))
			return true;
	return false;
}

struct pmp_go_rules *pmp_go_rules_new(const struct pmp_arch *arch, int fd, uint64_t bias,
				      const struct pmp_reader *memory,
				      struct pmp_section_budget *budget)
{
	struct pmp_go_rules *rules;
	Elf64_Ehdr header;

	if (!arch->go_frame || !pmp_sections_open(arch, fd, &header) ||
	    header.e_phentsize != sizeof(Elf64_Phdr))
		return NULL;
	rules = calloc(1, sizeof(*rules));
	if (rules)
		rules->arch = arch;
	if (rules && open_table(rules, fd, &header, bias, memory, budget) &&
	    find_text(rules, fd, &header, bias, budget))
		return rules;
	pmp_go_rules_free(rules);
	return NULL;
}

void pmp_go_rules_free(struct pmp_go_rules *rules)
{
	if (!rules)
		return;
	pmp_buf_free(&rules->name);
	free(rules);
}

/* ---- rules ------------------------------------------------------------------------- */

static bool is_one_of(struct pmp_go_rules *rules, const struct pmp_go_function *function,
		      const char *const *wanted)
{
	pmp_buf_free(&rules->name);
	if (!pmp_gopclntab_name(&rules->table, function, &rules->name) ||
	    !rules->name.data)
		return false;
	while (*wanted && strcmp(*wanted, rules->name.data) != 0)
		wanted++;
	return *wanted;
}

/* The kind of rule for a function that may do more than get called and return. no_return:
 * it called another function, but kept no return address. */
static enum pmp_rule_kind kind_of(struct pmp_go_rules *rules,
				  const struct pmp_go_function *function, bool exact,
				  bool no_return)
{
	/* Not called from Go: by the kernel, on a signal, or after clone(). */
	static const char *const called[] = { "runtime.sigtramp", "runtime.cgoSigtramp",
					      "runtime.mstart", NULL };
	static const char *const leaves[] = { "runtime.mcall", "runtime.clone", NULL };
	/* Before Go 1.18 the table does not mark these. */
	static const char *const tops[] = { "runtime.goexit", "runtime.rt0_go", NULL };
	static const char *const switches[] = {
		"runtime.systemstack", "runtime.morestack", "runtime.asmcgocall",
		"runtime.cgocallback", "runtime.gogo",	    NULL
	};
	const bool is_old = rules->table.layout < PMP_GO_1_18;

	if (no_return && is_one_of(rules, function, leaves))
		return PMP_RULE_ROOT;
	if (!is_old && !function->is_top && !function->switches_stacks)
		return PMP_RULE_FRAME;
	if (function->is_top || (is_old && is_one_of(rules, function, tops)))
		return is_one_of(rules, function, called) ? PMP_RULE_FRAME
							  : PMP_RULE_ROOT;
	/* It has certainly switched only if it has called others. */
	if (is_one_of(rules, function, leaves))
		return exact ? PMP_RULE_SWITCH : PMP_RULE_ROOT;
	if (function->switches_stacks || (is_old && is_one_of(rules, function, switches)))
		return PMP_RULE_SWITCH;
	return PMP_RULE_FRAME;
}

/* Functions whose calls a signal handler inserts into the interrupted code
 * (runtime/signal_*.go). */
static bool is_injected(struct pmp_go_rules *rules,
			const struct pmp_go_function *function)
{
	static const char *const injected[] = {
		"runtime.sigpanic",    "runtime.sigpanic0",   "runtime.asyncPreempt",
		"runtime.debugCallV1", "runtime.debugCallV2", NULL
	};

	return function->may_be_special && is_one_of(rules, function, injected);
}

bool pmp_go_rule(struct pmp_go_rules *rules, const struct pmp_reader *memory, uint64_t pc,
		 bool exact, struct pmp_rule *rule, size_t *work)
{
	const uint64_t lookup = pc - !exact;
	struct pmp_gopclntab *table = &rules->table;
	struct pmp_go_function function;
	bool found, at_start, no_return;
	uint32_t size = 0;

	table->memory = *memory;
	table->work = 0;
	found = pmp_gopclntab_find(table, lookup, &function) &&
		pmp_gopclntab_frame(table, &function, lookup, &size) &&
		size <= INT32_MAX / 2;
	if (found) {
		at_start = exact && lookup == function.start;
		rules->arch->go_frame(size, rule);
		no_return = !exact && rule->ra == PMP_WHERE_SAME;
		/* Functions in assembly save the frame pointer in another slot, or not at all. */
		if (size && (table->layout < PMP_GO_1_18 || function.is_assembly))
			rule->fp = PMP_WHERE_LOST;
		rule->kind =
			(uint8_t)(at_start ? PMP_RULE_FRAME
					   : kind_of(rules, &function, exact, no_return));
		rule->function_start = function.start;
		rule->function_end = function.end;
		rule->go = true;
		rule->injected = is_injected(rules, &function);
	}
	*work += table->work;
	return found;
}

/* ---- the goroutine's own stack -------------------------------------------------------- */

/* Is pc the return address of a call of the function at start, from a frame of size
 * bytes? */
static bool is_call_of(struct pmp_go_rules *rules, const struct pmp_reader *memory,
		       uint64_t pc, uint64_t start, uint64_t size)
{
	struct pmp_go_function function;
	uint64_t called;
	uint32_t frame;

	return rules->arch->follows_call(memory, pc, &called) && called == start &&
	       pmp_gopclntab_find(&rules->table, pc - 1, &function) &&
	       pmp_gopclntab_frame(&rules->table, &function, pc - 1, &frame) &&
	       frame == size;
}

bool pmp_go_join(struct pmp_go_rules *rules, const struct pmp_reader *memory,
		 const struct pmp_reader *stack, uint64_t start, struct pmp_regs *regs,
		 size_t *work)
{
	uint64_t words[JOIN_MAX / 8], fp = pmp_regs_get(regs, rules->arch->fp), at = 0;
	struct pmp_go_function function;
	size_t found = 0;

	/* On architectures with a link register the goroutine's frame pointer is not kept
	 * (until Go 1.21). */
	if (rules->arch->link != rules->arch->pc)
		return false;
	if (!pmp_regs_has(regs, rules->arch->fp) || fp % 8 || fp < JOIN_MAX ||
	    !pmp_read(stack, fp - JOIN_MAX, words, sizeof(words)))
		return false;
	rules->table.memory = *memory;
	rules->table.work = 0;
	for (size_t i = 0; i < JOIN_MAX / 8 && rules->table.work < JOIN_WORK; i++) {
		if (!pmp_gopclntab_find(&rules->table, words[i], &function) ||
		    !is_call_of(rules, memory, words[i], start, JOIN_MAX - 8 * i))
			continue;
		at = i;
		found++;
	}
	*work += rules->table.work;
	if (found != 1 || rules->table.work >= JOIN_WORK)
		return false;
	regs->valid = 0;
	pmp_regs_set(regs, rules->arch->pc, words[at]);
	pmp_regs_set(regs, rules->arch->sp, fp - JOIN_MAX + 8 * at + 8);
	pmp_regs_set(regs, rules->arch->fp, fp);
	return true;
}
