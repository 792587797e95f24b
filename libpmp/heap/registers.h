/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The registers of a record in order, by DWARF number: callee-saved ones, the stack
 * pointer, the program counter. */
#ifndef PMP_HEAP_REGISTERS_H
#define PMP_HEAP_REGISTERS_H

#ifdef __x86_64__
#define PMP_HEAP_REGISTERS 3, 6, 12, 13, 14, 15, 7, 16
#define PMP_HEAP_REG_SP 6
#define PMP_HEAP_REG_PC 7
#else
#define PMP_HEAP_REGISTERS 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32
#define PMP_HEAP_REG_SP 12
#define PMP_HEAP_REG_PC 13
#endif

#endif
