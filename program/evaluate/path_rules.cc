#include "program/evaluate/path_rules.h"

#include "program/evaluate/evaluate.h"

namespace edge::program {

AdmittedRequest::AdmittedRequest(const ProgramView& program, std::uint32_t bind, const RequestView& request)
    : view_(request) {
  const std::uint32_t index = listener_of(program, bind, request.host);
  if (index == kNone) return;
  const SectionView& section = program.listeners().view;
  const auto& header = section.header<ListenersHeader>();
  const PathRules rules = path_rules_of(section.array(header.gateways)[section.array(header.listeners)[index].gateway]);
  if (rules.none()) return;
  path_.resize(request.path.size() + 1);
  const auto path = apply_path_rules(rules, request.path, path_.data());
  refused_ = !path;
  if (path) view_.path = *path;
}

}  // namespace edge::program
