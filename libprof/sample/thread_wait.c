/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a blocked thread waits for, by its system call and what that was given.
 */
#include "sampling.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "codefault.h"
#include "core/clockpoll.h"
#include "core/procfile.h"
#include "fdname.h"
#include "memory.h"
#include "mounts.h"
#include "poll_set.h"
#include "procmem.h"
#include "python/reach.h"
#include "shmap.h"
#include "sockname.h"
#include "waitkind.h"

#define POPULATE_READ 22u /* MADV_POPULATE_READ of Linux 5.14, which older headers lack */
#define OBJECTS 8u /* that one wait is for, one within the other */
#define POLLED_WORDS 4u /* of links for descriptors that are polled: others need room, too */
#define POLLED_TURN_NS 20000000ll /* which ones, where they are more */

bool prof_sampling_disk(const struct prof_sampling *l)
{
	return l->out->s.state == WIRE_STATE_DISK;
}

static struct prof_fd wait_fd(struct prof_sampling *l, int fd, bool writes, int64_t timeout_ns)
{
	struct prof_thread_sample *o = l->out;
	struct prof_fd f = prof_fd_look(l->t->pid, fd, &l->t->mounts, o->target, sizeof(o->target));

	snprintf(o->fs, sizeof(o->fs), "%s", f.fs);
	o->s.wait = (uint8_t)prof_wait_of_fd(f.kind, f.fs, writes, prof_sampling_disk(l));
	if ((f.kind == PROF_FD_PIPE || f.kind == PROF_FD_SOCKET) &&
	    prof_wait_is_queue(timeout_ns, o->stack))
		o->s.wait = WIRE_WAIT_QUEUE;
	if (f.kind == PROF_FD_UNKNOWN)
		o->s.wait = writes ? WIRE_WAIT_WRITE : WIRE_WAIT_READ;
	return f;
}

/* @end: inode of the descriptor by which it waits, 0: by none. False: there is no room. */
static bool await_link(struct prof_sampling *l, const char *id, uint64_t end)
{
	size_t n = prof_link_words(l->out->links);

	if (!l->links || !prof_link_add(l->out->links, PROF_LINK_AWAITS, id))
		return false;
	l->out->end[n] = end;
	return true;
}

/* Who writes to a pipe or socket waits for who reads: that is no wait for something to be made. */
static void write_fd(struct prof_sampling *l, int fd, bool file)
{
	struct prof_fd f = wait_fd(l, fd, file, -1);
	char id[PROF_LINK_ID];

	if (!l->sends)
		return;
	prof_fd_link(&f, l->out->s.wait == WIRE_WAIT_PIPE, id);
	prof_link_add(l->out->links, PROF_LINK_SENDS, id);
}

/* A connection that came from outside, or brings data, says so behind its own word. */
static void await_fd(struct prof_sampling *l, const struct prof_fd *f, const char *id)
{
	char from[PROF_LINK_ID];

	if (!await_link(l, id, f->inode) || f->kind != PROF_FD_SOCKET)
		return;
	prof_socket_accepted(f->inode, from);
	await_link(l, from, 0);
	if (l->t->pid)
		return;
	prof_socket_data(f->inode, from);
	await_link(l, from, 0);
}

/* What another thread of the process ends, as it does the wait for a lock. */
static void wait_within(struct prof_sampling *l, uint64_t what)
{
	l->out->futex = what;
	l->out->arg = l->call.arg[0];
	l->out->sp = l->call.sp;
	l->out->pc = l->call.pc;
}

/* Libraries wake their own threads by events (zmq's mailboxes). */
static void wait_event(struct prof_sampling *l, int fd)
{
	if (!l->t->pid && l->out->s.wait == WIRE_WAIT_OTHER &&
	    !strcmp(l->out->target, "anon_inode:[eventfd]"))
		wait_within(l, PROF_SAMPLE_EVENT + (uint64_t)fd * 8);
}

static void read_fd(struct prof_sampling *l, int fd)
{
	struct prof_fd f = wait_fd(l, fd, false, -1);
	char id[PROF_LINK_ID];

	if (!l->links)
		return;
	wait_event(l, fd);
	prof_fd_link(&f, l->out->s.wait == WIRE_WAIT_PIPE, id);
	await_fd(l, &f, id);
}

static bool sends(const struct prof_sampling *l)
{
	return l->call.nr == SYS_sendto || l->call.nr == SYS_sendmsg ||
	       l->call.nr == SYS_sendmmsg || l->call.nr == SYS_connect;
}

/*
 * A path that does not begin with / is seen from a folder: a descriptor, or where the process is.
 */
