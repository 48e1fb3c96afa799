// Resolves single references: target, errors, and the names that the result depends on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "compiler/link/conditions.h"
#include "compiler/link/names.h"
#include "compiler/model/metadata.h"

namespace edge::compiler::link {

/// A name looked up while linking a resource, found or not. `*`: all names of the kind in the namespace.
struct Dependency {
  std::string kind;
  std::string name_space;
  std::string name;

  friend auto operator<=>(const Dependency&, const Dependency&) = default;
};

/// The results of linking one resource, in addition to its linked form.
struct Findings {
  Diagnostics& diagnostics;
  /// Records lookups, including duplicates; nullptr: not recorded.
  std::vector<Dependency>* dependencies = nullptr;
  /// Conditions other than those of a valid resource. The owner sets kind and name.
  ResourceStatus status{};
  /// Limit of searches for similar names, which are linear scans.
  std::uint32_t near_names_left = 8;

  void depends_on(std::string_view kind, std::string_view name_space, std::string_view name) {
    if (dependencies != nullptr) {
      dependencies->push_back({std::string(kind), std::string(name_space), std::string(name)});
    }
  }
};

enum class ReferenceFault : std::uint8_t {
  kNone,
  kNotPermitted,  ///< another namespace, without a grant
  kNotFound,
};

struct Resolved {
  std::uint32_t position = 0;
  ReferenceFault fault = ReferenceFault::kNone;

  explicit operator bool() const { return fault == ReferenceFault::kNone; }
};

/// Shared by the resolvers of one link.
struct Scope {
  const Grants& grants;
  const Refused& refused;
};

/// Resolves references to the resources of one index and reports errors. The result depends only on the arguments and
/// on the names recorded in `findings`.
class Resolver {
 public:
  Resolver(const NameIndex& index, const Scope& scope) : index_(index), scope_(scope) {}

  /// `field` is called only for an error.
  template <typename FieldText>
  Resolved resolve(const model::Metadata& from, std::string_view kind, const model::Reference& reference,
                   FieldText field, Findings& findings) const {
    const std::string_view space =
        reference.name_space.empty() ? from.name_space : std::string_view(reference.name_space);
    if (space != from.name_space && !allowed(from, kind, space, reference, findings)) {
      not_allowed(from, kind, reference, field(), findings);
      return {0, ReferenceFault::kNotPermitted};
    }
    return resolve_ungranted(from, kind, reference, field, findings);
  }

  /// The same for targets that decide themselves who may refer to them: grants are not checked.
  template <typename FieldText>
  Resolved resolve_ungranted(const model::Metadata& from, std::string_view kind, const model::Reference& reference,
                             FieldText field, Findings& findings) const {
    const std::string_view space =
        reference.name_space.empty() ? from.name_space : std::string_view(reference.name_space);
    findings.depends_on(kind, space, reference.name.value);
    const auto found = index_.find(kind, space, reference.name.value);
    if (found) return {*found, ReferenceFault::kNone};
    unknown(from, kind, reference, space, field(), findings);
    return {0, ReferenceFault::kNotFound};
  }

 private:
  bool allowed(const model::Metadata& from, std::string_view kind, std::string_view space,
               const model::Reference& reference, Findings& findings) const;
  static void not_allowed(const model::Metadata& from, std::string_view kind, const model::Reference& reference,
                          std::string field, Findings& findings);
  void unknown(const model::Metadata& from, std::string_view kind, const model::Reference& reference,
               std::string_view space, std::string field, Findings& findings) const;

  const NameIndex& index_;
  Scope scope_;
};

/// Adds a warning: accepted, but not supported by this version.
void not_served(const model::Metadata& resource, Span span, std::string field, std::string message,
                Diagnostics& diagnostics);

/// Sets a condition that reports an error.
void fail(std::vector<Condition>& conditions, std::string_view type, std::string_view reason, std::string message);

}  // namespace edge::compiler::link
