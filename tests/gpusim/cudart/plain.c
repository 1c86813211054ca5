/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain.c - what libcudart.so.13 has of its own, besides what libgpusimrt.so is built from as well.
 */
#include "cudart.h"

void *rt_unregistered(const void *handle)
{
	(void)handle;
	return NULL;
}

/* Memory of whoever has this library loaded has content. */
__attribute__((constructor)) static void runtime_loaded(void)
{
	gpusim_content();
}
