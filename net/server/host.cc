#include "net/server/host.h"

#include <algorithm>
#include <ctime>
#include <random>
#include <utility>
#include <vector>

#include "base/text/times.h"

namespace edge::net::server {
namespace {

http1::HeadLimits limits_of(const ServerOptions& options) {
  http1::HeadLimits limits;
  limits.max_bytes = options.max_head;
  limits.max_target = options.max_head / 2;
  return limits;
}

std::uint64_t seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

/// Who has an IPv6 address has its /64.
IpAddress source_of(IpAddress client) {
  if (!client.is_v4()) std::fill(client.bytes.begin() + 8, client.bytes.end(), std::uint8_t{0});
  return client;
}

}  // namespace

Host::Host(Loop& loop, ServerOptions options, Handler handler)
    : loop_(loop),
      options_(std::move(options)),
      handler_(std::move(handler)),
      limits_(limits_of(options_)),
      http2_({.head = limits_, .max_streams = options_.max_streams}, seed()),
      scratch_(std::make_unique<char[]>(2 * kScratch)) {}

bool Host::hold(std::size_t bytes) {
  if (bytes > options_.max_bodies - std::min(held_, options_.max_bodies)) return false;
  held_ += bytes;
  return true;
}

bool Host::has_room(const IpAddress& client) const {
  if (connections_ >= options_.max_connections) return false;
  const auto found = of_source_.find(source_of(client));
  return found == of_source_.end() || found->second < options_.max_connections_per_source;
}

void Host::count(Session& session, const IpAddress& client) {
  session.source = source_of(client);
  ++connections_;
  ++of_source_[*session.source];
}

void Host::hand_over(Session& from, Session& to) {
  to.source = std::exchange(from.source, std::nullopt);
  keep(to);
}

void Host::forget(Session& session) {
  sessions_.erase(&session);
  if (session.source) {
    --connections_;
    const auto of_source = of_source_.find(*session.source);
    if (--of_source->second == 0) of_source_.erase(of_source);
  }
  loop_.retire(std::unique_ptr<Retirable>(&session));
  if (sessions_.empty() && emptied_) std::exchange(emptied_, {})();
}

void Host::drain(std::function<void()> emptied) {
  draining_ = true;
  emptied_ = std::move(emptied);
  // A session may end at once, and take others along: the ones that are left are known by the set.
  const std::vector<Session*> all(sessions_.begin(), sessions_.end());
  for (Session* session : all) {
    if (sessions_.contains(session)) session->drain();
  }
  if (sessions_.empty() && emptied_) std::exchange(emptied_, {})();
}

void Host::cancel_all() {
  const std::vector<Session*> all(sessions_.begin(), sessions_.end());
  for (Session* session : all) {
    if (sessions_.contains(session)) session->cancel();
  }
}

std::string_view Host::date() {
  if (date_[0] == '\0' || loop_.now() - date_read_at_ >= std::chrono::milliseconds(500)) {
    date_read_at_ = loop_.now();
    write_http_date(std::time(nullptr), date_);
  }
  return date_.data();
}

}  // namespace edge::net::server
