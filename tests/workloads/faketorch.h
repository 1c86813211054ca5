/* SPDX-License-Identifier: Apache-2.0 */
/* What the stand-in for libtorch_cpu.so offers a test besides torch's symbols. */
#ifndef FAKETORCH_H
#define FAKETORCH_H

#include <stdint.h>

#pragma GCC visibility push(default)
int fake_callbacks(void); /* bits of the scopes that the registered callback is for; 0: none */
int fake_begin(int place, const char *name); /* 1 if the callback behaved as torch needs it */
void fake_begin_at(const void *fn); /* a RecordFunction that is none */
void fake_end(int place);
#pragma GCC visibility pop

#endif
