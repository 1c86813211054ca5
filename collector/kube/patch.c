/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations are applied in the order in which they stand: what names an entry of a list by its
 * number comes before anything is put in front of it.
 */
#include "patch.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/jsonout.h"
#include "identity.h"
#include "plan.h"

#define PATH_BYTES 128
#define VOLUME "gpustarve"
#define SOCKET_VOLUME "gpustarve-socket"
#define INIT "gpustarve-library"
#define INIT_TO "/gpustarve" /* where the init container has the volume */
#define NOBODY 65532 /* as in scripts/kubernetes/Containerfile */
#define THEIR_PRELOAD "GPUSTARVE_LD_PRELOAD"
/* libprof takes 1,023 bytes, ours with two names of 253 bytes are 986 at most */
#define THEIR_LABELS_MAX 200

struct writer {
	struct base_jsonout j;
	struct coll_patch *patch;
	const struct coll_pod *pod;
	const struct coll_inject *in;
	const char *list; /* of the container at hand: "containers" or "initContainers" */
	char labels[COLL_IDENTITY_LABELS], run[COLL_IDENTITY_RUN];
};

__attribute__((format(printf, 2, 3))) static void warn(struct coll_patch *p, const char *fmt, ...)
{
	va_list args;

	if (p->warnings == COLL_PATCH_WARNINGS)
		return;
	va_start(args, fmt);
	vsnprintf(p->warning[p->warnings++], COLL_PATCH_WARNING_BYTES, fmt, args);
	va_end(args);
}

/* Where pods have those that start first, sidecars among them. */
static const char in_front[] = "initContainers";

/* --- operations --- */

/* {"op": @op, "path": ..., and the value's key is next. */
__attribute__((format(printf, 3, 4))) static void begin(struct writer *w, const char *op,
							const char *fmt, ...)
{
	char path[PATH_BYTES];
	va_list args;

	va_start(args, fmt);
	vsnprintf(path, sizeof(path), fmt, args);
	va_end(args);
	base_json_flat_object(&w->j, NULL);
	base_json_string(&w->j, "op", op);
	base_json_string(&w->j, "path", path);
}

static void end(struct writer *w)
{
	base_json_end(&w->j);
}

static bool is_there(const struct base_json *n)
{
	return n && n->type != BASE_JSON_NULL;
}

/* A list at @path, if there is none yet, so that "-" may follow. */
static void need_list(struct writer *w, const struct base_json *list, const char *path)
{
	if (is_there(list))
		return;
	begin(w, "add", "%s", path);
	base_json_flat_array(&w->j, "value");
	base_json_end(&w->j);
	end(w);
}

/* --- environment --- */

static bool has_variable(const struct base_json *c, const char *name)
{
	size_t at;

	return coll_pod_named(base_json_get(c, "env"), "name", name, &at) != NULL;
}

static void add_variable(struct writer *w, size_t i, const struct base_json *c, const char *name,
			 const char *value)
{
	if (has_variable(c, name))
		return;
	begin(w, "add", "/spec/%s/%zu/env/-", w->list, i);
	base_json_flat_object(&w->j, "value");
	base_json_string(&w->j, "name", name);
	base_json_string(&w->j, "value", value);
	base_json_end(&w->j);
	end(w);
}

static void replace(struct writer *w, size_t i, size_t at, const char *member, const char *value)
{
	begin(w, "replace", "/spec/%s/%zu/env/%zu/%s", w->list, i, at, member);
	base_json_string(&w->j, "value", value);
	end(w);
}

/* "add" makes a member that is not there yet, and else takes its place. */
static void set_value(struct writer *w, size_t i, size_t at, const char *value)
{
	begin(w, "add", "/spec/%s/%zu/env/%zu/value", w->list, i, at);
	base_json_string(&w->j, "value", value);
	end(w);
}

/* What is there stays, and ours stands behind it. */
static void append_preload(struct writer *w, size_t i, const struct coll_plan *plan)
{
	size_t len = strlen(plan->value);
	char *text = len ? malloc(len + sizeof(":" COLL_INJECT_LIBRARY)) : NULL;

	if (text)
		sprintf(text, "%s:" COLL_INJECT_LIBRARY, plan->value);
	if (text || !len)
		set_value(w, i, plan->at, text ? text : COLL_INJECT_LIBRARY);
	free(text);
}

