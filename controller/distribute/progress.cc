#include "controller/distribute/progress.h"

#include <map>
#include <utility>

#include "controller/distribute/hub.h"
#include "controller/distribute/streams/streams.h"
#include "schemas/agent.pb.h"

namespace edge::controller {
namespace {

constexpr int kMaxObjects = 20'000;

agent::v1::ObjectProgress::State word_of(ObjectProgress::State state) {
  using To = agent::v1::ObjectProgress;
  switch (state) {
    case ObjectProgress::State::kWaiting:
      return To::WAITING;
    case ObjectProgress::State::kTaken:
      return To::TAKEN;
    case ObjectProgress::State::kRejected:
      return To::REJECTED;
    case ObjectProgress::State::kApart:
      return To::APART;
  }
  return To::WAITING;
}

}  // namespace

Status answer_progress(Hub& hub, const agent::v1::ProgrammedRequest& request, agent::v1::ProgrammedReply& reply) {
  const ProgressSource& source = hub.progress();
  if (!source.object || !source.number || !source.pinned) {
    return Error{ErrorCode::kUnimplemented, "this controller follows no cluster"};
  }
  if (request.objects_size() > kMaxObjects) {
    return Error{ErrorCode::kInvalidArgument, "more than " + std::to_string(kMaxObjects) + " objects at once"};
  }
  for (const agent::v1::ObjectVersion& asked : request.objects()) {
    const ObjectProgress progress = source.object(
        {asked.kind(), asked.namespace_(), asked.name(), asked.uid(), asked.resource_version(), asked.gone()});
    auto& into = *reply.add_objects();
    into.set_state(word_of(progress.state));
    into.set_program(progress.program);
    into.set_reason(progress.reason);
  }
  // After the objects: what is said to be taken is in what was announced by now.
  reply.set_run(hub.run());
  const Hub::Announced announced = hub.announced();
  reply.set_values(announced.newest);
  std::map<std::string, std::string> pinned;
  for (PinnedGroup& one : source.pinned()) pinned[one.group] = std::move(one.program);
  reply.set_pinned(pinned[std::string(kDefaultGroup)]);
  for (const AgentState& agent : hub.registry().agents()) {
    if (!agent.connected) continue;
    auto& into = *reply.add_agents();
    into.set_name(agent.name);
    into.set_group(agent.group);
    into.set_held_to(pinned[agent.group]);
    into.set_program(agent.program.empty() ? 0 : source.number(agent.program));
    // Values of other groups never come to it.
    const auto of_group = announced.by_group.find(agent.group);
    const bool has_all = of_group != announced.by_group.end() && agent.values == of_group->second;
    into.set_values(has_all ? announced.newest : agent.values);
    if (agent.refused.program.empty()) continue;
    into.set_refused(source.number(agent.refused.program));
    into.set_reason(agent.refused.reason);
  }
  return {};
}

}  // namespace edge::controller
