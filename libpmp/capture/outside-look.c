/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/outside-look.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/scan.h"
#include "capture/outside-event.h"

#define TABLE_MAX ((size_t)8 << 20)	/* /proc/locks, net/tcp: the rest is ignored */
#define CHILDREN_TEXT ((size_t)1 << 20) /* of one thread */
#define HOLDERS_MAX 64			/* conflicting locks of one waiter */

/* ---- life ---------------------------------------------------------------------------- */

/* Does the process share our namespace of that type? */
static bool shares_namespace(const struct pmp_process *process, const char *name)
{
	struct stat theirs, ours;
	char path[32];

	snprintf(path, sizeof(path), "ns/%s", name);
	if (fstatat(process->proc, path, &theirs, 0))
		return false;
	snprintf(path, sizeof(path), "/proc/self/ns/%s", name);
	return stat(path, &ours) == 0 && ours.st_dev == theirs.st_dev &&
	       ours.st_ino == theirs.st_ino;
}

void pmp_look_begin(struct pmp_look *look, struct pmp_target *target)
{
	*look = (struct pmp_look){ .target = target, .unix_fd = -1 };
	look->own_network = shares_namespace(&target->process, "net");
	look->own_ipc = shares_namespace(&target->process, "ipc");
}

void pmp_look_end(struct pmp_look *look)
{
	if (look->unix_fd >= 0)
		close(look->unix_fd);
	pmp_file_locks_free(&look->locks);
	pmp_tcp_table_free(&look->tcp);
	pmp_buf_free(&look->unix_table);
	free(look->found);
	free(look->seeks);
	free(look->children);
}

int pmp_look_add(struct pmp_look *look, size_t record, pid_t pid, int fd,
		 enum pmp_role role)
{
	if (PMP_RESERVE(&look->found, &look->found_capacity, look->found_count + 1))
		return PMP_ENOMEM;
	look->found[look->found_count] = (struct pmp_outside_found){
		.record = record,
		.other = { .pid = pid, .fd = fd, .role = (uint8_t)role },
		.order = (uint32_t)look->found_count,
	};
	look->found_count++;
	return 0;
}

static int add_seek(struct pmp_look *look, const struct pmp_seek *seek)
{
	if (PMP_RESERVE(&look->seeks, &look->seek_capacity, look->seek_count + 1))
		return PMP_ENOMEM;
	look->seeks[look->seek_count++] = *seek;
	return 0;
}

/* ---- locks of files ------------------------------------------------------------------- */

static int need_locks(struct pmp_look *look)
{
	struct pmp_buf text = { 0 };
	const char *end;
	int r = 0, code;

	if (look->has_locks)
		return 0;
	look->has_locks = true;
	code = pmp_file_slurp(AT_FDCWD, "/proc/locks", TABLE_MAX, &text);
	end = text.length ? memrchr(text.data, '\n', text.length) : NULL;
	if (end)
		r = pmp_file_locks_parse(&look->locks, text.data,
					 (size_t)(end - text.data) + 1);
	look->locks_cut = code == -EFBIG || look->locks.count == PMP_FILE_LOCKS_MAX;
	pmp_buf_free(&text);
	return r ? r : pmp_file_locks_sort(&look->locks);
}

/* The range that it wants, if its struct flock is relative to the start of the file. */
static bool wanted_range(const struct pmp_look *look, const struct pmp_outsider *outsider,
			 struct pmp_file_lock *lock)
{
	struct flock wanted;

	if (!outsider->call.range ||
	    pmp_file_pread(look->target->process.mem, &wanted, sizeof(wanted),
			   outsider->call.range) != (ssize_t)sizeof(wanted) ||
	    wanted.l_whence != SEEK_SET || wanted.l_start < 0 || wanted.l_len < 0)
		return false;
	lock->first = (uint64_t)wanted.l_start;
	lock->last = wanted.l_len ? lock->first + (uint64_t)wanted.l_len - 1 : UINT64_MAX;
	return true;
}

/* The waiting lock of that thread, or NULL. The kernel only names its process, and not
 * even that for OFD locks. */
static const struct pmp_file_lock *find_waiting(const struct pmp_look *look,
						const struct pmp_outsider *outsider)
{
	struct pmp_file_lock wanted = {
		.type = outsider->call.lock,
		.write = outsider->call.write,
		.pid = outsider->call.lock == PMP_OUTSIDE_OFD ? -1
							      : look->target->process.pid,
		.inode = outsider->descriptor.lock_inode,
	};
	bool range = wanted_range(look, outsider, &wanted);

	return pmp_file_locks_waiter(&look->locks, &wanted, range);
}

