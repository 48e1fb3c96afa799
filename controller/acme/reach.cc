// A CA is not asked to look for the answer to a challenge where another process would be met: the order waits until the
// listeners that are to answer listen at every agent.
#include "controller/acme/reach.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "controller/acme/round.h"
#include "program/values/ordered_certificates.h"

namespace edge::controller::acme {
namespace {

using compiler::AnsweringListener;
using compiler::ChallengeKind;
using namespace std::chrono_literals;

constexpr std::size_t kMostLines = 64;
/// One that has not renewed its Secret for so long is gone, as in followers.cc.
constexpr auto kFollowerTime = 20s;
constexpr auto kHearing = 3s;
constexpr std::string_view kNotReady = "ListenerNotReady";

/// Why the listeners do not answer: none of them listens at every agent. Empty: one does, or none is known.
std::string reason_of(const std::vector<AnsweringListener>& listeners,
                      const std::vector<UnreachedListener>& unreached) {
  std::string reason;
  for (const AnsweringListener& listener : listeners) {
    const auto found = std::ranges::find_if(unreached, [&](const UnreachedListener& one) {
      return one.gateway_id == listener.gateway_id && one.listener == listener.listener;
    });
    if (found == unreached.end()) return {};
    if (reason.empty()) reason = "listener " + listener.gateway + " " + listener.listener + ": " + found->reason;
  }
  return reason;
}

}  // namespace

std::string write_unreached(const std::vector<UnreachedListener>& listeners) {
  std::string text;
  std::size_t count = 0;
  for (const UnreachedListener& one : listeners) {
    if (++count > kMostLines) break;
    text += std::to_string(one.gateway_id) + " " + one.listener + " " + printable(one.reason) + "\n";
  }
  return text;
}

std::vector<UnreachedListener> read_unreached(std::string_view lines) {
  std::vector<UnreachedListener> listeners;
  while (!lines.empty() && listeners.size() < kMostLines) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    UnreachedListener one;
    const auto [end, fault] = std::from_chars(line.data(), line.data() + line.size(), one.gateway_id);
    const auto first = static_cast<std::size_t>(end - line.data());
    const std::size_t second = line.find(' ', first + 1);
    if (fault != std::errc() || first >= line.size() || line[first] != ' ' || second == std::string_view::npos)
      continue;
    one.listener = line.substr(first + 1, second - first - 1);
    one.reason = printable(line.substr(second + 1));
    listeners.push_back(std::move(one));
  }
  return listeners;
}

/// Why a CA that comes for an answer of this kind would not find it at every agent. Empty: it would.
std::string Certificates::unreached_by(const compiler::OrderedCertificate& wanted, ChallengeKind kind) const {
  if (kind == ChallengeKind::kDns01) return {};
  // Others write their Secrets once something is ordered.
  if (options_.several && client_.loop().now() - wanted_since_ < kHearing) return "other controllers are heard first";
  const auto& listeners = kind == ChallengeKind::kHttp01 ? wanted.http_listeners : wanted.tls_listeners;
  const AgentsReach own = events_.reach();
  std::string reason = reason_of(listeners, own.unreached);
  bool any = own.any;
  const net::Time now = client_.loop().now();
  for (const auto& [name, follower] : followers_) {
    if (now - follower.changed >= kFollowerTime) continue;
    any = any || follower.reach.any;
    if (reason.empty()) reason = reason_of(listeners, follower.reach.unreached);
  }
  return reason.empty() && !any ? "no agent is connected that could answer" : reason;
}

/// Those of the settings that can be answered now, in their order; `why`: of the first that cannot.
std::vector<ChallengeKind> Certificates::answerable(const compiler::OrderedCertificate& wanted,
                                                    std::string& why) const {
  std::vector<ChallengeKind> kinds;
  for (const ChallengeKind kind : wanted.settings.challenges) {
    std::string reason = unreached_by(wanted, kind);
    if (reason.empty()) {
      kinds.push_back(kind);
    } else if (why.empty()) {
      why = std::move(reason);
    }
  }
  return kinds;
}

/// Says it once: in the order's Secret, the log, the conditions of the issuer and an event of the gateway.
/// \returns when to look again.
net::Task<std::int64_t> Certificates::wait_for_listener(Worker& worker, Round& round, std::string why) {
  constexpr std::int64_t kNext = 1;
  constexpr std::int64_t kQuiet = 5;
  if (round.state.waits_for == why) {
    note(round, "waiting", why);
    co_return now() + kSoon;
  }
  // Where a process has just started, agents come within moments, as do ports that another process leaves.
  const auto entry = entries_.find({round.wanted.name_space, round.wanted.host});
  if (entry == entries_.end()) co_return now() + kSoon;
  if (std::exchange(entry->second.unreached, why) != why) entry->second.unreached_since = now();
  const std::int64_t since = now() - entry->second.unreached_since;
  if (since >= 0 && since < kQuiet) co_return now() + kNext;
  round.state.waits_for = why;
  const bool saved = co_await save(worker, round);
  if (!saved) co_return now() + kSoon;
  note(round, "waiting", why);
  const std::string message = round.wanted.host + ": " + why;
  (void)co_await record(worker, round, kube::EventLevel::kWarning, "CertificateWaits", message);
  (void)co_await write_conditions(worker, round, "Issued",
                                  {.holds = false, .reason = std::string(kNotReady), .message = message});
  co_return now() + kSoon;
}

}  // namespace edge::controller::acme
