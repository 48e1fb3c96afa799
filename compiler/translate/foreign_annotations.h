// Annotations of other Ingress controllers: how each of ingress-nginx's is handled, and which of the others are
// reported. The table in docs/ingress-nginx.md is generated from this one.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "compiler/translate/ingress_annotations.h"

namespace edge::compiler::translate {

enum class ForeignUse : std::uint8_t {
  kServed,    ///< supported by nginx_annotations.cc
  kNeedless,  ///< has no effect here, because it is the default or not visible to clients
  kLeftOut,   ///< ignored with a warning
  kProtects,  ///< an error, and the Ingress answers 503: it must not be served without it
};

struct ForeignAnnotation {
  std::string_view name;  ///< without the prefix
  ForeignUse use = ForeignUse::kServed;
  std::string_view text;        ///< for documentation: its effect, or what to use instead
  std::string_view harmless{};  ///< a value without effect
};

/// Returns those of ingress-nginx, ascending by name.
std::span<const ForeignAnnotation> nginx_annotations();
/// Returns the word for documentation.
std::string_view word_of(ForeignUse use);

/// Returns whether the name of a foreign annotation suggests that it restricts access.
bool sounds_protective(std::string_view name);

/// Reports unsupported annotations of `ingress`. One that protects adds a denying policy to `settings`.
void tell_foreign_annotations(const model::Ingress& ingress, IngressSettings& settings, Diagnostics& diagnostics);

}  // namespace edge::compiler::translate
