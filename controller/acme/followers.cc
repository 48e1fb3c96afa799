// Of several controllers those that do not lead say, each in a Secret of its own that it renews, which answers to
// challenges all of its agents have reported: the leader asks a CA to look when all of them have said so.
#include <algorithm>
#include <span>
#include <utility>

#include "controller/acme/reach.h"
#include "controller/acme/round.h"
#include "program/sha256.h"

namespace edge::controller::acme {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kHasKey = "answers";
/// Changes with every write: no clocks of others are compared, as with the leader's Lease.
constexpr std::string_view kBeatKey = "beat";
/// Listeners that its agents do not reach, and whether it has agents.
constexpr std::string_view kUnreachedKey = "unreached";
constexpr std::string_view kAgentsKey = "agents";
constexpr auto kBeat = 5s;
/// One that has not renewed its Secret for so long is gone.
constexpr auto kFollowerTime = 20s;
constexpr auto kPollReports = 50ms;
constexpr std::size_t kMostDigests = 256;

std::string hash_digits(const std::string& text) {
  constexpr std::size_t kDigits = 32;
  return program::to_hex(program::sha256(std::as_bytes(std::span(text)))).substr(0, kDigits);
}

std::string digest_of(const std::string& order_secret, const std::map<std::string, std::string>& answers) {
  return hash_digits(order_secret + "\n" + write_answers(answers));
}

std::set<std::string> lines_of(std::string_view text) {
  std::set<std::string> lines;
  while (!text.empty() && lines.size() < kMostDigests) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

std::string Certificates::follower_secret() const { return "acme-controller-" + hash_digits(options_.identity); }

void Certificates::observe_follower(const std::string& name_space, const std::string& name, const SecretView& secret) {
  if (secret.role != kControllerRole || !options_.several || name_space != options_.name_space ||
      name == follower_secret())
    return;
  const std::string* const has = secret.value(kHasKey);
  Follower& follower = followers_[name];
  if (std::exchange(follower.version, secret.resource_version) != secret.resource_version) {
    follower.changed = client_.loop().now();
  }
  follower.has = lines_of(has != nullptr ? std::string_view(*has) : std::string_view());
  const std::string* const unreached = secret.value(kUnreachedKey);
  const std::string* const agents = secret.value(kAgentsKey);
  // An older controller says nothing of it.
  follower.reach.any = agents == nullptr || *agents == "true";
  follower.reach.unreached = read_unreached(unreached != nullptr ? std::string_view(*unreached) : std::string_view());
}

/// Of its agents what matters to what is ordered, for the leader.
std::string Certificates::unreached_lines() const {
  AgentsReach reach = events_.reach();
  if (reach.unreached.empty()) return {};
  std::set<std::pair<std::uint64_t, std::string>> answering;
  for (const auto& [name, entry] : entries_) {
    for (const auto* const listeners : {&entry.wanted.http_listeners, &entry.wanted.tls_listeners}) {
      for (const auto& one : *listeners) answering.emplace(one.gateway_id, one.listener);
    }
  }
  std::erase_if(reach.unreached,
                [&](const UnreachedListener& one) { return !answering.contains({one.gateway_id, one.listener}); });
  return write_unreached(reach.unreached);
}

/// Whether the agents of all other controllers have reported the answers of the round.
bool Certificates::followers_have(const Round& round) const {
  const std::string digest =
      digest_of(round.wanted.name_space + "/" + order_secret_of(round.wanted.host), round.answers);
  const net::Time now = client_.loop().now();
  return std::ranges::all_of(followers_, [&](const auto& named) {
    const Follower& follower = named.second;
    return now - follower.changed >= kFollowerTime || follower.has.contains(digest);
  });
}

bool Certificates::is_stale_follower(const std::string& name, const SecretView& secret) const {
  const auto known = followers_.find(name);
  return secret.role == kControllerRole && name != follower_secret() && known != followers_.end() &&
         client_.loop().now() - known->second.changed >= kFollowerTime;
}

/// Lines of digests of what the own agents have reported. `all`: whether that is all of it.
std::string Certificates::reported_answers(bool& all) {
  std::string text;
  all = true;
  for (auto& [secret, seen] : seen_challenges_) {
    if (!seen.counts) continue;
    // Before there was a program there was nothing to give answers with.
    if (seen.version == kNotGiven) seen.version = give_challenges();
    if (events_.acknowledged(seen.version)) {
      text += digest_of(secret, seen.answers) + "\n";
    } else {
      all = false;
    }
  }
  return text;
}

net::Task<bool> Certificates::write_follower(std::string has, std::string unreached) {
  const SecretText text{.name_space = options_.name_space,
                        .name = follower_secret(),
                        .role = std::string(kControllerRole),
                        .data = {{std::string(kHasKey), std::move(has)},
                                 {std::string(kUnreachedKey), std::move(unreached)},
                                 {std::string(kAgentsKey), events_.reach().any ? "true" : "false"},
                                 {std::string(kBeatKey), std::to_string(++beats_)}}};
  const std::string body = write_secret(text);
  kube::ObjectReply reply = co_await client_.update(follower_->waiter, secrets_, text.name_space, text.name, body);
  if (reply.failure.not_found()) {
    reply = co_await client_.create(follower_->waiter, secrets_, text.name_space, body);
  }
  if (!reply.ok() && !reply.failure.conflict() && !reply.failure.already_exists()) {
    const std::string fault =
        "the Secret " + text.name + ", by which the leader knows this controller: " + reply.failure.text();
    if (std::exchange(follower_fault_, fault) != fault) options_.log.warn(fault, {});
  }
  if (reply.ok()) follower_fault_.clear();
  co_return reply.ok();
}

/// Until it is time, or wake_follower() was called since the last wait.
net::Task<bool> Certificates::pause_follower(net::Time until) {
  if (!std::exchange(follower_woken_, false) && !stopping_) {
    const net::Wake wake = co_await follower_pause_->wait(until);
    follower_woken_ = false;
    co_return wake != net::Wake::kCancelled;
  }
  co_return !stopping_;
}

net::Detached Certificates::follow() {
  ++running_;
  std::string written;
  bool kept = false;
  net::Time beat = client_.loop().now() - kBeat;
  while (!stopping_) {
    bool all = true;
    // Where nothing is ordered there is nothing to say, and perhaps no right to write Secrets.
    const bool speaks = !leads_ && !secrets_.plural.empty() && (!entries_.empty() || !seen_challenges_.empty());
    if (speaks) {
      const std::string has = reported_answers(all);
      const std::string unreached = unreached_lines();
      const net::Time now = client_.loop().now();
      const bool due = now - beat >= kBeat;
      // A write that failed is repeated with the next beat, however often reports are looked at.
      if (due || (kept && has + unreached != written)) {
        kept = co_await write_follower(has, unreached);
        written = has + unreached;
        beat = now;
      }
    } else if (kept) {
      (void)co_await client_.remove(follower_->waiter, secrets_, options_.name_space, follower_secret(), {});
      kept = false;
      beat = client_.loop().now() - kBeat;
    }
    if (stopping_) break;
    (void)co_await pause_follower(client_.loop().now() + (all ? net::Duration(kBeat) : net::Duration(kPollReports)));
  }
  --running_;
  finish_when_idle();
}

}  // namespace edge::controller::acme
