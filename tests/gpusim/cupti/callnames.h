/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callnames.h - the names of API calls. Constant texts.
 */
#ifndef SIM_CUPTI_CALLNAMES_H
#define SIM_CUPTI_CALLNAMES_H

#include <stdint.h>

/* As cuptiGetCallbackName gives it: "cuLaunchKernel", "cudaLaunchKernel_v7000"; NULL: not known. */
const char *callname(int domain, uint32_t cbid);

/* As callbacks are told it, the function's own: "cudaLaunchKernel". */
const char *callname_plain(int domain, uint32_t cbid);

#endif
