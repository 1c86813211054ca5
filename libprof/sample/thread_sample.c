/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way of one sample: times, state, call, Python stack, what is waited for, native stack, times
 * again. If the thread was put on no CPU between the first and the last, all of it was true at
 * once.
 */
#include "sampling.h"

#include <errno.h>
#include <string.h>

#include "core/clockpoll.h"
#include "core/errtext.h"
#include "core/notes.h"
#include "core/ownfds.h"
#include "waitkind.h"

#define READ_AGAIN_NS 100000000ll /* a thread that does not wait for anything to read */

/*
 * ---- state ------------------------------------------------------------------------------------
 */

static int read_state(struct prof_sampling *l)
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

static void read_call(struct prof_sampling *l)
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

/*
 * ---- Python -----------------------------------------------------------------------------------
 */

/* A walk finds out when a thread is not the one that was listed. */
static ssize_t walk(struct prof_sampling *l, pid_t tid)
{
	const struct prof_py_thread *thread = prof_target_python(l->t, tid);
	ssize_t n = -ENOENT;

	if (thread)
		n = prof_py_walk(l->t->py, thread, l->out->stack, sizeof(l->out->stack));
	if (n == -ENOENT && prof_target_list(l->t) && (thread = prof_target_python(l->t, tid)))
		n = prof_py_walk(l->t->py, thread, l->out->stack, sizeof(l->out->stack));
	return n;
}

static void read_python(struct prof_sampling *l, pid_t tid)
{
	struct wire_sample *s = &l->out->s;
	bool collecting;
	ssize_t n;

	if (!l->t->py) {
		s->flags |= WIRE_SAMPLE_FL_NO_PYTHON;
		return;
	}
	l->out->holder = prof_py_lock_state(l->t->py, &collecting);
	if (l->out->holder == tid)
		s->flags |= WIRE_SAMPLE_FL_GIL;
	if (collecting)
		s->flags |= WIRE_SAMPLE_FL_GC;
	n = walk(l, tid);
	if (n < 0)
		l->out->stack[0] = 0;
	if (n == -EAGAIN)
		s->flags |= WIRE_SAMPLE_FL_TORN;
}

/* Has it not run since the first look at it? */
bool prof_sampling_steady(const struct prof_sampling *l)
{
	struct prof_sched now;

	return l->sched_known && !prof_task_sched(l->task, &now) && now.turns == l->before.turns &&
	       now.cpu_ns == l->before.cpu_ns;
}

/*
 * How much came in tells a batch from a word: seldom asked, but while it waits for something to
 * read, and once more at the next look, when it has come.
 */
static void read_bytes(struct prof_sampling *l)
{
	struct wire_sample *s = &l->out->s;
	bool reads = s->wait == WIRE_WAIT_READ || s->wait == WIRE_WAIT_PIPE ||
		     s->wait == WIRE_WAIT_SOCKET || s->wait == WIRE_WAIT_QUEUE;
	int err;

	if (!reads && !l->task->reads && s->t_ns - l->task->read_ns < READ_AGAIN_NS)
		return;
	l->task->reads = reads;
	l->task->read_ns = s->t_ns;
	err = prof_task_rchar(l->task, &s->rchar_bytes);
	if (err && err != -ENOENT && err != -ESRCH)
		prof_note("how much %s read is not seen: /proc/PID/task/TID/io: %s",
			  l->t->pid ? "workers" : "threads", prof_error_text(-err));
}

/*
 * ---- native, and the end ----------------------------------------------------------------------
 */

static void read_native(struct prof_sampling *l)
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

/* The path may have been read when the call was over and its memory had become something else. */
static void forget_path(struct prof_sampling *l)
{
	struct prof_thread_sample *o = l->out;

	o->target[0] = o->fs[0] = 0;
	o->s.wait = (uint8_t)prof_wait_of_path(o->fs, l->writes, prof_sampling_disk(l));
}

/* A native stack that may have changed under the unwinder is worth nothing. */
static void judge(struct prof_sampling *l)
{
	struct prof_thread_sample *o = l->out;

	l->task->still = 0;
	if (!l->blocked)
		return;
	if (prof_sampling_steady(l)) {
		o->s.flags |= WIRE_SAMPLE_FL_STEADY;
		l->task->still = l->before.turns;
		l->task->letter = l->letter;
	} else {
		o->native[0] = 0;
		if (l->path)
			forget_path(l);
	}
}

static void begin(struct prof_sampling *l, pid_t tid)
{
	struct prof_thread_sample *o = l->out;

	memset(&o->s, 0, sizeof(o->s));
	o->stack[0] = o->native[0] = o->target[0] = o->fs[0] = o->links[0] = 0;
	memset(o->end, 0, sizeof(o->end));
	o->futex = o->arg = o->sp = o->pc = 0;
	o->holder = 0;
	o->s.t_ns = prof_now_ns();
	o->s.pid = (uint32_t)l->t->tgid;
	o->s.tid = (uint32_t)tid;
	if (l->t->pid)
		o->s.flags |= WIRE_SAMPLE_FL_BY_PARENT;
	l->task = prof_target_task_new(l->t, tid);
}

static int sample(struct prof_sampling *l, pid_t tid, unsigned int what)
{
	int err = read_state(l);

	if (err)
		return err;
	if (!what) {
		l->out->s.flags |= WIRE_SAMPLE_FL_CENSUS;
		return 0;
	}
	if (what & PROF_SAMPLE_WAIT && l->blocked)
		read_call(l);
	if (what & PROF_SAMPLE_PYTHON)
		read_python(l, tid);
	l->sends = what & PROF_SAMPLE_LINKS;
	l->links = what & PROF_SAMPLE_LINKS && !prof_wait_gives(l->out->stack) &&
		   !prof_wait_watches(l->out->stack);
	if (l->blocked && l->call_known)
		prof_sampling_wait(l);
	if (what & PROF_SAMPLE_WAIT)
		read_bytes(l);
	if (l->blocked && l->links)
		prof_sampling_await(l, tid);
	if (what & PROF_SAMPLE_NATIVE && l->blocked)
		read_native(l);
	judge(l);
	return 0;
}

/* A thread that is gone may have had its number taken by a new one: asked once more, afresh. */
int prof_thread_sample_take(struct prof_target *t, pid_t tid, unsigned int what,
			    struct prof_thread_sample *out)
{
	struct prof_sampling l = { .t = t, .out = out };
	bool kept;
	int err;

	begin(&l, tid);
	kept = l.task->fd[PROF_TASK_STAT] >= 0;
	err = sample(&l, tid, what);
	if (err || !prof_ownfds())
		prof_task_close(l.task);
	if (err != -ESRCH || !kept)
		return err;
	l = (struct prof_sampling){ .t = t, .out = out };
	begin(&l, tid);
	err = sample(&l, tid, what);
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
	struct prof_task *task = prof_target_task(t, tid);

	return task && task_holds(task);
}
