/* SPDX-License-Identifier: Apache-2.0 */
/*
 * labels.c - a page of names per module.
 */
#include "labels.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *spare; /* the page of the module that was unloaded last */

static int by_module(const char *how)
{
	const char *v = getenv("GPUSIM_NAMES");

	return v && (how ? !strcmp(v, how) : *v);
}

static char *page(void)
{
	char *p = spare;

	spare = NULL;
	if (p)
		return p;
	p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

const char *sim_label(struct sim_labels *labels, const char *name)
{
	size_t n = strlen(name) + 1;
	char *label = NULL;

	if (!by_module(NULL))
		return name;
	pthread_mutex_lock(&lock);
	if (!labels->page)
		labels->page = page();
	if (labels->page && n <= PAGE - labels->used) {
		label = memcpy(labels->page + labels->used, name, n);
		labels->used += n;
	}
	pthread_mutex_unlock(&lock);
	return label ? label : name;
}

void sim_labels_drop(struct sim_labels *labels)
{
	pthread_mutex_lock(&lock);
	if (labels->page && by_module("unmap"))
		mprotect(labels->page, PAGE, PROT_NONE); /* no later mapping takes its place */
	else if (labels->page && by_module("reuse"))
		spare = labels->page;
	labels->page = NULL;
	labels->used = 0;
	pthread_mutex_unlock(&lock);
}