static int look_at_lock(struct pmp_look *look, struct pmp_outsider *outsider)
{
	struct pmp_outside *what = &outsider->what;
	const struct pmp_file_lock *waiting;

	if (need_locks(look))
		return PMP_ENOMEM;
	if (outsider->descriptor.type == PMP_DESCRIPTOR_PIPE ||
	    outsider->descriptor.type == PMP_DESCRIPTOR_SOCKET)
		return 0;
	outsider->wait.kind = PMP_WAIT_FILE;
	outsider->wait.object = outsider->descriptor.lock_inode;
	if (outsider->call.write)
		outsider->wait.flags |= PMP_WAIT_WRITE;
	what->type = (uint8_t)outsider->call.lock;
	what->last = UINT64_MAX;
	pmp_outside_set_text(what, outsider->descriptor.path);
	waiting = find_waiting(look, outsider);
	if (waiting)
		outsider->lock = *waiting;
	return 0;
}

static bool conflict(const struct pmp_file_lock *held, const struct pmp_file_lock *waiter)
{
	bool flocks = held->type == PMP_OUTSIDE_FLOCK;

	return !held->waits && held->inode == waiter->inode &&
	       held->major == waiter->major && held->minor == waiter->minor &&
	       flocks == (waiter->type == PMP_OUTSIDE_FLOCK) &&
	       (held->write || waiter->write) && held->first <= waiter->last &&
	       held->last >= waiter->first &&
	       (held->type != PMP_OUTSIDE_FCNTL || waiter->type != held->type ||
		held->pid != waiter->pid);
}

/* Add a conflicting lock. Only descriptors tell who has a lock of an open file
 * description, because a fork shares it. */
static int add_holder(struct pmp_look *look, struct pmp_outsider *outsider,
		      const struct pmp_file_lock *held)
{
	const struct pmp_seek seek = {
		.type = PMP_DESCRIPTOR_FILE,
		.inode = outsider->descriptor.inode,
		.device = outsider->descriptor.device,
		.lock = *held,
		.number = outsider->record,
	};

	if (held->pid > 0 && !outsider->taker)
		outsider->taker = held->pid;
	if (held->type != PMP_OUTSIDE_FCNTL)
		return add_seek(look, &seek);
	return held->pid > 0 ? pmp_look_add(look, outsider->record, held->pid, -1,
					    PMP_ROLE_HOLDS)
			     : 0;
}

/* Add all conflicting locks: all must be released. */
static int seek_holders(struct pmp_look *look, struct pmp_outsider *outsider)
{
	const struct pmp_file_lock *const *sorted = look->locks.sorted, *held;
	const struct pmp_file_lock *waiter = &outsider->lock;
	struct pmp_outside *what = &outsider->what;
	unsigned count = 0;
	int r = 0;

	if (!waiter->waits)
		return 0;
	for (size_t i = pmp_file_locks_first_held(&look->locks, waiter->inode);
	     i < look->locks.count && count < HOLDERS_MAX && !r; i++) {
		held = sorted[i];
		if (held->waits || held->inode != waiter->inode)
			break;
		if (!conflict(held, waiter))
			continue;
		if (!count++) {
			what->sure = PMP_SURE_EXACT;
			what->write = held->write;
			what->first = held->first;
			what->last = held->last;
		}
		r = add_holder(look, outsider, held);
	}
	return r;
}

/* ---- pipes and sockets ----------------------------------------------------------------- */

static int read_tcp(struct pmp_look *look, const char *name)
{
	struct pmp_buf text = { 0 };
	int r = 0;

	if (pmp_file_slurp(look->target->process.proc, name, TABLE_MAX, &text) == 0 &&
	    text.length)
		r = pmp_tcp_table_add(&look->tcp, text.data, text.length);
	pmp_buf_free(&text);
	return r;
}

/* Read the tables of the target's own network namespace. An IPv6 socket may be connected
 * to an IPv4 one, so all are in one table. The kernel walks its whole hash table even if
 * it is empty: 0.3 ms. 0 or PMP_ENOMEM. */
static int need_tcp(struct pmp_look *look)
{
	if (look->has_tcp)
		return 0;
	look->has_tcp = true;
	if (read_tcp(look, "net/tcp") || read_tcp(look, "net/tcp6"))
		return PMP_ENOMEM;
	return pmp_tcp_table_sort(&look->tcp);
}

