/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels of known makers of pods, as a table.
 */
#include "identity.h"

#include <stdio.h>
#include <string.h>

#define VALUE_MAX 63 /* bytes of a value; no label of Kubernetes is longer */
#define UID_MAX 40

#define NAMESPACE "GPUSTARVE_POD_NAMESPACE"
#define NAME "GPUSTARVE_POD_NAME"
#define UID "GPUSTARVE_POD_UID"

const struct coll_identity_field coll_identity_fields[COLL_IDENTITY_FIELDS] = {
	{ NAMESPACE, "metadata.namespace" },
	{ NAME, "metadata.name" },
	{ UID, "metadata.uid" },
};

/* Of rows with one name the first that the pod has counts. */
static const struct {
	const char *as, *key;
	bool annotation;
} told[] = {
	{ "queue", "kueue.x-k8s.io/queue-name", false },
	{ "queue", "volcano.sh/queue-name", false },
	{ "queue", "scheduling.volcano.sh/queue-name", true },
	{ "jobset", "jobset.sigs.k8s.io/jobset-name", false },
	{ "kubeflow", "training.kubeflow.org/job-name", false },
	{ "volcano", "volcano.sh/job-name", false },
	{ "ray", "ray.io/cluster", false },
	{ "team", "team", false },
	{ "project", "project", false },
	{ "account", "account", false },
	{ "experiment", "experiment", false },
};

/* What a pod's job is called, by whoever made most of it. */
static const char *const job_keys[] = {
	"jobset.sigs.k8s.io/jobset-name",
	"training.kubeflow.org/job-name",
	"volcano.sh/job-name",
	"ray.io/cluster",
	"batch.kubernetes.io/job-name",
	"job-name",
};

/* Each of their pods is by itself. */
static const char *const lasting[] = { "ReplicaSet", "StatefulSet", "DaemonSet",
				       "ReplicationController", "Node" };

/*
 * At most @room - 1 bytes of @text, and nothing that a list of labels or Kubernetes would read.
 */
static void tame(char *out, size_t room, const char *text)
{
	size_t len = strnlen(text, room - 1);

	for (size_t i = 0; i < len; i++) {
		char c = text[i];
		bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			    (c >= '0' && c <= '9') || strchr("._-/:@+", c);

		out[i] = good ? c : '_';
	}
	out[len] = '\0';
}

static const char *job_of(const struct coll_pod *pod)
{
	for (size_t i = 0; i < sizeof(job_keys) / sizeof(job_keys[0]); i++)
		if (*coll_pod_text(pod->labels, job_keys[i]))
			return coll_pod_text(pod->labels, job_keys[i]);
	return coll_pod_text(pod->owner, "name");
}

/* ",@as=@value", if there is a value, and room; nothing is cut in half. */
static void add(char *out, const char *as, const char *value)
{
	size_t len = strlen(out), room = COLL_IDENTITY_LABELS - len;
	char good[VALUE_MAX + 1];

	tame(good, sizeof(good), value);
	if (*good && (size_t)snprintf(out + len, room, ",%s=%s", as, good) >= room)
		out[len] = '\0';
}

static void add_owner(char *out, const struct coll_pod *pod)
{
	const char *kind = coll_pod_text(pod->owner, "kind");
	char text[2 * VALUE_MAX + 2];

	snprintf(text, sizeof(text), "%.*s/%.*s", VALUE_MAX, kind, VALUE_MAX,
		 coll_pod_text(pod->owner, "name"));
	if (*kind)
		add(out, "owner", text);
}

static void add_told(char *out, const struct coll_pod *pod)
{
	const char *had = "";

	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		const char *value = coll_pod_text(
			told[i].annotation ? pod->annotations : pod->labels, told[i].key);

		if (!*value || !strcmp(had, told[i].as))
			continue;
		had = told[i].as;
		add(out, told[i].as, value);
	}
}

void coll_identity_labels(char out[COLL_IDENTITY_LABELS], const struct coll_pod *pod,
			  const struct coll_inject *in)
{
	snprintf(out, COLL_IDENTITY_LABELS, "namespace=$(" NAMESPACE "),pod=$(" NAME ")");
	add(out, "job", job_of(pod));
	add_owner(out, pod);
	if (in->cluster)
		add(out, "cluster", in->cluster);
	add_told(out, pod);
	for (size_t i = 0; i < in->labels; i++)
		add(out, in->label[i], coll_pod_text(pod->labels, in->label[i]));
}

/* What all pods of a job have in common, and those of no other; "": nothing. */
static const char *common_uid(const struct coll_pod *pod)
{
	const char *set = coll_pod_text(pod->labels, "jobset.sigs.k8s.io/jobset-uid");
	const char *kind = coll_pod_text(pod->owner, "kind");

	if (*set)
		return set;
	for (size_t i = 0; i < sizeof(lasting) / sizeof(lasting[0]); i++)
		if (!strcmp(kind, lasting[i]))
			return "";
	return coll_pod_text(pod->owner, "uid");
}

/* A run's id becomes a folder's name. */
static void make_name(char *out, size_t room, const char *text)
{
	tame(out, room, text);
	for (char *c = out; *c; c++)
		if (*c == '/' || *c == ':')
			*c = '_';
	if (*out == '.')
		*out = '_';
}

/* "llama" of a pod that shall be called llama-x7k2p. */
static const char *given_name(const struct coll_pod *pod)
{
	const char *name = coll_pod_text(pod->metadata, "name");

	if (!*name)
		name = coll_pod_text(pod->metadata, "generateName");
	return *name ? name : "pod";
}

void coll_identity_run(char out[COLL_IDENTITY_RUN], const struct coll_pod *pod)
{
	const char *common = common_uid(pod), *job = job_of(pod);
	char name[VALUE_MAX + 1], uid[UID_MAX + 1];
	size_t len;

	make_name(uid, sizeof(uid), common);
	make_name(name, sizeof(name), *common && *job ? job : given_name(pod));
	len = strlen(name);
	if (len > 1 && name[len - 1] == '-')
		name[len - 1] = '\0';
	snprintf(out, COLL_IDENTITY_RUN, "%s-%s", name, *common ? uid : "$(" UID ")");
}
