/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A library for dlopener: plugin_outer calls plugin_inner, which calls back.
 * PLUGIN_WASTE makes one plugin's frames larger than the other's, with code that
 * differs in that number only, so that unwinding one with what is known of the other goes wrong.
 */
#ifndef PLUGIN_WASTE
#define PLUGIN_WASTE 400
#endif

int plugin_outer(int (*work)(int), int argument);

static __attribute__((noinline)) int plugin_inner(int (*work)(int), int argument)
{
	volatile char waste[PLUGIN_WASTE];

	waste[0] = (char)argument;
	return work(argument) + waste[0];
}

int plugin_outer(int (*work)(int), int argument)
{
	return plugin_inner(work, argument) + 1;
}
