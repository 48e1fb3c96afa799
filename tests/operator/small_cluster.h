// An embedded API with the controllers and the kubelet of a cluster played by the test: Deployments become available,
// DaemonSets have a pod on each node, and pods of a version that is called broken are never ready.
#pragma once

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/test_log.h"
#include "base/text/json.h"
#include "controller/kube/blocking_client.h"
#include "controller/kube/time_text.h"
#include "controller/operator/operator.h"
#include "controller/operator/render/render.h"
#include "controller/resource_api/http/resource_api_server.h"
#include "tests/operator/agents_played.h"

namespace edge::test {

using nlohmann::json;

inline kube::Resource resource_of(const std::string& kind) {
  if (kind == "EdgeCluster") {
    return {.group = EDGE_API_GROUP, .version = "v1alpha1", .plural = "edgeclusters", .kind = kind, .namespaced = true};
  }
  const cluster_operator::ObjectKind& known = cluster_operator::object_kind(kind);
  const std::string api(known.api_version);
  const std::size_t slash = api.find('/');
  return {.group = slash == std::string::npos ? "" : api.substr(0, slash),
          .version = slash == std::string::npos ? api : api.substr(slash + 1),
          .plural = std::string(known.plural),
          .kind = kind,
          .namespaced = known.namespaced};
}

class SmallCluster : public testing::Test {
 protected:
  static constexpr const char* kSpace = "edge-system";

  void SetUp() override {
    std::string pattern = testing::TempDir() + "operator.XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    auto started = resource_api::http::ResourceApiServer::start({.data_dir = directory_, .port = 0});
    ASSERT_TRUE(started.ok()) << started.error().text;
    server_ = std::move(*started);
    auto made = kube::BlockingClient::make(config());
    ASSERT_TRUE(made.ok()) << made.error().text;
    api_ = std::move(*made);
  }
  void TearDown() override {
    api_.reset();
    server_.reset();
    std::filesystem::remove_all(directory_);
  }

  kube::Config config() const {
    kube::ConfigSources sources;
    sources.kubeconfig = directory_ + "/kubeconfig";
    Result<kube::Config> config = kube::Config::resolve(sources);
    EXPECT_TRUE(config.ok()) << (config.ok() ? "" : config.error().text);
    return config.ok() ? *config : kube::Config{};
  }
  std::unique_ptr<cluster_operator::Operator> start(const kube::Config& to, bool elect = false) {
    cluster_operator::OperatorOptions options;
    options.config = to;
    options.elect = elect;
    options.upgrade_definitions = upgrade_definitions_;
    options.identity = "operator-" + std::to_string(++operators_);
    options.ask = [this](const cluster_operator::Controllers&, const cluster_operator::PageRequest& request) {
      return agents_.answer(request);
    };
    options.first_delay = std::chrono::milliseconds(20);
    options.longest_delay = std::chrono::milliseconds(200);
    options.wall = [this] { return std::chrono::system_clock::now() + std::chrono::minutes(later_); };
    options.log = log_.logger();
    auto started = cluster_operator::Operator::start(std::move(options));
    EXPECT_TRUE(started.ok()) << (started.ok() ? "" : started.error().text);
    return started ? std::move(*started) : nullptr;
  }

  void create_cluster(const json& spec, const std::string& name = "main") {
    const json object = {{"apiVersion", EDGE_API_GROUP "/v1alpha1"},
                         {"kind", "EdgeCluster"},
                         {"metadata", {{"name", name}, {"namespace", kSpace}}},
                         {"spec", spec}};
    const auto reply = api_->create(resource_of("EdgeCluster"), kSpace, object.dump());
    ASSERT_TRUE(reply.ok()) << reply.failure.text();
  }
  static json spec(const std::string& version = "0.1.0") {
    return {{"version", version},
            {"image", {{"repository", "registry.example.com/edge"}}},
            {"agents", {{"updateStrategy", {{"canaryDuration", "0s"}}}}}};
  }
  void patch(const std::string& kind, const std::string& name, const json& change, const std::string& part = {}) {
    const kube::Resource resource = resource_of(kind);
    const auto reply = api_->patch(resource, resource.namespaced ? kSpace : "", name, kube::PatchType::kMerge,
                                   change.dump(), {.field_manager = "test", .subresource = part});
    EXPECT_TRUE(reply.ok()) << kind << " " << name << ": " << reply.failure.text();
  }
  json get(const std::string& kind, const std::string& name) {
    const kube::Resource resource = resource_of(kind);
    const auto reply = api_->get(resource, resource.namespaced ? kSpace : "", name);
    return reply.ok() ? parse_json(reply.object.text) : json();
  }
  std::vector<json> all(const std::string& kind) {
    std::vector<json> objects;
    for (const kube::Object& object : api_->list_all(resource_of(kind), {}).list.items) {
      objects.push_back(parse_json(object.text));
    }
    return objects;
  }
  void remove(const std::string& kind, const std::string& name, int grace = -1) {
    const kube::Resource resource = resource_of(kind);
    api_->remove(resource, resource.namespaced ? kSpace : "", name, {.grace_seconds = grace});
  }
  std::string phase(const std::string& name = "main") {
    return text_in(member_in(get("EdgeCluster", name), "status"), "phase");
  }
  json condition(const std::string& type, const std::string& name = "main") {
    const json object = get("EdgeCluster", name);
    for (const json& one : list_in(member_in(object, "status"), "conditions")) {
      if (text_in(one, "type") == type) return one;
    }
    return nullptr;
  }
  /// What the resource says now is what runs.
  bool runs(const std::string& name = "main") {
    const json object = get("EdgeCluster", name);
    const json& status = member_in(object, "status");
    return text_in(status, "phase") == "Running" &&
           integer_in(status, "observedGeneration") == integer_in(member_in(object, "metadata"), "generation");
  }