static bool look_at_tcp(struct pmp_look *look, struct pmp_outsider *outsider)
{
	char local[PMP_ADDRESS_SIZE], remote[PMP_ADDRESS_SIZE];
	struct pmp_outside *what = &outsider->what;
	const struct pmp_tcp_row *row =
		pmp_tcp_find(&look->tcp, outsider->descriptor.inode);

	if (!row)
		return false;
	what->type = PMP_OUTSIDE_TCP;
	what->listens = row->listens;
	pmp_tcp_print(&row->local, local);
	pmp_tcp_print(&row->remote, remote);
	if (row->listens) {
		pmp_outside_set_text(what, local);
		return true;
	}
	snprintf(what->text, sizeof(what->text), "%s to %s", local, remote);
	outsider->seek = pmp_tcp_find_other(&look->tcp, row);
	if (outsider->seek || outsider->call.does != PMP_DOES_CONNECT)
		return true;
	outsider->seek = pmp_tcp_find_listener(&look->tcp, row);
	outsider->accepts = true;
	return true;
}

static void need_unix(struct pmp_look *look)
{
	if (!look->has_unix && look->own_network)
		look->unix_fd = pmp_unix_open();
	look->has_unix = true;
}

static struct pmp_scan unix_table(struct pmp_look *look)
{
	if (!look->has_unix_table)
		pmp_file_slurp(look->target->process.proc, "net/unix", TABLE_MAX,
			       &look->unix_table);
	look->has_unix_table = true;
	return pmp_scan_text(look->unix_table.data, look->unix_table.length);
}

/* The peer that it connects to has not answered yet: its address is in memory. */
static uint64_t find_listener(struct pmp_look *look, const struct pmp_outsider *outsider,
			      struct pmp_outside *what)
{
	struct pmp_scan scan;
	struct sockaddr_un address = { 0 };
	size_t length = outsider->call.length, line_length;
	const char *line;

	if (length <= sizeof(address.sun_family) || length > sizeof(address) ||
	    pmp_file_pread(look->target->process.mem, &address, length,
			   outsider->call.address) != (ssize_t)length ||
	    address.sun_family != AF_UNIX)
		return 0;
	length -= sizeof(address.sun_family);
	memset(what->text, 0, sizeof(what->text));
	memcpy(what->text, address.sun_path, length);
	if (!what->text[0])
		what->text[0] = '@';
	scan = unix_table(look);
	while (pmp_scan_line(&scan, &line, &line_length)) {
		uint64_t inode = pmp_unix_parse_listener(line, line_length, what->text);

		if (inode)
			return inode;
	}
	return 0;
}

static bool look_at_unix(struct pmp_look *look, struct pmp_outsider *outsider)
{
	struct pmp_outside *what = &outsider->what;
	struct pmp_unix_socket answer;

	need_unix(look);
	if (!pmp_unix_ask(look->unix_fd, outsider->descriptor.inode, &answer))
		return false;
	what->type = PMP_OUTSIDE_UNIX;
	what->listens = answer.listens;
	pmp_outside_set_text(what, answer.path);
	outsider->seek = answer.peer;
	if (outsider->call.does == PMP_DOES_CONNECT && !answer.peer) {
		outsider->seek = find_listener(look, outsider, what);
		outsider->accepts = true;
	}
	return true;
}

static int look_at_socket(struct pmp_look *look, struct pmp_outsider *outsider)
{
	outsider->wait.kind = PMP_WAIT_SOCKET;
	if (look_at_unix(look, outsider))
		return 0;
	if (need_tcp(look))
		return PMP_ENOMEM;
	if (look_at_tcp(look, outsider))
		return 0;
	outsider->what.type = PMP_OUTSIDE_OTHER_SOCKET;
	outsider->what.foreign = !look->own_network;
	return 0;
}

static int look_at_stream(struct pmp_look *look, struct pmp_outsider *outsider)
{
	const struct pmp_descriptor *descriptor = &outsider->descriptor;
	int r = 0;

	if (outsider->call.does == PMP_DOES_WRITE)
		outsider->wait.flags |= PMP_WAIT_WRITE;
	if (outsider->call.timed)
		outsider->wait.flags |= PMP_WAIT_TIMED;
	outsider->wait.object = descriptor->inode;
	switch (descriptor->type) {
	case PMP_DESCRIPTOR_SOCKET: r = look_at_socket(look, outsider); break;
	case PMP_DESCRIPTOR_PIPE:
		outsider->wait.kind = PMP_WAIT_PIPE;
		outsider->what.type = PMP_OUTSIDE_PIPE;
		break;
	case PMP_DESCRIPTOR_FIFO:
		outsider->wait.kind = PMP_WAIT_PIPE;
		outsider->what.type = PMP_OUTSIDE_FIFO;
		pmp_outside_set_text(&outsider->what, descriptor->path);
		break;
	default:
		outsider->wait = (struct pmp_wait){ 0 };
		pmp_outside_event(outsider);
		return 0;
	}
	outsider->what.fd = outsider->call.fd;
	return r;
}

