/* SPDX-License-Identifier: Apache-2.0 */
#include "interrupt.h"

#include <stddef.h>

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
	stopped = number;
}

const volatile sig_atomic_t *view_interrupt_watch(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction sa = { .sa_handler = on_signal,
				.sa_flags = (int)SA_RESETHAND | SA_RESTART };
	struct sigaction old;
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!sigaction(numbers[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(numbers[i], &sa, NULL);
	return &stopped;
}

void view_interrupt_die(void)
{
	int number = stopped;

	if (!number)
		return;
	signal(number, SIG_DFL);
	raise(number);
}
