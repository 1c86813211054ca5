/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way of one look: times, state, call, Python stack, what is waited for, native stack, times
 * again. If the thread was put on no CPU between the first and the last, all of it was true at once.
 */
#include "thread_sample.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "callkind.h"
#include "core/clockpoll.h"
#include "core/errtext.h"
#include "core/notes.h"
#include "core/ownfds.h"
#include "core/procfile.h"
#include "fdname.h"
#include "mounts.h"
#include "procmem.h"
#include "poll_set.h"
#include "threadfacts.h"
#include "waitkind.h"

#define PYTHONS_MAX 2048u
#define LIST_SHARE 200 /* listing threads costs one in so many: half a percent of a core */
#define LIST_LAST_NS 2000000000ll
#define TASKS 16u /* threads whose files are kept open, where that can be done */
#define OPEN_EAGER 64u /* settles that look for Python each; then every 16th does */

struct prof_target {
	pid_t pid; /* 0: this process */
	pid_t tgid; /* as it sees itself */
	struct prof_py *py;
	bool refused; /* there is a Python that cannot be read */
	unsigned int settles;
	struct prof_mounts mounts;
	struct prof_py_thread python[PYTHONS_MAX];
	size_t pythons;
	int64_t list_ns; /* they are not listed before */
	pid_t gil;
	struct prof_task task[TASKS];
	unsigned int next_task; /* to make room */
};

struct looking { /* what one look works with */
	struct prof_target *t;
	struct prof_thread_sample *out;
	struct prof_task *task;
	struct prof_sched before;
	struct prof_call call;
	const struct prof_call_kind *kind;
	char letter; /* its state */
	bool blocked, sched_known, call_known;
};

/* ---- targets ---------------------------------------------------------------------------------- */

int prof_target_open(struct prof_target **t, pid_t pid)
{
	struct prof_target *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	n->pid = pid;
	n->tgid = pid ? pid : getpid();
	*t = n;
	return 0;
}

void prof_target_close(struct prof_target *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < TASKS; i++)
		prof_task_close(&t->task[i]);
	prof_py_close(t->py);
	prof_mounts_free(&t->mounts);
	free(t);
}

static void note_python(int err)
{
	if (*prof_py_note())
		prof_note("%s", prof_py_note());
	else if (err == -EPERM || err == -EACCES)
		prof_note("Python stacks are not seen: reading memory is not allowed here");
	else if (err == -ENOSYS)
		prof_note("Python stacks are not seen: the kernel cannot read memory for us");
}

static void find_python(struct prof_target *t)
{
	int err;

	if (t->py || t->refused || (t->settles > OPEN_EAGER && t->settles % 16))
		return;
	err = prof_py_open(&t->py, t->pid);
	if (err)
		t->py = NULL;
	t->refused = err && err != -ENOENT && err != -ENOMEM && err != -EAGAIN;
	if (t->refused || (!err && *prof_py_note()))
		note_python(err);
}

static void read_mounts(struct prof_target *t)
{
	char path[40] = "/proc/self/mountinfo";

	if (t->mounts.count && !t->mounts.stale)
		return;
	if (t->pid)
		snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)t->pid);
	if (prof_mounts_read(&t->mounts, path) && !t->pid)
		prof_note("file systems are not named: /proc/self/mountinfo cannot be read");
}

bool prof_target_settle(struct prof_target *t, bool native)
{
	t->settles++;
	find_python(t);
	read_mounts(t);
	if (native && !t->pid && !prof_native_ready() && *prof_native_note())
		prof_note("%s", prof_native_note());
	return !t->refused;
}

void prof_target_tick(struct prof_target *t)
{
	t->gil = t->py ? prof_py_gil_holder(t->py) : 0;
}

/* Each thread costs a read: of a thousand of them the list is made seldom. False: not now. */
static bool list_threads(struct prof_target *t)
{
	int64_t now = prof_mono_ns(), cost, wait;
	int n;

	if (!t->py || now < t->list_ns)
		return false;
	cost = prof_cpu_ns();
	n = prof_py_threads(t->py, t->python, PYTHONS_MAX);
	if (n >= 0) /* else the list changed while it was read: the last one is as good */
		t->pythons = (size_t)n;
	wait = (prof_cpu_ns() - cost) * LIST_SHARE;
	t->list_ns = now + (wait < LIST_LAST_NS ? wait : LIST_LAST_NS);
	return true;
}

