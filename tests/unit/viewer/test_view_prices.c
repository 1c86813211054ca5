/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Price lists: reading, matching, the rule among several, SkyPilot's columns, writing back; and
 * the order in which prices are looked up.
 */
#include <errno.h>
#include <sys/stat.h>
#include "harness.h"
#include "cost/price_list.h"
#include "cost/rates.h"

static const char site[] =
	"gpu,provider,instance_type,gpu_count,usd_per_gpu_hour,price_model,region,source,date\n"
	"# ours\n"
	"NVIDIA H100 80GB HBM3,aws,p5.48xlarge,8,4.10,on-demand,,\"contract, 2026\",2026-01-31\n"
	"NVIDIA A*,,,,1.5,owned,,finance,2026-02-01\n"
	"NVIDIA L4,,,,no price,on-demand,,x,2026-02-01\n"
	"NVIDIA L4,,,,1,on-demand,,,2026-02-01\n"
	"NVIDIA L4,,,,1,on-demand,,x,\n"
	"NVIDIA L4,,,,1,sometimes,,x,2026-02-01\n"
	",,,,1,spot,,x,2026-02-01\n";

static const struct view_price *find(const struct view_prices *p, const char *gpu,
				     const char *provider, const char *instance, const char *model,
				     bool *assumed)
{
	struct view_price_query q = { gpu, provider, instance, model };

	return view_prices_find(p, &q, assumed);
}

static void test_site(void)
{
	struct view_prices p = { 0 };
	const char *why = NULL;
	bool assumed;

	EXPECT_INT(view_prices_parse(&p, site, sizeof(site) - 1, &why), 0);
	EXPECT_UINT(p.rows, 2);
	EXPECT_UINT(p.bads, 5);
	EXPECT_STR(p.row[0].source, "contract, 2026");
	EXPECT(find(&p, "nvidia h100 80gb hbm3", "", "", "on-demand", &assumed) == &p.row[0]);
	EXPECT(assumed);
	EXPECT(find(&p, "NVIDIA H100 80GB HBM3 (simulated)", "aws", "", "on-demand", &assumed) ==
	       &p.row[0]);
	EXPECT(!assumed);
	EXPECT(find(&p, "NVIDIA A100-SXM4-80GB MIG 1g.10gb", "gcp", "", "owned", &assumed) ==
	       &p.row[1]);
	EXPECT(!assumed);
	EXPECT(!find(&p, "NVIDIA H100 80GB HBM3", "gcp", "", "on-demand", &assumed));
	EXPECT(!find(&p, "NVIDIA H100 80GB HBM3", "", "", "spot", &assumed));
	EXPECT(!find(&p, "NVIDIA H100 PCIe", "", "", "on-demand", &assumed));
	view_prices_fini(&p);
}

static void test_header(void)
{
	struct view_prices p = { 0 };
	const char *why = NULL;

	EXPECT_INT(view_prices_parse(&p, "a,b\n1,2\n", 8, &why), -EBADMSG);
	EXPECT(why != NULL);
	EXPECT_INT(view_prices_parse(&p, "", 0, &why), -EBADMSG);
	view_prices_fini(&p);
}

static void test_builtin(void)
{
	struct view_prices p = { 0 };
	const struct view_price *row;
	bool assumed;

	view_prices_builtin(&p);
	EXPECT(p.rows >= 28);
	EXPECT_UINT(p.bads, 0);
	row = find(&p, "NVIDIA H100 80GB HBM3", "aws", "p5.48xlarge", "on-demand", &assumed);
	REQUIRE(row);
	EXPECT_INT(row->nano_usd_per_hour, 6880000000LL);
	EXPECT_STR(row->date, "2026-11-09");
	EXPECT(!assumed);
	/* Nobody says where: the cheapest, and said to be assumed. */
	row = find(&p, "NVIDIA H100 80GB HBM3", "", "", "on-demand", &assumed);
	REQUIRE(row);
	EXPECT_INT(row->nano_usd_per_hour, 3990000000LL);
	EXPECT_STR(row->date, "2026-11-09"); /* the newer of two equal ones */
	EXPECT(assumed);
	/* A guide only where nothing else is known. */
	row = find(&p, "NVIDIA A100-SXM4-80GB", "", "", "spot", &assumed);
	REQUIRE(row);
	EXPECT(view_price_is_guide(row));
	row = find(&p, "NVIDIA A100-SXM4-80GB", "", "", "on-demand", &assumed);
	REQUIRE(row);
	EXPECT(!view_price_is_guide(row));
	EXPECT(!find(&p, "NVIDIA RTX 9999", "", "", "on-demand", &assumed));
	view_prices_fini(&p);
}

