// edgectl install, upgrade and uninstall against the embedded API, with a running operator and a cluster that the test
// plays.
#include <future>

#include "tests/cli/process.h"
#include "tests/operator/small_cluster.h"

namespace edge::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kRegistry = "--image-registry=registry.example.com/edge";

class Install : public SmallCluster {
 protected:
  Finished edgectl(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "edgectl");
    arguments.push_back("--kubeconfig=" + directory_ + "/kubeconfig");
    return run_command(arguments);
  }
  /// Runs it while Deployments and pods come and go.
  Finished edgectl_in_cluster(const std::vector<std::string>& arguments) {
    auto done = std::async(std::launch::async, [&] { return edgectl(arguments); });
    while (done.wait_for(std::chrono::seconds(0)) != std::future_status::ready) play();
    return done.get();
  }
  std::string image_of_operator() {
    return get("Deployment", "edge-operator")["spec"]["template"]["spec"]["containers"][0]["image"];
  }
  std::string resource_version(const std::string& kind, const std::string& name) {
    return get(kind, name)["metadata"]["resourceVersion"];
  }
};

TEST_F(Install, InstallsUpgradesAndUninstalls) {
  const auto running = start(config());
  Finished done = edgectl_in_cluster({"install", kRegistry, "--tag=0.1.0", "--wait"});
  ASSERT_EQ(done.code, 0) << done.out << done.err << log_.text();
  EXPECT_THAT(done.out, AllOf(HasSubstr("edgecluster.edgeproxy.io/main created"), HasSubstr("operator available"),
                              HasSubstr("every edgecluster of edge-system is Running")));
  EXPECT_TRUE(runs());

  const Finished report = edgectl({"status"});
  EXPECT_THAT(report.out, AllOf(HasSubstr("Operator:     0.1.0, 1/1 ready"),
                                HasSubstr("edge-system/main Running, version 0.1.0, controller 1/1, agents 3/3")));

  done = edgectl_in_cluster({"upgrade", "--tag=0.2.0", "--wait"});
  ASSERT_EQ(done.code, 0) << done.out << done.err << log_.text();
  EXPECT_EQ(image_of_operator(), "registry.example.com/edge/edge-operator:0.2.0");
  EXPECT_EQ(get("EdgeCluster", "main")["status"]["version"], "0.2.0");
  EXPECT_TRUE(runs());

  done = edgectl_in_cluster({"uninstall"});
  ASSERT_EQ(done.code, 0) << done.out << done.err << log_.text();
  for (const char* kind : {"EdgeCluster", "Deployment", "DaemonSet", "Pod", "ClusterRoleBinding", "RoleBinding"}) {
    EXPECT_TRUE(all(kind).empty()) << kind;
  }
  EXPECT_THAT(edgectl({"uninstall"}).err, HasSubstr("nothing is installed in the namespace edge-system"));
  EXPECT_EQ(edgectl({"get", "clusters", "-A"}).code, 0);
}

TEST_F(Install, ChangesNothingTheSecondTime) {
  ASSERT_EQ(edgectl({"install", kRegistry}).code, 0);
  const std::string before = resource_version("Deployment", "edge-operator");
  const Finished again = edgectl({"install", kRegistry, "--set=logLevel=debug"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.out, AllOf(Not(HasSubstr(" created")), Not(HasSubstr(" configured")),
                               HasSubstr("edgecluster.edgeproxy.io/main is there, and stays as it is")));
  EXPECT_EQ(resource_version("Deployment", "edge-operator"), before);
  EXPECT_EQ(get("EdgeCluster", "main")["spec"]["logLevel"], "info");
}

/// The right to write Secrets of every namespace goes where some are named later.
TEST_F(Install, LimitsTheRightToOrderCertificatesLater) {
  const auto bound = [this](const std::string& kind) {
    return edgectl({"get", kind, "-A", "-l", "app.kubernetes.io/component=acme", "-o", "name"}).out;
  };
  ASSERT_EQ(edgectl({"install", kRegistry, "--acme"}).code, 0);
  EXPECT_THAT(bound("clusterrolebindings"), HasSubstr("edge-acme:edge-system"));
  const Finished dry = edgectl({"install", kRegistry, "--acme-namespace=edge-system", "--dry-run"});
  EXPECT_THAT(dry.out, HasSubstr("edge-acme:edge-system deleted (server dry run)")) << dry.err;
  EXPECT_THAT(bound("clusterrolebindings"), HasSubstr("edge-acme:edge-system"));
  const Finished limited = edgectl({"install", kRegistry, "--acme-namespace=edge-system"});
  EXPECT_EQ(limited.code, 0) << limited.err;
  EXPECT_EQ(bound("clusterrolebindings"), "");
  EXPECT_THAT(bound("rolebindings"), HasSubstr("edge-acme:edge-system"));
  // A new installation does not give it, and takes none that was given.
  ASSERT_EQ(edgectl({"install", kRegistry}).code, 0);
  EXPECT_THAT(bound("rolebindings"), HasSubstr("edge-acme:edge-system"));
}

TEST_F(Install, DryRunWritesNothing) {
  const Finished done = edgectl({"install", kRegistry, "--dry-run"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("deployment.apps/edge-operator created (server dry run)"),
                              HasSubstr("edgecluster.edgeproxy.io/main created (server dry run)")));
  EXPECT_TRUE(all("Deployment").empty());
  EXPECT_TRUE(all("EdgeCluster").empty());
}

TEST_F(Install, UpgradeKeepsWhatElseTheResourceSays) {
  ASSERT_EQ(edgectl({"install", kRegistry, "--tag=0.1.0", "--set=agents.metricsPort=9190"}).code, 0);
  const Finished done = edgectl_in_cluster({"upgrade", "--tag=0.2.0", "--image-registry=other.example/edge"});
  ASSERT_EQ(done.code, 0) << done.out << done.err;
  const json spec = get("EdgeCluster", "main")["spec"];
  EXPECT_EQ(spec["version"], "0.2.0");
  EXPECT_EQ(spec["image"]["repository"], "other.example/edge");
  EXPECT_EQ(spec["agents"]["metricsPort"], 9190);
  // And back.
  ASSERT_EQ(edgectl_in_cluster({"upgrade", "--tag=0.1.0"}).code, 0);
  EXPECT_EQ(get("EdgeCluster", "main")["spec"]["version"], "0.1.0");
}

TEST_F(Install, StopsWhereACheckFails) {
  EXPECT_THAT(edgectl({"upgrade"}).err, HasSubstr("`edgectl install` installs one"));
  ASSERT_EQ(edgectl({"install", kRegistry, "--tag=0.1.0", "--operator-only"}).code, 0);
  const Finished other = edgectl({"install", kRegistry, "--tag=0.2.0"});
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.out, HasSubstr("failed   the operator of the namespace is of version 0.1.0; `edgectl upgrade` "));
  EXPECT_THAT(other.err, HasSubstr("a check failed; nothing was changed"));
  EXPECT_EQ(edgectl({"upgrade", "--tag=0.9.0"}).code, 1);
  EXPECT_EQ(image_of_operator(), "registry.example.com/edge/edge-operator:0.1.0");
  EXPECT_TRUE(all("EdgeCluster").empty());

  patch("Deployment", "edge-operator", {{"metadata", {{"annotations", {{"meta.helm.sh/release-name", "main"}}}}}});
  EXPECT_THAT(edgectl({"upgrade", "--tag=0.1.0"}).out, HasSubstr("use `helm upgrade`"));
  EXPECT_THAT(edgectl({"uninstall"}).err, HasSubstr("use `helm uninstall`"));
  EXPECT_FALSE(all("Deployment").empty());
}

