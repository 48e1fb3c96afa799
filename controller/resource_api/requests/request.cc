#include "controller/resource_api/requests/request.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include <nlohmann/json.hpp>

#include "controller/resource_api/objects/apply.h"

namespace edge::resource_api {
namespace {

using objects::Answer;
using objects::StatusError;
using Fault = std::optional<StatusError>;

constexpr std::size_t kMaxPathBytes = 4096;
constexpr std::int64_t kMaxLimit = 1'000'000;
constexpr std::int64_t kMaxTimeoutSeconds = 24 * 3600;

/// The parts between slashes; empty when the path is not absolute or has an empty part.
std::vector<std::string_view> segments_of(std::string_view path) {
  std::vector<std::string_view> parts;
  if (!path.starts_with('/') || path.size() > kMaxPathBytes) return parts;
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::size_t slash = std::min(path.find('/'), path.size());
    if (slash == 0) return {};
    parts.push_back(path.substr(0, slash));
    path.remove_prefix(slash);
  }
  return parts;
}

bool is_true(const std::string* value) { return value != nullptr && (*value == "true" || *value == "1"); }

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

StatusError invalid_options(std::string_view kind, objects::Cause cause) {
  return objects::invalid({"meta.k8s.io", "", kind}, "", {std::move(cause)});
}

/// Group, version and what follows; finds the type. Precondition: `parts` begins with api or apis.
Fault read_path(std::vector<std::string_view> parts, const Registry& registry, Operation& op) {
  const bool core = parts.front() == "api";
  const std::size_t head = core ? 2 : 3;
  if (parts.size() <= head || parts.size() > head + 5) return objects::path_not_found();
  const std::string_view group = core ? std::string_view() : parts[1];
  if (!core && group.empty()) return objects::path_not_found();
  const std::string_view version = parts[head - 1];
  parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(head));

  // `namespaces/a/b` is what is named b in a namespace, but for the subresources of the namespace itself.
  const bool of_namespace = core && parts.size() == 3 && (parts[2] == "status" || parts[2] == "finalize");
  if (parts.front() == "namespaces" && parts.size() >= 3 && !of_namespace) {
    op.name_space = parts[1];
    parts.erase(parts.begin(), parts.begin() + 2);
  }
  op.type = registry.find(group, version, parts.front());
  if (!op.type || parts.size() > 3) return objects::path_not_found();
  if (parts.size() > 1) op.name = parts[1];
  if (parts.size() > 2) op.subresource = parts[2];
  if (!op.type->namespaced && !op.name_space.empty()) return objects::path_not_found();
  if (op.type->namespaced && op.name_space.empty() && !op.name.empty()) return objects::path_not_found();
  const bool known = op.subresource.empty() || (op.subresource == "status" && op.type->status) ||
                     (op.subresource == "finalize" && op.type->group.empty() && op.type->plural == "namespaces");
  if (!known) return objects::path_not_found();
  return std::nullopt;
}

Fault read_verb(const ApiRequest& request, Operation& op) {
  const std::string& method = request.method;
  const bool named = !op.name.empty();
  const bool watch = is_true(parameter(request, "watch"));
  if (method == "GET" && !op.subresource.empty()) {
    op.verb = Verb::kGet;
  } else if (method == "GET") {
    op.verb = watch ? Verb::kWatch : named ? Verb::kGet : Verb::kList;
  } else if (method == "POST" && !named && (!op.type->namespaced || !op.name_space.empty())) {
    op.verb = Verb::kCreate;
  } else if (method == "PUT" && named) {
    op.verb = Verb::kUpdate;
  } else if (method == "PATCH" && named && op.subresource != "finalize") {
    op.verb = Verb::kPatch;
  } else if (method == "DELETE" && op.subresource.empty() &&
             (named || !op.type->namespaced || !op.name_space.empty())) {
    op.verb = named ? Verb::kDelete : Verb::kDeleteCollection;
  } else {
    return objects::method_not_allowed(op.subject(), method);
  }
  return std::nullopt;
}

