#include "compiler/lint/hostnames.h"

#include <string>
#include <unordered_map>

#include "compiler/lint/finding.h"

namespace edge::compiler::lint {

void lint_hostnames(const model::Metadata& resource, const std::vector<Located<HostPattern>>& names,
                    std::string_view field, Diagnostics& diagnostics) {
  if (names.size() < 2) return;
  std::unordered_map<std::string_view, const Located<HostPattern>*> seen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto [first, added] = seen.emplace(names[i].value.text(), &names[i]);
    if (added) continue;
    Diagnostic found =
        warning(resource, {.code = DiagnosticCode::kHostnameTwice,
                           .span = names[i].span,
                           .field = indexed(field, i),
                           .message = "the host name " + in_quotes(names[i].value.text()) + " stands twice",
                           .fix = "remove one of the two"});
    found.labels.push_back({first->second->span, "first given here"});
    diagnostics.add(std::move(found));
  }
}

}  // namespace edge::compiler::lint
