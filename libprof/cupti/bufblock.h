/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the buffers for CUPTI come from. CUPTI gives a buffer back to whoever registered last, so
 * one of ours may reach another client's completion callback, which treats it as its own: it
 * free()s it, or keeps it and hands it out again at its own size, or leaves it alone. Hence each is
 * a block of its own from the program's malloc, which anybody may free, and as large as the largest
 * buffer that a known client uses, for it may be written to in that length:
 *
 *	Proton			64 MiB	free(); a variant reuses them	triton-lang/triton,
 *						CuptiProfiler.cpp (TRITON_PROFILE_BUFFER_SIZE)
 *	HPCToolkit		16 MiB	free()		hpctoolkit, cupti-api.c
 *	Kineto			 4 MiB	left alone	pytorch/kineto, CuptiActivityApi.cpp
 *	XLA, so JAX, TensorFlow	32 KiB	AlignedFree(), which is free(); reuses empty ones
 *						openxla/xla, cupti_tracer.h, cupti_buffer_events.h
 *	CUPTI's samples		32 KiB	free()
 *
 * All but the beginning is never touched, so it costs address space only. Nor does such a block
 * stir glibc's malloc: from 32 MiB on each is a mapping of its own, and freeing it moves no
 * threshold.
 */
#ifndef PROF_BUFBLOCK_H
#define PROF_BUFBLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROF_BLOCK_BYTES ((size_t)64 << 20)

/*
 * *@block: one of which the first @used bytes are zero and may be touched; NULL if there is none.
 * 0; -ENOMEM: malloc gives none; -ENOTSUP: none that is untouched (mlockall, MALLOC_PERTURB_): to
 * ask has cost a whole block's pages. Calls malloc. Any thread.
 */
int prof_block_new(size_t used, uint8_t **block);

/*
 * Is it certain that somebody freed it: is one of its pages not there? Reads nothing of it. False
 * proves nothing: an allocator may keep what was freed.
 */
bool prof_block_freed(const uint8_t *block);

/*
 * How many blocks the process's limits leave room for: an eighth of what is left of its address
 * space (RLIMIT_AS, RLIMIT_DATA, vm.overcommit_memory=2), for the rest is the program's.
 * UINT32_MAX: nothing limits it. At the arm.
 */
uint32_t prof_block_room(void);

#endif