static int seek_ends(struct pmp_look *look, struct pmp_outsider *outsider)
{
	struct pmp_seek seek = { .type = outsider->descriptor.type,
				 .inode = outsider->descriptor.inode,
				 .device = outsider->descriptor.device,
				 .number = outsider->record };

	if (outsider->wait.kind == PMP_WAIT_PIPE) {
		outsider->what.sure = PMP_SURE_CANDIDATES;
		return add_seek(look, &seek);
	}
	if (!outsider->seek)
		return 0;
	outsider->what.sure = outsider->accepts ? PMP_SURE_CANDIDATES : PMP_SURE_EXACT;
	outsider->what.connected = true;
	seek.inode = outsider->seek;
	return add_seek(look, &seek);
}

/* ---- children -------------------------------------------------------------------------- */

static int add_children_of(struct pmp_look *look, pid_t tid)
{
	struct pmp_buf text = { 0 };
	struct pmp_scan scan;
	char path[64];
	uint64_t pid;
	int r = 0;

	snprintf(path, sizeof(path), "task/%d/children", (int)tid);
	if (pmp_file_slurp(look->target->process.proc, path, CHILDREN_TEXT, &text) ||
	    !text.length)
		goto out;
	scan = pmp_scan_text(text.data, text.length);
	while (!r && (pmp_scan_blanks(&scan), pmp_scan_u64(&scan, &pid))) {
		if (PMP_RESERVE(&look->children, &look->child_capacity,
				look->child_count + 1))
			r = PMP_ENOMEM;
		else if (pid > 0 && pid <= INT32_MAX)
			look->children[look->child_count++] =
				(struct pmp_look_child){ .pid = (pid_t)pid };
	}
out:
	pmp_buf_free(&text);
	return r;
}

static int list_children(struct pmp_look *look, const struct pmp_outsider *outsider)
{
	const struct pmp_watches *watches = &look->target->watches;
	int r = 0;

	if (look->has_children && !outsider->call.own_children)
		return 0;
	look->has_children = !outsider->call.own_children;
	look->child_count = 0;
	if (outsider->call.own_children)
		return add_children_of(look, outsider->thread->tid);
	for (size_t i = 0; i < watches->count && !r; i++)
		r = add_children_of(look, watches->items[i]->tid);
	return r;
}

static pid_t read_own_pid(const struct pmp_look *look, pid_t child)
{
	struct pmp_status_file status;
	char path[64];

	if (look->target->process.ns_pid == look->target->process.pid)
		return child;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)child);
	return pmp_status_read(AT_FDCWD, path, &status) == 0 ? status.ns_pid : -1;
}

/* The child with this pid in the process's own namespace; 0: not found. Each child is read
 * once for all waiters. */
static pid_t child_by_own_pid(struct pmp_look *look, pid_t own)
{
	for (size_t i = 0; i < look->child_count; i++) {
		struct pmp_look_child *child = &look->children[i];

		if (!child->own)
			child->own = read_own_pid(look, child->pid);
		if (child->own == own)
			return child->pid;
	}
	return 0;
}

static bool has_its_memory(const struct pmp_look *look, pid_t child)
{
	return syscall(SYS_kcmp, look->target->process.pid, child, KCMP_VM, 0, 0) == 0;
}

/* Of several children of a thread in vfork(), it waits for the one that shares its
 * memory. */
static void keep_vforked(struct pmp_look *look)
{
	for (size_t i = 0; i < look->child_count && look->child_count > 1; i++) {
		if (!has_its_memory(look, look->children[i].pid))
			continue;
		look->children[0] = look->children[i];
		look->child_count = 1;
	}
}

static pid_t one_child(struct pmp_look *look, const struct pmp_outsider *outsider)
{
	if (outsider->call.children == PMP_CHILD_PIDFD)
		return outsider->descriptor.info.pid;
	return outsider->call.child ? child_by_own_pid(look, outsider->call.child) : 0;
}

static int look_at_child(struct pmp_look *look, struct pmp_outsider *outsider)
{
	int r = list_children(look, outsider);

	if (r)
		return r;
	outsider->wait.kind =
		outsider->call.does == PMP_DOES_VFORK ? PMP_WAIT_VFORK : PMP_WAIT_CHILD;
	outsider->what.type = PMP_OUTSIDE_PROCESS;
	outsider->wait.object = (uint64_t)one_child(look, outsider);
	return 0;
}

