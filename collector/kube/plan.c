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

/* The next part of a path, behind slashes and parts that are "."; its length, 0: there is none. */
static size_t part(const char **at)
{
	for (;;) {
		*at += strspn(*at, "/");
		size_t n = strcspn(*at, "/");

		if (n != 1 || **at != '.')
			return n;
		*at += n;
	}
}

/* Most images have /var/run as a link to /run, and a container's mounts follow it. */
static const char *behind_var(const char *path)
{
	const char *at = path;

	for (const char *want = "/var/run"; *want; want += 4) {
		if (part(&at) != 3 || memcmp(at, want + 1, 3) != 0)
			return path;
		at += 3;
	}
	return at - 3;
}

/* One of them is the other, or a folder that the other is in. A path is of the root in any case. */
static bool on_one_way(const char *a, const char *b)
{
	for (;;) {
		size_t n = part(&a), m = part(&b);

		if (!n || !m)
			return true;
		if (n != m || memcmp(a, b, n) != 0)
			return false;
		a += n;
		b += m;
	}
}

static bool goes_up(const char *path)
{
	size_t n;

	while ((n = part(&path)) && (n != 2 || memcmp(path, "..", 2) != 0))
		path += n;
	return n != 0;
}

static bool is_in_the_way(const struct base_json *list, const char *key)
{
	BASE_JSON_EACH(m, list) {
		const char *path = behind_var(coll_pod_text(m, key));

		if (on_one_way(path, COLL_INJECT_PREFIX) || on_one_way(path, COLL_INJECT_RUN) ||
		    goes_up(path))
			return true;
	}
	return false;
}

/*
 * Something is mounted where ours would be: twice, and the pod is refused; below, and its folder
 * cannot be made in ours, which is read-only; above, and ours cannot be made in a volume that is,
 * or would be in somebody's data.
 */
static bool is_taken(const struct base_json *c)
{
	return is_in_the_way(base_json_get(c, "volumeMounts"), "mountPath") ||
	       is_in_the_way(base_json_get(c, "volumeDevices"), "devicePath");
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

void coll_plan_of(struct coll_plan *plan, const struct coll_pod *pod, const struct base_json *c,
		  bool init)
{
	const struct base_json *env = base_json_get(c, "env"), *from = base_json_get(c, "envFrom");
	const char *preload = coll_pod_text(pod->annotations, COLL_POD_PRELOAD);
	const struct base_json *v;

	*plan = (struct coll_plan){ .how = COLL_PLAN_LEFT };
	if (!coll_pod_is_meant(pod, c, init) || is_off(env))
		return;
	if (is_taken(c)) {
		plan->why = "has something mounted at, above or below " COLL_INJECT_PREFIX
			    " or " COLL_INJECT_RUN ": not recorded";
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
