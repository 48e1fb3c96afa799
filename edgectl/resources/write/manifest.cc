#include "edgectl/resources/write/manifest.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <nlohmann/json.hpp>

#include "compiler/model/decode.h"
#include "compiler/model/node_json.h"
#include "compiler/yaml/read.h"

namespace edge::edgectl {
namespace {

using compiler::yaml::Node;

std::string text_of(Node node) { return node && node.is_scalar() ? std::string(node.text()) : std::string(); }

class Reader {
 public:
  Reader(Manifest& manifest, Diagnostics& diagnostics, bool generate_name)
      : manifest_(manifest), diagnostics_(diagnostics), generate_name_(generate_name) {}

  void document(compiler::yaml::Document document) {
    manifest_.documents.push_back(std::move(document));
    object(manifest_.documents.back().root());
  }

 private:
  void object(Node root) {
    if (root.is_null()) return;
    if (!root.is_map()) return fault(root.span(), DiagnosticCode::kWrongType, "a resource is a map", "");
    const std::string kind = text_of(root.find("kind"));
    const Node items = root.find("items");
    if (kind.ends_with("List") && items && items.is_list()) {
      for (const Node item : items) object(item);
      return;
    }
    // Route tests stand beside the configuration and are nothing that a cluster keeps.
    if (kind == compiler::model::kRouteTestKind) return;
    const Node metadata = root.find("metadata");
    ManifestObject found{.text = compiler::model::json_of(root).dump(),
                         .api_version = text_of(root.find("apiVersion")),
                         .kind = kind,
                         .name = text_of(metadata.find("name")),
                         .name_space = text_of(metadata.find("namespace")),
                         .node = root};
    const std::string title = found.title();
    if (found.api_version.empty()) return missing(root, "apiVersion", title);
    if (found.kind.empty()) return missing(root, "kind", title);
    const bool named = !found.name.empty() || (generate_name_ && !text_of(metadata.find("generateName")).empty());
    if (!named) return missing(metadata ? metadata : root, "metadata.name", title);
    manifest_.objects.push_back(std::move(found));
  }

  void missing(Node at, const std::string& field, const std::string& title) {
    fault(at.key_span(), DiagnosticCode::kMissingField, "`" + field + "` is missing", title, field);
  }

  void fault(Span span, DiagnosticCode code, std::string message, const std::string& title, std::string field = {}) {
    diagnostics_.add(
        {.code = code, .resource = title, .field = std::move(field), .span = span, .message = std::move(message)});
  }

