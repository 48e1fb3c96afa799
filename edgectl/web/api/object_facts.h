// What the pages show of an object besides its text: its conditions, the health that they amount to, and the objects
// that it refers to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace edge::edgectl::web {

struct Condition {
  std::string of;  ///< the listener, parent or ancestor that it is about; empty: the object
  std::string type, status, reason, message;
  std::string since;  ///< RFC 3339
};

/// Ascending by severity.
enum class Health : std::uint8_t { kUnknown, kGood, kPending, kWarning, kBad };
/// Returns `unknown`, `good`, `pending`, `warning` or `bad`.
std::string_view word_of(Health health);

struct Verdict {
  Health health = Health::kUnknown;
  std::string problem{};  ///< `Programmed: reason: message` of the worst condition; empty where it is good
};

struct Reference {
  std::string kind;
  std::string name_space;  ///< empty for a cluster-scoped object
  std::string name;
  std::string field;  ///< `parentRefs`, `backendRef`
  friend auto operator<=>(const Reference&, const Reference&) = default;
};

/// An object with more references keeps the first.
inline constexpr std::size_t kMostReferences = 512;

/// Returns the conditions of a status, and of its listeners, parents and ancestors; at most 1024.
std::vector<Condition> conditions_of(const nlohmann::json& object);
Verdict verdict_of(const std::vector<Condition>& conditions);
/// Returns the references of a spec, ascending, each once.
std::vector<Reference> references_of(const nlohmann::json& object);

}  // namespace edge::edgectl::web
