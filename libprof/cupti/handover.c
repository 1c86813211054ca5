/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request, its number, and a futex word for those who wait until it is carried out.
 */
#include "handover.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "core/clockpoll.h"
#include "core/fork.h"
#include "core/thread.h"

#define MS 1000000ll
#define PATIENCE_NS (5000 * MS) /* it takes some ms, and what a busy machine adds */
#define DETACH_NS (2000 * MS)

static struct {
	atomic_bool knows_torch; /* its sessions are announced */
	atomic_bool out; /* a client has CUPTI, or is about to */
	_Atomic(const char *) client; /* one of the names below */
	atomic_uint asked, done; /* requests, and those carried out */
	atomic_bool late; /* one was waited for in vain: the next ones are not */
	_Atomic int64_t back_ns; /* not to be taken back before; monotonic */
	void (*_Atomic start)(void); /* NULL before the arm */
	void (*wake)(void); /* there before start is */
} handover;

/*
 * Who announces a session sets `out` and then looks for `start`; the arm sets `start` and then
 * looks for `out`. All of it is sequentially consistent, so at least one of them sees the other.
 */
bool prof_handover_init(void (*start_sender)(void), void (*wake_sender)(void))
{
	handover.wake = wake_sender;
	atomic_store(&handover.start, start_sender);
	return atomic_load(&handover.out);
}

/* Before the arm nobody has anything to hand over. */
static void ask(bool wait)
{
	void (*start)(void) = atomic_load(&handover.start);
	unsigned int number;

	if (!prof_fork_mine() || !start)
		return;
	number = atomic_fetch_add(&handover.asked, 1) + 1;
	start();
	handover.wake();
	if (wait && !atomic_load(&handover.late) &&
	    !prof_word_reach(&handover.done, number, prof_mono_ns() + PATIENCE_NS))
		atomic_store(&handover.late, true);
}

static const char torch[] = "torch.profiler";

/* The caller's text does not last. */
static const char *known(const char *who)
{
	static const char *const names[] = { torch, "jax.profiler", "TensorFlow's profiler",
					     "Triton's Proton" };
	size_t i;

	for (i = 0; who && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], who))
			return names[i];
	return "another profiler";
}

int gpustarve_lending(int abi, const char *who)
{
	if (abi != PROF_HANDOVER_ABI)
		return 0;
	if (known(who) == torch)
		atomic_store(&handover.knows_torch, true);
	return 1;
}

void gpustarve_lend(const char *who)
{
	int kept = errno;

	atomic_store(&handover.client, known(who));
	atomic_store(&handover.out, true);
	ask(true);
	errno = kept;
}

void gpustarve_lent(uint32_t detaches)
{
	int kept = errno;

	if (!atomic_load(&handover.out))
		return;
	atomic_store(&handover.back_ns, detaches ? prof_mono_ns() + DETACH_NS : 0);
	atomic_store(&handover.out, false);
	ask(!detaches);
	errno = kept;
}

bool prof_handover_knows_torch(void)
{
	return atomic_load_explicit(&handover.knows_torch, memory_order_relaxed);
}

const char *prof_handover_client(void)
{
	const char *who = atomic_load(&handover.client);

	return who ? who : known(NULL);
}

bool prof_handover_pending(bool *out, unsigned int *number)
{
	*number = atomic_load(
		&handover.asked); /* first: what is asked for later has a later number */
	*out = atomic_load(&handover.out);
	if (*number == atomic_load_explicit(&handover.done, memory_order_relaxed))
		return false;
	return *out || prof_mono_ns() >= atomic_load(&handover.back_ns);
}

void prof_handover_done(unsigned int number)
{
	atomic_store(&handover.done, number - 1);
	prof_word_bump(&handover.done);
}

bool prof_handover_unwaited(void)
{
	return atomic_load(&handover.back_ns) || atomic_load(&handover.late);
}

void prof_handover_forked(void)
{
	atomic_store_explicit(&handover.out, false, memory_order_relaxed);
}
