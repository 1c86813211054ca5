/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the process and its children write to files by whatever means, by the kernel's account: so
 * that a save that nobody recognises is not taken for none (LEDGER 9). Where the writer has no
 * table of descriptors of its own nothing is looked at. Sender thread.
 */
#ifndef PROF_WRITTEN_H
#define PROF_WRITTEN_H

#include <stdbool.h>

#define PROF_WRITTEN_LEAST (1 << 20) /* bytes between two looks; less is logs and metrics */

/*
 * With each pulse: tells at once that the process began to write, and of what it writes on without
 * a pause every ten seconds and when it stops. @last: tells what is left.
 */
void prof_written_tick(bool last);

#endif
