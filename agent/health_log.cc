#include "agent/health_log.h"

#include <algorithm>
#include <utility>

#include "agent/observe/backend_report.h"
#include "base/log.h"
#include "base/resource_id.h"

namespace edge::agent {
namespace {

using runtime::BackendStatus;
using runtime::CertificateExpiry;
using runtime::Circuit;
using runtime::EndpointStatus;
using runtime::Health;
using runtime::UnboundListener;

constexpr auto kMinute = std::chrono::minutes(1);

/// What its last check said, as a part of a line.
std::string reason_of(const EndpointStatus& endpoint) {
  constexpr std::size_t kLongest = 200;
  return endpoint.last_error.empty() ? "its health check fails" : endpoint.last_error.substr(0, kLongest);
}

std::string time_left(std::chrono::seconds left) {
  if (left >= std::chrono::days(2)) return std::to_string(left / std::chrono::days(1)) + " days";
  if (left >= std::chrono::hours(2)) return std::to_string(left / std::chrono::hours(1)) + " hours";
  return std::to_string(left / kMinute) + " minutes";
}

}  // namespace

void HealthLog::add_backend(const BackendStatus& backend, States& states, std::vector<std::string>& lines) {
  const std::string name = "backend " + resource_path(backend.name_space, backend.name);
  const auto [found, fresh] = counters_.try_emplace(backend.id);
  Counters& before = found->second;
  before.seen = true;
  if (backend.circuit != Circuit::State::kClosed) {
    states["circuit of " + name] = {"circuit", "the circuit of " + name + " is open",
                                    "the circuit of " + name + " is closed again"};
  } else if (!fresh && backend.circuit_opened > before.circuit_opened && !states_.contains("circuit of " + name)) {
    lines.push_back("the circuit of " + name + " was open and is closed again");
  }
  before.circuit_opened = backend.circuit_opened;

  const std::uint64_t tried = backend.connects - std::min(backend.connects, before.connects);
  const std::uint64_t failed = backend.connect_failures - std::min(backend.connect_failures, before.connect_failures);
  if (tried > 0) before.fails = failed >= tried;
  before.connects = backend.connects;
  before.connect_failures = backend.connect_failures;
  if (before.fails) {
    states["connections to " + name] = {"connect", "connections to " + name + " fail",
                                        "connections to " + name + " succeed again"};
  }

  for (const EndpointStatus& endpoint : backend.endpoints) {
    const std::string subject = "endpoint " + address_text(endpoint.address) + " of " + name;
    if (endpoint.health == Health::kUnhealthy) {
      states[subject] = {"down", subject + " is down: " + reason_of(endpoint), subject + " is up again"};
    } else if (endpoint.ejected_for > net::Duration(0)) {
      states[subject] = {"ejected", subject + " is ejected because of its answers", subject + " is ejected no longer"};
    }
  }
  for (const runtime::NameStatus& one : backend.names) {
    if (one.error.empty()) continue;
    const std::string subject = "name " + one.name + " of " + name;
    const std::string kept = one.addresses == 0 ? "" : "; the addresses that are known stay in use";
    states[subject] = {"name", subject + " is not resolved: " + one.error.substr(0, 200) + kept,
                       subject + " is resolved again"};
  }
  if (std::ranges::none_of(backend.endpoints, &EndpointStatus::healthy)) {
    states[name] = {"none", name + " has no endpoint that takes requests",
                    name + " has endpoints that take requests again"};
  }
}

std::vector<std::string> HealthLog::look(const Facts& facts, WallTime now) {
  States states;
  std::vector<std::string> lines;
  for (auto& [id, counters] : counters_) counters.seen = false;
  for (const BackendStatus& backend : facts.backends) add_backend(backend, states, lines);
  std::erase_if(counters_, [](const auto& entry) { return !entry.second.seen; });
  for (const CertificateExpiry& certificate : facts.certificates) {
    const auto left = WallTime(std::chrono::seconds(certificate.not_after)) - now;
    if (left > kNearEnd) continue;
    const bool is_file = certificate.secret.starts_with('/');
    const std::string subject =
        std::string(is_file ? "certificate of file " : "certificate of secret ") + certificate.secret;
    const bool ended = left <= WallTime::duration::zero();
    const std::string when = log_time(WallTime(std::chrono::seconds(certificate.not_after)));
    states[subject] = {
        ended ? "ended" : "near-end",
        subject + (ended ? " has expired: " + when
                         : " expires in " + time_left(std::chrono::floor<std::chrono::seconds>(left)) + ": " + when),
        subject + " is replaced by one that lasts"};
  }
  for (const UnboundListener& one : facts.unbound) {
    const std::string subject = "listener " + one.name_space + "/" + one.gateway + "/" + one.listener;
    // That it begins is told where programs and secrets are installed.
    states[subject] = {"unbound", subject + ": " + one.reason, subject + " serves", true};
  }

  for (auto& [subject, state] : states) {
    const auto before = states_.find(subject);
    const bool same = before != states_.end() && before->second.kind == state.kind;
    state.since = same ? before->second.since : now;
    // A text that changes with time, or with what a check says, is told once.
    if (same) {
      state.text = before->second.text;
    } else if (!state.told_elsewhere) {
      lines.push_back(state.text);
    }
  }
  for (const auto& [subject, state] : states_) {
    if (!states.contains(subject)) lines.push_back(state.mended);
  }
  states_ = std::move(states);
  return bounded(std::move(lines), now);
}

std::vector<std::string> HealthLog::bounded(std::vector<std::string> lines, WallTime now) {
  if (now - minute_ >= kMinute || now < minute_) {
    if (held_back_ > 0) {
      lines.insert(lines.begin(), std::to_string(held_back_) +
                                      " more changes of backends, certificates and listeners were not logged; what "
                                      "is amiss now is told by `edgectl status`");
    }
    minute_ = now;
    lines_ = 0;
    held_back_ = 0;
  }
  const std::size_t room = kMostLines - std::min(kMostLines, lines_);
  if (lines.size() > room) {
    held_back_ += lines.size() - room;
    lines.resize(room);
  }
  lines_ += lines.size();
  return lines;
}

HealthLog::Troubles HealthLog::troubles() const {
  Troubles troubles;
  for (const auto& [subject, state] : states_) {
    if (troubles.listed.size() < kMostListed) {
      troubles.listed.push_back({subject, state.text, state.since});
    } else {
      ++troubles.more;
    }
  }
  return troubles;
}

}  // namespace edge::agent
