// Parses the supported annotations of ingress-nginx (foreign_annotations.h) into the same settings as the product's
// own. docs/ingress-nginx.md.
#pragma once

#include "compiler/translate/ingress_annotations.h"

namespace edge::compiler::translate {

/// Does not override settings of the product's own annotations. An invalid value of an annotation that protects, or
/// determines the destination, adds a denying policy to `settings`.
void read_nginx_annotations(const model::Ingress& ingress, IngressSettings& settings, Diagnostics& diagnostics);

}  // namespace edge::compiler::translate
