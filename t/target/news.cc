/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The operators of C++, each with the chain main < f3 < f2 < f1 < f0 above it, COUNT times:
 * blocks of 1000 bytes by new, new[], aligned new and new that does not throw. Prints how
 * often it has called each of new and delete in all. news wait COUNT: waits for a byte
 * then.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#define NOINLINE __attribute__((noinline, noclone))
#define CHAIN_SIZE 1000

struct alignas(64) Aligned {
	char bytes[1024];
};

static void *volatile kept;

NOINLINE static void f0(unsigned how)
{
	switch (how % 4) {
	case 0:
		kept = ::operator new(CHAIN_SIZE);
		::operator delete(kept);
		break;
	case 1: {
		char *block = new char[CHAIN_SIZE];

		kept = block;
		delete[] block;
		break;
	}
	case 2: {
		Aligned *block = new Aligned;

		kept = block;
		delete block;
		break;
	}
	default: {
		char *block = new (std::nothrow) char[CHAIN_SIZE];

		kept = block;
		delete[] block;
		break;
	}
	}
	__asm__ volatile("");
}

NOINLINE static void f1(unsigned how)
{
	f0(how);
	__asm__ volatile("");
}

NOINLINE static void f2(unsigned how)
{
	f1(how);
	__asm__ volatile("");
}

NOINLINE static void f3(unsigned how)
{
	f2(how);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	const unsigned count = argc > 2 ? (unsigned)std::atoi(argv[2]) : 1000;

	for (unsigned i = 0; i < count; i++)
		f3(i);
	std::printf("%u\n", count);
	/* Who reads what was recorded has to see this process alive once. */
	if (argc > 1 && std::strcmp(argv[1], "wait") == 0)
		std::getchar();
	return 0;
}