static void put_preload_there(struct writer *w, size_t i, const struct coll_plan *plan)
{
	if (plan->how == COLL_PLAN_APPEND)
		append_preload(w, i, plan);
	else if (plan->how == COLL_PLAN_BEHIND)
		replace(w, i, plan->at, "name", THEIR_PRELOAD);
}

static void put_preload_new(struct writer *w, size_t i, const struct base_json *c,
			    const struct coll_plan *plan)
{
	if (plan->how == COLL_PLAN_NEW) {
		add_variable(w, i, c, "LD_PRELOAD", COLL_INJECT_LIBRARY);
	} else if (plan->how == COLL_PLAN_CUDA) {
		add_variable(w, i, c, "CUDA_INJECTION64_PATH", COLL_INJECT_LIBRARY);
		add_variable(w, i, c, "NVTX_INJECTION64_PATH", COLL_INJECT_LIBRARY);
	} else if (plan->how == COLL_PLAN_BEHIND) {
		begin(w, "add", "/spec/%s/%zu/env/-", w->list, i);
		base_json_flat_object(&w->j, "value");
		base_json_string(&w->j, "name", "LD_PRELOAD");
		base_json_string(&w->j, "value", "$(" THEIR_PRELOAD "):" COLL_INJECT_LIBRARY);
		base_json_end(&w->j);
		end(w);
	}
}

/* Ours first, for of one label the first counts; whose value comes from elsewhere is left. */
static void put_labels_there(struct writer *w, size_t i, const struct base_json *c)
{
	size_t at;
	const struct base_json *v =
		coll_pod_named(base_json_get(c, "env"), "name", "GPUSTARVE_LABELS", &at);
	const char *theirs = coll_pod_text(v, "value");
	char text[COLL_IDENTITY_LABELS + THEIR_LABELS_MAX + 2];

	if (!v)
		return;
	if (is_there(base_json_get(v, "valueFrom"))) {
		warn(w->patch,
		     "gpustarve: container %.63s: its GPUSTARVE_LABELS come from elsewhere: "
		     "its namespace does not stand beside them",
		     coll_pod_text(c, "name"));
		return;
	}
	if (strlen(theirs) > THEIR_LABELS_MAX) {
		warn(w->patch,
		     "gpustarve: container %.63s: its GPUSTARVE_LABELS are too long for "
		     "its namespace to stand beside them",
		     coll_pod_text(c, "name"));
		return;
	}
	snprintf(text, sizeof(text), "%s%s%s", w->labels, *theirs ? "," : "", theirs);
	set_value(w, i, at, text);
}

/* In front of all, for $(NAME) is expanded only behind it. */
static void put_fields(struct writer *w, size_t i, const struct base_json *c)
{
	for (size_t f = COLL_IDENTITY_FIELDS; f-- > 0;) {
		if (has_variable(c, coll_identity_fields[f].variable))
			continue;
		begin(w, "add", "/spec/%s/%zu/env/0", w->list, i);
		base_json_flat_object(&w->j, "value");
		base_json_string(&w->j, "name", coll_identity_fields[f].variable);
		base_json_flat_object(&w->j, "valueFrom");
		base_json_flat_object(&w->j, "fieldRef");
		base_json_string(&w->j, "fieldPath", coll_identity_fields[f].path);
		base_json_end(&w->j);
		base_json_end(&w->j);
		base_json_end(&w->j);
		end(w);
	}
}

/*
 * Without a collector nothing is written into the container, whose disk is the node's and its
 * memory the pod's: what is not taken is dropped and counted.
 */
