// A report of an agent as the registry takes it.
#pragma once

#include "controller/distribute/agents/agent_registry.h"

namespace edge::agent::v1 {
class Report;
class WantedName;
}  // namespace edge::agent::v1
namespace google::protobuf {
template <typename Element>
class RepeatedPtrField;
}

namespace edge::controller {

/// What is over a bound is left out.
AgentRegistry::Report read_report(const agent::v1::Report& from);
/// At most kMostWantedNames, without what is no canonical host name.
std::vector<WantedName> read_wanted(const google::protobuf::RepeatedPtrField<agent::v1::WantedName>& from);

}  // namespace edge::controller
