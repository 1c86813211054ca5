/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose a pod is: the labels of its run and the run's id, as texts of environment variables.
 * What is not known before a pod is made (its name may be made up, its uid is) comes by the
 * downward API: the texts name variables as Kubernetes expands them, $(NAME), of
 * coll_identity_fields. What the pod says is cut and made tame, so that nothing else is
 * expanded. Pure.
 */
#ifndef COLL_IDENTITY_H
#define COLL_IDENTITY_H

#include "inject.h"
#include "pod.h"

/* libprof takes 1,023 bytes of labels, once names of up to 253 bytes stand in them twice. */
#define COLL_IDENTITY_LABELS 480
#define COLL_IDENTITY_RUN 192

struct coll_identity_field { /* of the downward API; in the order in which they are to stand */
	const char *variable, *path;
};

#define COLL_IDENTITY_FIELDS 3
extern const struct coll_identity_field coll_identity_fields[COLL_IDENTITY_FIELDS];

/*
 * "namespace=$(...),pod=$(...),job=...": GPUSTARVE_LABELS. Of a label that several of the pod's
 * tell the first in the order of the table counts; what has no room is left out.
 */
void coll_identity_labels(char out[COLL_IDENTITY_LABELS], const struct coll_pod *pod,
			  const struct coll_inject *in);

/*
 * GPUSTARVE_RUN_ID. Pods of one job (of JobSet, Kubeflow, Volcano, Ray, batch) make one run;
 * those of what goes on for ever (ReplicaSet, StatefulSet, DaemonSet), and of nobody, one each.
 */
void coll_identity_run(char out[COLL_IDENTITY_RUN], const struct coll_pod *pod);

#endif