static void put_environment(struct writer *w, size_t i, const struct base_json *c,
			    const struct coll_plan *plan)
{
	char path[PATH_BYTES], text[PATH_BYTES];

	snprintf(path, sizeof(path), "/spec/%s/%zu/env", w->list, i);
	put_preload_there(w, i, plan);
	put_labels_there(w, i, c);
	need_list(w, base_json_get(c, "env"), path);
	put_fields(w, i, c);
	put_preload_new(w, i, c, plan);
	snprintf(text, sizeof(text), COLL_INJECT_RUN "%s", strrchr(w->in->socket, '/'));
	add_variable(w, i, c, "GPUSTARVE_SOCKET", text);
	add_variable(w, i, c, "GPUSTARVE_RUN_ID", w->run);
	add_variable(w, i, c, "GPUSTARVE_LABELS", w->labels);
	if (has_variable(c, "GPUSTARVE_OUT"))
		return;
	add_variable(w, i, c, "GPUSTARVE_OUT", "/dev/null");
	add_variable(w, i, c, "GPUSTARVE_QUIET_ERRORS", "1");
}

/* --- volumes --- */

static void put_mount(struct writer *w, size_t i, const char *volume, const char *path)
{
	begin(w, "add", "/spec/%s/%zu/volumeMounts/-", w->list, i);
	base_json_flat_object(&w->j, "value");
	base_json_string(&w->j, "name", volume);
	base_json_string(&w->j, "mountPath", path);
	base_json_bool(&w->j, "readOnly", true);
	base_json_end(&w->j);
	end(w);
}

static void put_mounts(struct writer *w, size_t i, const struct base_json *c)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "/spec/%s/%zu/volumeMounts", w->list, i);
	need_list(w, base_json_get(c, "volumeMounts"), path);
	put_mount(w, i, VOLUME, COLL_INJECT_PREFIX);
	put_mount(w, i, SOCKET_VOLUME, COLL_INJECT_RUN);
}

/* A folder that is not there is made, empty: a pod starts where the node has none. */
static void put_host_folder(struct writer *w, const char *name, const char *path, size_t len)
{
	char folder[PATH_BYTES * 8];

	snprintf(folder, sizeof(folder), "%.*s", (int)len, path);
	begin(w, "add", "/spec/volumes/-");
	base_json_flat_object(&w->j, "value");
	base_json_string(&w->j, "name", name);
	base_json_flat_object(&w->j, "hostPath");
	base_json_string(&w->j, "path", folder);
	base_json_string(&w->j, "type", "DirectoryOrCreate");
	base_json_end(&w->j);
	base_json_end(&w->j);
	end(w);
}

static void put_empty_folder(struct writer *w)
{
	begin(w, "add", "/spec/volumes/-");
	base_json_flat_object(&w->j, "value");
	base_json_string(&w->j, "name", VOLUME);
	base_json_flat_object(&w->j, "emptyDir");
	base_json_end(&w->j);
	base_json_end(&w->j);
	end(w);
}

static void put_volumes(struct writer *w)
{
	const char *socket = w->in->socket;

	need_list(w, w->pod->volumes, "/spec/volumes");
	if (w->in->image)
		put_empty_folder(w);
	else
		put_host_folder(w, VOLUME, w->in->host, strlen(w->in->host));
	put_host_folder(w, SOCKET_VOLUME, socket, (size_t)(strrchr(socket, '/') - socket));
}

/* --- the init container --- */

static void put_words(struct writer *w, const char *key, const char *const *words)
{
	base_json_flat_array(&w->j, key);
	for (; *words; words++)
		base_json_string(&w->j, NULL, *words);
	base_json_end(&w->j);
}

static void put_amounts(struct writer *w, const char *key)
{
	base_json_flat_object(&w->j, key);
	base_json_string(&w->j, "cpu", "100m");
	base_json_string(&w->j, "memory", "64Mi");
	base_json_end(&w->j);
}

/* Root may not be, and the image's own user may be root: such a container would never start. */
static bool wants_a_user(const struct coll_pod *pod)
{
	const struct base_json *context = base_json_get(pod->spec, "securityContext");

	return base_json_get_bool(context, "runAsNonRoot", false) &&
	       !is_there(base_json_get(context, "runAsUser"));
}

