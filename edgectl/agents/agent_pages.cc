#include "edgectl/agents/agent_pages.h"

#include <utility>

#include "cli/terminal.h"
#include "edgectl/agents/agent_source.h"
#include "edgectl/resources/agents.h"
#include "edgectl/resources/complete.h"

namespace edge::edgectl {
namespace {

constexpr const char* kOnlyLocal = "an agent answers this on a loopback address, and newer ones alone";

bool is_address(const std::string& agent) { return agent.find(':') != std::string::npos; }

}  // namespace

std::vector<cli::Flag> agent_page_flags() {
  std::vector<cli::Flag> flags = {{.name = "agent",
                                   .value = "AGENT",
                                   .help = "Only this agent: its name, as the controller knows it, or its health "
                                           "address on this machine, e.g. 127.0.0.1:9091",
                                   .complete = complete_agent}};
  for (cli::Flag& flag : controller_flags()) flags.push_back(std::move(flag));
  return flags;
}

Result<std::unique_ptr<AgentPages>> AgentPages::open(const cli::Arguments& arguments) {
  std::unique_ptr<AgentPages> pages(new AgentPages);
  pages->one_ = arguments.one("agent");
  if (is_address(pages->one_)) return pages;
  auto controller = find_controller(arguments);
  if (controller) {
    pages->controller_ = std::move(*controller);
    return pages;
  }
  const bool named = !pages->one_.empty() || arguments.has("controller") || arguments.has("credentials");
  if (named || controller.error().code == ErrorCode::kInvalidArgument) return controller.error();
  pages->one_ = kThisMachine;
  return pages;
}

std::unique_ptr<AgentPages> AgentPages::open(std::string_view command, const cli::Arguments& arguments, int& exit) {
  auto pages = open(arguments);
  if (pages) return std::move(*pages);
  exit = pages.error().code == ErrorCode::kInvalidArgument ? cli::kExitUsage : cli::kExitUnreachable;
  cli::print_error(command, pages.error().text);
  return nullptr;
}

Result<std::vector<std::string>> AgentPages::names() {
  if (!one_.empty()) return std::vector<std::string>{one_};
  const auto agents = controller_->agents();
  if (!agents) return agents.error();
  std::vector<std::string> names;
  for (const auto& agent : agents->agents) {
    if (agent.connected) names.push_back(agent.name);
  }
  return names;
}

Result<std::vector<std::string>> AgentPages::names_on(const std::string& node) {
  const auto agents = controller_->agents();
  if (!agents) return agents.error();
  std::vector<std::string> names;
  for (const auto& agent : agents->agents) {
    if (agent.connected && agent.node == node) names.push_back(agent.name);
  }
  return names;
}

AgentPages::Said AgentPages::ask_one(const std::string& agent, const controller::AgentQuestion& question) {
  if (controller_) return {agent, controller_->ask(agent, question)};
  auto body = ask_agent("http://" + agent, question.method, question.target, kOnlyLocal);
  if (!body) return {agent, body.error()};
  return {agent, controller::AgentAnswer{200, {}, std::move(*body)}};
}

Result<std::vector<AgentPages::Said>> AgentPages::ask(const controller::AgentQuestion& question) {
  const auto agents = names();
  if (!agents) return agents.error();
  std::vector<Said> all;
  for (const std::string& name : *agents) all.push_back(ask_one(name, question));
  return all;
}

Result<std::string> AgentPages::body_of(const Said& said) {
  if (!said.answer) return Error{said.answer.error().code, said.agent + ": " + said.answer.error().text};
  if (said.answer->status == 200) return said.answer->body;
  std::string text = said.answer->body.substr(0, said.answer->body.find('\n'));
  if (said.answer->status == 404) text = "it does not have this page";
  const bool asked_wrong = said.answer->status >= 400 && said.answer->status < 500;
  return Error{asked_wrong ? ErrorCode::kInvalidArgument : ErrorCode::kUnavailable, said.agent + ": " + text};
}

}  // namespace edge::edgectl
