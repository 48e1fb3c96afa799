#include "edgectl/resources/write/wait.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "cli/terminal.h"
#include "edgectl/resources/agents.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/status_line.h"
#include "edgectl/resources/table.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

/// The first call makes a connection, however little time the user gives for all of them.
constexpr std::chrono::milliseconds kShortestCall(2000);
/// Statuses are behind agents by less.
constexpr std::chrono::milliseconds kStatusDelay(1000);
constexpr const char* kNotLookedAt = "no controller has looked at it yet";
/// The reason of Programmed while agents are behind.
constexpr std::string_view kWaitsForAgents = "Pending: ";

std::int64_t number_in(const Json& object, const char* name, std::int64_t otherwise) {
  const Json& value = member_in(object, name);
  return value.is_number_integer() ? value.get<std::int64_t>() : otherwise;
}

std::string words_of(const Json& condition) {
  const std::string message = text_in(condition, "message");
  return shown(text_in(condition, "reason") + (message.empty() ? "" : ": " + message));
}

/// `whole`: what the status says it has observed, for conditions that do not say it themselves.
Progress progress_in(const Json& conditions, std::int64_t generation, std::int64_t whole, bool needs_programmed) {
  Progress progress;
  const Json* accepted = nullptr;
  const Json* programmed = nullptr;
  static const Json kNone = Json::array();
  for (const Json& condition : conditions.is_array() ? conditions : kNone) {
    if (number_in(condition, "observedGeneration", whole) < generation) continue;
    const std::string type = text_in(condition, "type");
    if (type == "Accepted") accepted = &condition;
    if (type == "Programmed") programmed = &condition;
  }
  if (accepted != nullptr && text_in(*accepted, "status") == "False") {
    return {.state = Progress::State::kRejected, .reason = words_of(*accepted)};
  }
  const Json* decides = needs_programmed ? programmed : programmed != nullptr ? programmed : accepted;
  if (decides == nullptr) return {.state = Progress::State::kWaiting, .reason = kNotLookedAt};
  if (text_in(*decides, "status") == "True") return {.state = Progress::State::kDone, .reason = {}};
  return {.state = Progress::State::kWaiting, .reason = words_of(*decides)};
}

struct Pending {
  Written object;
  std::string reason{};
};

/// By what the controller says of its agents. nullopt: it is too old to be asked.
std::optional<int> wait_for_agents(std::string_view command, controller::InspectClient& controller,
                                   const std::vector<Written>& all, std::chrono::milliseconds patience) {
  Rollout rollout(all);
  StatusLine line(command);
  int exit = cli::kExitOk;
  for (Pauses pauses(patience); !rollout.over(); pauses.pause()) {
    const auto progress = controller.progress(rollout.question());
    if (progress) {
      rollout.take(*progress);
      for (const std::string& fault : rollout.take_faults()) {
        line.tell(fault);
        exit = std::max(exit, cli::kExitFindings);
      }
      line.show(rollout.line());
    } else if (progress.error().code == ErrorCode::kUnimplemented) {
      return std::nullopt;
    } else if (progress.error().code != ErrorCode::kUnavailable || pauses.over()) {
      return tell(command, progress.error());
    }
    if (rollout.over()) break;
    if (!pauses.over()) continue;
    for (const std::string& text : rollout.unfinished()) line.tell(text);
    return cli::kExitFindings;
  }
  return exit;
}

/// Why a listener of it is not served; empty: all are, as far as the status says.
std::string refused_listener(const Json& object) {
  const Json& listeners = member_in(member_in(object, "status"), "listeners");
  for (const Json& listener : listeners.is_array() ? listeners : Json::array()) {
    const Json& conditions = member_in(listener, "conditions");
    for (const Json& condition : conditions.is_array() ? conditions : Json::array()) {
      const std::string type = text_in(condition, "type");
      if ((type != "Accepted" && type != "ResolvedRefs") || text_in(condition, "status") != "False") continue;
      return "listener " + shown(text_in(listener, "name")) + ": " + words_of(condition);
    }
  }
  return {};
}

/// Done: it is served as it says.
Progress served_progress(const Json& object, std::int64_t generation) {
  Progress progress = progress_of(object, generation);
  if (progress.state != Progress::State::kDone) return progress;
  std::string refused = refused_listener(object);
  if (refused.empty()) return progress;
  return {.state = Progress::State::kWaiting, .reason = std::move(refused)};
}

/// What an object is now; nullopt: it is gone, or the call failed, as `failure` says.
std::optional<Json> look_at(Cluster& cluster, const Written& object, kube::Failure& failure) {
  const auto reply = cluster.api().get(object.type.resource, object.name_space, object.name);
  if (reply.ok()) return parsed_json(reply.object.text);
  if (!reply.failure.not_found()) failure = reply.failure;
  return std::nullopt;
}