static size_t folder_of(const struct prof_sampling *l, char *out, size_t room)
{
	int dir = l->kind->arg ? (int)l->call.arg[0] : -100; /* AT_FDCWD */
	char path[64], self[16] = "self";
	ssize_t n;

	if (l->t->pid)
		snprintf(self, sizeof(self), "%d", (int)l->t->pid);
	if (dir >= 0)
		snprintf(path, sizeof(path), "/proc/%s/fd/%d", self, dir);
	else
		snprintf(path, sizeof(path), "/proc/%s/cwd", self);
	n = prof_proc_link(path, out, room - 1);
	if (n <= 0)
		return 0;
	out[n] = '/';
	out[n + 1] = 0;
	return (size_t)n + 1;
}

static void wait_path(struct prof_sampling *l, bool writes)
{
	struct prof_thread_sample *o = l->out;
	const struct prof_mount *mount = NULL;
	char given[PROF_SAMPLE_TARGET / 2];
	size_t n = 0;

	l->path = true;
	l->writes = writes;
	if (prof_procmem_text(l->t->pid, l->call.arg[l->kind->arg], given, sizeof(given))) {
		if (*given != '/')
			n = folder_of(l, o->target, sizeof(o->target) - sizeof(given));
		strcpy(o->target + n, given);
		mount = prof_mounts_path(&l->t->mounts, o->target);
	}
	snprintf(o->fs, sizeof(o->fs), "%s", mount ? mount->type : "");
	o->s.wait = (uint8_t)prof_wait_of_path(o->fs, writes, prof_sampling_disk(l));
}

/* A file that is opened to be written is waited for by who writes: a checkpoint, no data. */
static bool opens_to_write(const struct prof_sampling *l)
{
	uint64_t flags = l->call.arg[l->kind->arg + 1];

#ifdef SYS_open
	if (l->call.nr == SYS_open)
		return (flags & O_ACCMODE) != O_RDONLY;
#endif
	return l->call.nr == SYS_openat && (flags & O_ACCMODE) != O_RDONLY;
}

/*
 * Is it the socket by which other threads of the process wake an event loop? Its other end is the
 * descriptor beside it. What a loop waits for is told by the others, and by its objects.
 */
static bool is_wakeup(const struct prof_sampling *l, int fd, const struct prof_fd *f,
		      const char *id)
{
	char name[PROF_SAMPLE_FS], *rest;
	uint64_t one, other;
	int beside;

	if (*id != 'u')
		return false;
	one = strtoull(id + 1, &rest, 10);
	other = *rest == '-' ? strtoull(rest + 1, NULL, 10) : 0;
	if (other == f->inode)
		other = one;
	for (beside = fd - 1; other && beside <= fd + 1; beside += 2)
		if (prof_fd_look(l->t->pid, beside, &l->t->mounts, name, sizeof(name)).inode ==
		    other)
			return true;
	return false;
}

struct polled { /* a descriptor of several */
	char id[PROF_LINK_ID]; /* "": nothing comes there that somebody gives */
	struct prof_fd fd;
	bool wakes, inside;
};

/* Both ends of a connection within the process: what comes there its own code sent. */
static void find_inside(struct polled *d, uint32_t n)
{
	uint32_t i, k;

	for (i = 0; i < n; i++)
		for (k = 0; k < i; k++)
			if ((*d[i].id == 't' || *d[i].id == 'u') && !strcmp(d[i].id, d[k].id))
				d[i].inside = d[k].inside = true;
}

static bool await_listening(struct prof_sampling *l, const struct polled *d, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (*d[i].id == 'l' && await_link(l, d[i].id, d[i].fd.inode))
			return true;
	return false;
}

/*
 * Who polls waits for all that he means to read: one place at which he listens, for there
 * connections come from, and these. Of many others each time, so that all are told in turn.
 */
static void await_some(struct prof_sampling *l, const struct polled *d, uint32_t n)
{
	bool listens = await_listening(l, d, n);
	uint32_t some[PROF_POLL_SET_MAX], k = 0, room, i;

	for (i = 0; i < n; i++)
		if (*d[i].id && *d[i].id != 'l' && !d[i].wakes && !d[i].inside)
			some[k++] = i;
	room = POLLED_WORDS - (uint32_t)prof_link_words(l->out->links);
	for (i = 0; i < k && prof_link_words(l->out->links) < POLLED_WORDS; i++) {
		uint32_t turn = k > room ? (uint32_t)(l->out->s.t_ns / POLLED_TURN_NS) * room : 0;
		const struct polled *one = &d[some[(turn + i) % k]];

		if (listens)
			await_link(l, one->id, one->fd.inode);
		else
			await_fd(l, &one->fd, one->id);
	}
}

