#include "controller/reconcile/body_memory.h"

#include <span>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/resource_id.h"
#include "base/text/json.h"
#include "compiler/link/secrets.h"
#include "program/sha256.h"
#include "program/values/address_list.h"

namespace edge::controller {
namespace {

using Json = nlohmann::json;

program::Hash compiled_hash(std::string_view text) { return program::sha256(std::as_bytes(std::span(text))); }

constexpr const char* kReference = "configMapRef";

/// Read on their own, whether or not a policy names them as bodies.
bool is_value(std::string_view list, std::string_view key) {
  return list == "data" && (key == compiler::link::kAuthorityKey || key == program::kNetworksKey);
}

std::vector<Json> references_of(const Json& policy) {
  const Json& spec = member_in(policy, "spec");
  std::vector<Json> references;
  for (const char* answer : {"maintenance", "fixedResponse"}) {
    references.push_back(member_in(member_in(spec, answer), kReference));
  }
  for (const Json& page : list_in(member_in(spec, "errorPages"), "pages")) {
    references.push_back(member_in(page, kReference));
  }
  std::erase_if(references, [](const Json& reference) { return text_in(reference, "name").empty(); });
  return references;
}

}  // namespace

void BodyMemory::name_bodies(const std::string& policy, std::string_view document) {
  // Most policies name none.
  if (document.find(kReference) == std::string_view::npos) return;
  const Json read = parse_json(document);
  const std::string& own = text_in(member_in(read, "metadata"), "namespace");
  for (const Json& reference : references_of(read)) {
    const std::string& space = text_in(reference, "namespace");
    std::string map = resource_text("ConfigMap", space.empty() ? own : space, text_in(reference, "name"));
    Body body{std::move(map), text_in(reference, "key")};
    if (!policies_[policy].insert(body).second) continue;
    if (maps_.contains(body.first)) changed_.insert(body.first);
    ++named_[std::move(body)];
  }
}

std::string BodyMemory::with_named(const std::string& map, const std::string& document) const {
  Json read = parse_json(document);
  if (!read.is_object()) return document;
  for (const char* list : {"data", "binaryData"}) {
    const auto values = read.find(list);
    if (values == read.end() || !values->is_object()) continue;
    for (auto& [key, value] : values->items()) {
      if (!is_value(list, key) && !named_.contains({map, key})) value = "";
    }
  }
  return json_line(read);
}

std::string BodyMemory::put(const std::string& map, std::string document) {
  Map& known = maps_[map];
  known.document = std::move(document);
  changed_.erase(map);
  std::string compiled = with_named(map, known.document);
  known.compiled = compiled_hash(compiled);
  return compiled;
}

void BodyMemory::remove(const std::string& object) {
  maps_.erase(object);
  changed_.erase(object);
  const auto policy = policies_.extract(object);
  if (policy.empty()) return;
  for (const Body& body : policy.mapped()) {
    const auto named = named_.find(body);
    if (--named->second != 0) continue;
    named_.erase(named);
    if (maps_.contains(body.first)) changed_.insert(body.first);
  }
}

std::map<std::string, std::string> BodyMemory::take_changed() {
  std::map<std::string, std::string> changed;
  for (const std::string& name : std::exchange(changed_, {})) {
    Map& map = maps_.at(name);
    std::string compiled = with_named(name, map.document);
    const program::Hash hash = compiled_hash(compiled);
    if (hash == map.compiled) continue;
    map.compiled = hash;
    changed.emplace(name, std::move(compiled));
  }
  return changed;
}

}  // namespace edge::controller
