/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * C++: templates, namespaces, a lambda and an operator on the stack of one
 * thread, exceptions thrown through three functions for ever in another.
 *
 * Verdict: every exception thrown was caught, with its value.
 */
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <poll.h>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>

static std::atomic<bool> ended;
static std::atomic<unsigned long> thrown, caught, wrong;
static std::atomic<int> in_place;

namespace shop
{

template <typename T> struct Till {
	__attribute__((noinline)) T take(T amount)
	{
		in_place++;
		while (!ended)
			poll(nullptr, 0, 50);
		return amount;
	}
};

namespace
{

struct Cashier {
	__attribute__((noinline)) int operator()(int amount)
	{
		Till<std::pair<int, int>> till;
		return till.take({ amount, 1 }).first + 1;
	}
};

} // namespace

template <typename F> __attribute__((noinline)) int serve(F f)
{
	return f(41) - 1;
}

__attribute__((noinline)) void fall(unsigned long value)
{
	std::string ballast(40, 'x');

	thrown++;
	if (ballast.size() == 40)
		throw std::runtime_error(std::to_string(value));
}

__attribute__((noinline)) int stumble(unsigned long value)
{
	fall(value);
	return 1;
}

__attribute__((noinline)) void walk()
{
	for (unsigned long i = 0; !ended; i++) {
		try {
			stumble(i);
		} catch (const std::runtime_error &e) {
			caught++;
			if (std::stoul(e.what()) != i)
				wrong++;
		}
	}
}

} // namespace shop

int main()
{
	sigset_t set;
	int signal;

	alarm(300);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, nullptr);
	std::thread walker([] {
		prctl(PR_SET_NAME, "walker");
		shop::walk();
	});
	std::thread cashier([] {
		prctl(PR_SET_NAME, "cashier");
		if (shop::serve(shop::Cashier()) != 41)
			wrong++;
	});
	while (!in_place)
		usleep(1000);
	std::printf("ready %d\n", getpid());
	std::fflush(stdout);
	while (sigwait(&set, &signal) != 0)
		;
	ended = true;
	walker.join();
	cashier.join();
	if (wrong || thrown != caught || thrown == 0) {
		std::printf("verdict: FAIL %lu thrown, %lu caught, %lu wrong\n",
			    thrown.load(), caught.load(), wrong.load());
		return 1;
	}
	std::printf("verdict: ok\n");
	return 0;
}
