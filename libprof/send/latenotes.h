/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes that only the run itself gives cause for. Sender thread.
 */
#ifndef PROF_LATENOTES_H
#define PROF_LATENOTES_H

#include <stdbool.h>
#include "cupti/cuda_api.h"

/*
 * Each tick of the sender's. @cupti NULL: there is none. True: there is a new note, for another
 * Hello.
 */
bool prof_latenotes_tick(const struct prof_cupti *cupti);

#endif
