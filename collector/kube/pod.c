/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shapes first; what follows need not ask again.
 */
#include "pod.h"

#include <stdio.h>
#include <string.h>

#define CONTAINERS_MAX 256 /* each is held against every name that an annotation lists */
#define OS_LABEL "kubernetes.io/os"
#define NAMES_MAX 16384 /* bytes of that list */

/* Absent, null, or all of it is objects. */
static bool is_list(const struct base_json *n)
{
	if (!n || n->type == BASE_JSON_NULL)
		return true;
	if (n->type != BASE_JSON_ARRAY)
		return false;
	BASE_JSON_EACH(c, n)
		if (c->type != BASE_JSON_OBJECT)
			return false;
	return true;
}

static bool is_map(const struct base_json *n)
{
	return !n || n->type == BASE_JSON_NULL || n->type == BASE_JSON_OBJECT;
}

const char *coll_pod_text(const struct base_json *object, const char *key)
{
	return base_json_get_text(object, key, "");
}

const struct base_json *coll_pod_named(const struct base_json *list, const char *key,
				       const char *text, size_t *at)
{
	const struct base_json *found = NULL;
	size_t i = 0;

	BASE_JSON_EACH(c, list) {
		if (!strcmp(coll_pod_text(c, key), text)) {
			found = c;
			*at = i;
		}
		i++;
	}
	return found;
}

static bool is_container(const struct base_json *c)
{
	return *coll_pod_text(c, "name") && is_list(base_json_get(c, "env")) &&
	       is_list(base_json_get(c, "envFrom")) && is_list(base_json_get(c, "volumeMounts")) &&
	       is_list(base_json_get(c, "volumeDevices"));
}

static bool are_containers(const struct base_json *list)
{
	if (!is_list(list) || base_json_count(list) > CONTAINERS_MAX)
		return false;
	BASE_JSON_EACH(c, list)
		if (!is_container(c))
			return false;
	return true;
}

static const struct base_json *controller(const struct base_json *owners)
{
	BASE_JSON_EACH(o, owners)
		if (base_json_get_bool(o, "controller", false))
			return o;
	return owners ? owners->child : NULL;
}

static bool names_gpu(const struct base_json *amounts)
{
	if (!is_map(amounts))
		return false;
	BASE_JSON_EACH(a, amounts)
		if (!strncmp(a->key, "nvidia.com/", 11))
			return true;
	return false;
}

bool coll_pod_asks_gpu(const struct base_json *container)
{
	const struct base_json *r = base_json_get(container, "resources");
	const struct base_json *claims = base_json_get(r, "claims");

	return names_gpu(base_json_get(r, "limits")) || names_gpu(base_json_get(r, "requests")) ||
	       (claims && claims->type == BASE_JSON_ARRAY && claims->child);
}

const char *coll_pod_of(struct coll_pod *pod, const struct base_json *object)
{
	const struct base_json *owners;

	memset(pod, 0, sizeof(*pod));
	pod->metadata = base_json_get(object, "metadata");
	pod->spec = base_json_get(object, "spec");
	pod->labels = base_json_get(pod->metadata, "labels");
	pod->annotations = base_json_get(pod->metadata, "annotations");
	pod->containers = base_json_get(pod->spec, "containers");
	pod->init = base_json_get(pod->spec, "initContainers");
	pod->volumes = base_json_get(pod->spec, "volumes");
	owners = base_json_get(pod->metadata, "ownerReferences");
	if (!pod->metadata || pod->metadata->type != BASE_JSON_OBJECT || !is_map(pod->labels) ||
	    !is_map(pod->annotations) || !is_list(owners))
		return "its metadata is none of a pod";
	if (!pod->spec || pod->spec->type != BASE_JSON_OBJECT || !is_list(pod->volumes))
		return "its spec is none of a pod";
	if (!are_containers(pod->containers) || !are_containers(pod->init))
		return "its containers are none, or too many";
	pod->owner = controller(owners);
	BASE_JSON_EACH(c, pod->containers)
		pod->gpus |= coll_pod_asks_gpu(c);
	BASE_JSON_EACH(c, pod->init)
		pod->gpus |= coll_pod_asks_gpu(c);
	return NULL;
}

