// Shared state of one server's connections, and the list of them. Internal to this folder.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_set>

#include "base/ip.h"
#include "net/http1/head.h"
#include "net/http1/parse.h"
#include "net/http2/server_link.h"
#include "net/loop.h"
#include "net/server/http_server.h"
#include "net/tls/record_layer.h"

namespace edge::net::server {

/// A connection in one of its states, or a stream of one. Lives from Host::keep to Host::forget, which the object calls
/// itself when it has ended.
class Session : public Retirable {
 public:
  /// Ends as soon as nothing is in flight; possibly at once.
  virtual void drain() = 0;
  /// Ends now, whatever it waits for.
  virtual void cancel() = 0;
  /// The client's address, for counting connections; not set for an HTTP/2 stream.
  std::optional<IpAddress> source{};
};

class Host {
 public:
  Host(Loop& loop, ServerOptions options, Handler handler);

  Loop& loop() { return loop_; }
  const ServerOptions& options() const { return options_; }
  const Handler& handler() const { return handler_; }
  const http1::HeadLimits& head_limits() const { return limits_; }
  http2::ServerEngine& http2() { return http2_; }
  tls::RecordRoom& records() { return records_; }
  void replace_tls(std::shared_ptr<const tls::Sites> tls) { options_.tls = std::move(tls); }

  /// Scratch of the thread: not used across suspensions.
  std::span<char> scratch_in() { return {scratch_.get(), kScratch}; }
  std::span<char> scratch_out() { return {scratch_.get() + kScratch, kScratch}; }
  http1::RequestHead& head() { return head_; }

  /// Reserves memory for request bodies. \returns false at the limit.
  bool hold(std::size_t bytes);
  void let_go(std::size_t bytes) { held_ -= bytes; }

  void keep(Session& session) { sessions_.insert(&session); }
  /// Transfers the connection of `from` to `to`.
  void hand_over(Session& from, Session& to);
  void forget(Session& session);
  bool has_room(const IpAddress& client) const;
  void count(Session& session, const IpAddress& client);
  std::size_t connections() const { return connections_; }

  bool draining() const { return draining_; }
  /// `emptied` is called once no session is left.
  void drain(std::function<void()> emptied);
  void cancel_all();

  /// Returns the value of a Date field (RFC 9110 §5.6.7).
  std::string_view date();

 private:
  static constexpr std::size_t kScratch = std::size_t{64} << 10;

  Loop& loop_;
  ServerOptions options_;
  Handler handler_;
  http1::HeadLimits limits_;
  http2::ServerEngine http2_;
  tls::RecordRoom records_;
  std::unique_ptr<char[]> scratch_;
  http1::RequestHead head_;
  std::unordered_set<Session*> sessions_;
  std::size_t connections_ = 0;
  std::map<IpAddress, std::size_t> of_source_;
  std::size_t held_ = 0;
  bool draining_ = false;
  std::function<void()> emptied_;
  std::array<char, 30> date_{};
  Time date_read_at_{};
};

}  // namespace edge::net::server
