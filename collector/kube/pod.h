/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pod as Kubernetes sends it, looked at and not changed. Everything of it may be anything:
 * what is asked here is NULL, "" or 0 where it is not what it should be. Points into the
 * document that it was made of. Pure.
 */
#ifndef COLL_POD_H
#define COLL_POD_H

#include <stdbool.h>
#include <stddef.h>
#include "base/jsondoc.h"

/* Names of ours in pods. */
#define COLL_POD_RECORD "gpustarve.io/record" /* label: "false" opts out */
#define COLL_POD_PRELOAD "gpustarve.io/preload" /* annotation: "true", "false" */
#define COLL_POD_CONTAINERS "gpustarve.io/containers" /* annotation: names, commas between */
#define COLL_POD_INJECTED "gpustarve.io/injected" /* annotation that we add */

struct coll_pod {
	const struct base_json *metadata, *labels, *annotations;
	const struct base_json *owner; /* of ownerReferences the one that controls it */
	const struct base_json *spec, *containers, *init, *volumes;
	bool gpus; /* a container asks for some, of initContainers as well */
};

/* NULL: it has the shape of a pod; else a static text that says what has not. */
const char *coll_pod_of(struct coll_pod *pod, const struct base_json *object);

/* A member of an object that is a text; "" where it is none. */
const char *coll_pod_text(const struct base_json *object, const char *key);

/* The element of an array of objects whose member @key is @text, the last; NULL: none. */
const struct base_json *coll_pod_named(const struct base_json *list, const char *key,
				       const char *text, size_t *at);

/* It asks for a GPU, or for a part of one. */
bool coll_pod_asks_gpu(const struct base_json *container);

/*
 * This container is to be recorded: it is named, or asks for a GPU; where none does, all are but
 * those of initContainers (@init).
 */
bool coll_pod_is_meant(const struct coll_pod *pod, const struct base_json *container, bool init);

#define COLL_POD_NAME_BYTES 64

/* A name that COLL_POD_CONTAINERS lists and no container has, cut to its room. */
bool coll_pod_names_nobody(const struct coll_pod *pod, char name[COLL_POD_NAME_BYTES]);

/* It runs on no node of Linux, as far as it says. */
bool coll_pod_is_windows(const struct coll_pod *pod);

#endif
