/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One wish, its number, and a futex word for those who wait until it is granted.
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
	atomic_bool told, out;
	_Atomic(const char *) who; /* one of the names below */
	atomic_uint asked, done; /* wishes, and those granted */
	atomic_bool late; /* one was waited for in vain: the next ones are not */
	_Atomic int64_t back_ns; /* not to be taken back before; monotonic */
	void (*_Atomic start)(void); /* NULL before the arm */
	void (*wake)(void); /* there before start is */
} lend;

/*
 * Who lends sets `out` and then looks for `start`; the arm sets `start` and then looks for `out`. All
 * of it is sequentially consistent, so at least one of them sees the other.
 */
bool prof_lend_init(void (*start_sender)(void), void (*wake_sender)(void))
{
	lend.wake = wake_sender;
	atomic_store(&lend.start, start_sender);
	return atomic_load(&lend.out);
}

/* Before the arm nobody has anything to hand over. */
static void ask(bool wait)
{
	void (*start)(void) = atomic_load(&lend.start);
	unsigned int number;

	if (!prof_fork_mine() || !start)
		return;
	number = atomic_fetch_add(&lend.asked, 1) + 1;
	start();
	lend.wake();
	if (wait && !atomic_load(&lend.late) &&
	    !prof_word_reach(&lend.done, number, prof_mono_ns() + PATIENCE_NS))
		atomic_store(&lend.late, true);
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
	if (abi != PROF_LEND_ABI)
		return 0;
	if (known(who) == torch)
		atomic_store(&lend.told, true);
	return 1;
}

void gpustarve_lend(const char *who)
{
	int kept = errno;

	atomic_store(&lend.who, known(who));
	atomic_store(&lend.out, true);
	ask(true);
	errno = kept;
}

void gpustarve_lent(uint32_t detaches)
{
	int kept = errno;

	if (!atomic_load(&lend.out))
		return;
	atomic_store(&lend.back_ns, detaches ? prof_mono_ns() + DETACH_NS : 0);
	atomic_store(&lend.out, false);
	ask(!detaches);
	errno = kept;
}

bool prof_lend_told(void)
{
	return atomic_load_explicit(&lend.told, memory_order_relaxed);
}

const char *prof_lend_who(void)
{
	const char *who = atomic_load(&lend.who);

	return who ? who : known(NULL);
}

bool prof_lend_asked(bool *out, unsigned int *number)
{
	*number = atomic_load(&lend.asked); /* first: what is asked for later has a later number */
	*out = atomic_load(&lend.out);
	if (*number == atomic_load_explicit(&lend.done, memory_order_relaxed))
		return false;
	return *out || prof_mono_ns() >= atomic_load(&lend.back_ns);
}

void prof_lend_done(unsigned int number)
{
	atomic_store(&lend.done, number - 1);
	prof_word_bump(&lend.done);
}

bool prof_lend_launches_on(void)
{
	return atomic_load(&lend.back_ns) || atomic_load(&lend.late);
}

void prof_lend_forked(void)
{
	atomic_store_explicit(&lend.out, false, memory_order_relaxed);
}