static const char sky[] =
	"InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,"
	"Region,AvailabilityZone\n"
	"p4d.24xlarge,A100,8,96,1152,\"{'Gpus': [{'Name': 'A100', 'Count': 8}]}\",32.7726,11.5,"
	"us-east-1,us-east-1a\n"
	"p4d.24xlarge,A100,8,96,1152,,32.7726,9.8,us-east-1,us-east-1b\n"
	"m5.large,,,2,8,,0.096,0.04,us-east-1,us-east-1a\n"
	",A100-80GB,1,,,,2.9,,us-central1,us-central1-a\n"
	"gpu_1x_b200,B200,1,26,200,,6.99,,us-west-1,\n";

static void test_skypilot(void)
{
	struct view_prices p = { 0 };
	const char *why = NULL;
	bool assumed;

	EXPECT(view_prices_is_skypilot(sky, sizeof(sky) - 1));
	EXPECT(!view_prices_is_skypilot(site, sizeof(site) - 1));
	EXPECT_INT(view_prices_parse_skypilot(&p, sky, sizeof(sky) - 1, "aws", "vms.csv",
					      "2026-05-01", &why),
		   0);
	const struct view_price *row =
		find(&p, "NVIDIA A100-SXM4-40GB", "", "p4d.24xlarge", "on-demand", &assumed);
	REQUIRE(row);
	EXPECT_INT(row->nano_usd_per_hour, 4096575000LL);
	EXPECT_STR(row->region, "us-east-1");
	row = find(&p, "NVIDIA A100-SXM4-40GB", "", "p4d.24xlarge", "spot", &assumed);
	REQUIRE(row);
	EXPECT_INT(row->nano_usd_per_hour, 1225000000LL); /* the cheaper zone */
	EXPECT(find(&p, "NVIDIA B200", "aws", "", "on-demand", &assumed) != NULL);
	EXPECT_UINT(p.rows, 3);
	EXPECT_UINT(p.bads, 1); /* priced apart from its machine */
	view_prices_fini(&p);
}

static void test_write_back(void)
{
	struct view_prices p = { 0 }, again = { 0 };
	const char *why = NULL;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	view_prices_builtin(&p);
	view_prices_parse(&p, site, sizeof(site) - 1, &why);
	view_prices_write(&p, f);
	fclose(f);
	EXPECT_INT(view_prices_parse(&again, text, len, &why), 0);
	EXPECT_UINT(again.rows, p.rows);
	for (size_t i = 0; i < p.rows && i < again.rows; i++) {
		EXPECT_STR(again.row[i].gpu, p.row[i].gpu);
		EXPECT_STR(again.row[i].source, p.row[i].source);
		EXPECT_INT(again.row[i].nano_usd_per_hour, p.row[i].nano_usd_per_hour);
	}
	struct view_price row = p.row[0];
	row.nano_usd_per_hour = 1;
	size_t rows = p.rows;
	view_prices_put(&p, &row);
	EXPECT_UINT(p.rows, rows);
	EXPECT_INT(p.row[0].nano_usd_per_hour, 1);
	free(text);
	view_prices_fini(&p);
	view_prices_fini(&again);
}

static char folder[] = "/tmp/gpustarve-prices-XXXXXX";

static void put_file(const char *name, const char *text)
{
	t_put_text(folder, name, text);
}