/// One entry of Accept: `application/json;as=Table;v=v1;g=meta.k8s.io`. False: not a form that is spoken here.
bool read_form(std::string_view entry, Form& form) {
  Form read;
  bool json = false;
  std::string group;
  for (bool first = true; !entry.empty() || first; first = false) {
    const std::size_t end = std::min(entry.find(';'), entry.size());
    std::string_view part = entry.substr(0, end);
    entry.remove_prefix(std::min(end + 1, entry.size()));
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (first) json = part == "application/json" || part == "*/*" || part == "application/*";
    if (part == "as=Table") read.as = Form::As::kTable;
    if (part == "as=PartialObjectMetadata" || part == "as=PartialObjectMetadataList") read.as = Form::As::kMetadata;
    if (part.starts_with("as=") && read.as == Form::As::kObject) return false;
    if (part.starts_with("v=")) read.version = part.substr(2);
    if (part.starts_with("g=")) group = part.substr(2);
  }
  if (!json) return false;
  if (read.as != Form::As::kObject && (group != "meta.k8s.io" || (read.version != "v1" && read.version != "v1beta1"))) {
    return false;
  }
  form = std::move(read);
  return true;
}

Fault read_accept(const ApiRequest& request, Form& form) {
  std::string_view rest = request.accept;
  bool accepted = rest.empty();
  // Clients list what they want best first; weights are not looked at, as API servers do not.
  while (!rest.empty() && !accepted) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    accepted = read_form(rest.substr(0, comma), form);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  if (!accepted) return objects::not_acceptable("application/json");
  const std::string* include = parameter(request, "includeObject");
  auto read = objects::include_object(include != nullptr ? std::string_view(*include) : std::string_view());
  if (!read) return read.error();
  form.include = *read;
  return std::nullopt;
}

Fault read_list_options(const ApiRequest& request, Operation& op) {
  if (const std::string* version = parameter(request, "resourceVersion"); version != nullptr && !version->empty()) {
    op.version = number_of(*version);
    if (!op.version) {
      return invalid_options(
          "ListOptions", objects::value_invalid("resourceVersion", *version, "must be a non-negative whole number"));
    }
  }
  if (const std::string* match = parameter(request, "resourceVersionMatch"); match != nullptr && !match->empty()) {
    if (*match != "Exact" && *match != "NotOlderThan") {
      return invalid_options(
          "ListOptions", objects::value_not_supported("resourceVersionMatch", *match, {"Exact", "NotOlderThan", ""}));
    }
    op.match = *match == "Exact" ? VersionMatch::kExact : VersionMatch::kNotOlderThan;
  }
  if (const std::string* limit = parameter(request, "limit"); limit != nullptr && !limit->empty()) {
    const auto number = number_of(*limit);
    if (!number) return objects::bad_request("limit: Invalid value: must be a non-negative whole number");
    op.limit = static_cast<std::size_t>(std::min(*number, kMaxLimit));
  }
  if (const std::string* token = parameter(request, "continue")) op.continued = *token;
  if (const std::string* timeout = parameter(request, "timeoutSeconds"); timeout != nullptr && !timeout->empty()) {
    const auto number = number_of(*timeout);
    if (!number) return objects::bad_request("timeoutSeconds: Invalid value: must be a non-negative whole number");
    if (*number > 0) op.timeout_seconds = std::min(*number, kMaxTimeoutSeconds);
  }
  op.bookmarks = is_true(parameter(request, "allowWatchBookmarks"));
  if (const std::string* initial = parameter(request, "sendInitialEvents")) op.initial_events = is_true(initial);
  const auto text = [&](std::string_view name) {
    const std::string* value = parameter(request, name);
    return value != nullptr ? std::string_view(*value) : std::string_view();
  };
  std::string fields(text("fieldSelector"));
  // A watch of one object is a watch of its collection by name.
  if (op.verb == Verb::kWatch && !op.name.empty()) fields += (fields.empty() ? "" : ",") + ("metadata.name=" + op.name);
  auto selector = Selector::parse(text("labelSelector"), fields, *op.type);
  if (!selector) return selector.error();
  op.selector = std::move(*selector);
  return std::nullopt;
}