/* @name is a word of @list, with commas between. */
static bool is_listed(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (; *list; list += strcspn(list, ", ")) {
		list += strspn(list, ", ");
		if (!strncmp(list, name, len) && (!list[len] || strchr(", ", list[len])))
			return true;
	}
	return false;
}

bool coll_pod_is_meant(const struct coll_pod *pod, const struct base_json *container, bool init)
{
	const char *named = coll_pod_text(pod->annotations, COLL_POD_CONTAINERS);

	if (strlen(named) > NAMES_MAX)
		return false;
	if (*named)
		return is_listed(named, coll_pod_text(container, "name"));
	return coll_pod_asks_gpu(container) || (!pod->gpus && !init);
}

static bool has_container(const struct base_json *list, const char *name, size_t len)
{
	BASE_JSON_EACH(c, list) {
		const char *text = coll_pod_text(c, "name");

		if (!strncmp(text, name, len) && !text[len])
			return true;
	}
	return false;
}

bool coll_pod_names_nobody(const struct coll_pod *pod, char name[COLL_POD_NAME_BYTES])
{
	const char *at = coll_pod_text(pod->annotations, COLL_POD_CONTAINERS);

	if (strlen(at) > NAMES_MAX)
		at = "(too much)";
	for (at += strspn(at, ", "); *at; at += strspn(at, ", ")) {
		size_t len = strcspn(at, ", ");

		if (!has_container(pod->containers, at, len) &&
		    !has_container(pod->init, at, len)) {
			snprintf(name, COLL_POD_NAME_BYTES, "%.*s", (int)len, at);
			return true;
		}
		at += len;
	}
	return false;
}

/* ---- Windows ---- */

static const struct base_json *descend(const struct base_json *node, const char *const *keys)
{
	for (; node && *keys; keys++)
		node = base_json_get(node, *keys);
	return node;
}

static bool has_text(const struct base_json *list, const char *text)
{
	BASE_JSON_EACH(v, list)
		if (v->type == BASE_JSON_STRING && !strcmp(v->text, text))
			return true;
	return false;
}

/* One of these conditions, all of which have to hold, no Linux meets. */
static bool keeps_linux_out(const struct base_json *conditions)
{
	BASE_JSON_EACH(c, conditions) {
		const char *operator= coll_pod_text(c, "operator");
		bool named = has_text(base_json_get(c, "values"), "linux");

		if (!strcmp(coll_pod_text(c, "key"), OS_LABEL) &&
		    ((!strcmp(operator, "In") && !named) || (!strcmp(operator, "NotIn") && named)))
			return true;
	}
	return false;
}

/* Of the terms one has to hold. */
static bool is_drawn_to_windows(const struct base_json *spec)
{
	static const char *const way[] = { "affinity", "nodeAffinity",
					   "requiredDuringSchedulingIgnoredDuringExecution",
					   "nodeSelectorTerms", NULL };
	const struct base_json *terms = descend(spec, way);

	BASE_JSON_EACH(t, terms)
		if (!keeps_linux_out(base_json_get(t, "matchExpressions")))
			return false;
	return terms && terms->child;
}

static bool has_options_of_windows(const struct base_json *of)
{
	static const char *const way[] = { "securityContext", "windowsOptions", NULL };
	const struct base_json *options = descend(of, way);

	return options && options->type == BASE_JSON_OBJECT && options->child;
}

bool coll_pod_is_windows(const struct coll_pod *pod)
{
	static const char windows[] = "windows";

	if (!strcmp(coll_pod_text(base_json_get(pod->spec, "os"), "name"), windows) ||
	    !strcmp(coll_pod_text(base_json_get(pod->spec, "nodeSelector"), OS_LABEL), windows) ||
	    is_drawn_to_windows(pod->spec) || has_options_of_windows(pod->spec))
		return true;
	BASE_JSON_EACH(c, pod->containers)
		if (has_options_of_windows(c))
			return true;
	return false;
}