TEST_F(Install, TellsOfFieldsThatSomebodyElseManages) {
  ASSERT_EQ(edgectl({"install", kRegistry}).code, 0);
  patch("Deployment", "edge-operator", {{"spec", {{"replicas", 2}}}});
  const Finished done = edgectl({"install", kRegistry});
  EXPECT_EQ(done.code, 1);
  EXPECT_THAT(done.err, AllOf(HasSubstr("deployment/edge-operator: Conflict"), HasSubstr("--force-conflicts")));
  EXPECT_EQ(edgectl({"install", kRegistry, "--force-conflicts"}).code, 0);
}

TEST_F(Install, NamesThePodThatDoesNotStart) {
  ASSERT_EQ(edgectl({"install", kRegistry, "--operator-only"}).code, 0);
  const json pod = {{"apiVersion", "v1"},
                    {"kind", "Pod"},
                    {"metadata", {{"name", "edge-operator-1"}, {"labels", {{"app.kubernetes.io/part-of", "edge"}}}}},
                    {"spec", {{"containers", json::array({{{"name", "edge-operator"}, {"image", "x"}}})}}}};
  ASSERT_TRUE(api_->create(resource_of("Pod"), kSpace, pod.dump()).ok());
  const json waiting = {{"reason", "ImagePullBackOff"}, {"message", "Back-off pulling image \"x\""}};
  const json status = {{"name", "edge-operator"}, {"ready", false},
                       {"restartCount", 0},       {"image", "x"},
                       {"imageID", ""},           {"state", {{"waiting", waiting}}}};
  patch("Pod", "edge-operator-1", {{"status", {{"containerStatuses", json::array({status})}}}}, "status");
  const Finished done = edgectl({"install", kRegistry, "--operator-only", "--wait", "--timeout=100ms"});
  EXPECT_EQ(done.code, 1);
  EXPECT_THAT(done.err, AllOf(HasSubstr("the time of --timeout is over: the operator is not available"),
                              HasSubstr("pod edge-operator-1: ImagePullBackOff: Back-off pulling image")));
}

TEST_F(Install, KeepsDefinitionsThatHaveObjects) {
  ASSERT_EQ(edgectl({"install", kRegistry, "--operator-only"}).code, 0);
  TempDir files;
  files.put("route.yaml",
            "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyBackend\nmetadata: {name: one}\nspec: {url: "
            "'https://a.example'}\n");
  ASSERT_EQ(edgectl({"apply", "-f", files / "route.yaml"}).code, 0);
  const Finished refused = edgectl({"uninstall", "--crds"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("--crds would delete 1 proxybackends with the definitions; nothing was removed"));
  EXPECT_FALSE(all("Deployment").empty());
  const Finished dry = edgectl({"uninstall", "--crds", "--force", "--dry-run"});
  EXPECT_THAT(dry.out, HasSubstr("deployment.apps/edge-operator deleted (server dry run)"));
  EXPECT_FALSE(all("Deployment").empty());
}

}  // namespace
}  // namespace edge::test