  /// Plays the cluster until it holds. False: not within two minutes.
  template <typename Holds>
  bool eventually(const Holds& holds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (!holds()) {
      if (std::chrono::steady_clock::now() > end) return false;
      play();
    }
    return true;
  }

  void play() {
    for (const json& object : all("Deployment")) play_deployment(object);
    for (const json& object : all("DaemonSet")) play_daemon_set(object);
  }

  std::string directory_;
  std::unique_ptr<resource_api::http::ResourceApiServer> server_;
  std::unique_ptr<kube::BlockingClient> api_;
  std::vector<std::string> nodes_ = {"n1", "n2", "n3"};
  bool upgrade_definitions_ = true;
  std::atomic<int> later_ = 0;  ///< minutes by which the operator's time of day is ahead
  AgentsPlayed agents_;
  /// Pods that began to end while their agent held an address.
  std::set<std::string> ended_with_address_;
  TestLog log_;
  int made_pods_ = 0;

 private:
  void set_status(const std::string& kind, const json& object, const json& status) {
    if (member_in(object, "status") == status) return;
    const kube::Resource resource = resource_of(kind);
    // What has been removed meanwhile has no status.
    api_->patch(resource, kSpace, text_in(object["metadata"], "name"), kube::PatchType::kMerge,
                json{{"status", status}}.dump(), {.field_manager = "kubelet", .subresource = "status"});
  }
  void play_deployment(const json& object) {
    const json& replicas = object["spec"]["replicas"];
    set_status("Deployment", object,
               {{"observedGeneration", object["metadata"]["generation"]},
                {"replicas", replicas},
                {"updatedReplicas", replicas},
                {"readyReplicas", replicas},
                {"availableReplicas", replicas}});
  }
  void play_daemon_set(const json& object) {
    std::int64_t ready = 0;
    std::set<std::string> missing(nodes_.begin(), nodes_.end());
    for (const json& pod : all("Pod")) {
      missing.erase(text_in(pod["spec"], "nodeName"));
      if (pod["metadata"].contains("deletionTimestamp")) {
        if (agents_.holds_any(text_in(pod["spec"], "nodeName"))) ended_with_address_.insert(pod["metadata"]["name"]);
        remove("Pod", pod["metadata"]["name"], 0);
      }
      const bool broken = pod["spec"]["containers"][0]["image"].get<std::string>().ends_with("broken");
      if (!broken) ++ready;
    }
    for (const std::string& node : missing) create_pod(object, node);
    set_status("DaemonSet", object,
               {{"observedGeneration", object["metadata"]["generation"]},
                {"desiredNumberScheduled", nodes_.size()},
                {"currentNumberScheduled", nodes_.size()},
                {"numberMisscheduled", 0},
                {"numberReady", ready}});
  }
  void create_pod(const json& set, const std::string& node) {
    json pod = set["spec"]["template"];
    pod["apiVersion"] = "v1";
    pod["kind"] = "Pod";
    pod["metadata"]["name"] = "agent-" + node + "-" + std::to_string(++made_pods_);
    pod["metadata"]["ownerReferences"] = json::array({{{"apiVersion", "apps/v1"},
                                                       {"kind", "DaemonSet"},
                                                       {"name", set["metadata"]["name"]},
                                                       {"uid", set["metadata"]["uid"]},
                                                       {"controller", true}}});
    pod["spec"]["nodeName"] = node;
    const auto made = api_->create(resource_of("Pod"), kSpace, pod.dump());
    if (!made.ok()) return;
    const bool broken = pod["spec"]["containers"][0]["image"].get<std::string>().ends_with("broken");
    const json ready = {{"type", "Ready"},
                        {"status", broken ? "False" : "True"},
                        {"lastTransitionTime", kube::time_text(std::chrono::system_clock::now())}};
    set_status("Pod", parse_json(made.object.text), {{"phase", "Running"}, {"conditions", json::array({ready})}});
  }

  int operators_ = 0;
};

}  // namespace edge::test
