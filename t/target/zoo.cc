/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A heap whose contents are known: zoo idle | churn [SIZE], SIZE times as many.
 *
 * Before "ready" it prints what there is, a line each:
 *     class NAME BLOCKS BYTES       objects of a class, in usable bytes
 *     size BYTES BLOCKS             blocks without a class that nothing else has the size of
 *     mapped BLOCKS BYTES           in mappings of their own, usable, as malloc counts them
 *     fast BLOCKS BYTES             in fastbins, likewise, with headers
 * Blocks are in the main arena and in those of 4 threads, some of which have been freed
 * again: into caches of threads, fastbins and bins. churn: until it ends 4 threads replace
 * objects by others of the same class, so that the sums stay the same but for what is being
 * replaced: of each thread 10 circles, 5 squares, 3 sessions and a diamond.
 */
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <map>
#include <mutex>
#include <pthread.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

struct Circle {
	virtual ~Circle() {}
	double x[6] = {};
};

struct Square {
	virtual ~Square() {}
	char name[128] = {};
};

namespace net
{
struct Session {
	virtual ~Session() {}
	char buffer[480] = {};
};
} // namespace net

struct Walks {
	virtual ~Walks() {}
	long legs = 4;
};

struct Swims {
	virtual ~Swims() {}
	long fins = 0;
};

/* Its objects begin with the table of Walks' part in its own. */
struct Duck : Walks, Swims {
	long feathers[10] = {};
};

/* Its table begins further on than those of others. */
struct Base {
	long id = 0;
};

struct Diamond : virtual Base {
	virtual ~Diamond() {}
	long sides[20] = {};
};

/* C's way: a pointer to the functions of a kind comes first. */
struct Operations {
	void (*open)();
	void (*close)();
};

extern const Operations handler_table;
const Operations handler_table = { nullptr, nullptr };

struct Handler {
	const Operations *operations = &handler_table;
	char rest[72] = {};
};

namespace
{
const unsigned threads = 4;
const size_t large = 300000;

std::atomic<bool> ended;
std::atomic<unsigned long> replaced;
std::atomic<unsigned> in_place;
std::mutex lock;
std::map<std::string, std::pair<size_t, size_t>> classes;
size_t sizes[4];
const size_t odd_sizes[4] = { 1784, 3016, 24, 5208 };

/* What one thread has. */
struct Cage {
	std::vector<Circle *> circles;
	std::vector<Square *> squares;
	std::vector<net::Session *> sessions;
	std::vector<Duck *> ducks;
	std::vector<Diamond *> diamonds;
	std::vector<Handler *> handlers;
	std::vector<void *> others;
};

template <typename T>
void fill(std::vector<T *> &list, size_t count, const char *name)
{
	list.reserve(count);
	for (size_t i = 0; i < count; i++)
		list.push_back(new T);
	for (T *one : list) {
		std::lock_guard<std::mutex> guard(lock);
		auto &sum = classes[name];

		sum.first++;
		sum.second += malloc_usable_size(static_cast<void *>(one));
	}
}

/* So many of these sizes that some of them are in a cache, some in a fastbin, some free. */
void free_some()
{
	static const size_t freed[] = { 24, 40, 100, 200, 2000, 100, 30000 };
	std::vector<void *> blocks;

	for (size_t size : freed)
		for (int i = 0; i < 40; i++)
			blocks.push_back(malloc(size));
	for (size_t i = 0; i < blocks.size(); i += 2)
		free(blocks[i]);
}

void add_others(Cage &cage, size_t times)
{
	for (size_t i = 0; i < 4; i++) {
		for (size_t k = 0; k < 10 * times; k++) {
			void *block = i == 2 ? aligned_alloc(4096, odd_sizes[i])
					     : calloc(1, odd_sizes[i]);

			std::lock_guard<std::mutex> guard(lock);
			sizes[i] += malloc_usable_size(block) == odd_sizes[i];
			cage.others.push_back(block);
		}
	}
	cage.others.push_back(calloc(1, large + 4096 * cage.others.size()));
	cage.others.push_back(malloc(large));
	memset(cage.others.back(), 'a', large);
}

void settle(Cage &cage, size_t times)
{
	fill(cage.circles, 4000 * times, "Circle");
	fill(cage.squares, 2000 * times, "Square");
	free_some();
	fill(cage.sessions, 1200 * times, "net::Session");
	fill(cage.ducks, 300 * times, "Duck");
	fill(cage.diamonds, 200 * times, "Diamond");
	fill(cage.handlers, 100 * times, "points to handler_table");
	add_others(cage, times);
	free_some();
}

unsigned long draw(unsigned long &state)
{
	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return state >> 33;
}

/* Some of a list in a row are gone for a moment. */
template <typename T> struct Replaced {
	std::vector<T *> &list;
	size_t first, count;

	Replaced(std::vector<T *> &list, unsigned long at, size_t count)
		: list(list), first(at % (list.size() - count)), count(count)
	{
		for (size_t i = 0; i < count; i++)
			delete list[first + i];
	}

	void renew()
	{
		for (size_t i = 0; i < count; i++)
			list[first + i] = new T;
		replaced += count;
	}
};

/* Blocks of any size come and go in between: so chunks are cut and merged again. */
void churn(Cage &cage, unsigned long seed)
{
	std::vector<void *> blocks(500);
	unsigned long state = seed;

	while (!ended) {
		Replaced<Circle> circles(cage.circles, draw(state), 10);
		Replaced<Square> squares(cage.squares, draw(state), 5);
		Replaced<net::Session> sessions(cage.sessions, draw(state), 3);
		Replaced<Diamond> diamonds(cage.diamonds, draw(state), 1);

		for (int i = 0; i < 20; i++) {
			void *&block = blocks[draw(state) % blocks.size()];

			free(block);
			block = calloc(1, 16 + draw(state) % 6000);
		}
		sessions.renew();
		circles.renew();
		diamonds.renew();
		squares.renew();
	}
	for (void *block : blocks)
		free(block);
}

void live(size_t times, bool churns, unsigned long seed)
{
	Cage cage;

	settle(cage, times);
	in_place++;
	if (churns)
		churn(cage, seed);
	while (!ended)
		usleep(10000);
}

void print()
{
	const struct mallinfo2 info = mallinfo2();

	for (const auto &one : classes)
		printf("class %zu %zu %s\n", one.second.first, one.second.second,
		       one.first.c_str());
	for (size_t i = 0; i < 4; i++)
		if (i != 2)
			printf("size %zu %zu\n", odd_sizes[i], sizes[i]);
	printf("mapped %zu %zu\n", info.hblks, info.hblkhd - 16 * info.hblks);
	printf("fast %zu %zu\n", info.smblks, info.fsmblks);
	printf("ready %d\n", getpid());
	fflush(stdout);
}
} // namespace

int main(int argc, char **argv)
{
	const bool churns = argc > 1 && strcmp(argv[1], "churn") == 0;
	const size_t times = argc > 2 ? strtoul(argv[2], nullptr, 10) : 1;
	std::vector<std::thread> keepers;
	sigset_t set;
	Cage cage;
	int signal;

	alarm(1800);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &set, nullptr);
	setvbuf(stdout, nullptr, _IOFBF, 65536);
	settle(cage, times);
	for (unsigned i = 0; i < threads; i++)
		keepers.emplace_back(live, times, churns, i + 1);
	while (in_place < threads)
		usleep(1000);
	print();
	while (sigwait(&set, &signal) != 0)
		;
	ended = true;
	for (std::thread &keeper : keepers)
		keeper.join();
	printf("verdict: ok\n%lu replaced\n", replaced.load());
	return 0;
}