/* Bits of what wakes him only. */
static uint32_t await_polled(struct prof_sampling *l, const struct prof_poll_set *p)
{
	struct polled d[PROF_POLL_SET_MAX];
	char name[PROF_SAMPLE_FS];
	uint32_t i, wakes = 0;

	for (i = 0; i < p->count; i++) {
		d[i] = (struct polled){ .id = "" };
		if (!(p->reads >> i & 1))
			continue;
		d[i].fd = prof_fd_look(l->t->pid, p->fd[i], &l->t->mounts, name, sizeof(name));
		prof_fd_link(&d[i].fd, true, d[i].id);
		if (!*d[i].id && d[i].fd.kind == PROF_FD_SOCKET && d[i].fd.inode)
			snprintf(d[i].id, sizeof(d[i].id), "s%" PRIu64, d[i].fd.inode);
		d[i].wakes = is_wakeup(l, p->fd[i], &d[i].fd, d[i].id);
		wakes |= (uint32_t)d[i].wakes << i;
	}
	find_inside(d, p->count);
	await_some(l, d, p->count);
	return wakes;
}

/* Of several descriptors the one that tells most: a queue, then whatever comes first. */
static void wait_poll_set(struct prof_sampling *l)
{
	struct prof_poll_set p;
	uint32_t i, wakes;

	if (prof_poll_set_read(l->t->pid, &l->call, l->kind->how, &p)) {
		l->out->s.wait = WIRE_WAIT_OTHER;
		return;
	}
	if (!p.all) {
		l->out->s.wait = WIRE_WAIT_SLEEP;
		return;
	}
	wakes = l->links ? await_polled(l, &p) : 0;
	if (wakes == (uint32_t)((UINT64_C(1) << p.count) - 1))
		wakes = 0;
	for (i = 0; i < p.count; i++) {
		if (wakes >> i & 1)
			continue;
		wait_fd(l, p.fd[i], false, p.timeout_ns);
		if (l->out->s.wait != WIRE_WAIT_OTHER)
			break;
	}
	if (l->links && i && i == p.count)
		wait_event(l, p.fd[i - 1]);
}

/*
 * For the end of a thread? The kernel clears its number and wakes who waits for that, by an
 * operation that is not private (pthread_join of glibc). It takes nothing that the thread makes.
 */
static bool joins(const struct prof_sampling *l)
{
	const struct prof_call *c = &l->call;
	pid_t pid = l->t->pid ? l->t->pid : getpid();

	return prof_wait_of_futex(c->arg[1]) == WIRE_WAIT_LOCK_SHARED && c->arg[2] > 0 &&
	       c->arg[2] <= INT_MAX && !syscall(SYS_tgkill, pid, (pid_t)c->arg[2], 0);
}

static void wait_futex(struct prof_sampling *l)
{
	struct wire_sample *s = &l->out->s;
	char id[PROF_LINK_ID];

	if (l->t->py && prof_py_in_runtime(l->t->py, l->call.arg[0])) {
		s->wait = WIRE_WAIT_GIL;
		return;
	}
	if (joins(l)) {
		s->wait = WIRE_WAIT_LOCK;
		return;
	}
	s->wait = (uint8_t)prof_wait_of_futex(l->call.arg[1]);
	if (s->wait == WIRE_WAIT_LOCK_SHARED && l->links) {
		if (prof_shmap_link(l->t->pid, l->call.arg[0], id))
			s->wait = WIRE_WAIT_LOCK;
		await_link(l, id, 0);
	}
	if (s->wait == WIRE_WAIT_LOCK)
		wait_within(l, l->call.arg[0]);
	if (s->wait == WIRE_WAIT_LOCK_SHARED && prof_wait_is_queue_lock(l->out->stack))
		s->wait = WIRE_WAIT_QUEUE;
}

/* A file's pages are asked for before they are needed. */
static bool reads_ahead(const struct prof_call *c)
{
	return c->nr == SYS_madvise && (c->arg[2] == MADV_WILLNEED || c->arg[2] == POPULATE_READ);
}

/* A mapping is made of a file; most other calls wait for memory. */
static void wait_memory(struct prof_sampling *l)
{
	if (reads_ahead(&l->call))
		l->out->s.wait = WIRE_WAIT_READ;
	else if (l->kind->arg && (int)l->call.arg[l->kind->arg] >= 0)
		wait_fd(l, (int)l->call.arg[l->kind->arg], false, -1);
	else
		l->out->s.wait = WIRE_WAIT_OTHER;
}