/// What may not be asked together (KEP-2340, KEP-3157).
Fault check_list_options(const Operation& op) {
  const bool version = op.version.has_value();
  const auto forbidden = [](std::string_view field, std::string_view why) {
    return invalid_options("ListOptions", objects::value_forbidden(std::string(field), why));
  };
  if (op.verb != Verb::kWatch) {
    if (op.initial_events) return forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list");
    if (op.match == VersionMatch::kUnset) return std::nullopt;
    if (!op.continued.empty()) {
      return forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided");
    }
    if (!version) {
      return forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided");
    }
    if (op.match == VersionMatch::kExact && *op.version == 0) {
      return forbidden("resourceVersionMatch", "resourceVersionMatch \"Exact\" is forbidden for resourceVersion \"0\"");
    }
    return std::nullopt;
  }
  if (op.initial_events && op.match != VersionMatch::kNotOlderThan) {
    return forbidden("resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
  if (op.initial_events.value_or(false) && !op.bookmarks) {
    return forbidden("allowWatchBookmarks", "sendInitialEvents requires setting allowWatchBookmarks to true");
  }
  if (!op.initial_events && op.match != VersionMatch::kUnset) {
    return forbidden("resourceVersionMatch",
                     "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
  }
  return std::nullopt;
}

Fault read_patch_type(const ApiRequest& request, Operation& op) {
  const std::string type = media_type(request.content_type);
  if (type == "application/json-patch+json") {
    op.patch = PatchType::kJson;
  } else if (type == "application/merge-patch+json") {
    op.patch = PatchType::kMerge;
  } else if (type == "application/strategic-merge-patch+json" && !op.type->custom) {
    op.patch = PatchType::kStrategic;
  } else if (type == "application/apply-patch+yaml" || type == "application/apply-patch+json") {
    op.patch = PatchType::kApply;
  } else {
    return objects::unsupported_media_type(
        op.type->custom ? "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
                        : "application/json-patch+json, application/merge-patch+json, "
                          "application/strategic-merge-patch+json, application/apply-patch+yaml");
  }
  return std::nullopt;
}

Fault read_write_options(const ApiRequest& request, Operation& op) {
  if (const std::string* dry_run = parameter(request, "dryRun"); dry_run != nullptr && !dry_run->empty()) {
    if (*dry_run != "All") {
      return invalid_options("CreateOptions", objects::value_not_supported("dryRun", *dry_run, {"All"}));
    }
    op.dry_run = true;
  }
  if (const std::string* validation = parameter(request, "fieldValidation");
      validation != nullptr && !validation->empty()) {
    if (*validation == "Ignore") {
      op.field_validation = FieldValidation::kIgnore;
    } else if (*validation == "Strict") {
      op.field_validation = FieldValidation::kStrict;
    } else if (*validation != "Warn") {
      return invalid_options(
          "CreateOptions", objects::value_not_supported("fieldValidation", *validation, {"Ignore", "Strict", "Warn"}));
    }
  }
  const std::string* manager = parameter(request, "fieldManager");
  op.manager_given = manager != nullptr && !manager->empty();
  op.manager = op.manager_given ? *manager : objects::manager_of(request.user_agent);
  if (std::string fault = objects::manager_fault(op.manager); !fault.empty()) {
    return invalid_options("PatchOptions", objects::value_invalid("fieldManager", op.manager, fault));
  }
  op.force = is_true(parameter(request, "force"));
  if (op.verb != Verb::kPatch) return std::nullopt;
  if (Fault fault = read_patch_type(request, op)) return fault;
  if (op.patch == PatchType::kApply && !op.manager_given) {
    return invalid_options("PatchOptions", objects::value_required("fieldManager", "is required for apply patch"));
  }
  if (op.patch != PatchType::kApply && parameter(request, "force") != nullptr) {
    return invalid_options("PatchOptions",
                           objects::value_forbidden("force", "may not be specified for non-apply patch"));
  }
  return std::nullopt;
}

}  // namespace

const std::string* parameter(const ApiRequest& request, std::string_view name) {
  const auto found = std::find_if(request.query.rbegin(), request.query.rend(),
                                  [&](const auto& entry) { return entry.first == name; });
  return found == request.query.rend() ? nullptr : &found->second;
}

std::string media_type(std::string_view content_type) {
  std::string type(content_type.substr(0, content_type.find(';')));
  std::erase(type, ' ');
  std::transform(type.begin(), type.end(), type.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return type;
}

Answer<Operation> read_operation(const ApiRequest& request, const Registry& registry) {
  Operation op;
  const std::vector<std::string_view> parts = segments_of(request.path);
  if (parts.empty() || (parts.front() != "api" && parts.front() != "apis")) return objects::path_not_found();
  if (Fault fault = read_path(parts, registry, op)) return *fault;
  if (Fault fault = read_verb(request, op)) return *fault;
  if (Fault fault = read_accept(request, op.form)) return *fault;
  const bool reads = op.verb == Verb::kGet || op.verb == Verb::kList || op.verb == Verb::kWatch;
  if (reads || op.verb == Verb::kDeleteCollection) {
    if (Fault fault = read_list_options(request, op)) return *fault;
    if (Fault fault = check_list_options(op); op.verb != Verb::kGet && fault) return *fault;
  }
  if (!reads) {
    if (Fault fault = read_write_options(request, op)) return *fault;
  }
  return op;
}

}  // namespace edge::resource_api
