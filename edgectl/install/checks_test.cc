#include "edgectl/install/checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "edgectl/install/plan.h"
#include "schemas/crd.h"

namespace edge::edgectl {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Field;
using testing::HasSubstr;
using State = Check::State;

auto passed(const std::string& text) {
  return AllOf(Field(&Check::state, State::kPassed), Field(&Check::text, HasSubstr(text)));
}
auto warned(const std::string& text) {
  return AllOf(Field(&Check::state, State::kWarning), Field(&Check::text, HasSubstr(text)));
}
auto failed(const std::string& text) {
  return AllOf(Field(&Check::state, State::kFailed), Field(&Check::text, HasSubstr(text)));
}

json definition(const std::string& stored, const std::string& version) {
  return {{"metadata",
           {{"name", "x.edgeproxy.io"}, {"annotations", {{std::string(schemas::kDefinitionVersion), version}}}}},
          {"status", {{"storedVersions", {stored}}}}};
}

json deployment(const std::string& image, const std::string& release = {}) {
  json made = {{"metadata", json::object()},
               {"spec", {{"template", {{"spec", {{"containers", json::array({{{"image", image}}})}}}}}}}};
  if (!release.empty()) made["metadata"]["annotations"]["meta.helm.sh/release-name"] = release;
  return made;
}

json node(const std::string& name, const std::string& machine, const std::string& kernel) {
  return {
      {"metadata", {{"name", name}}},
      {"status", {{"nodeInfo", {{"operatingSystem", "linux"}, {"architecture", machine}, {"kernelVersion", kernel}}}}}};
}

json pod(const std::string& name, const std::string& port_field, int port, bool host) {
  return {{"metadata", {{"name", name}, {"namespace", "others"}}},
          {"spec",
           {{"hostNetwork", host},
            {"nodeName", "n1"},
            {"containers", json::array({{{"ports", json::array({{{port_field, port}}})}}})}}}};
}

TEST(Checks, TheVersionOfTheApi) {
  EXPECT_THAT(check_api_version("v1.33.1"), passed("Kubernetes v1.33.1"));
  EXPECT_THAT(check_api_version("v1.27.0"), passed("v1.27.0"));
  EXPECT_THAT(check_api_version("v1.26.15"), failed("1.27 is the oldest"));
  EXPECT_THAT(check_api_version(""), warned("does not state"));
}

TEST(Checks, DefinitionsThatAreThere) {
  EXPECT_THAT(check_definitions({}), passed("none yet"));
  EXPECT_THAT(check_definitions({definition("v1alpha1", EDGE_VERSION)}),
              passed("1 are there, of version " EDGE_VERSION));
  EXPECT_THAT(check_definitions({definition("v1alpha1", "")}), passed("1 are there"));
  EXPECT_THAT(check_definitions({definition("v1alpha1", "99.0.0")}), failed("one minor version at a time"));
  EXPECT_THAT(check_definitions({definition("v1beta1", EDGE_VERSION)}), failed("stored as v1beta1"));
  EXPECT_THAT(check_definitions({json(), json::array(), {{"status", {{"storedVersions", 5}}}}}), passed("3 are there"));
}

TEST(Checks, WhatIsInstalled) {
  constexpr auto kInstall = InstallVerb::kInstall;
  constexpr auto kUpgrade = InstallVerb::kUpgrade;
  const json there = deployment("r.example/edge/edge-operator:0.1.0");
  EXPECT_THAT(check_installed(json(), "0.1.0", kInstall), passed("no operator"));
  EXPECT_THAT(check_installed(json(), "0.1.0", kUpgrade), failed("`edgectl install`"));
  EXPECT_THAT(check_installed(there, "0.1.0", kInstall), passed("of version 0.1.0"));
  EXPECT_THAT(check_installed(there, "0.2.0", kInstall), failed("`edgectl upgrade`"));
  EXPECT_THAT(check_installed(there, "0.2.0", kUpgrade), passed("becomes 0.2.0"));
  EXPECT_THAT(check_installed(there, "0.3.0", kUpgrade), failed("one minor version at a time"));
  EXPECT_THAT(check_installed(deployment("edge-operator@sha256:1"), "0.1.0", kUpgrade), warned("unknown"));
  EXPECT_THAT(check_installed(deployment("edge-operator@sha256:1"), "0.1.0", kInstall), failed("`edgectl upgrade`"));
  EXPECT_THAT(check_installed(deployment("a/edge-operator:0.1.0", "main"), "0.1.0", kUpgrade),
              failed("`helm upgrade`"));
}

TEST(Checks, TheNamespace) {
  EXPECT_THAT(check_namespace(json()), passed("is created"));
  json name_space = {{"metadata", {{"name", "edge-system"}}}};
  EXPECT_THAT(check_namespace(name_space), passed("edge-system"));
  name_space["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] = "privileged";
  EXPECT_THAT(check_namespace(name_space), passed("edge-system"));
  name_space["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] = "restricted";
  EXPECT_THAT(check_namespace(name_space), failed("kubectl label --overwrite namespace edge-system"));
  name_space["status"]["phase"] = "Terminating";
  EXPECT_THAT(check_namespace(name_space), failed("is being deleted"));
}

TEST(Checks, Nodes) {
  EXPECT_THAT(check_nodes({}), testing::ElementsAre(warned("no node yet")));
  EXPECT_THAT(check_nodes({node("a", "amd64", "6.1.0-17-amd64")}), testing::ElementsAre(passed("1 node")));
  EXPECT_THAT(check_nodes({node("a", "amd64", "5.4.0"), node("b", "amd64", "6.1.0")}),
              testing::ElementsAre(warned("the kernel of a is older than 5.12")));
  EXPECT_THAT(check_nodes({node("a", "arm64", "6.1.0")}), testing::ElementsAre(failed("no node can run an agent")));
  EXPECT_THAT(check_nodes({node("a", "arm64", "6.1.0"), node("b", "amd64", "6.1.0")}),
              testing::ElementsAre(passed("1 node"), warned("agents.nodeSelector.kubernetes.io/arch=amd64")));
  EXPECT_THAT(check_nodes({json(), {{"status", 5}}}), testing::ElementsAre(passed("2 nodes")));
}

TEST(Checks, PortsOfNodes) {
  const AgentPorts ports{.metrics = 9090, .health = 9091};
  EXPECT_THAT(check_ports({}, ports, "edge"), testing::ElementsAre(passed("9090 and 9091")));
  EXPECT_THAT(check_ports({pod("exporter", "containerPort", 9090, true)}, ports, "edge"),
              testing::ElementsAre(failed("port 9090 of n1 is used by pod others/exporter; choose another by --set "
                                          "agents.metricsPort=PORT")));
  EXPECT_THAT(check_ports({pod("exporter", "hostPort", 9091, false)}, ports, "edge"),
              testing::ElementsAre(failed("agents.healthPort")));
  // A port of a pod's own network, of a pod that has ended, and of an agent that is to be replaced.
  json ended = pod("job", "containerPort", 9090, true);
  ended["status"]["phase"] = "Succeeded";
  json own = pod("main-agent", "containerPort", 9090, true);
  own["metadata"]["namespace"] = "edge";
  own["metadata"]["labels"]["app.kubernetes.io/part-of"] = "edge";
  EXPECT_THAT(check_ports({pod("web", "containerPort", 9090, false), ended, own}, ports, "edge"),
              testing::ElementsAre(passed("9090 and 9091")));
  EXPECT_THAT(check_ports({pod("nginx", "hostPort", 80, false)}, ports, "edge"),
              testing::ElementsAre(passed("9090"), warned("port 80 of n1 is used by pod others/nginx")));
  EXPECT_THAT(check_ports({json(), {{"spec", {{"containers", 5}}}}}, ports, "edge"),
              testing::ElementsAre(passed("9090")));
}

TEST(Checks, Rights) {
  EXPECT_THAT(check_rights({}), passed("enough"));
  EXPECT_THAT(check_rights({"create namespaces"}), failed("you may not create namespaces"));
  EXPECT_THAT(check_rights(std::vector<std::string>(9, "x")), failed("and 4 more"));
}

}  // namespace
}  // namespace edge::edgectl
