/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods that are to be recorded: what --inject takes, whose a pod is, and how a container is
 * given libprof.
 */
#include "harness.h"

#include "kube/identity.h"
#include "kube/plan.h"
#include "kube/review.h"

#define GPU "\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"1\"}}"

static struct base_arena mem;

static struct coll_pod pod_of(const char *text)
{
	struct base_json_error err;
	struct coll_pod pod;
	struct base_json *root = base_json_parse(&mem, text, strlen(text), &err);

	REQUIRE(root);
	EXPECT(!coll_pod_of(&pod, root));
	return pod;
}

static void test_settings(void)
{
	static const char *const good[] = {
		"host=/var/lib/gpustarve", "image=r.example/gpustarve:1",
		"socket=/run/gpustarve/s", "cluster=east",
		"label=example.org/team",  "host=/a..b/c"
	};
	static const char *const bad[] = { "",
					   "host",
					   "host=",
					   "host=opt",
					   "host=/",
					   "host=/a/../b",
					   "host=/a/..",
					   "image=",
					   "image=a b",
					   "socket=/s",
					   "socket=/run/",
					   "socket=run/s",
					   "label=a=b",
					   "label=",
					   "cluster=a,b",
					   "cluster=$(A)",
					   "hosts=/opt",
					   "=x" };
	struct coll_inject in;
	const char *why;

	coll_inject_init(&in);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		EXPECT_INT(coll_inject_set_pair(&in, good[i], &why), 0);
	EXPECT_STR(in.host, "/a..b/c");
	EXPECT_UINT(in.labels, 1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!coll_inject_set_pair(&in, bad[i], &why))
			T_FAIL("taken: %s", bad[i]);
	for (size_t i = in.labels; i < COLL_INJECT_LABELS_MAX; i++)
		EXPECT_INT(coll_inject_set_pair(&in, "label=k", &why), 0);
	EXPECT(coll_inject_set_pair(&in, "label=k", &why));
}

#define FIELDS "namespace=$(GPUSTARVE_POD_NAMESPACE),pod=$(GPUSTARVE_POD_NAME)"

static void expect_identity(const char *text, const char *labels, const char *run)
{
	struct coll_inject in;
	char got[COLL_IDENTITY_LABELS], id[COLL_IDENTITY_RUN];
	struct coll_pod pod = pod_of(text);

	coll_inject_init(&in);
	in.label[in.labels++] = "example.org/cost";
	coll_identity_labels(got, &pod, &in);
	coll_identity_run(id, &pod);
	EXPECT_STR(got, labels);
	EXPECT_STR(id, run);
}

#define POD(meta) "{\"metadata\":{" meta "},\"spec\":{}}"
#define OWNER(kind, name)                                                                       \
	"\"ownerReferences\":[{\"kind\":\"X\",\"name\":\"no\",\"uid\":\"n\"},{\"kind\":\"" kind \
	"\",\"name\":\"" name "\",\"uid\":\"u-1\",\"controller\":true}]"

static void test_identity(void)
{
	expect_identity(POD("\"name\":\"notebook\""), FIELDS, "notebook-$(GPUSTARVE_POD_UID)");
	expect_identity(POD("\"generateName\":\"llama-\"," OWNER("Job", "llama")),
			FIELDS ",job=llama,owner=Job/llama", "llama-u-1");
	expect_identity(POD("\"name\":\"web-1\"," OWNER("StatefulSet", "web")),
			FIELDS ",job=web,owner=StatefulSet/web", "web-1-$(GPUSTARVE_POD_UID)");
	expect_identity(
		POD("\"labels\":{\"jobset.sigs.k8s.io/jobset-name\":\"js\","
		    "\"jobset.sigs.k8s.io/jobset-uid\":\"j-2\",\"job-name\":\"js-w-0\","
		    "\"kueue.x-k8s.io/queue-name\":\"q1\",\"volcano.sh/queue-name\":\"q2\","
		    "\"example.org/cost\":\"c7\",\"team\":\"vision\"}," OWNER("Job", "js-w-0")),
		FIELDS
		",job=js,owner=Job/js-w-0,queue=q1,jobset=js,team=vision,example.org/cost=c7",
		"js-j-2");
	expect_identity(POD("\"annotations\":{\"scheduling.volcano.sh/queue-name\":\"vq\"},"
			    "\"labels\":{\"volcano.sh/job-name\":\"vj\"}," OWNER("Job", "vj")),
			FIELDS ",job=vj,owner=Job/vj,queue=vq,volcano=vj", "vj-u-1");
	expect_identity(POD("\"labels\":{\"training.kubeflow.org/job-name\":\"pt\"}," OWNER(
				"PyTorchJob", "pt")),
			FIELDS ",job=pt,owner=PyTorchJob/pt,kubeflow=pt", "pt-u-1");
	expect_identity(POD("\"labels\":{\"ray.io/cluster\":\"rc\"}," OWNER("RayCluster", "rc")),
			FIELDS ",job=rc,owner=RayCluster/rc,ray=rc", "rc-u-1");
	/* what a pod says is never read as more than a value, nor expanded, nor a path */
	expect_identity(POD("\"labels\":{\"job-name\":\"a,team=b$(HOME)\\n\",\"team\":7}," OWNER(
				"../Job", "../x")),
			FIELDS ",job=a_team_b__HOME__,owner=../Job/../x", "a_team_b__HOME__-u-1");
	expect_identity(POD("\"name\":\"../x\""), FIELDS, "_._x-$(GPUSTARVE_POD_UID)");
}

