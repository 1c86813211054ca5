/* SPDX-License-Identifier: Apache-2.0 */
#include "fates.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "core/clockpoll.h"
#include "core/notes.h"
#include "core/ownfds.h"
#include "core/procfile.h"
#include "sample/threadfacts.h"
#include "sample/waitkind.h"
#include "stream/writer.h"

#define WATCHED 512u
#define LOOKS 64u /* at one drain; a look costs some microseconds */
#define NOTES 8u /* those of others have room, too */
#define SECOND_NS INT64_C(1000000000)

struct fate {
	uint32_t pid, number; /* 0: nobody */
	int64_t stopped_ns; /* CLOCK_REALTIME; 0: it is not */
	bool gone; /* somebody waited for it; by what it ended may still be told */
};

static struct fate list[WATCHED];
static uint32_t watched, next, notes;

/* ---- words ---- */

static bool may_tell(void)
{
	return notes < NOTES && ++notes;
}

/* "13:36:12", without the C library's time zones. */
static const char *clock_of(char out[16], int64_t ns)
{
	unsigned int s = (unsigned int)(ns / SECOND_NS % 86400);

	snprintf(out, 16, "%02u:%02u:%02u", s / 3600, s / 60 % 60, s % 60);
	return out;
}

static void tell_stop(const struct fate *f, int64_t until_ns)
{
	char from[16], to[16];

	if (!may_tell())
		return;
	clock_of(from, f->stopped_ns);
	if (until_ns)
		prof_note("worker %u of the loader (pid %u) was stopped by a signal or a debugger "
			  "from %s to %s UTC",
			  f->number, f->pid, from, clock_of(to, until_ns));
	else
		prof_note("worker %u of the loader (pid %u) was stopped by a signal or a debugger "
			  "at %s UTC, and never went on",
			  f->number, f->pid, from);
}

static const char *name_of(uint32_t signal)
{
	switch (signal) {
	case SIGKILL:
		return " (SIGKILL: the kernel does so where memory is short)";
	case SIGSEGV:
		return " (SIGSEGV)";
	case SIGBUS:
		return " (SIGBUS: /dev/shm may be full)";
	case SIGABRT:
		return " (SIGABRT)";
	default:
		return "";
	}
}

static void tell_end(const struct fate *f, uint32_t signal, uint32_t status)
{
	char at[16];

	clock_of(at, prof_realtime_ns());
	if ((!signal && !status) || signal == SIGTERM || !may_tell())
		return;
	if (signal)
		prof_note("worker %u of the loader (pid %u) died of signal %u%s at %s UTC",
			  f->number, f->pid, signal, name_of(signal), at);
	else
		prof_note("worker %u of the loader (pid %u) ended with status %u at %s UTC",
			  f->number, f->pid, status, at);
}

/* ---- the list ---- */

static struct fate *find(uint32_t pid)
{
	unsigned int i;

	for (i = 0; pid && i < WATCHED; i++)
		if (list[i].pid == pid)
			return &list[i];
	return NULL;
}

static void end_stop(struct fate *f, int64_t now_ns)
{
	if (f->stopped_ns)
		tell_stop(f, now_ns);
	f->stopped_ns = 0;
}

void prof_fates_watch(uint32_t pid, uint32_t number)
{
	struct fate *f = find(pid);

	if (!f)
		f = &list[watched++ % WATCHED];
	*f = (struct fate){ .pid = pid, .number = number };
}

void prof_fates_ended(uint32_t pid, uint32_t signal, uint32_t status)
{
	struct fate *f = find(pid);

	if (!f) /* that was seen already */
		return;
	end_stop(f, prof_realtime_ns());
	tell_end(f, signal, status);
	*f = (struct fate){ 0 };
}

/* ---- looks ---- */

/* WIRE_STATE_UNKNOWN: it is gone. */
static enum wire_state state_of(uint32_t pid)
{
	char path[32], text[512], letter;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	if (prof_proc_read(path, text, sizeof(text)) < 0 || prof_parse_state(text, &letter))
		return WIRE_STATE_UNKNOWN;
	return prof_state_of(letter);
}

/* It is dead, and nobody has waited for it yet: that stays so. */
static void look_at_dead(struct fate *f)
{
	siginfo_t info = { 0 };

	if (waitid(P_PID, (id_t)f->pid, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid)
		return; /* somebody else's child */
	if (info.si_code == CLD_EXITED)
		prof_fates_ended(f->pid, 0, (uint32_t)info.si_status);
	else
		prof_fates_ended(f->pid, (uint32_t)info.si_status, 0);
}

static void hand_over(const struct fate *f, int64_t now_ns,
		      void (*sample)(void *ctx, struct prof_thread_sample *sample), void *ctx)
{
	static struct prof_thread_sample look; /* the sender's */

	memset(&look.s, 0, sizeof(look.s));
	*look.stack = *look.native = *look.target = *look.fs = *look.links = 0;
	look.s.t_ns = now_ns;
	look.s.pid = look.s.tid = f->pid;
	look.s.period_ns = (uint32_t)SECOND_NS;
	look.s.role = WIRE_ROLE_WORKER;
	look.s.state = WIRE_STATE_STOPPED;
	look.s.wait = WIRE_WAIT_STOPPED;
	look.s.flags = WIRE_SAMPLE_FL_BY_PARENT | WIRE_SAMPLE_FL_CENSUS;
	sample(ctx, &look);
}

/* Those whose turn it is, and what the kernel says of each. */
struct turn {
	struct fate *fate[LOOKS];
	enum wire_state state[LOOKS];
	uint32_t count;
	bool asked;
};

/* On the writer: opened here, a file of /proc would take a number of the program's. */
static void ask(void *arg)
{
	struct turn *t = arg;

	t->asked = prof_ownfds();
	for (uint32_t i = 0; t->asked && i < t->count; i++)
		t->state[i] = state_of(t->fate[i]->pid);
}

static void look_at(struct fate *f, enum wire_state state,
		    void (*sample)(void *ctx, struct prof_thread_sample *sample), void *ctx)
{
	int64_t now = prof_realtime_ns();

	switch (state) {
	case WIRE_STATE_UNKNOWN:
		end_stop(f, now);
		f->gone = true;
		break;
	case WIRE_STATE_GONE:
		look_at_dead(f);
		break;
	case WIRE_STATE_STOPPED:
		f->stopped_ns = f->stopped_ns ? f->stopped_ns : now;
		hand_over(f, now, sample, ctx);
		break;
	default:
		end_stop(f, now);
	}
}

void prof_fates_look(void (*sample)(void *ctx, struct prof_thread_sample *sample), void *ctx,
		     bool final)
{
	uint32_t i, n = watched < WATCHED ? watched : WATCHED, looks;
	struct turn turn = { .count = 0 };
	int kept = errno;

	for (looks = 0; looks < n && looks < LOOKS; looks++) {
		struct fate *f = &list[next++ % n];

		if (f->pid && !f->gone)
			turn.fate[turn.count++] = f;
	}
	if (turn.count)
		prof_writer_call(ask, &turn);
	for (i = 0; turn.asked && i < turn.count; i++)
		look_at(turn.fate[i], turn.state[i], sample, ctx);
	for (i = 0; final && i < n; i++)
		if (list[i].stopped_ns)
			tell_stop(&list[i], 0);
	errno = kept;
}