  Manifest& manifest_;
  Diagnostics& diagnostics_;
  bool generate_name_;
};

/// The next segment of a path, removed from it: a key, or an index in brackets.
struct Step {
  std::string_view key;
  std::size_t index = 0;
  bool is_index = false;
};

Step next_step(std::string_view& path) {
  if (path.starts_with('[')) {
    const std::size_t close = std::min(path.find(']'), path.size());
    std::string_view inner = path.substr(1, close - 1);
    path.remove_prefix(std::min(close + 1, path.size()));
    std::size_t index = 0;
    const auto [end, code] = std::from_chars(inner.data(), inner.data() + inner.size(), index);
    if (code == std::errc() && end == inner.data() + inner.size()) return {.key = {}, .index = index, .is_index = true};
    // A key of a map that is no word: `annotations[a.b/c]`.
    return {.key = inner};
  }
  if (path.starts_with('.')) path.remove_prefix(1);
  const std::size_t end = std::min(path.find_first_of(".["), path.size());
  const std::string_view key = path.substr(0, end);
  path.remove_prefix(end);
  return {.key = key};
}

Node child_of(Node node, const Step& step) {
  if (!step.is_index) return node.find(step.key);
  if (!node.is_list() || step.index >= node.size()) return {};
  auto it = node.begin();
  for (std::size_t i = 0; i < step.index; ++i) ++it;
  return *it;
}

DiagnosticCode code_of(const kube::Cause& cause) {
  if (cause.reason == "FieldValueRequired") return DiagnosticCode::kMissingField;
  if (cause.reason == "FieldValueTypeInvalid") return DiagnosticCode::kWrongType;
  if (cause.reason == "FieldValueTooMany") return DiagnosticCode::kTooMany;
  if (cause.message.starts_with("unknown field") || cause.message.find("unknown field \"") != std::string::npos) {
    return DiagnosticCode::kUnknownField;
  }
  return DiagnosticCode::kInvalidValue;
}

}  // namespace

std::string ManifestObject::title() const {
  const std::string full_name = (name_space.empty() ? "" : name_space + "/") + name;
  return kind + (full_name.empty() ? "" : " " + full_name);
}

Status read_manifest(const std::vector<std::string>& paths, bool generate_name, Manifest& manifest,
                     Diagnostics& diagnostics) {
  if (Status status = compiler::yaml::read_sources(paths, manifest.sources); !status) return status;
  Reader reader(manifest, diagnostics, generate_name);
  for (std::uint32_t source = 0; source < manifest.sources.size(); ++source) {
    compiler::yaml::read_documents(manifest.sources, source, diagnostics, {},
                                   [&](compiler::yaml::Document document) { reader.document(std::move(document)); });
  }
  return {};
}

void check_fields(const Manifest& manifest, Diagnostics& diagnostics) {
  compiler::model::ResourceSet resources;
  Diagnostics found;
  for (const compiler::yaml::Document& document : manifest.documents)
    compiler::model::decode(document, resources, found);
  for (const Diagnostic& diagnostic : found.all()) {
    // Kinds that the compiler does not read are the cluster's to judge.
    const bool foreign =
        diagnostic.code == DiagnosticCode::kForeignKind || diagnostic.code == DiagnosticCode::kUnknownKind;
    if (!foreign && diagnostic.severity == Severity::kError) diagnostics.add(diagnostic);
  }
}

std::size_t creation_rank(std::string_view kind) {
  static constexpr std::array<std::string_view, 23> kOrder = {"Namespace",
                                                              "CustomResourceDefinition",
                                                              "ServiceAccount",
                                                              "ClusterRole",
                                                              "ClusterRoleBinding",
                                                              "Role",
                                                              "RoleBinding",
                                                              "Secret",
                                                              "ConfigMap",
                                                              "Service",
                                                              "Endpoints",
                                                              "EndpointSlice",
                                                              "ReferenceGrant",
                                                              "GatewayClass",
                                                              "IngressClass",
                                                              "EdgeCluster",
                                                              "ProxyVIP",
                                                              "ProxyGateway",
                                                              "Gateway",
                                                              "ListenerSet",
                                                              "ProxyBackend",
                                                              "ProxyRoute",
                                                              "ProxyPolicy"};
  return static_cast<std::size_t>(std::ranges::find(kOrder, kind) - kOrder.begin());
}

void sort_for_creation(std::vector<ManifestObject>& objects) {
  std::ranges::stable_sort(objects, {}, [](const ManifestObject& object) { return creation_rank(object.kind); });
}

Node find_field(Node root, std::string_view path) {
  Node at = root;
  while (!path.empty()) {
    const Step step = next_step(path);
    const Node below = child_of(at, step);
    if (!below) break;
    at = below;
  }
  return at;
}

void add_refusal(const ManifestObject& object, const kube::Failure& failure, Diagnostics& diagnostics) {
  const std::string note =
      "the API server refuses it (" + (failure.reason.empty() ? std::to_string(failure.http) : failure.reason) + ")";
  const auto add = [&](DiagnosticCode code, const std::string& field, std::string message) {
    const Node at = field.empty() ? object.node : find_field(object.node, field);
    // The first line of a whole resource is its mark: nobody wants to see all of it underlined.
    const bool whole = field.empty() || at.is_map() || at.is_list();
    const Node first = at.is_map() && at.size() > 0 ? *at.begin() : at;
    diagnostics.add({.code = code,
                     .resource = object.title(),
                     .field = field,
                     .span = whole && at.data().key_begin == at.data().key_end ? first.key_span()
                             : whole                                           ? at.key_span()
                                                                               : at.span(),
                     .message = std::move(message),
                     .notes = {note}});
  };
  if (failure.causes.empty()) {
    // Strict decoding names its fields in one text: `strict decoding error: unknown field "spec.x", unknown ...`.
    bool any = false;
    static constexpr std::string_view kUnknown = "unknown field \"";
    for (std::size_t at = failure.message.find(kUnknown); at != std::string::npos;) {
      const std::size_t begin = at + kUnknown.size();
      const std::size_t end = std::min(failure.message.find('"', begin), failure.message.size());
      const std::string field = failure.message.substr(begin, end - begin);
      add(DiagnosticCode::kUnknownField, field, "unknown field `" + field + "`");
      any = true;
      at = failure.message.find(kUnknown, end);
    }
    if (!any) add(DiagnosticCode::kInvalidValue, {}, failure.message);
    return;
  }
  for (const kube::Cause& cause : failure.causes) add(code_of(cause), cause.field, cause.message);
}

}  // namespace edge::edgectl
