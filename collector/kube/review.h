/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers Kubernetes' question whether a pod may come in: an AdmissionReview of
 * admission.k8s.io, v1 or v1beta1, as JSON, to its answer as JSON. The answer is always yes;
 * with a JSON Patch where the pod is to be recorded and is not yet (annotation
 * gpustarve.io/injected). Whatever is not a new pod of the shape that it should have goes in as
 * it is. Pure: no state, nothing but memory.
 */
#ifndef COLL_REVIEW_H
#define COLL_REVIEW_H

#include <stddef.h>
#include "inject.h"

/* Of a review; no object of Kubernetes has more than 1.5 MiB. */
#define COLL_REVIEW_BYTES_MAX (2u << 20)

enum coll_review {
	COLL_REVIEW_BAD, /* no review of a pod */
	COLL_REVIEW_LEFT, /* a pod that goes in as it is */
	COLL_REVIEW_INJECTED /* its containers, some at least, will be recorded */
};

/*
 * *answer: of malloc, the caller's. 0, or -ENOMEM with nothing. (Where the document does not fit
 * into memory, the process ends: see base/arena.h.)
 */
int coll_review_answer(char **answer, size_t *answer_len, enum coll_review *what, const char *text,
		       size_t len, const struct coll_inject *in);

#endif
