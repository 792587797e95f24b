/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/arch.h"

#include <string.h>

#ifdef __aarch64__
const struct pmp_arch *const pmp_arch_here = &pmp_arch_aarch64;
#else
const struct pmp_arch *const pmp_arch_here = &pmp_arch_x86_64;
#endif

const struct pmp_arch *pmp_arch_of(unsigned machine)
{
	if (machine == (unsigned)pmp_arch_x86_64.elf_machine)
		return &pmp_arch_x86_64;
	if (machine == (unsigned)pmp_arch_aarch64.elf_machine)
		return &pmp_arch_aarch64;
	return NULL;
}

void pmp_arch_regs(const struct pmp_arch *arch, const uint64_t *words,
		   struct pmp_regs *regs)
{
	memset(regs, 0, sizeof(*regs));
	for (size_t i = 0; i < arch->reg_count; i++)
		pmp_regs_set(regs, (int)i, words[arch->user_order[i]]);
}
