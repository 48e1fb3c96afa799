#include "runtime/tls/wanted_names.h"

#include <algorithm>
#include <utility>

namespace edge::runtime {
namespace {

std::string key_of(const net::tls::OnDemand& by, std::string_view host = {}) {
  std::string key = by.name_space + "\n" + by.secret + "\n";
  key.append(host);
  return key;
}

/// A client with IPv6 has a /64 to choose addresses from.
std::string client_key(const IpAddress& client) {
  constexpr std::size_t kPrefix = 8;
  if (client.is_v4()) return to_string(client);
  return std::string(reinterpret_cast<const char*>(client.bytes.data()), kPrefix);
}

}  // namespace

/// Under the lock, as the next ones.
void WantedNames::add(WantedName name, net::Time now) {
  if (name.served) {
    // One that nobody has taken since it was told is told once.
    std::erase(used_, name);
    if (used_.size() >= kMostPending) used_.pop_front();
    return used_.push_back(std::move(name));
  }
  while (!wanted_.empty() && (wanted_.size() >= kMostPending || now - wanted_.front().told >= kToldAgain)) {
    wanted_.pop_front();
  }
  wanted_.push_back({std::move(name), now});
}

bool WantedNames::tell(Told& told, const net::tls::OnDemand& by, std::string_view host, net::Time now) {
  if (told.known.size() >= kMostKnown && now - told.swept >= kBetweenSweeps) {
    told.swept = now;
    std::erase_if(told.known, [&](const auto& named) { return now - named.second >= told.again; });
  }
  std::string key = key_of(by, host);
  const auto found = told.known.find(key);
  if (found != told.known.end() && now - found->second < told.again) return false;
  if (found == told.known.end() && told.known.size() >= kMostKnown) return false;
  told.known.insert_or_assign(std::move(key), now);
  add({by.name_space, by.secret, std::string(host), &told == &uses_}, now);
  return true;
}

void WantedNames::begin_minute(net::Time now) {
  if (now - minute_ < std::chrono::minutes(1)) return;
  minute_ = now;
  asked_ = 0;
  for (Askers* const askers : {&clients_, &listeners_}) {
    std::erase_if(*askers, [](const auto& named) { return named.second.waiting == 0; });
    for (auto& [name, one] : *askers) one.asked = 0;
  }
}

/// Strangers with many addresses keep no other client from being counted: what one of theirs asks for once more after
/// it was forgotten is within the bounds of the listener.
WantedNames::Asker& WantedNames::client_of(const IpAddress& address) {
  std::string key = client_key(address);
  if (clients_.size() >= kMostClients && !clients_.contains(key)) {
    const auto idle = std::ranges::find_if(clients_, [](const auto& named) { return named.second.waiting == 0; });
    if (idle != clients_.end()) clients_.erase(idle);
  }
  return clients_[std::move(key)];
}

bool WantedNames::is_within_rate(Asker& listener, Asker& client) {
  if (listener.asked >= kMostOfListener || client.asked >= kMostOfClient) return false;
  if (asked_ >= kMostInMinute && listener.asked >= kOwnOfListener) return false;
  ++asked_;
  ++listener.asked;
  ++client.asked;
  return true;
}

bool WantedNames::want(const net::tls::OnDemand& by, std::string_view host, const IpAddress& address, net::Time now) {
  const std::lock_guard lock(mutex_);
  begin_minute(now);
  Asker& listener = listeners_[key_of(by)];
  Asker& client = client_of(address);
  const auto found = names_.known.find(key_of(by, host));
  const bool told = found != names_.known.end() && now - found->second < kToldAgain;
  if (told && now - found->second >= kWait) return false;
  if (!told && (!is_within_rate(listener, client) || !tell(names_, by, host, now))) return false;
  if (listener.waiting >= kMostWaitingOfListener || client.waiting >= kMostWaitingOfClient) return false;
  if (waiting_ >= kMostWaiting && listener.waiting >= kOwnWaitingOfListener) return false;
  ++waiting_;
  ++listener.waiting;
  ++client.waiting;
  return true;
}

void WantedNames::leave(const net::tls::OnDemand& by, const IpAddress& address) {
  const std::lock_guard lock(mutex_);
  const auto client = clients_.find(client_key(address));
  const auto listener = listeners_.find(key_of(by));
  if (client == clients_.end() || listener == listeners_.end()) return;
  if (client->second.waiting == 0 || listener->second.waiting == 0) return;
  --client->second.waiting;
  --listener->second.waiting;
  --waiting_;
}

void WantedNames::use(const net::tls::OnDemand& by, std::string_view host, net::Time now) {
  const std::lock_guard lock(mutex_);
  tell(uses_, by, host, now);
}

std::vector<WantedName> WantedNames::take(std::size_t most, net::Time now) {
  const std::lock_guard lock(mutex_);
  std::vector<WantedName> taken;
  // A client waits for these.
  for (; !wanted_.empty() && taken.size() < most; wanted_.pop_front()) {
    if (now - wanted_.front().told < kToldAgain) taken.push_back(std::move(wanted_.front().name));
  }
  for (; !used_.empty() && taken.size() < most; used_.pop_front()) taken.push_back(std::move(used_.front()));
  return taken;
}

}  // namespace edge::runtime
