/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a fuzz target is: libFuzzer's entry point, and good inputs to begin with. The target aborts
 * where what it finds is wrong. Programs: with driver.c everywhere, with libFuzzer where clang is
 * and -DGPUSTARVE_FUZZ=ON was given.
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Good input number @number in fresh memory, the caller's to free; 0: there are no more. */
size_t fuzz_seed(unsigned int number, uint8_t **data);

#endif
