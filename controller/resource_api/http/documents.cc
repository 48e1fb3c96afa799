#include "controller/resource_api/http/documents.h"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/text/json.h"
#include "controller/resource_api/http/access.h"
#include "controller/resource_api/http/discovery.h"
#include "controller/resource_api/http/openapi.h"
#include "controller/resource_api/objects/status.h"

namespace edge::resource_api::http {
namespace {

using net::server::Reply;
using net::server::Request;

/// What is asked for has `@v1.0`, which is no media type (RFC 9110 §8.3.1), and clients that read the answer's know so.
constexpr std::string_view kProtobufV2 = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/// Whether `accept` names a media type with these parameters, in whatever order.
bool asks_for(std::string_view accept, std::string_view type, std::initializer_list<std::string_view> parameters) {
  while (!accept.empty()) {
    const std::size_t comma = std::min(accept.find(','), accept.size());
    const std::string_view one = accept.substr(0, comma);
    accept.remove_prefix(std::min(comma + 1, accept.size()));
    const auto has = [one](std::string_view part) { return one.find(part) != std::string_view::npos; };
    if (has(type) && std::ranges::all_of(parameters, has)) return true;
  }
  return false;
}

/// The newest of client-go's forms of aggregated discovery that is asked for; empty: the plain one.
std::string_view aggregation(std::string_view accept) {
  for (const std::string_view version : {"v2", "v2beta1"}) {
    const std::string parameter = "v=" + std::string(version) + ";";
    const std::string last = std::string(accept) + ";";
    if (asks_for(last, kJsonType, {"g=apidiscovery.k8s.io", parameter, "as=APIGroupDiscoveryList"})) return version;
  }
  return {};
}

// The features that we have are about those of 1.31; kubectl warns of servers that are more than one minor away from
// it when asked for versions.
Json version_json() {
  return {{"major", "1"},        {"minor", "31"},           {"gitVersion", "v1.31.0+edge." EDGE_VERSION},
          {"gitCommit", ""},     {"gitTreeState", "clean"}, {"buildDate", "1970-01-01T00:00:00Z"},
          {"goVersion", "none"}, {"compiler", "clang"},     {"platform", "linux/amd64"}};
}

Json root_paths(const Registry& registry) {
  Json paths = {"/api", "/api/v1", "/apis", "/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz", "/version"};
  const Json list = group_list(registry);
  for (const Json& group : list["groups"]) {
    for (const Json& version : group["versions"])
      paths.push_back("/apis/" + version["groupVersion"].get<std::string>());
  }
  std::sort(paths.begin(), paths.end());
  return {{"paths", paths}};
}

bool is_health(std::string_view path) {
  return path == "/healthz" || path == "/livez" || path == "/readyz" || path == "/healthz/ping";
}

}  // namespace

std::optional<Reply> Documents::answer(const Request& request, const std::string& path) {
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (is_health(path) && reads) {
    return Reply{.content_type = "text/plain; charset=utf-8", .body = "ok", .fields = {{"Cache-Control", "no-cache"}}};
  }
  const Document* const document = find(path, request.field("accept"));
  if (document == nullptr) return std::nullopt;
  if (!reads) {
    const objects::StatusError error = objects::method_not_allowed({"", "", ""}, request.method);
    return Reply{.status = error.code, .content_type = std::string(kJsonType), .body = error.text()};
  }
  net::server::FieldList fields = {{"ETag", document->etag}, {"Vary", "Accept"}, {"Cache-Control", "public, no-cache"}};
  const std::string_view known = request.field("if-none-match");
  if (!known.empty() && known.find(document->etag) != std::string_view::npos) {
    return Reply{.status = 304, .fields = std::move(fields)};
  }
  return Reply{.content_type = document->content_type, .body = document->body, .fields = std::move(fields)};
}

const Documents::Document* Documents::find(const std::string& asked, std::string_view accept) {
  if (generation_ != registry_.generation()) made_.clear();
  generation_ = registry_.generation();
  // However many slashes a client writes, each document is kept once.
  std::string path;
  for (const std::string_view part : segments_of(asked)) path.append("/").append(part);
  Form form{std::string(kJsonType), "plain"};
  if (path == "/api" || path == "/apis") {
    if (const std::string_view version = aggregation(accept); !version.empty()) {
      form = {"application/json;g=apidiscovery.k8s.io;v=" + std::string(version) + ";as=APIGroupDiscoveryList",
              std::string(version)};
    }
  } else if (path == "/openapi/v2") {
    const bool protobuf = accept.find("proto-openapi.spec.v2") != std::string_view::npos;
    if (protobuf) form = {std::string(kProtobufV2), "protobuf"};
  }
  const std::string key = form.name + " " + path;
  if (const auto found = made_.find(key); found != made_.end()) return &found->second;
  std::optional<Document> made = make(path, form);
  if (!made) return nullptr;
  made->content_type = form.content_type;
  made->etag = "\"" + std::to_string(hash_bytes(1, made->body)) + "\"";
  return &made_.emplace(key, std::move(*made)).first->second;
}

std::optional<Documents::Document> Documents::make(const std::string& path, const Form& form) const {
  const std::vector<std::string_view> parts = segments_of(path);
  const auto json = [](const Json& value) { return Document{{}, json_line(value), {}}; };
  const auto maybe = [&json](const std::optional<Json>& value) -> std::optional<Document> {
    if (!value) return std::nullopt;
    return json(*value);
  };
  if (parts.empty()) return json(root_paths(registry_));
  const bool alone = parts.size() == 1;
  if (alone && parts[0] == "version") return json(version_json());
  if (parts[0] == "api" && alone) {
    return json(form.name == "plain" ? core_versions(server_) : aggregated(registry_, true, form.name));
  }
  if (parts[0] == "apis" && alone) {
    return json(form.name == "plain" ? group_list(registry_) : aggregated(registry_, false, form.name));
  }
  if (parts[0] == "api" && parts.size() == 2) return maybe(resource_list(registry_, "", parts[1]));
  if (parts[0] == "apis" && parts.size() == 2) return maybe(one_group(registry_, parts[1]));
  if (parts[0] == "apis" && parts.size() == 3) return maybe(resource_list(registry_, parts[1], parts[2]));
  if (parts[0] != "openapi" || parts.size() < 2) return std::nullopt;
  if (parts[1] == "v2" && parts.size() == 2) {
    const Json document = openapi_v2(registry_);
    return form.name == "protobuf" ? Document{{}, openapi_v2_protobuf(document), {}} : json(document);
  }
  if (parts[1] != "v3") return std::nullopt;
  if (parts.size() == 2) return json(openapi_v3_index(registry_));
  if (parts[2] == "api" && parts.size() == 4) return maybe(openapi_v3(registry_, "", parts[3]));
  if (parts[2] == "apis" && parts.size() == 5) return maybe(openapi_v3(registry_, parts[3], parts[4]));
  return std::nullopt;
}

}  // namespace edge::resource_api::http
