// The annotations of ingress-nginx that are served (foreign_annotations.h), read into the settings that our own are
// read into. docs/ingress-nginx.md.
#pragma once

#include "compiler/translate/ingress_annotations.h"

namespace edge::compiler::translate {

/// What our own annotations said stays. A value at fault of what protects, or of where requests go, puts a policy into
/// `settings` that denies.
void read_nginx_annotations(const model::Ingress& ingress, IngressSettings& settings, Diagnostics& diagnostics);

}  // namespace edge::compiler::translate
