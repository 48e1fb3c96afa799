// The federation for administrators: what `View` says as JSON, and what they may have done. Targets begin with
// `/federation/`; docs/federation.md lists them.
#pragma once

#include <string>
#include <string_view>

#include "controller/distribute/agent_answer.h"
#include "controller/federation/view.h"

namespace edge::controller {

inline constexpr std::string_view kFederationPages = "/federation/";

/// Answers a request whose target begins with kFederationPages; a refusal is one line of text, by the status of HTTP.
/// Contents of Secrets are left out, whatever the view has. Any thread.
AgentAnswer federation_page(const federation::View& view, const AgentQuestion& question);

}  // namespace edge::controller
