#include "controller/federation/run/api_object.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/base64.h"
#include "base/text/json.h"
#include "controller/authority/certificates.h"
#include "controller/federation/content.h"

namespace edge::federation {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";
constexpr const char* kKeptMembers[] = {"finalizers", "ownerReferences"};

constexpr std::string_view kPemBegin = "-----BEGIN ";
constexpr std::string_view kTokenLine = "token: ";

/// The file by which agents join: a token, then authorities (authority.cc, join_text).
bool is_join_file(std::string_view text) {
  const std::size_t pem = text.find(kPemBegin);
  if (pem == std::string_view::npos) return false;
  const std::string_view head = text.substr(0, pem);
  return head.starts_with(kTokenLine) || head.find("\n" + std::string(kTokenLine)) != std::string_view::npos;
}

/// The certificate of an agent, an administrator, or a cluster anywhere in it, such as a cluster's join file has with
/// its key. Each block is read once: a value of very many costs no more than its size.
bool has_own_certificate(std::string_view text) {
  for (std::size_t at = text.find(kPemBegin); at != std::string_view::npos;) {
    const std::size_t next = text.find(kPemBegin, at + 1);
    if (controller::read_certificate(text.substr(at, next - at))) return true;
    at = next;
  }
  return false;
}

/// By whatever name it is kept: whoever writes the Secret chooses that.
bool has_own_credentials(const Json& object) {
  const auto is_own = [](std::string_view text) { return is_join_file(text) || has_own_certificate(text); };
  const Json& data = member_in(object, "data");
  for (const auto& [name, value] : data.items()) {
    const auto decoded = from_base64(text_value(value));
    if (decoded && is_own(*decoded)) return true;
  }
  const Json& plain = member_in(object, "stringData");
  return std::ranges::any_of(plain.items(), [&](const auto& one) { return is_own(text_value(one.value())); });
}

bool is_machine(const Json& object) {
  if (text_in(object, "kind") != "Secret") return false;
  const std::string& type = text_in(object, "type");
  if (type == "kubernetes.io/service-account-token" || type == "bootstrap.kubernetes.io/token" ||
      type == "helm.sh/release.v1") {
    return true;
  }
  const Json& labels = member_in(member_in(object, "metadata"), "labels");
  if (text_in(labels, "app.kubernetes.io/managed-by") == "edge-operator") return true;
  const std::string& made = text_in(labels, EDGE_API_GROUP "/acme");
  return made == "account" || made == "order" || made == "controller" || made == "names" || has_own_credentials(object);
}

/// A merge patch (RFC 7386) that makes `to` of `from`.
Json patch_between(const Json& from, const Json& to) {
  Json patch = Json::object();
  for (const auto& [name, value] : from.items()) {
    if (!to.contains(name)) patch[name] = nullptr;
  }
  for (const auto& [name, value] : to.items()) {
    const auto before = from.find(name);
    if (before == from.end()) {
      patch[name] = value;
    } else if (*before != value) {
      patch[name] = before->is_object() && value.is_object() ? patch_between(*before, value) : value;
    }
  }
  return patch;
}

}  // namespace

bool is_machine_secret(std::string_view text) { return is_machine(parse_json(text)); }

Result<ApiObject> read_api_object(std::string_view text) {
  Json object = parse_json(text);
  const Json& metadata = member_in(object, "metadata");
  ApiObject out;
  out.uid = text_in(metadata, "uid");
  out.resource_version = text_in(metadata, "resourceVersion");
  out.generation = integer_in(metadata, "generation");
  out.ending = !text_in(metadata, "deletionTimestamp").empty();
  out.has_origin = member_in(metadata, "labels").is_object() && metadata["labels"].contains(std::string(kOriginLabel));
  out.is_machine = is_machine(object);
  Json kept = Json::object();
  for (const char* name : kKeptMembers) {
    if (const Json& member = member_in(metadata, name); !member.is_null()) kept[name] = member;
  }
  if (const std::string& applied = text_in(member_in(metadata, "annotations"), kLastApplied); !applied.empty()) {
    kept["annotations"][std::string(kLastApplied)] = applied;
  }
  if (!kept.empty()) out.kept = json_line(kept);
  auto content = content_of_json(std::move(object), WithStatus::kNo);
  if (!content) return content.error();
  out.content = std::move(*content);
  return out;
}

Result<std::string> written_object(std::string_view content, std::string_view origin, const ApiObject* now) {
  auto text = object_of(content, origin);
  if (!text || now == nullptr) return text;
  Json object = parse_json(*text);
  Json& metadata = object["metadata"];
  metadata["uid"] = now->uid;
  metadata["resourceVersion"] = now->resource_version;
  if (!now->kept.empty()) {
    const Json kept = parse_json(now->kept);
    for (const char* name : kKeptMembers) {
      if (kept.contains(name)) metadata[name] = kept[name];
    }
    if (kept.contains("annotations")) metadata["annotations"].update(kept["annotations"]);
  }
  return json_line(object);
}

std::string changed_content(std::string_view content, std::string_view echo, std::string_view now) {
  Json value = parse_json(content);
  const Json from = parse_json(echo);
  const Json to = parse_json(now);
  if (!value.is_object() || !from.is_object() || !to.is_object()) return std::string(now);
  value.merge_patch(patch_between(from, to));
  return json_line(value);
}

}  // namespace edge::federation
