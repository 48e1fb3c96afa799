// What an API server sends of a small cluster, and a ProgramBuilder that is given it, for tests.
#pragma once

#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controller/reconcile/program_builder.h"
#include "program/dump/dump.h"

namespace edge::controller::test {

using Json = nlohmann::json;

inline constexpr const char* kClass = "edgeproxy.io/proxy";

/// Objects as an API server sends them.
inline Json object(const std::string& kind, const std::string& name, const Json& spec, std::int64_t generation = 1) {
  return {{"apiVersion", "edgeproxy.io/v1alpha1"},
          {"kind", kind},
          {"metadata",
           {{"name", name},
            {"namespace", "shop"},
            {"uid", "uid-of-" + name},
            {"resourceVersion", "7"},
            {"generation", generation},
            {"creationTimestamp", "2026-01-01T00:00:00Z"}}},
          {"spec", spec}};
}

/// An object of Gateway API.
inline Json api(const std::string& kind, const std::string& name, const Json& spec) {
  Json made = object(kind, name, spec);
  made["apiVersion"] = "gateway.networking.k8s.io/v1";
  if (kind == "GatewayClass") made["metadata"].erase("namespace");
  return made;
}

inline Json gateway() {
  return object("ProxyGateway", "gw", {{"listeners", {{{"name", "http"}, {"port", 8080}, {"protocol", "HTTP"}}}}});
}

inline Json backend() { return object("ProxyBackend", "be", {{"serviceRef", {{"name", "be"}, {"port", 80}}}}); }

inline Json service() {
  Json made = object("Service", "be", {{"ports", {{{"name", "http"}, {"port", 80}}}}}, 0);
  made["apiVersion"] = "v1";
  made["metadata"].erase("generation");
  return made;
}

inline Json slice(const std::string& address) {
  Json made = object("EndpointSlice", "be-1", {});
  made["apiVersion"] = "discovery.k8s.io/v1";
  made.erase("spec");
  made["metadata"]["labels"] = {{"kubernetes.io/service-name", "be"}};
  made["addressType"] = "IPv4";
  made["ports"] = {{{"name", "http"}, {"port", 9000}}};
  made["endpoints"] = {{{"addresses", {address}}}};
  return made;
}

inline Json route(const std::string& name, const std::string& path, std::int64_t generation = 1,
                  const Json& more = Json::object()) {
  Json spec = {
      {"parentRefs", {{{"name", "gw"}}}},
      {"rules", {{{"matches", {{{"path", {{"type", "Exact"}, {"value", path}}}}}}, {"backendRef", {{"name", "be"}}}}}}};
  spec.update(more);
  return object("ProxyRoute", name, spec, generation);
}

inline ObjectEdit edit(const Json& object, const std::string& controller_class = kClass) {
  auto read = read_cluster_object(object.dump(), controller_class);
  EXPECT_TRUE(read.ok() && *read) << object.dump();
  (*read)->changed_by = "kubectl";
  const ResourceId key = (*read)->key;
  return {key, *std::move(read)};
}

inline ObjectEdit removal(const std::string& kind, const std::string& name) {
  return {{kind, "shop", name}, std::nullopt};
}

class World {
 public:
  explicit World(SoundVersions sound = {}, NodeAddresses node_addresses = NodeAddresses::kAllowed,
                 std::vector<std::string> published_addresses = {})
      : program_builder_(options(), {kClass, std::move(published_addresses)}, std::move(sound), node_addresses) {}

  ReconcileResult apply(std::vector<ObjectEdit> edits) {
    auto result = program_builder_.apply(std::move(edits));
    EXPECT_TRUE(result.has_value());
    if (!result) return {};
    last_ = *result;
    return *result;
  }
  std::optional<ReconcileResult> try_apply(std::vector<ObjectEdit> edits) {
    return program_builder_.apply(std::move(edits));
  }
  ReconcileResult start(std::vector<ObjectEdit> more = {}) {
    std::vector<ObjectEdit> all = {edit(gateway()), edit(backend()), edit(service()), edit(slice("10.0.0.1"))};
    all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    return apply(std::move(all));
  }
  std::string tree() const {
    if (last_.program == nullptr) return "none";
    auto view = program::read(last_.program);
    return view ? program::dump_routes(*view) : view.error().text;
  }
  std::map<std::string, DesiredStatus> desired_statuses() {
    std::map<std::string, DesiredStatus> all;
    for (DesiredStatus& desired : program_builder_.build_statuses(1000)) {
      std::string name = desired.key.text();
      all.emplace(std::move(name), std::move(desired));
    }
    return all;
  }
  std::vector<ResourceId> wanted() { return program_builder_.take_wanted(); }
  const SoundVersions& sound() const { return program_builder_.sound_versions(); }

 private:
  static compiler::CompileOptions options() {
    compiler::CompileOptions options;
    options.target = program::Target::kTablesOnly;
    options.regex_worker = "/none";  // nothing can be compiled that has an expression to search for
    return options;
  }
  ProgramBuilder program_builder_;
  ReconcileResult last_;
};

inline Json condition(const std::string& status, const std::string& type) {
  const Json parsed = Json::parse(status, nullptr, false);
  for (const Json& condition : parsed.value("conditions", Json::array())) {
    if (condition["type"] == type) return condition;
  }
  return {};
}

}  // namespace edge::controller::test