size_t prof_target_pythons(struct prof_target *t, const struct prof_py_thread **list)
{
	list_threads(t);
	*list = t->python;
	return t->pythons;
}

int prof_target_cpu(const struct prof_target *t, pid_t tid, uint64_t *cpu_ns)
{
	struct prof_sched s = { 0 };
	struct prof_task task;
	int err;

	prof_task_init(&task, t->pid, tid);
	err = prof_task_sched(&task, &s);
	prof_task_close(&task);
	*cpu_ns = s.cpu_ns;
	return err == -ENOENT || err == -ESRCH ? -ESRCH : 0;
}

pid_t prof_target_gil(const struct prof_target *t)
{
	return t->gil;
}

const struct prof_mounts *prof_target_mounts(const struct prof_target *t)
{
	return &t->mounts;
}

/* ---- state ------------------------------------------------------------------------------------ */

static int look_state(struct looking *l)
{
	struct wire_sample *s = &l->out->s;
	char letter = 0;
	int err;

	l->sched_known = !prof_task_sched(l->task, &l->before);
	if (l->sched_known) {
		s->cpu_ns = l->before.cpu_ns;
		s->delay_ns = l->before.delay_ns;
	}
	err = prof_task_state(l->task, &letter);
	if (err == -ENOENT || err == -ESRCH)
		return -ESRCH;
	l->letter = letter;
	if (err)
		prof_note("threads' states are not seen: /proc/PID/task/TID/stat: %s",
			  prof_error_text(-err));
	s->state = err ? WIRE_STATE_UNKNOWN : (uint8_t)prof_state_of(letter);
	l->blocked = s->state == WIRE_STATE_SLEEPING || s->state == WIRE_STATE_DISK;
	if (s->state == WIRE_STATE_STOPPED)
		s->wait = WIRE_WAIT_STOPPED;
	return s->state == WIRE_STATE_GONE ? -ESRCH : 0; /* dead, not yet waited for */
}

static void look_call(struct looking *l)
{
	struct wire_sample *s = &l->out->s;
	int err = prof_task_call(l->task, &l->call);

	l->call_known = !err;
	if (err == -EACCES || err == -EPERM)
		prof_note("what %s wait for is not seen: /proc/PID/task/TID/syscall: %s",
			  l->t->pid ? "workers" : "threads", prof_error_text(-err));
	if (err) {
		s->wait = WIRE_WAIT_UNKNOWN;
		return;
	}
	if (l->call.nr == PROF_CALL_RUNNING) { /* it woke up meanwhile */
		s->state = WIRE_STATE_RUNNING;
		l->blocked = l->call_known = false;
		return;
	}
	s->syscall = l->call.nr < 0 ? WIRE_SYSCALL_NONE : (uint16_t)(l->call.nr + 1);
	l->kind = prof_call_kind(l->call.nr);
}

/* ---- Python ----------------------------------------------------------------------------------- */

static const struct prof_py_thread *find_thread(const struct prof_target *t, pid_t tid)
{
	size_t i;

	for (i = 0; i < t->pythons; i++)
		if (t->python[i].tid == tid)
			return &t->python[i];
	return NULL;
}

/* A walk finds out when a thread is not the one that was listed. */
static ssize_t walk(struct looking *l, pid_t tid)
{
	const struct prof_py_thread *thread = find_thread(l->t, tid);
	ssize_t n = -ENOENT;

	if (thread)
		n = prof_py_walk(l->t->py, thread, l->out->stack, sizeof(l->out->stack));
	if (n == -ENOENT && list_threads(l->t) && (thread = find_thread(l->t, tid)))
		n = prof_py_walk(l->t->py, thread, l->out->stack, sizeof(l->out->stack));
	return n;
}

static void look_python(struct looking *l, pid_t tid)
{
	struct wire_sample *s = &l->out->s;
	ssize_t n;

	if (!l->t->py) {
		s->flags |= WIRE_SAMPLE_FL_NO_PYTHON;
		return;
	}
	if (prof_py_gil_holder(l->t->py) == tid)
		s->flags |= WIRE_SAMPLE_FL_GIL;
	if (prof_py_collecting(l->t->py))
		s->flags |= WIRE_SAMPLE_FL_GC;
	n = walk(l, tid);
	if (n < 0)
		l->out->stack[0] = 0;
	if (n == -EAGAIN)
		s->flags |= WIRE_SAMPLE_FL_TORN;
}

