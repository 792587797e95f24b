/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The other small files of a thread: status, syscall, schedstat. */
#include "lib/tap.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "proc/process.h"

static const char whole[] = "Name:\tTgid: 7\\nUid:\t1\n"
			    "Umask:\t0022\n"
			    "State:\tS (sleeping)\n"
			    "Tgid:\t4100\n"
			    "Ngid:\t0\n"
			    "Pid:\t4177\n"
			    "PPid:\t1\n"
			    "TracerPid:\t5120\n"
			    "Uid:\t1000\t1001\t1002\t1003\n"
			    "Groups:\t4 24 27\n"
			    "NSpid:\t4177\t33\t7\n"
			    "CapPrm:\t0000000000080000\n"
			    "CapEff:\t0000000000000001\n"
			    "CapBnd:\t000001ffffffffff\n"
			    "Seccomp:\t2\n"
			    "Seccomp_filters:\t1\n"
			    "voluntary_ctxt_switches:\t150\n"
			    "nonvoluntary_ctxt_switches:\t545\n";

static void test_status(void)
{
	struct pmp_status_file status;

	ok(pmp_status_parse(whole, strlen(whole), &status), "a status file");
	is_int(status.tgid, 4100, "its process");
	is_int(status.tracer, 5120, "its tracer");
	is_int(status.state, 'S', "its state");
	is_int(status.uid, 1000, "its user");
	is_int(status.euid, 1001, "its effective user");
	is_int(status.ns_pid, 7, "its innermost pid");
	is_int(status.seccomp, 2, "its filter");
	is_int(status.cap_permitted, 1 << 19, "permitted");
	is_int(status.cap_effective, 1, "effective");
	is_int(status.cap_bounding, 0x1ffffffffff, "bounding");
	is_int(status.voluntary, 150, "voluntary switches");
	is_int(status.involuntary, 545, "other switches");
	ok(!status.dumping, "no core is written of it");
	ok(pmp_status_parse("Tgid:\t5\nCoreDumping:\t1\n", 23, &status) && status.dumping,
	   "of this one it is");
}

static void test_missing(void)
{
	static const char odd[] = "Tgid:\t5\nUid:\t1\nSeccomp:\t77\nNSpid:\nState:\n"
				  "TracerPid:\t99999999999\nUid:\t4294967296 1\n";
	struct pmp_status_file status;

	ok(pmp_status_parse("Tgid:\t5\n", 8, &status), "a short one");
	ok(status.tracer == 0 && status.seccomp == -1 && status.uid == (uid_t)-1 &&
		   status.ns_pid == 0 && status.state == '?',
	   "what is missing is unknown");
	ok(!pmp_status_parse("", 0, &status), "nothing");
	ok(!pmp_status_parse("State:\tS\n", 9, &status), "without a process");
	ok(pmp_status_parse(odd, strlen(odd), &status), "odd numbers");
	ok(status.tracer == 0 && status.seccomp == -1 && status.uid == (uid_t)-1 &&
		   status.ns_pid == 0 && status.state == '?',
	   "are unknown");
}

static void test_own_status(void)
{
	struct pmp_status_file status;

	is_int(pmp_status_read(AT_FDCWD, "/proc/self/status", &status), 0, "our own");
	is_int(status.tgid, getpid(), "our pid");
	is_int(status.euid, geteuid(), "our user");
	ok(status.ns_pid > 0, "our innermost pid");
}

/* What the kernel shows of a task that is released meanwhile: no number. */
static void test_released(void)
{
	static const char text[] =
		"Name:\tdemo\nState:\tX (dead)\nTgid:\t0\nNgid:\t0\nPid:\t0\n";
	struct pmp_status_file of_none;
	char path[64];
	int fd = memfd_create("released", 0);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ok(write(fd, text, strlen(text)) == (ssize_t)strlen(text), "a file for it");
	is_int(pmp_status_read(AT_FDCWD, path, &of_none), -ESRCH,
	       "one that is released meanwhile has ended");
	close(fd);
}

/* Hundreds of groups stand before the fields that matter. */
static void test_long(void)
{
	struct pmp_status_file status;
	struct pmp_buf text = { 0 };

	pmp_buf_puts(&text, "Tgid:\t5\nGroups:\t");
	for (unsigned i = 0; i < 65536; i++)
		pmp_buf_printf(&text, "%u ", 4000000000u + i);
	pmp_buf_puts(&text, "\nSeccomp:\t2\n");
	ok(pmp_status_parse(text.data, text.length, &status), "65536 groups");
	is_int(status.seccomp, 2, "what is behind them");
	pmp_buf_free(&text);
}