/// What every agent runs may serve less than it says: a listener without its certificate, a port that is taken.
/// Statuses have it a moment later, and for a moment longer than it is so: nothing is told before the delay is over.
int tell_what_is_not_served(std::string_view command, Cluster& cluster, const std::vector<Written>& all) {
  std::vector<Pending> left;
  for (const Written& object : all) {
    if (!object.gone && has_conditions(object.type)) left.push_back({object});
  }
  for (Pauses pauses(kStatusDelay); !left.empty(); pauses.pause()) {
    // However long the rounds before it took, the last one begins behind the delay.
    const bool last = pauses.over();
    kube::Failure failure;
    std::erase_if(left, [&](Pending& pending) {
      if (!failure.none()) return false;
      const Written& object = pending.object;
      const std::optional<Json> now = look_at(cluster, object, failure);
      if (!failure.none()) return false;
      if (!now) {
        pending.reason = "it was removed meanwhile";
        return false;
      }
      Progress progress = served_progress(*now, object.generation);
      pending.reason = std::move(progress.reason);
      return progress.state == Progress::State::kDone;
    });
    if (!failure.none() && (last || !failure.temporary())) return tell(command, failure);
    if (last) break;
  }
  int exit = cli::kExitOk;
  for (const Pending& pending : left) {
    // Nobody has written it yet, or it is of another controller, whose agents are behind.
    if (pending.reason == kNotLookedAt || pending.reason.starts_with(kWaitsForAgents)) continue;
    cli::print_error(command, pending.object.title() + " is not served as it says: " + pending.reason);
    exit = cli::kExitFindings;
  }
  return exit;
}

/// By the conditions of each object.
int wait_for_statuses(std::string_view command, Cluster& cluster, std::vector<Written> all,
                      std::chrono::milliseconds patience) {
  std::vector<Pending> left;
  for (Written& object : all) {
    if (has_conditions(object.type)) left.push_back({std::move(object)});
  }
  int exit = cli::kExitOk;
  const std::size_t count = left.size();
  StatusLine line(command);
  for (Pauses pauses(patience); !left.empty(); pauses.pause()) {
    kube::Failure failure;
    std::erase_if(left, [&](Pending& pending) {
      if (!failure.none()) return false;
      const Written& object = pending.object;
      const std::optional<Json> now = look_at(cluster, object, failure);
      if (!failure.none()) return false;
      if (!now) {
        line.tell(object.title() + " was removed while it was waited for");
        exit = std::max(exit, cli::kExitFindings);
        return true;
      }
      const Progress progress = progress_of(*now, object.generation);
      pending.reason = progress.reason;
      if (progress.state == Progress::State::kRejected) {
        line.tell(object.title() + " is not accepted: " + progress.reason);
        exit = std::max(exit, cli::kExitFindings);
      }
      return progress.state != Progress::State::kWaiting;
    });
    if (!failure.none() && !failure.temporary()) return tell(command, failure);
    line.show(std::to_string(count - left.size()) + " of " + std::to_string(count) + " programmed");
    if (left.empty()) break;
    if (!pauses.over()) continue;
    for (const Pending& pending : left) {
      line.tell(pending.object.title() + " is not programmed yet: " + pending.reason);
    }
    return failure.none() ? cli::kExitFindings : tell(command, failure);
  }
  return exit;
}

}  // namespace

bool has_conditions(const Type& type) {
  if (type.own != nullptr) return type.own->kind.starts_with("Proxy");
  return type.resource.group == "gateway.networking.k8s.io" && type.resource.plural != "referencegrants";
}

Progress progress_of(const Json& object, std::int64_t generation) {
  const Json& status = member_in(object, "status");
  const std::int64_t whole = number_in(status, "observedGeneration", 0);
  for (const char* list : {"parents", "ancestors"}) {
    const Json& parents = member_in(status, list);
    if (!parents.is_array() || parents.empty()) continue;
    for (const Json& parent : parents) {
      Progress progress = progress_in(member_in(parent, "conditions"), generation, whole, /*needs_programmed=*/false);
      if (progress.state != Progress::State::kDone) return progress;
    }
    return {.state = Progress::State::kDone, .reason = {}};
  }
  const std::string kind = text_in(object, "kind");
  const bool needs_programmed = kind.starts_with("Proxy") || kind == "Gateway" || kind == "ListenerSet";
  return progress_in(member_in(status, "conditions"), generation, whole, needs_programmed);
}

int wait_programmed(std::string_view command, Cluster& cluster, const cli::Arguments& arguments,
                    std::vector<Written> all, std::chrono::milliseconds patience) {
  const auto most = std::min(patience, request_timeout(arguments));
  if (const auto controller = quiet_controller(arguments, std::max(most, kShortestCall))) {
    const auto exit = wait_for_agents(command, *controller, all, patience);
    if (exit) return *exit != cli::kExitOk ? *exit : tell_what_is_not_served(command, cluster, all);
  }
  // What is gone has no status.
  if (std::erase_if(all, [](const Written& object) { return object.gone && has_conditions(object.type); }) != 0) {
    cli::print_error(
        command, "whether agents serve on without it, the controller alone could say: name its file by --credentials");
    return cli::kExitUnreachable;
  }
  return wait_for_statuses(command, cluster, std::move(all), patience);
}

bool wait_gone(Cluster& cluster, const Type& type, const std::string& name_space, const std::string& name,
               const std::string& uid, std::chrono::milliseconds patience) {
  for (Pauses pauses(patience);; pauses.pause()) {
    const auto reply = cluster.api().get(type.resource, name_space, name);
    if (reply.failure.not_found() || (reply.ok() && !uid.empty() && reply.object.uid != uid)) return true;
    if (pauses.over()) return false;
  }
}

}  // namespace edge::edgectl