/* ---- what it waits for ------------------------------------------------------------------------ */

static bool disk(const struct looking *l)
{
	return l->out->s.state == WIRE_STATE_DISK;
}

static void wait_fd(struct looking *l, int fd, bool writes, int64_t timeout_ns)
{
	struct prof_thread_sample *o = l->out;
	struct prof_fd f = prof_fd_look(l->t->pid, fd, &l->t->mounts, o->target, sizeof(o->target));

	snprintf(o->fs, sizeof(o->fs), "%s", f.fs);
	o->s.wait = (uint8_t)prof_wait_of_fd(f.kind, f.fs, writes, disk(l));
	if ((f.kind == PROF_FD_PIPE || f.kind == PROF_FD_SOCKET) &&
	    prof_wait_is_queue(timeout_ns, o->stack))
		o->s.wait = WIRE_WAIT_QUEUE;
	if (f.kind == PROF_FD_UNKNOWN)
		o->s.wait = writes ? WIRE_WAIT_WRITE : WIRE_WAIT_READ;
}

/* A path that does not begin with / is seen from a folder: a descriptor, or where the process is. */
static size_t folder_of(const struct looking *l, char *out, size_t room)
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

static void wait_path(struct looking *l, bool writes)
{
	struct prof_thread_sample *o = l->out;
	const struct prof_mount *mount = NULL;
	char given[PROF_SAMPLE_TARGET / 2];
	size_t n = 0;

	if (prof_procmem_text(l->t->pid, l->call.arg[l->kind->arg], given, sizeof(given))) {
		if (*given != '/')
			n = folder_of(l, o->target, sizeof(o->target) - sizeof(given));
		strcpy(o->target + n, given);
		mount = prof_mounts_path(&l->t->mounts, o->target);
	}
	snprintf(o->fs, sizeof(o->fs), "%s", mount ? mount->type : "");
	o->s.wait = (uint8_t)prof_wait_of_path(o->fs, writes, disk(l));
}

/* A file that is opened to be written is waited for by who writes: a checkpoint, no data. */
static bool opens_to_write(const struct looking *l)
{
	uint64_t flags = l->call.arg[l->kind->arg + 1];

#ifdef SYS_open
	if (l->call.nr == SYS_open)
		return (flags & O_ACCMODE) != O_RDONLY;
#endif
	return l->call.nr == SYS_openat && (flags & O_ACCMODE) != O_RDONLY;
}

/* Of several descriptors the one that tells most: a queue, then whatever comes first. */
static void wait_poll_set(struct looking *l)
{
	struct prof_poll_set p;
	uint32_t i;

	if (prof_poll_set_read(l->t->pid, &l->call, l->kind->how, &p)) {
		l->out->s.wait = WIRE_WAIT_OTHER;
		return;
	}
	if (!p.all) {
		l->out->s.wait = WIRE_WAIT_SLEEP;
		return;
	}
	for (i = 0; i < p.count; i++) {
		wait_fd(l, p.fd[i], false, p.timeout_ns);
		if (l->out->s.wait != WIRE_WAIT_OTHER)
			return;
	}
}

static void wait_futex(struct looking *l)
{
	struct wire_sample *s = &l->out->s;

	if (l->t->py && prof_py_in_runtime(l->t->py, l->call.arg[0])) {
		s->wait = WIRE_WAIT_GIL;
		return;
	}
	s->wait = (uint8_t)prof_wait_of_futex(l->call.arg[1]);
	if (s->wait == WIRE_WAIT_LOCK_SHARED && prof_wait_is_queue_lock(l->out->stack))
		s->wait = WIRE_WAIT_QUEUE;
}

/* A mapping is made of a file; the other calls wait for memory. */
static void wait_memory(struct looking *l)
{
	if (l->kind->arg && (int)l->call.arg[l->kind->arg] >= 0)
		wait_fd(l, (int)l->call.arg[l->kind->arg], false, -1);
	else
		l->out->s.wait = WIRE_WAIT_OTHER;
}

static void wait_device(struct looking *l)
{
	wait_fd(l, (int)l->call.arg[0], false, -1);
	if (l->out->s.wait != WIRE_WAIT_GPU)
		l->out->s.wait = WIRE_WAIT_OTHER;
}

