#include "controller/endpoints/value_object.h"

#include <memory>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/diagnostics.h"
#include "base/source.h"
#include "base/text/base64.h"
#include "base/text/json.h"
#include "base/text/times.h"
#include "compiler/link/secrets.h"
#include "compiler/model/decode.h"
#include "compiler/model/gateway_api.h"
#include "compiler/yaml/read.h"
#include "program/values/address_list.h"

namespace edge::controller {
namespace {

namespace model = compiler::model;
using Json = nlohmann::json;

Json document_of(const model::Metadata& metadata) {
  Json named = {{"name", metadata.name}, {"namespace", metadata.name_space}};
  // Of two of one name the older holds.
  if (metadata.created != 0) named["creationTimestamp"] = rfc3339(metadata.created);
  return {{"apiVersion", "v1"}, {"kind", metadata.kind}, {"metadata", std::move(named)}};
}

/// The secret with its values blotted out.
std::string blotted(const model::Secret& secret) {
  Json document = document_of(secret.metadata);
  if (!secret.type.empty()) document["type"] = secret.type;
  Json& values = document["stringData"] = Json::object();
  for (const model::SecretEntry& entry : secret.entries) values[entry.key] = compiler::link::blotted(entry);
  return json_line(document);
}

std::string blotted(const model::ConfigMap& map) {
  Json document = document_of(map.metadata);
  Json& values = document["data"] = Json::object();
  // The rest is compiled as it is: of it programs have bodies.
  for (const model::ConfigMapValue& each : map.values) {
    if (!each.unread.empty()) {
      document[std::string(model::kUnreadValues)][each.key] = each.unread;
    } else if (!each.binary) {
      values[each.key] = *each.value;
    } else {
      document["binaryData"][each.key] = each.value == nullptr ? "?" : to_base64(*each.value);
    }
  }
  if (map.authorities != nullptr) {
    values[std::string(compiler::link::kAuthorityKey)] =
        compiler::link::blotted({.key = {}, .size = map.authorities->size(), .value = map.authorities});
  }
  if (map.networks != nullptr) {
    values[std::string(program::kNetworksKey)] = compiler::link::blotted_networks(*map.networks);
  }
  return json_line(document);
}

model::Secret secret_of(const model::ConfigMap& map) {
  model::Secret secret{.metadata = map.metadata};
  secret.metadata.name.insert(0, model::kConfigMapPrefix);
  const auto add = [&secret](std::string_view key, const std::shared_ptr<const std::string>& value) {
    if (value != nullptr) secret.entries.push_back({std::string(key), value->size(), value});
  };
  add(compiler::link::kAuthorityKey, map.authorities);
  add(program::kNetworksKey, map.networks);
  return secret;
}

}  // namespace

ValueObject read_value_object(const std::string& name, const std::string& document) {
  SourceMap sources;
  sources.add(name, document);
  Diagnostics said;
  model::ResourceSet set;
  compiler::yaml::read_documents(sources, 0, said, {},
                                 [&](const compiler::yaml::Document& read) { model::decode(read, set, said); });
  ValueObject object;
  const bool at_fault = !said.ok() || !set.refused.empty();
  if (at_fault) object.for_compiler = document;
  object.slices = std::move(set.slices);
  for (model::Secret& secret : set.secrets) {
    if (!at_fault) object.for_compiler = blotted(secret);
    object.secrets.push_back(std::move(secret));
  }
  for (const model::ConfigMap& map : set.config_maps) {
    const bool has_values = map.authorities != nullptr || map.networks != nullptr;
    if (has_values) object.secrets.push_back(secret_of(map));
    if (!at_fault) object.for_compiler = has_values ? blotted(map) : document;
  }
  return object;
}

}  // namespace edge::controller
