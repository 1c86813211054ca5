/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A variable that comes from a ConfigMap or a Secret is not seen here: Kubernetes expands
 * $(NAME) when it starts the container, if the variable is there, and else leaves it as it is.
 * So a value that may be missing is never named.
 */
#include "plan.h"

#include <string.h>
#include "inject.h"

/* It switches recording off by itself. */
static bool is_off(const struct base_json *env)
{
	size_t at;
	const struct base_json *v = coll_pod_named(env, "name", "GPUSTARVE", &at);
	const char *value = coll_pod_text(v, "value");

	return v && (!strcmp(value, "0") || !strcmp(value, "off") || !strcmp(value, "no"));
}

static bool has_path(const struct base_json *list, const char *key, const char *path)
{
	size_t at;

	return coll_pod_named(list, key, path, &at) != NULL;
}

/* Something is mounted where ours would be; twice, and the pod would be refused. */
static bool is_taken(const struct base_json *c)
{
	static const char *const paths[] = { COLL_INJECT_PREFIX, COLL_INJECT_PREFIX "/",
					     COLL_INJECT_RUN, COLL_INJECT_RUN "/" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (has_path(base_json_get(c, "volumeMounts"), "mountPath", paths[i]) ||
		    has_path(base_json_get(c, "volumeDevices"), "devicePath", paths[i]))
			return true;
	return false;
}

/* A word of a list with spaces or colons between. */
static bool names_library(const char *list)
{
	const char *at = list;
	size_t len = sizeof(COLL_INJECT_LIBRARY) - 1;

	for (; (at = strstr(at, COLL_INJECT_LIBRARY)); at++)
		if ((at == list || strchr(" :", at[-1])) && (!at[len] || strchr(" :", at[len])))
			return true;
	return false;
}

static bool may_be_missing(const struct base_json *from)
{
	return base_json_get_bool(base_json_get(from, "configMapKeyRef"), "optional", false) ||
	       base_json_get_bool(base_json_get(from, "secretKeyRef"), "optional", false);
}

static void of_variable(struct coll_plan *plan, const struct base_json *v)
{
	const struct base_json *from = base_json_get(v, "valueFrom");

	plan->value = coll_pod_text(v, "value");
	if (from && from->type == BASE_JSON_OBJECT) {
		plan->how = COLL_PLAN_BEHIND;
		if (!may_be_missing(from))
			return;
		plan->how = COLL_PLAN_CUDA;
		plan->why = "takes LD_PRELOAD from what may be missing: recorded by CUDA alone";
		return;
	}
	plan->how = names_library(plan->value) ? COLL_PLAN_THERE : COLL_PLAN_APPEND;
}

void coll_plan_of(struct coll_plan *plan, const struct coll_pod *pod, const struct base_json *c)
{
	const struct base_json *env = base_json_get(c, "env"), *from = base_json_get(c, "envFrom");
	const char *preload = coll_pod_text(pod->annotations, COLL_POD_PRELOAD);
	const struct base_json *v;

	*plan = (struct coll_plan){ .how = COLL_PLAN_LEFT };
	if (!coll_pod_is_meant(pod, c) || is_off(env))
		return;
	if (is_taken(c)) {
		plan->why = "has something mounted at " COLL_INJECT_PREFIX " or " COLL_INJECT_RUN
			    " already: not recorded";
		return;
	}
	v = coll_pod_named(env, "name", "LD_PRELOAD", &plan->at);
	if (!strcmp(preload, "false")) {
		plan->how = COLL_PLAN_CUDA;
	} else if (v) {
		of_variable(plan, v);
	} else if (from && from->child && strcmp(preload, "true") != 0) {
		plan->how = COLL_PLAN_CUDA;
		plan->why = "has envFrom, which may set LD_PRELOAD: recorded by CUDA alone; "
			    "annotate " COLL_POD_PRELOAD "=true if it does not";
	} else {
		plan->how = COLL_PLAN_NEW;
	}
}
