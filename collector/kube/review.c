/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The envelope: what is asked, and the answer around the patch.
 */
#include "review.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base64.h"
#include "base/jsonout.h"
#include "patch.h"

#define UID_MAX 128

struct asked {
	const char *version; /* of the answer */
	const char *uid;
	const struct base_json *pod; /* a new pod; NULL: none */
};

static bool is_kind(const struct base_json *kind)
{
	return !strcmp(coll_pod_text(kind, "group"), "") &&
	       !strcmp(coll_pod_text(kind, "version"), "v1") &&
	       !strcmp(coll_pod_text(kind, "kind"), "Pod");
}

static bool is_new_pod(const struct base_json *request)
{
	return is_kind(base_json_get(request, "kind")) &&
	       !strcmp(coll_pod_text(request, "operation"), "CREATE") &&
	       !*coll_pod_text(request, "subResource");
}

/* Who asks in a version that nobody knows is answered in the present one. */
static struct asked read_asked(const struct base_json *root)
{
	static const char *const versions[] = { "admission.k8s.io/v1", "admission.k8s.io/v1beta1" };
	const struct base_json *request = base_json_get(root, "request");
	const char *version = coll_pod_text(root, "apiVersion");
	struct asked a = { .version = versions[!strcmp(version, versions[1])] };

	a.uid = coll_pod_text(request, "uid");
	if (strlen(a.uid) > UID_MAX)
		a.uid = "";
	if (*a.uid && !strcmp(version, a.version) &&
	    !strcmp(coll_pod_text(root, "kind"), "AdmissionReview") && is_new_pod(request))
		a.pod = base_json_get(request, "object");
	return a;
}

/*
 * Pods of Windows have no LD_PRELOAD; those that a node made itself are not changed behind it.
 */
static bool is_left(const struct coll_pod *pod)
{
	return *coll_pod_text(pod->annotations, COLL_POD_INJECTED) ||
	       !strcmp(coll_pod_text(pod->labels, COLL_POD_RECORD), "false") ||
	       *coll_pod_text(pod->annotations, "kubernetes.io/config.mirror") ||
	       coll_pod_is_windows(pod);
}

/* The patch, of malloc; NULL: there is none. */
static char *make_patch(struct coll_patch *p, enum coll_review *what, const struct asked *a,
			const struct coll_inject *in)
{
	struct coll_pod pod;
	char *text = NULL;
	size_t len;
	FILE *f;

	if (!a->pod || coll_pod_of(&pod, a->pod))
		return NULL;
	*what = COLL_REVIEW_LEFT;
	f = is_left(&pod) ? NULL : open_memstream(&text, &len);
	if (!f)
		return NULL;
	coll_patch_write(p, f, &pod, in);
	if (!fclose(f) && p->containers) {
		*what = COLL_REVIEW_INJECTED;
		return text;
	}
	free(text);
	return NULL;
}

/* Base64 of @text, of malloc; NULL: no memory. */
static char *encode(const char *text)
{
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);

	if (!f)
		return NULL;
	base_put_base64(f, text, strlen(text));
	if (!fclose(f))
		return out;
	free(out);
	return NULL;
}

static void write_answer(FILE *f, const struct asked *a, const struct coll_patch *p,
			 const char *encoded)
{
	struct base_jsonout j = { .f = f };

	base_json_object(&j, NULL);
	base_json_string(&j, "apiVersion", a->version);
	base_json_string(&j, "kind", "AdmissionReview");
	base_json_object(&j, "response");
	base_json_string(&j, "uid", a->uid);
	base_json_bool(&j, "allowed", true);
	if (encoded) {
		base_json_string(&j, "patchType", "JSONPatch");
		base_json_string(&j, "patch", encoded);
	}
	if (p->warnings) {
		base_json_array(&j, "warnings");
		for (size_t i = 0; i < p->warnings; i++)
			base_json_string(&j, NULL, p->warning[i]);
		base_json_end(&j);
	}
	base_json_end(&j);
	base_json_end(&j);
}

int coll_review_answer(char **answer, size_t *answer_len, enum coll_review *what, const char *text,
		       size_t len, const struct coll_inject *in)
{
	struct base_arena mem = { NULL };
	struct base_json_error error;
	struct asked a = read_asked(base_json_parse(&mem, len ? text : "", len, &error));
	struct coll_patch p = { .containers = 0 };
	char *patch, *encoded = NULL;
	FILE *f = open_memstream(answer, answer_len);

	*what = COLL_REVIEW_BAD;
	if (!f) {
		base_arena_fini(&mem);
		return -ENOMEM;
	}
	patch = make_patch(&p, what, &a, in);
	if (patch)
		encoded = encode(patch);
	if (patch && !encoded)
		*what = COLL_REVIEW_LEFT;
	write_answer(f, &a, &p, encoded);
	free(encoded);
	free(patch);
	base_arena_fini(&mem);
	if (!fclose(f))
		return 0;
	free(*answer);
	*answer = NULL;
	return -ENOMEM;
}