static struct view_rate looked_up(const struct view_rate_options *o, const char *gpu,
				  uint32_t slices, uint32_t total)
{
	char host[256], name[128];
	struct ana_gpu g = {
		.host = host, .name = name, .mig_slices = slices, .mig_slices_total = total
	};
	struct ana_result r = { .gpu = &g, .gpus = 1 };
	struct view_rate *rate = NULL, one = { 0 };

	gethostname(host, sizeof(host));
	snprintf(name, sizeof(name), "%s", gpu);
	if (!view_rates_find(&r, NULL, o, &rate))
		one = rate[0];
	free(rate);
	return one;
}

/* One step of the order after the other, each taken away when it has been seen. */
static void test_order(void)
{
	struct view_rate_options none = { .price_from = "--price" }, given = none;
	const char *gpu = "NVIDIA H100 80GB HBM3 (simulated)";
	char path[256];
	struct view_rate r;

	REQUIRE(mkdtemp(folder));
	put_file("sys_vendor", "Amazon EC2\n");
	put_file("product_name", "p5.48xlarge\n");
	put_file("site.csv", site);
	snprintf(path, sizeof(path), "%s/site.csv", folder);
	setenv("GPUSTARVE_DMI", folder, 1);
	setenv("GPUSTARVE_PRICES", path, 1);
	setenv("GPUSTARVE_USD_PER_GPU_HOUR", "3.21", 1);
	given.price = "1.25";
	r = looked_up(&given, gpu, 0, 0);
	EXPECT_INT(r.nano_usd_per_hour, 1250000000LL);
	EXPECT_STR(r.label, "--price");
	EXPECT(r.date[0] && r.source[0]);
	r = looked_up(&none, gpu, 0, 0);
	EXPECT_INT(r.nano_usd_per_hour, 3210000000LL);
	EXPECT_STR(r.label, "GPUSTARVE_USD_PER_GPU_HOUR");
	unsetenv("GPUSTARVE_USD_PER_GPU_HOUR");
	r = looked_up(&none, gpu, 0, 0);
	EXPECT_INT(r.nano_usd_per_hour, 4100000000LL);
	EXPECT_STR(r.source, "contract, 2026 (site file)");
	setenv("GPUSTARVE_PRICES", "/nonexistent/prices.csv", 1);
	r = looked_up(&none, gpu, 0, 0);
	EXPECT_INT(r.nano_usd_per_hour, 6880000000LL);
	EXPECT_STR(r.label, "aws p5.48xlarge us-east-1");
	EXPECT_STR(r.date, "2026-11-09");
	EXPECT(!r.assumed);
	put_file("sys_vendor", "QEMU\n");
	r = looked_up(&none, gpu, 0, 0);
	EXPECT_INT(r.nano_usd_per_hour, 3990000000LL);
	EXPECT(r.assumed);
	r = looked_up(&none, "NVIDIA RTX 9999", 0, 0);
	EXPECT(!r.known);
	none.model = "spot";
	r = looked_up(&none, gpu, 0, 0);
	EXPECT_INT(r.nano_usd_per_hour, 2463750000LL);
	EXPECT_STR(r.price_model, "spot");
	none.model = "reserved";
	EXPECT(!looked_up(&none, gpu, 0, 0).known);
	given.price = "free";
	EXPECT(!looked_up(&given, gpu, 0, 0).known);
}

static void test_mig(void)
{
	struct view_rate_options given = { .price = "7", .price_from = "--price" };
	struct view_rate r = looked_up(&given, "NVIDIA H100 80GB HBM3 MIG 2g.20gb", 2, 7);

	EXPECT_INT(r.nano_usd_per_hour, 2000000000LL);
	EXPECT_INT(r.list_nano_usd_per_hour, 7000000000LL);
	EXPECT_UINT(r.fraction_num, 2);
	EXPECT_UINT(r.fraction_den, 7);
}

int main(void)
{
	return RUN(test_site, test_header, test_builtin, test_skypilot, test_write_back, test_order,
		   test_mig);
}