/* As long as they may be, they still fit where libprof reads them. */
static void test_identity_bounds(void)
{
	char text[4096], labels[COLL_IDENTITY_LABELS], run[COLL_IDENTITY_RUN], x[300];
	struct coll_inject in;
	struct coll_pod pod;

	memset(x, 'x', sizeof(x) - 1);
	x[sizeof(x) - 1] = '\0';
	snprintf(
		text, sizeof(text),
		"{\"metadata\":{\"name\":\"%s\",\"labels\":{\"job-name\":\"%s\",\"team\":\"%s\","
		"\"project\":\"%s\",\"account\":\"%s\",\"experiment\":\"%s\",\"ray.io/cluster\":\"%s\","
		"\"kueue.x-k8s.io/queue-name\":\"%s\"}},\"spec\":{}}",
		x, x, x, x, x, x, x, x);
	pod = pod_of(text);
	coll_inject_init(&in);
	coll_identity_labels(labels, &pod, &in);
	coll_identity_run(run, &pod);
	EXPECT(strlen(labels) < COLL_IDENTITY_LABELS && strlen(labels) > 300);
	EXPECT(labels[strlen(labels) - 1] == 'x');
	EXPECT(strlen(run) < 128);
}

static void expect_plan(const char *container, const char *annotations, enum coll_plan_how how,
			size_t at)
{
	char text[1024];
	struct coll_plan plan;
	struct coll_pod pod;

	snprintf(text, sizeof(text),
		 "{\"metadata\":{\"annotations\":{%s}},\"spec\":{\"containers\":[{%s}]}}",
		 annotations, container);
	pod = pod_of(text);
	coll_plan_of(&plan, &pod, pod.containers->child, false);
	if (plan.how != how || (how == COLL_PLAN_APPEND && plan.at != at))
		T_FAIL("%s: %d at %zu, not %d at %zu", container, plan.how, plan.at, how, at);
}

static void test_plans(void)
{
	expect_plan("\"name\":\"a\"", "", COLL_PLAN_NEW, 0);
	expect_plan("\"name\":\"a\"", "\"gpustarve.io/containers\":\"b\"", COLL_PLAN_LEFT, 0);
	expect_plan("\"name\":\"a\"", "\"gpustarve.io/containers\":\"ab, a,b\"", COLL_PLAN_NEW, 0);
	expect_plan("\"name\":\"a\"", "\"gpustarve.io/preload\":\"false\"", COLL_PLAN_CUDA, 0);
	expect_plan(
		"\"name\":\"a\",\"env\":[{\"name\":\"X\",\"value\":\"1\"},{\"name\":\"LD_PRELOAD\","
		"\"value\":\"/a.so\"}]",
		"", COLL_PLAN_APPEND, 1);
	expect_plan(
		"\"name\":\"a\",\"env\":[{\"name\":\"LD_PRELOAD\",\"value\":\"/a.so " COLL_INJECT_LIBRARY
		"\"}]",
		"", COLL_PLAN_THERE, 0);
	expect_plan(
		"\"name\":\"a\",\"env\":[{\"name\":\"LD_PRELOAD\",\"value\":\"" COLL_INJECT_LIBRARY
		"x\"}]",
		"", COLL_PLAN_APPEND, 0);
	expect_plan(
		"\"name\":\"a\",\"env\":[{\"name\":\"LD_PRELOAD\",\"valueFrom\":{\"secretKeyRef\":{"
		"\"name\":\"s\",\"key\":\"k\"}}}]",
		"", COLL_PLAN_BEHIND, 0);
	expect_plan(
		"\"name\":\"a\",\"env\":[{\"name\":\"LD_PRELOAD\",\"valueFrom\":{\"secretKeyRef\":{"
		"\"name\":\"s\",\"key\":\"k\",\"optional\":true}}}]",
		"", COLL_PLAN_CUDA, 0);
	expect_plan("\"name\":\"a\",\"envFrom\":[{\"secretRef\":{\"name\":\"s\"}}]", "",
		    COLL_PLAN_CUDA, 0);
	expect_plan("\"name\":\"a\",\"envFrom\":[{\"secretRef\":{\"name\":\"s\"}}]",
		    "\"gpustarve.io/preload\":\"true\"", COLL_PLAN_NEW, 0);
	expect_plan("\"name\":\"a\",\"env\":[{\"name\":\"GPUSTARVE\",\"value\":\"0\"}]", "",
		    COLL_PLAN_LEFT, 0);
	expect_plan(
		"\"name\":\"a\",\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/opt/gpustarve/\"}]",
		"", COLL_PLAN_LEFT, 0);
	expect_plan(
		"\"name\":\"a\",\"volumeDevices\":[{\"name\":\"v\",\"devicePath\":\"/run/gpustarve\"}]",
		"", COLL_PLAN_LEFT, 0);
}

