#include "controller/resource_api/objects/metadata.h"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "base/labels.h"
#include "base/text/ascii.h"
#include "base/text/json.h"
#include "controller/resource_api/objects/schema.h"
#include "controller/resource_api/objects/schema_parts.h"
#include "controller/resource_api/objects/words.h"

namespace edge::resource_api::objects {
namespace {

constexpr std::size_t kMaxAnnotationBytes = std::size_t{256} << 10;

bool alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool is_rfc1123_label(std::string_view text) {
  return !text.empty() && alphanumeric(text.front()) && alphanumeric(text.back()) &&
         std::ranges::all_of(text, [](char c) { return alphanumeric(c) || c == '-'; });
}

bool is_subdomain(std::string_view text) {
  while (true) {
    const std::size_t dot = text.find('.');
    if (!is_rfc1123_label(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

constexpr std::string_view kSubdomainFault =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kLabelFault =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kDns1035Fault =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kLabelKeyFault =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character, at most 63 bytes, with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
constexpr std::string_view kLabelValueFault =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character, at most 63 bytes (e.g. 'MyValue', or 'my_value', or '12345')";

void check_names(const Json& meta, NameRule rule, Causes& causes) {
  const std::string_view name = text_in(meta, "name");
  const std::string_view prefix = text_in(meta, "generateName");
  if (name.empty() && prefix.empty()) {
    causes.push_back(value_required("metadata.name", "name or generateName is required"));
  }
  if (const std::string fault = prefix.empty() ? "" : name_fault(prefix, rule, true); !fault.empty()) {
    causes.push_back(value_invalid("metadata.generateName", member_in(meta, "generateName"), fault));
  }
  if (const std::string fault = name.empty() ? "" : name_fault(name, rule); !fault.empty()) {
    causes.push_back(value_invalid("metadata.name", member_in(meta, "name"), fault));
  }
}

void check_scope(const Json& meta, bool namespaced, Causes& causes) {
  const Json& space = member_in(meta, "namespace");
  if (!namespaced) {
    if (!text_value(space).empty()) {
      causes.push_back(value_forbidden("metadata.namespace", "not allowed on this type"));
    }
    return;
  }
  if (text_value(space).empty()) {
    causes.push_back(value_required("metadata.namespace"));
  } else if (const std::string fault = name_fault(text_value(space), NameRule::kLabel); !fault.empty()) {
    causes.push_back(value_invalid("metadata.namespace", space, fault));
  }
}

void check_labels(const Json& labels, Causes& causes) {
  if (!labels.is_object()) return;
  for (const auto& [key, value] : labels.items()) {
    if (causes.size() >= kMaxCauses) return;
    if (!is_label_key(key)) causes.push_back(value_invalid("metadata.labels", key, kLabelKeyFault));
    if (!is_label_value(text_value(value))) causes.push_back(value_invalid("metadata.labels", value, kLabelValueFault));
  }
}

void check_annotations(const Json& annotations, Causes& causes) {
  if (!annotations.is_object()) return;
  std::size_t bytes = 0;
  for (const auto& [key, value] : annotations.items()) {
    bytes += key.size() + text_value(value).size();
    if (!is_label_key(ascii_lower(key)) && causes.size() < kMaxCauses) {
      causes.push_back(value_invalid("metadata.annotations", key, kLabelKeyFault));
    }
  }
  if (bytes > kMaxAnnotationBytes) causes.push_back(value_too_long("metadata.annotations", kMaxAnnotationBytes));
}

void check_owners(const Json& owners, Causes& causes) {
  if (!owners.is_array()) return;
  std::string controller;
  for (std::size_t i = 0; i < owners.size() && causes.size() < kMaxCauses; ++i) {
    const std::string path = below("metadata.ownerReferences", i);
    for (const char* name : {"apiVersion", "kind", "name", "uid"}) {
      const Json& value = member_in(owners[i], name);
      if (text_value(value).empty()) causes.push_back(value_invalid(below(path, name), "", "must not be empty"));
    }
    if (member_in(owners[i], "controller") != Json(true)) continue;
    const std::string_view name = text_in(owners[i], "name");
    if (!controller.empty()) {
      causes.push_back(value_invalid("metadata.ownerReferences", owners,
                                     words({"Only one reference can have Controller set to true. Found \"true\" in "
                                            "references for ",
                                            controller, " and ", name})));
    }
    controller = name;
  }
}

void check_finalizers(const Json& finalizers, Causes& causes) {
  if (!finalizers.is_array()) return;
  for (const Json& one : finalizers) {
    if (is_label_key(text_value(one)) || causes.size() >= kMaxCauses) continue;
    causes.push_back(value_invalid("metadata.finalizers", one, kLabelKeyFault));
  }
}

}  // namespace

std::string name_fault(std::string_view name, NameRule rule, bool prefix) {
  std::string shortened;
  if (prefix && rule != NameRule::kPathSegment) {
    // What is put behind a trailing `-` makes the name whole again.
    shortened = name;
    if (shortened.ends_with('-')) shortened.back() = 'a';
    name = shortened;
  }
  const std::size_t most = rule == NameRule::kLabel || rule == NameRule::kDns1035 ? 63 : 253;
  if (rule != NameRule::kPathSegment && name.size() > most) {
    return words({"must be no more than ", std::to_string(most), " bytes"});
  }
  switch (rule) {
    case NameRule::kSubdomain:
      return is_subdomain(name) ? std::string() : std::string(kSubdomainFault);
    case NameRule::kLabel:
      return is_rfc1123_label(name) ? std::string() : std::string(kLabelFault);
    case NameRule::kDns1035:
      if (is_rfc1123_label(name) && name.front() >= 'a') return {};
      return std::string(kDns1035Fault);
    case NameRule::kPathSegment:
      break;
  }
  if (name == "." || name == "..") return words({"may not be '", name, "'"});
  for (const char* part : {"/", "%"}) {
    if (name.find(part) != std::string_view::npos) return words({"may not contain '", part, "'"});
  }
  constexpr std::size_t kLongest = 1024;
  if (name.size() > kLongest) return words({"must be no more than ", std::to_string(kLongest), " bytes"});
  return {};
}

void validate_metadata(const Json& object, NameRule rule, bool namespaced, Causes& causes) {
  const Json& meta = member_in(object, "metadata");
  if (!meta.is_object()) {
    causes.push_back(value_required("metadata"));
    return;
  }
  const std::size_t before = causes.size();
  validate_at(*metadata_schema(), meta, "metadata", causes);
  if (causes.size() != before) return;
  check_names(meta, rule, causes);
  check_scope(meta, namespaced, causes);
  check_labels(member_in(meta, "labels"), causes);
  check_annotations(member_in(meta, "annotations"), causes);
  check_owners(member_in(meta, "ownerReferences"), causes);
  check_finalizers(member_in(meta, "finalizers"), causes);
}

void validate_metadata_update(const Json& object, const Json& old, Causes& causes) {
  const Json& now = member_in(object, "metadata");
  const Json& then = member_in(old, "metadata");
  for (const char* name : {"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp"}) {
    const Json& value = member_in(now, name);
    if (value != member_in(then, name)) {
      causes.push_back(value_invalid(below("metadata", name), value, "field is immutable"));
    }
  }
  if (member_in(then, "deletionTimestamp").is_null()) return;
  const Json& kept = member_in(then, "finalizers");
  std::set<std::string_view> known;
  if (kept.is_array()) {
    for (const Json& one : kept) known.insert(text_value(one));
  }
  const Json& finalizers = member_in(now, "finalizers");
  if (!finalizers.is_array()) return;
  for (const Json& one : finalizers) {
    if (known.contains(text_value(one)) || causes.size() >= kMaxCauses) continue;
    causes.push_back(
        value_forbidden("metadata.finalizers",
                        words({"no new finalizers can be added if the object is being deleted, found new finalizers [",
                               in_quotes(text_value(one)), "]"})));
  }
}

}  // namespace edge::resource_api::objects
