// Faults put into a configuration on purpose. Each knows the code that must be told of it.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "base/source.h"
#include "compiler/yaml/document.h"
#include "schemas/schema.h"

namespace edge::diagnostics {

enum class Fault : std::uint8_t {
  kDropped,    ///< a required field is not there
  kDoubled,    ///< a field stands twice
  kMisspelt,   ///< a field's name has a letter too many
  kMistyped,   ///< a value has another type than its field
  kTruncated,  ///< the text ends inside a value
  kDeep,       ///< a value nests beyond every bound
  kExploding,  ///< a value is aliases of aliases of aliases
};
inline constexpr Fault kFaults[] = {Fault::kDropped,   Fault::kDoubled, Fault::kMisspelt, Fault::kMistyped,
                                    Fault::kTruncated, Fault::kDeep,    Fault::kExploding};

/// What must be told of it.
DiagnosticCode code_of(Fault fault);
const char* name_of(Fault fault);

/// A field of a resource of an own kind, where it stands in the text.
struct FieldSpan {
  const schemas::Field* field = nullptr;
  bool closed = false;  ///< its object takes no unknown fields
  bool flow = false;    ///< between braces
  std::uint32_t key_begin = 0, key_end = 0;
  std::uint32_t begin = 0, end = 0;  ///< of the value
};

/// Every field of every readable resource of `text`.
std::vector<FieldSpan> places_of(const std::string& text);

/// `text` with one fault at a place that `random` chooses; nullopt where the text has none that it can be put at.
std::optional<std::string> mutate(const std::string& text, const std::vector<FieldSpan>& places, Fault fault,
                                  std::mt19937& random);

}  // namespace edge::diagnostics