/* What the strictest of Kubernetes' own profiles and quotas ask of a container. */
static void put_init(struct writer *w)
{
	static const char *const copy[] = { "cp", "-R", COLL_INJECT_PREFIX "/.", INIT_TO, NULL };
	static const char *const all[] = { "ALL", NULL };

	need_list(w, w->pod->init, "/spec/initContainers");
	begin(w, "add", "/spec/initContainers/0");
	base_json_flat_object(&w->j, "value");
	base_json_string(&w->j, "name", INIT);
	base_json_string(&w->j, "image", w->in->image);
	put_words(w, "command", copy);
	base_json_flat_object(&w->j, "resources");
	put_amounts(w, "limits");
	put_amounts(w, "requests");
	base_json_end(&w->j);
	base_json_flat_object(&w->j, "securityContext");
	base_json_bool(&w->j, "allowPrivilegeEscalation", false);
	base_json_bool(&w->j, "readOnlyRootFilesystem", true);
	if (wants_a_user(w->pod))
		base_json_int(&w->j, "runAsUser", NOBODY);
	base_json_flat_object(&w->j, "capabilities");
	put_words(w, "drop", all);
	base_json_end(&w->j);
	base_json_end(&w->j);
	base_json_flat_array(&w->j, "volumeMounts");
	base_json_flat_object(&w->j, NULL);
	base_json_string(&w->j, "name", VOLUME);
	base_json_string(&w->j, "mountPath", INIT_TO);
	base_json_end(&w->j);
	base_json_end(&w->j);
	base_json_end(&w->j);
	end(w);
}

/* --- the pod --- */

static void put_mark(struct writer *w)
{
	if (!is_there(w->pod->annotations)) {
		begin(w, "add", "/metadata/annotations");
		base_json_flat_object(&w->j, "value");
		base_json_string(&w->j, COLL_POD_INJECTED, "1");
		base_json_end(&w->j);
	} else {
		begin(w, "add", "/metadata/annotations/gpustarve.io~1injected");
		base_json_string(&w->j, "value", "1");
	}
	end(w);
}

static void put_container(struct writer *w, size_t i, const struct base_json *c)
{
	struct coll_plan plan;

	coll_plan_of(&plan, w->pod, c, w->list == in_front);
	if (plan.why)
		warn(w->patch, "gpustarve: container %.63s %s", coll_pod_text(c, "name"), plan.why);
	if (plan.how == COLL_PLAN_LEFT)
		return;
	w->patch->containers++;
	put_environment(w, i, c, &plan);
	put_mounts(w, i, c);
}

static void put_containers(struct writer *w, const struct base_json *list, const char *name)
{
	size_t i = 0;

	w->list = name;
	BASE_JSON_EACH(c, list)
		put_container(w, i++, c);
}

static void warn_of_names(struct coll_patch *p, const struct coll_pod *pod)
{
	char name[COLL_POD_NAME_BYTES];

	if (coll_pod_names_nobody(pod, name))
		warn(p,
		     "gpustarve: " COLL_POD_CONTAINERS " names %s, and no container is called so",
		     name);
}

/* Names that we would give a second time. */
static bool has_our_names(const struct coll_pod *pod)
{
	size_t at;

	return coll_pod_named(pod->volumes, "name", VOLUME, &at) ||
	       coll_pod_named(pod->volumes, "name", SOCKET_VOLUME, &at) ||
	       coll_pod_named(pod->init, "name", INIT, &at) ||
	       coll_pod_named(pod->containers, "name", INIT, &at);
}

void coll_patch_write(struct coll_patch *p, FILE *f, const struct coll_pod *pod,
		      const struct coll_inject *in)
{
	struct writer w = { .j.f = f, .patch = p, .pod = pod, .in = in };

	memset(p, 0, sizeof(*p));
	if (has_our_names(pod)) {
		warn(p, "gpustarve: the pod has a volume or container of our name: not recorded");
		return;
	}
	coll_identity_labels(w.labels, pod, in);
	coll_identity_run(w.run, pod);
	base_json_array(&w.j, NULL);
	put_containers(&w, pod->init, in_front);
	put_containers(&w, pod->containers, "containers");
	warn_of_names(p, pod);
	if (p->containers) {
		put_volumes(&w);
		if (in->image)
			put_init(&w);
		put_mark(&w);
	}
	base_json_end(&w.j);
}