#define REVIEW(version, kind, operation, object)                               \
	"{\"apiVersion\":\"admission.k8s.io/" version                          \
	"\",\"kind\":\"AdmissionReview\",\"request\":{\"uid\":"                \
	"\"r-1\",\"kind\":{\"group\":\"\",\"version\":\"v1\",\"kind\":\"" kind \
	"\"},\"operation\":\"" operation "\",\"object\":" object "}}"
#define SOUND "{\"metadata\":{},\"spec\":{\"containers\":[{\"name\":\"a\"," GPU "}]}}"

static void expect_answer(const char *review, enum coll_review want, const char *version,
			  const char *uid)
{
	struct coll_inject in;
	struct base_json_error err;
	const struct base_json *root, *response;
	enum coll_review what;
	char *answer;
	size_t len;

	coll_inject_init(&in);
	REQUIRE(!coll_review_answer(&answer, &len, &what, review, strlen(review), &in));
	root = base_json_parse(&mem, answer, len, &err);
	response = base_json_get(root, "response");
	if (what != want)
		T_FAIL("%.120s: %d, not %d", review, what, want);
	EXPECT_STR(base_json_get_text(root, "apiVersion", ""), version);
	EXPECT_STR(base_json_get_text(response, "uid", ""), uid);
	EXPECT(base_json_get_bool(response, "allowed", false));
	EXPECT((base_json_get(response, "patch") != NULL) == (want == COLL_REVIEW_INJECTED));
	free(answer);
}

#define V1 "admission.k8s.io/v1"

static void test_reviews(void)
{
	expect_answer(REVIEW("v1", "Pod", "CREATE", SOUND), COLL_REVIEW_INJECTED, V1, "r-1");
	expect_answer(REVIEW("v1beta1", "Pod", "CREATE", SOUND), COLL_REVIEW_INJECTED, V1 "beta1",
		      "r-1");
	expect_answer(REVIEW("v9", "Pod", "CREATE", SOUND), COLL_REVIEW_BAD, V1, "r-1");
	expect_answer(REVIEW("v1", "Deployment", "CREATE", SOUND), COLL_REVIEW_BAD, V1, "r-1");
	expect_answer(REVIEW("v1", "Pod", "UPDATE", SOUND), COLL_REVIEW_BAD, V1, "r-1");
	expect_answer(REVIEW("v1", "Pod", "CREATE", "null"), COLL_REVIEW_BAD, V1, "r-1");
	expect_answer(REVIEW("v1", "Pod", "CREATE",
			     "{\"metadata\":{},\"spec\":{\"containers\":7}}"),
		      COLL_REVIEW_BAD, V1, "r-1");
	expect_answer(REVIEW("v1", "Pod", "CREATE", "{\"metadata\":{},\"spec\":{}}"),
		      COLL_REVIEW_LEFT, V1, "r-1");
	expect_answer(
		REVIEW("v1", "Pod", "CREATE",
		       "{\"metadata\":{\"annotations\":{\"gpustarve.io/injected\":\"1\"}},\"spec\":{"
		       "\"containers\":[{\"name\":\"a\"}]}}"),
		COLL_REVIEW_LEFT, V1, "r-1");
	expect_answer("", COLL_REVIEW_BAD, V1, "");
	expect_answer("[[[[", COLL_REVIEW_BAD, V1, "");
	expect_answer("{\"request\":{\"uid\":\"r-2\"}}", COLL_REVIEW_BAD, V1, "r-2");
}

int main(void)
{
	int failed =
		RUN(test_settings, test_identity, test_identity_bounds, test_plans, test_reviews);

	base_arena_fini(&mem);
	return failed;
}