static int seek_children(struct pmp_look *look, struct pmp_outsider *outsider)
{
	int r = list_children(look, outsider);

	if (outsider->wait.object) {
		outsider->what.sure = PMP_SURE_EXACT;
		return pmp_look_add(look, outsider->record, (pid_t)outsider->wait.object,
				    -1, PMP_ROLE_CHILD);
	}
	if (outsider->call.does == PMP_DOES_VFORK)
		keep_vforked(look);
	for (size_t i = 0; i < look->child_count && !r; i++)
		r = pmp_look_add(look, outsider->record, look->children[i].pid, -1,
				 PMP_ROLE_CHILD);
	outsider->what.sure = !look->child_count       ? PMP_SURE_UNKNOWN
			      : look->child_count == 1 ? PMP_SURE_EXACT
						       : PMP_SURE_CANDIDATES;
	return r;
}

/* ---- semaphores of System V ------------------------------------------------------------- */

/* The semaphore whose operation blocks; the first one if that is unknown. */
static unsigned blocking_semaphore(const struct pmp_outside_call *call)
{
	for (size_t i = 0; i < call->semop_count; i++) {
		int value = semctl(call->set, call->semops[i].number, GETVAL);
		int operation = call->semops[i].operation;

		if (value >= 0 && (operation ? value + operation < 0 : value > 0))
			return call->semops[i].number;
	}
	return call->semop_count ? call->semops[0].number : 0;
}

static void look_at_semaphore(const struct pmp_look *look, struct pmp_outsider *outsider)
{
	outsider->wait.kind = PMP_WAIT_SEMOP;
	outsider->wait.object = (uint32_t)outsider->call.set;
	outsider->what.type = PMP_OUTSIDE_SEMAPHORE;
	outsider->what.foreign = !look->own_ipc;
	if (outsider->call.timed)
		outsider->wait.flags |= PMP_WAIT_TIMED;
	outsider->what.number = look->own_ipc ? blocking_semaphore(&outsider->call)
				: outsider->call.semop_count
					? outsider->call.semops[0].number
					: 0;
}

static int seek_operator(struct pmp_look *look, struct pmp_outsider *outsider)
{
	int pid;

	if (!look->own_ipc)
		return 0;
	pid = semctl(outsider->call.set, (int)outsider->what.number, GETPID);
	if (pid <= 0)
		return 0;
	outsider->what.sure = PMP_SURE_INFERRED;
	return pmp_look_add(look, outsider->record, pid, -1, PMP_ROLE_OPERATED);
}

/* ---- all of them ------------------------------------------------------------------------- */

int pmp_look_at(struct pmp_look *look, struct pmp_outsider *outsider)
{
	struct pmp_outside_call *call = &outsider->call;

	if (call->fd >= 0 &&
	    pmp_descriptor_read(&look->target->process, outsider->thread->tid, call->fd,
				&outsider->descriptor) < 0)
		return 0;
	switch (call->does) {
	case PMP_DOES_LOCK: return look_at_lock(look, outsider);
	case PMP_DOES_READ:
	case PMP_DOES_WRITE:
	case PMP_DOES_CONNECT:
	case PMP_DOES_ACCEPT: return look_at_stream(look, outsider);
	case PMP_DOES_WAIT_CHILD:
	case PMP_DOES_VFORK: return look_at_child(look, outsider);
	case PMP_DOES_SEMOP: look_at_semaphore(look, outsider); return 0;
	case PMP_DOES_POLL:
	case PMP_DOES_EVENT:
	case PMP_DOES_SIGNAL:
	case PMP_DOES_SLEEP:
	case PMP_DOES_QUEUE:
	case PMP_DOES_IO: pmp_outside_event(outsider); break;
	case PMP_DOES_NOTHING: break;
	}
	return 0;
}

int pmp_look_for_others(struct pmp_look *look, struct pmp_outsider *outsider)
{
	switch (outsider->wait.kind) {
	case PMP_WAIT_FILE: return seek_holders(look, outsider);
	case PMP_WAIT_PIPE:
	case PMP_WAIT_SOCKET: return seek_ends(look, outsider);
	case PMP_WAIT_CHILD:
	case PMP_WAIT_VFORK: return seek_children(look, outsider);
	case PMP_WAIT_SEMOP: return seek_operator(look, outsider);
	default: return 0;
	}
}
