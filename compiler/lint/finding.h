// Helpers for reporting a lint's findings.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/diagnostics.h"
#include "compiler/model/metadata.h"
#include "compiler/model/policy.h"

namespace edge::compiler::lint {

/// A finding without its notes and labels.
struct Finding {
  DiagnosticCode code;
  Span span;
  std::string field;
  std::string message;
  std::string fix;
};

inline Diagnostic warning(const model::Metadata& resource, Finding finding) {
  return {.code = finding.code,
          .severity = Severity::kWarning,
          .resource = resource.kind == "ProxyPolicy" ? model::origin_text(resource.text()) : resource.text(),
          .field = std::move(finding.field),
          .span = finding.span.somewhere() ? finding.span : resource.span,
          .message = std::move(finding.message),
          .fix = std::move(finding.fix)};
}

inline std::string in_quotes(std::string_view text) { return "`" + std::string(text) + "`"; }
inline std::string indexed(std::string_view list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

}  // namespace edge::compiler::lint
