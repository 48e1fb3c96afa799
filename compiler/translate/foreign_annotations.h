// Annotations of other Ingress controllers: what each of ingress-nginx's becomes, and which of any are told. The table
// of docs/ingress-nginx.md is this one.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "compiler/translate/ingress_annotations.h"

namespace edge::compiler::translate {

enum class ForeignUse : std::uint8_t {
  kServed,    ///< nginx_annotations.cc reads it
  kNeedless,  ///< what it asks for is so without it, or has no counterpart that a client could see
  kLeftOut,   ///< a warning
  kProtects,  ///< an error, and the Ingress answers 503: it must not be served without it
};

struct ForeignAnnotation {
  std::string_view name;  ///< behind the prefix
  ForeignUse use = ForeignUse::kServed;
  std::string_view text;        ///< for documentation: what it becomes, or what to do in its place
  std::string_view harmless{};  ///< a value that asks for nothing
};

/// Those of ingress-nginx, ascending by name.
std::span<const ForeignAnnotation> nginx_annotations();
/// As documentation words it.
std::string_view word_of(ForeignUse use);

/// Whether an annotation of a foreign prefix restricts who is served or how, as far as its name tells.
bool sounds_protective(std::string_view name);

/// Reports those of `ingress` that are not served. One that protects puts a policy into `settings` that denies.
void tell_foreign_annotations(const model::Ingress& ingress, IngressSettings& settings, Diagnostics& diagnostics);

}  // namespace edge::compiler::translate
