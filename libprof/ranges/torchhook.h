/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch's RecordFunction callback, registered from C: DataLoader waits, optimizer steps, profiler
 * steps and record_function labels, with the profiler on or off. Only user-scope ranges are asked
 * for, so operators cost nothing.
 *
 * There is no header for this: the callback's layout and the symbols' names are those of torch 1.12
 * to 2.x on x86-64 and aarch64. Another version, a missing symbol, or a callback that does not look
 * as it should, and torch is left alone; prof_torch_note says why.
 */
#ifndef PROF_TORCHHOOK_H
#define PROF_TORCHHOOK_H

#include <stdbool.h>

/* Registers if libtorch_cpu is mapped. At the arm, on the arming thread. Needs prof_marks_init. */
void prof_torch_init(void);

/*
 * Sender, each flush: notices libtorch_cpu when it appears later and registers on a thread of its
 * own, since the dynamic loader may still be busy with it; gives up a callback that misbehaves.
 */
void prof_torch_poll(void);

/* Registered and not given up. */
bool prof_torch_hooked(void);

bool prof_torch_mapped(void); /* libtorch_cpu, as far as it was looked for */

/* One sentence on why loader waits are not recorded; "" if they are, or if there is no torch. */
const char *prof_torch_note(void);
const char *prof_torch_version(void); /* as torch says it; "" until known */

/* See prof_ranges_fork_*. */
void prof_torch_fork_prepare(void);
void prof_torch_fork_parent(void);
void prof_torch_fork_child(void);

#endif
