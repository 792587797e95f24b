/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Assembly as one finds it: no call-frame information and no frame pointer.
 * bare_leaf(flag): returns when *flag is not zero; its return address is at
 * the stack pointer.
 */
	.text
	.globl	bare_leaf
	.type	bare_leaf, @function
bare_leaf:
#if defined __x86_64__
0:	pause
	cmpl	$0, (%rdi)
	je	0b
	movl	$1, %eax
	ret
#elif defined __aarch64__
0:	ldr	w1, [x0]
	cbz	w1, 0b
	mov	w0, #1
	ret
#endif
	.size	bare_leaf, . - bare_leaf

	.section .note.GNU-stack, "", @progbits