static void wait_device(struct prof_sampling *l)
{
	struct prof_fd f = wait_fd(l, (int)l->call.arg[0], false, -1);

	l->out->s.wait = (uint8_t)prof_wait_of_ioctl(f.kind, f.fs, prof_sampling_disk(l));
}

void prof_sampling_wait(struct prof_sampling *l)
{
	struct wire_sample *s = &l->out->s;
	int fd = (int)l->call.arg[l->kind->arg];

	if (l->call.nr == PROF_CALL_NONE) {
		s->wait = WIRE_WAIT_FAULT;
		if (!l->t->pid)
			prof_codefault_file(l->call.pc, l->out->target, sizeof(l->out->target));
		return;
	}
	switch (l->kind->how) {
	case PROF_CALL_READ:
		read_fd(l, fd);
		break;
	case PROF_CALL_SOCKET:
		if (sends(l))
			write_fd(l, fd, false);
		else
			read_fd(l, fd);
		break;
	case PROF_CALL_WRITE:
		write_fd(l, fd, true);
		break;
	case PROF_CALL_PATH:
		wait_path(l, opens_to_write(l));
		break;
	case PROF_CALL_PATH_WRITE:
		wait_path(l, true);
		break;
	case PROF_CALL_SYNC:
		s->wait = WIRE_WAIT_WRITE;
		break;
	case PROF_CALL_POLL:
	case PROF_CALL_PPOLL:
	case PROF_CALL_SELECT:
	case PROF_CALL_EPOLL:
		wait_poll_set(l);
		break;
	case PROF_CALL_SLEEP:
		s->wait = WIRE_WAIT_SLEEP;
		break;
	case PROF_CALL_FUTEX:
		wait_futex(l);
		break;
	case PROF_CALL_LOCK:
		s->wait = WIRE_WAIT_LOCK_SHARED;
		break;
	case PROF_CALL_CHILD:
		s->wait = WIRE_WAIT_CHILD;
		break;
	case PROF_CALL_IOCTL:
		wait_device(l);
		break;
	case PROF_CALL_MEMORY:
		wait_memory(l);
		break;
	default:
		s->wait = WIRE_WAIT_OTHER;
	}
}

/* Waits that somebody in the process or in a child may end. */
static bool is_made(uint8_t wait)
{
	return wait == WIRE_WAIT_LOCK || wait == WIRE_WAIT_LOCK_SHARED || wait == WIRE_WAIT_QUEUE ||
	       wait == WIRE_WAIT_PIPE || wait == WIRE_WAIT_SOCKET;
}

/* One look at what it waits for: where it sleeps, what it asks again and again. */
static int look_at_objects(struct prof_sampling *l, const struct prof_py_thread *thread,
			   uint64_t object[OBJECTS])
{
	int n;

	if (l->out->s.wait == WIRE_WAIT_SLEEP)
		return prof_py_asked(l->t->py, thread, object, OBJECTS);
	n = prof_py_awaited_there(l->t->py, thread, object, OBJECTS);
	if (n > 0 && !prof_sampling_steady(l))
		n = prof_py_awaited(l->t->py, thread, object, OBJECTS);
	return n;
}

/*
 * Objects of Python that it waits for. In a process with addresses of its own they would be
 * mistaken for others.
 */
static void await_objects(struct prof_sampling *l, pid_t tid)
{
	const struct prof_py_thread *thread = prof_target_python(l->t, tid);
	uint64_t object[OBJECTS];
	char id[PROF_LINK_ID];
	int n, i;

	if (!l->t->py || !thread || (l->t->pid && !l->t->forked) ||
	    (!is_made(l->out->s.wait) && l->out->s.wait != WIRE_WAIT_SLEEP))
		return;
	n = look_at_objects(l, thread, object);
	for (i = 0; i < n; i++) {
		if (prof_py_is_queue(l->t->py, object[i]))
			prof_link_queue(id, object[i]);
		else
			prof_link_object(id, object[i]);
		await_link(l, id, 0);
	}
}

/* Who sleeps and asks no object may look at memory that others write to. */
static void await_memory(struct prof_sampling *l)
{
	const struct prof_memory *m;
	char id[PROF_LINK_ID];
	size_t n, i;

	if (l->out->s.wait != WIRE_WAIT_SLEEP || l->t->pid || !l->out->stack[0] || l->out->links[0])
		return;
	n = prof_memory_own(&m, prof_mono_ns());
	for (i = 0; i < n; i++) {
		prof_memory_link(id, &m[i]);
		await_link(l, id, m[i].inode);
	}
}

void prof_sampling_await(struct prof_sampling *l, pid_t tid)
{
	await_objects(l, tid);
	await_memory(l);
}
