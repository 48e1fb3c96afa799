// One reference at a time: what it leads to, what is wrong with it, and what the answer depended on.
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

/// A name that linking a resource looked up, found or not. `*`: all names of the kind in the namespace.
struct Dependency {
  std::string kind;
  std::string name_space;
  std::string name;

  friend auto operator<=>(const Dependency&, const Dependency&) = default;
};

/// What linking one resource finds out, beside its linked form.
struct Findings {
  Diagnostics& diagnostics;
  /// Where lookups are recorded, doubles included; nullptr: nobody asks.
  std::vector<Dependency>* dependencies = nullptr;
  /// What is not plainly fine. Kind and name are filled in by whoever keeps it.
  ResourceStatus status{};
  /// Searches for near names are scans, so one resource gets few of them.
  std::uint32_t near_names_left = 8;

  void depends_on(std::string_view kind, std::string_view name_space, std::string_view name) {
    if (dependencies != nullptr) {
      dependencies->push_back({std::string(kind), std::string(name_space), std::string(name)});
    }
  }
};

enum class ReferenceFault : std::uint8_t {
  kNone,
  kNotPermitted,  ///< another namespace, and no grant there
  kNotFound,
};

struct Resolved {
  std::uint32_t position = 0;
  ReferenceFault fault = ReferenceFault::kNone;

  explicit operator bool() const { return fault == ReferenceFault::kNone; }
};

/// What every resolver of one link shares.
struct Scope {
  const Grants& grants;
  const Refused& refused;
};

/// Resolves references to the resources of one index and says what is wrong with them. The answer is a function of the
/// arguments and of the names that it reports to `findings`.
class Resolver {
 public:
  Resolver(const NameIndex& index, const Scope& scope) : index_(index), scope_(scope) {}

  /// `field` is called only when there is a fault.
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

  /// The same for what decides by itself who may refer to it, so that no grant is asked for.
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

/// A warning: accepted, but this version does not do it.
void not_served(const model::Metadata& resource, Span span, std::string field, std::string message,
                Diagnostics& diagnostics);

/// Sets a condition that says what is wrong.
void fail(std::vector<Condition>& conditions, std::string_view type, std::string_view reason, std::string message);

}  // namespace edge::compiler::link