static void look_wait(struct looking *l)
{
	struct wire_sample *s = &l->out->s;
	int fd = (int)l->call.arg[l->kind->arg];

	if (l->call.nr == PROF_CALL_NONE) {
		s->wait = WIRE_WAIT_FAULT;
		return;
	}
	switch (l->kind->how) {
	case PROF_CALL_READ:
	case PROF_CALL_SOCKET:
		wait_fd(l, fd, false, -1);
		break;
	case PROF_CALL_WRITE:
		wait_fd(l, fd, true, -1);
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

/* ---- native, and the end ---------------------------------------------------------------------- */

static void look_native(struct looking *l)
{
	struct prof_thread_sample *o = l->out;
	ssize_t n;

	if (l->t->pid || !l->call_known || o->s.wait == WIRE_WAIT_GIL ||
	    o->s.wait == WIRE_WAIT_QUEUE || prof_wait_in_threading(o->stack))
		return;
	n = prof_native_walk(l->call.sp, l->call.pc, o->native, sizeof(o->native));
	if (n <= 0)
		o->native[0] = 0;
}

/* A native stack that may have changed under the unwinder is worth nothing. */
static void judge(struct looking *l)
{
	struct prof_thread_sample *o = l->out;
	struct prof_sched after;

	l->task->still = 0;
	if (!l->blocked)
		return;
	if (l->sched_known && !prof_task_sched(l->task, &after) && after.turns == l->before.turns &&
	    after.cpu_ns == l->before.cpu_ns) {
		o->s.flags |= WIRE_SAMPLE_FL_STEADY;
		l->task->still = after.turns;
		l->task->letter = l->letter;
	} else {
		o->native[0] = 0;
	}
}

static struct prof_task *task_of(struct prof_target *t, pid_t tid)
{
	struct prof_task *task;
	size_t i;

	for (i = 0; i < TASKS; i++)
		if (t->task[i].open && t->task[i].tid == tid)
			return &t->task[i];
	task = &t->task[t->next_task++ % TASKS];
	prof_task_close(task);
	prof_task_init(task, t->pid, tid);
	return task;
}

static void begin(struct looking *l, pid_t tid)
{
	struct prof_thread_sample *o = l->out;

	memset(&o->s, 0, sizeof(o->s));
	o->stack[0] = o->native[0] = o->target[0] = o->fs[0] = 0;
	o->s.t_ns = prof_now_ns();
	o->s.pid = (uint32_t)l->t->tgid;
	o->s.tid = (uint32_t)tid;
	if (l->t->pid)
		o->s.flags |= WIRE_SAMPLE_FL_BY_PARENT;
	l->task = task_of(l->t, tid);
}

static int look(struct looking *l, pid_t tid, unsigned int what)
{
	int err = look_state(l);

	if (err)
		return err;
	if (!what) {
		l->out->s.flags |= WIRE_SAMPLE_FL_CENSUS;
		return 0;
	}
	if (what & PROF_SAMPLE_WAIT && l->blocked)
		look_call(l);
	if (what & PROF_SAMPLE_PYTHON)
		look_python(l, tid);
	if (l->blocked && l->call_known)
		look_wait(l);
	if (what & PROF_SAMPLE_NATIVE && l->blocked)
		look_native(l);
	judge(l);
	return 0;
}

/* A thread that is gone may have had its number taken by a new one: asked once more, afresh. */
int prof_thread_sample_take(struct prof_target *t, pid_t tid, unsigned int what,
			    struct prof_thread_sample *out)
{
	struct looking l = { .t = t, .out = out };
	bool kept;
	int err;

	begin(&l, tid);
	kept = l.task->fd[PROF_TASK_STAT] >= 0;
	err = look(&l, tid, what);
	if (err || !prof_ownfds())
		prof_task_close(l.task);
	if (err != -ESRCH || !kept)
		return err;
	l = (struct looking){ .t = t, .out = out };
	begin(&l, tid);
	err = look(&l, tid, what);
	if (err || !prof_ownfds())
		prof_task_close(l.task);
	return err;
}

/* That it was not put on a CPU is not enough: it may have been woken and wait for one. */
static bool task_holds(struct prof_task *t)
{
	struct prof_sched now;
	char letter;

	return t->still && !prof_task_sched(t, &now) && now.turns == t->still &&
	       !prof_task_state(t, &letter) && letter == t->letter;
}

bool prof_thread_sample_holds(struct prof_target *t, pid_t tid)
{
	size_t i;

	for (i = 0; i < TASKS; i++)
		if (t->task[i].open && t->task[i].tid == tid)
			return task_holds(&t->task[i]);
	return false;
}
