#include "controller/resource_api/objects/crd.h"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "base/text/ascii.h"
#include "base/text/json.h"
#include "controller/resource_api/objects/metadata.h"
#include "controller/resource_api/objects/words.h"

namespace edge::resource_api::objects {
namespace {

/// What has no default must be there, and is made of what names in paths are made of.
void check_name(const Json& names, const char* field, Causes& causes) {
  const std::string path = below("spec.names", field);
  const std::string text(text_in(names, field));
  if (text.empty()) {
    causes.push_back(value_required(path));
  } else if (const std::string fault = name_fault(ascii_lower(text), NameRule::kDns1035); !fault.empty()) {
    causes.push_back(value_invalid(path, text, fault));
  }
}

void check_names(const Json& crd, Causes& causes) {
  const Json& spec = member_in(crd, "spec");
  const Json& names = member_in(spec, "names");
  for (const char* field : {"plural", "singular", "kind", "listKind"}) check_name(names, field, causes);
  const std::string group(text_in(spec, "group"));
  if (group.empty()) {
    causes.push_back(value_required("spec.group"));
  } else if (const std::string fault = name_fault(group, NameRule::kSubdomain); !fault.empty()) {
    causes.push_back(value_invalid("spec.group", group, fault));
  } else if (group.find('.') == std::string::npos) {
    causes.push_back(value_invalid("spec.group", group, "should be a domain with at least one dot"));
  }
  const std::string plural(text_in(names, "plural"));
  const std::string expected = words({plural, ".", group});
  const std::string name(text_in(member_in(crd, "metadata"), "name"));
  if (!plural.empty() && !group.empty() && name != expected) {
    causes.push_back(value_invalid("metadata.name", name, words({"must be spec.names.plural+\".\"+spec.group"})));
  }
  for (const char* field : {"shortNames", "categories"}) {
    const Json& list = member_in(names, field);
    if (list.is_null()) continue;
    if (!list.is_array()) {
      causes.push_back(value_type_invalid(below("spec.names", field), list, "must be a list"));
      continue;
    }
    for (std::size_t i = 0; i < list.size() && causes.size() < kMaxCauses; ++i) {
      const std::string fault = name_fault(text_value(list[i]), NameRule::kDns1035);
      if (!fault.empty()) causes.push_back(value_invalid(below(below("spec.names", field), i), list[i], fault));
    }
  }
  const std::string scope(text_in(spec, "scope"));
  if (scope.empty()) {
    causes.push_back(value_required("spec.scope"));
  } else if (scope != "Namespaced" && scope != "Cluster") {
    causes.push_back(value_not_supported("spec.scope", scope, {"Cluster", "Namespaced"}));
  }
}

void check_version(const Json& version, const std::string& path, Causes& causes) {
  const std::string name(text_in(version, "name"));
  if (const std::string fault = name_fault(name, NameRule::kDns1035); !fault.empty()) {
    causes.push_back(value_invalid(below(path, "name"), name, fault));
  }
  for (const char* field : {"served", "storage"}) {
    if (!member_in(version, field).is_boolean()) causes.push_back(value_required(below(path, field)));
  }
  const Json& schema = member_in(member_in(version, "schema"), "openAPIV3Schema");
  const std::string schema_path = below(path, "schema.openAPIV3Schema");
  if (!schema.is_object()) {
    causes.push_back(value_required(schema_path, "schemas are required"));
  } else {
    (void)compile_schema(schema, schema_path, causes);
  }
  const Json& columns = member_in(version, "additionalPrinterColumns");
  if (!columns.is_null()) (void)compile_columns(columns, below(path, "additionalPrinterColumns"), causes);
  const Json& scale = member_in(member_in(version, "subresources"), "scale");
  if (!scale.is_null()) {
    for (const char* field : {"specReplicasPath", "statusReplicasPath"}) {
      if (text_in(scale, field).empty()) {
        causes.push_back(value_required(below(below(path, "subresources.scale"), field)));
      }
    }
  }
}

void check_versions(const Json& spec, Causes& causes) {
  const Json& versions = member_in(spec, "versions");
  if (!versions.is_array() || versions.empty()) {
    causes.push_back(value_required("spec.versions", "must have at least one version"));
    return;
  }
  std::set<std::string> names;
  std::size_t stored = 0;
  for (std::size_t i = 0; i < versions.size() && causes.size() < kMaxCauses; ++i) {
    const std::string path = below("spec.versions", i);
    check_version(versions[i], path, causes);
    if (!names.emplace(text_in(versions[i], "name")).second) {
      causes.push_back(value_invalid("spec.versions", member_in(versions[i], "name"),
                                     "must not contain duplicate version "
                                     "names"));
    }
    if (member_in(versions[i], "storage") == Json(true)) ++stored;
  }
  if (stored != 1) {
    causes.push_back(value_invalid("spec.versions", stored, "must have exactly one version marked as storage version"));
  }
}

void check_unchanged(const Json& crd, const Json& old, Causes& causes) {
  constexpr std::pair<const char*, const char*> kFields[] = {{"names", "kind"}, {"names", "plural"}};
  for (const auto& [outer, inner] : kFields) {
    const Json& now = member_in(member_in(member_in(crd, "spec"), outer), inner);
    if (now != member_in(member_in(member_in(old, "spec"), outer), inner)) {
      causes.push_back(value_invalid(below(below("spec", outer), inner), now, "field is immutable"));
    }
  }
  for (const char* field : {"group", "scope"}) {
    const Json& now = member_in(member_in(crd, "spec"), field);
    if (now != member_in(member_in(old, "spec"), field)) {
      causes.push_back(value_invalid(below("spec", field), now, "field is immutable"));
    }
  }
  // What is stored in a version must stay readable.
  const Json& stored = member_in(member_in(old, "status"), "storedVersions");
  if (!stored.is_array()) return;
  for (const Json& name : stored) {
    const Json& versions = member_in(member_in(crd, "spec"), "versions");
    const bool there = versions.is_array() && std::ranges::any_of(versions, [&](const Json& version) {
                         return member_in(version, "name") == name;
                       });
    if (!there) {
      causes.push_back(value_invalid("status.storedVersions", name, "must appear in spec.versions"));
    }
  }
}

const Json& version_of(const Json& crd, std::string_view name) {
  static const Json kNothing;
  const Json& versions = member_in(member_in(crd, "spec"), "versions");
  if (!versions.is_array()) return kNothing;
  for (const Json& version : versions) {
    if (text_in(version, "name") == name) return version;
  }
  return kNothing;
}

}  // namespace

void apply_crd_defaults(Json& crd) {
  if (!crd.is_object() || !member_in(crd, "spec").is_object()) return;
  Json& spec = crd["spec"];
  if (member_in(spec, "names").is_object()) {
    Json& names = spec["names"];
    const std::string kind(text_in(names, "kind"));
    if (text_in(names, "singular").empty()) names["singular"] = ascii_lower(kind);
    if (text_in(names, "listKind").empty() && !kind.empty()) names["listKind"] = kind + "List";
  }
  if (!spec.contains("conversion")) spec["conversion"] = {{"strategy", "None"}};
}

void validate_crd(const Json& crd, const Json* old, Causes& causes) {
  const Json& spec = member_in(crd, "spec");
  if (!spec.is_object()) {
    causes.push_back(value_required("spec"));
    return;
  }
  check_names(crd, causes);
  check_versions(spec, causes);
  const std::string strategy(text_in(member_in(spec, "conversion"), "strategy"));
  if (!strategy.empty() && strategy != "None") {
    causes.push_back(value_not_supported("spec.conversion.strategy", strategy, {"None"}));
  }
  if (member_in(spec, "preserveUnknownFields") == Json(true)) {
    causes.push_back(
        value_invalid("spec.preserveUnknownFields", true, "must be false in order to use defaults in the schema"));
  }
  if (old != nullptr) check_unchanged(crd, *old, causes);
}

SchemaPtr crd_schema(const Json& crd, std::string_view version) {
  const Json& found = version_of(crd, version);
  if (found.is_null()) return nullptr;
  Causes causes;
  // It was checked when it was written.
  return compile_schema(member_in(member_in(found, "schema"), "openAPIV3Schema"), "schema", causes,
                        Checks::kWithoutPatterns);
}

Columns crd_columns(const Json& crd, std::string_view version) {
  const Json& columns = member_in(version_of(crd, version), "additionalPrinterColumns");
  if (!columns.is_array() || columns.empty()) return default_columns();
  Causes causes;
  return compile_columns(columns, "additionalPrinterColumns", causes);
}

}  // namespace edge::resource_api::objects
