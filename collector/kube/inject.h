/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What pods are given, as the command line says (--inject NAME=VALUE):
 *
 *   host=FOLDER    the node's folder with gpustarve in it, mounted read-only (the default,
 *                  /opt/gpustarve)
 *   image=IMAGE    in its place an init container of this image, which has it in /opt/gpustarve, copies
 *                  it into an empty volume
 *   socket=PATH    the node collector's socket, on the node (/run/gpustarve/sock)
 *   cluster=NAME   a label `cluster` of every run
 *   label=KEY      a label of pods that becomes one of runs; may be repeated
 *
 * Plain data; texts are the command line's.
 */
#ifndef COLL_INJECT_H
#define COLL_INJECT_H

#include <stddef.h>

#define COLL_INJECT_LABELS_MAX 8

/* Where a container finds it. */
#define COLL_INJECT_PREFIX "/opt/gpustarve"
#define COLL_INJECT_LIBRARY COLL_INJECT_PREFIX "/lib/gpustarve/libprof.so"
#define COLL_INJECT_RUN "/run/gpustarve"

struct coll_inject {
	const char *host; /* absolute */
	const char *image; /* NULL: the node's folder */
	const char *socket; /* absolute, with a folder before its name */
	const char *cluster; /* NULL: none */
	const char *label[COLL_INJECT_LABELS_MAX];
	size_t labels;
};

void coll_inject_init(struct coll_inject *in);

/* @pair: NAME=VALUE, kept. 0, or -EINVAL with *why, a static text. */
int coll_inject_set_pair(struct coll_inject *in, const char *pair, const char **why);

#endif
