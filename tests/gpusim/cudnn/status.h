/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.h - what a call answers, and the words for it that cudnnGetLastErrorString gives.
 */
#ifndef DNN_STATUS_H
#define DNN_STATUS_H

#include "../call.h"
#include "numbers.h"

/* The library's name, as gpusim_missing() wants it. */
#define DNN_LIBRARY "libcudnn.so.9"

/* Remembers the words for the calling thread; returns the status. */
enum dnn_status dnn_fail(enum dnn_status status, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The same for what cuDNN has and the stand-in lacks; counted in the truth file under that name. */
enum dnn_status dnn_missing(const char *what);

/* Of what a call of the simulated driver said (enum sim_result). */
enum dnn_status dnn_driver(int result);

SIM_API const char *cudnnGetErrorString(enum dnn_status status);
SIM_API void cudnnGetLastErrorString(char *message, size_t size);

#endif