static bool syscall_is(const char *text, struct pmp_syscall_file *call)
{
	return pmp_syscall_parse(text, strlen(text), call);
}

static void test_syscall(void)
{
	static const char futex[] =
		"202 0x55819ffca080 0x80 0x2 0x0 0x0 0xffffffffffffffff "
		"0x7fe924874ea8 0x7fe92510012b\n";
	struct pmp_syscall_file call;
	size_t wrong = 0;

	ok(syscall_is(futex, &call), "a blocked thread");
	is_int(call.number, 202, "its call");
	is_int(call.args[0], 0x55819ffca080, "the first argument");
	is_int(call.args[5], -1, "the last argument");
	is_int(call.sp, 0x7fe924874ea8, "stack pointer");
	is_int(call.pc, 0x7fe92510012b, "pc");
	for (size_t length = 0; length < strlen(futex) - 14; length++)
		wrong += pmp_syscall_parse(futex, length, &call);
	is_int(wrong, 0, "nothing that is cut is understood");
	ok(syscall_is("-1 0x7ffc 0x401000\n", &call), "blocked, but not in a call");
	ok(call.number == PMP_SYSCALL_NONE && call.sp == 0x7ffc && call.pc == 0x401000,
	   "stack pointer and pc all the same");
	ok(syscall_is("running\n", &call), "running");
	ok(call.number == PMP_SYSCALL_UNKNOWN && !call.sp && !call.pc,
	   "nothing is known");
	ok(!syscall_is("-2 0x1 0x2\n", &call), "no such number");
	ok(!syscall_is("99999999999 0 0 0 0 0 0 0 0\n", &call), "too large a number");
	ok(!syscall_is("0 1 2 3 4 5 6 0x11112222333344445 7\n", &call),
	   "too large an address");
	is_int(call.number, PMP_SYSCALL_UNKNOWN, "what is not understood is unknown");
}

static void test_schedstat(void)
{
	uint64_t cpu = 1, runs = 1;

	ok(pmp_schedstat_parse("5029385 170 695\n", 16, &cpu, &runs), "schedstat");
	ok(cpu == 5029385 && runs == 695, "its first and third number");
	ok(!pmp_schedstat_parse("1 2", 3, &cpu, &runs), "two numbers");
	ok(!pmp_schedstat_parse("", 0, &cpu, &runs), "nothing");
	ok(!pmp_schedstat_parse("1 2 99999999999999999999", 24, &cpu, &runs), "overflow");
	ok(cpu == 5029385 && runs == 695, "a failure leaves the numbers alone");
}

static void test_sched(void)
{
	static const char text[] =
		"conn\nse.exec_start (4100, #threads: 3)\n"
		"-------------------------------------------------------------------\n"
		"se.exec_start                                :      26301384.203417\n"
		"se.vruntime                                  :         78625.285925\n";
	uint64_t time = 1;

	ok(pmp_sched_parse(text, sizeof(text) - 1, &time), "sched");
	is_int(time, 26301384203417, "when it was last put on a processor");
	time = 1;
	for (size_t length = 0; length < 140; length++)
		if (pmp_sched_parse(text, length, &time))
			break;
	is_int(time, 1, "nothing of what is cut before it");
	ok(!pmp_sched_parse("se.exec_start : -1.000000\n", 26, &time), "no time");
	ok(!pmp_sched_parse("se.exec_start : 99999999999999999.0\n", 36, &time),
	   "too late a time");
}

static void test_cpu_list(void)
{
	static const char list[] = "0-2,5,8-9\n";
	unsigned found = 0;

	for (unsigned i = 0; i < 32; i++)
		found |= (unsigned)pmp_cpu_list_has(list, sizeof(list) - 1, i) << i;
	is_int(found, 0x327, "processors of a list");
	ok(!pmp_cpu_list_has("\n", 1, 0) && !pmp_cpu_list_has("", 0, 0),
	   "an empty list has none");
	ok(!pmp_cpu_list_has("1-,3", 4, 3) && !pmp_cpu_list_has("x3", 2, 3),
	   "nor has what is no list");
}

int main(void)
{
	test_status();
	test_missing();
	test_own_status();
	test_released();
	test_long();
	test_syscall();
	test_schedstat();
	test_sched();
	test_cpu_list();
	return done_testing();
}
