#include "tests/reference/engines.h"

#include <algorithm>
#include <utility>

#include "compiler/expr/regex_matcher.h"
#include "program/evaluate/path_rules.h"
#include "program/format/records.h"
#include "tests/reference/treatment.h"

namespace edge::reference {
namespace {

EngineResult engine_result_of(std::uint32_t listener, const program::SectionView& host,
                              const program::ActionRecord& action) {
  const auto& header = host.header<program::HostHeader>();
  const program::RouteRecord& route = host.array(header.routes)[action.route];
  return {listener,
          host.string(header.pattern),
          program::name_space_of(host, route),
          host.string(route.name),
          action.rule,
          action.match};
}

}  // namespace

Result<Engines> Engines::open(std::shared_ptr<const std::vector<std::byte>> bytes) {
  auto view = program::read(std::move(bytes));
  if (!view) return view.error();
  auto loaded = runtime::LoadedProgram::load(std::move(*view), nullptr);
  if (!loaded) return loaded.error();
  Engines engines;
  engines.loaded_ = std::move(*loaded);
  if (const Status status = engines.scratch_.prepare(*engines.loaded_); !status) return status.error();
  engines.regex_ = compiler::expr::regex_matcher();
  return engines;
}

std::optional<std::uint32_t> Engines::bind_of(const OwnedRequest& request) const {
  std::optional<std::uint32_t> found;
  for (std::uint32_t index = 0; index < binds().size(); ++index) {
    const program::BindRecord& bind = binds()[index];
    if (bind.port != request.port) continue;
    if (bind.any_address != 0 || !request.destination) {
      if (!found) found = index;
    } else if (std::equal(request.destination->bytes.begin(), request.destination->bytes.end(), bind.address)) {
      return index;
    }
  }
  return found;
}

EngineResult Engines::evaluate(std::uint32_t bind, const program::RequestView& asked) const {
  const program::AdmittedRequest admitted(view(), bind, asked);
  const program::RequestView& request = admitted.view();
  if (admitted.refused()) return {program::listener_of(view(), bind, request.host), {}, {}, {}, 0, 0};
  const program::Evaluation outcome = program::evaluate(view(), bind, request, regex_);
  if (outcome.host == nullptr) return {outcome.listener, {}, {}, {}, 0, 0};
  const program::SectionView& host = outcome.host->view;
  return engine_result_of(outcome.listener, host,
                          host.array(host.header<program::HostHeader>().actions)[outcome.action]);
}

EngineResult Engines::decide(std::uint32_t bind, const program::RequestView& asked) {
  const program::AdmittedRequest admitted(view(), bind, asked);
  const program::RequestView& request = admitted.view();
  if (admitted.refused()) return {program::listener_of(view(), bind, request.host), {}, {}, {}, 0, 0};
  const auto index_of = [this](const runtime::LoadedListener* listener) {
    return static_cast<std::uint32_t>(listener - &loaded_->listener(0));
  };
  const auto decision = runtime::decide(*loaded_, bind, request, scratch_);
  if (decision) return engine_result_of(index_of(decision->listener), decision->host->view, *decision->action);
  const runtime::LoadedListener* listener = runtime::find_listener(*loaded_, bind, request.host);
  return {listener == nullptr ? program::kNone : index_of(listener), {}, {}, {}, 0, 0};
}

std::string Engines::treatment(std::uint32_t bind, const program::RequestView& asked) const {
  const program::AdmittedRequest admitted(view(), bind, asked);
  const program::RequestView& request = admitted.view();
  const program::Evaluation outcome = program::evaluate(view(), bind, request, regex_);
  if (outcome.host == nullptr) return {};
  const program::SectionView& host = outcome.host->view;
  return treatment_of(view(), host, host.array(host.header<program::HostHeader>().actions)[outcome.action]);
}

}  // namespace edge::reference
