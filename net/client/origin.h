// The connections of one thread to one origin: opened, leased, pooled for a while, limited.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "net/client/http_client.h"

namespace edge::net::client {

class Origin;

/// Where a call waits, and how long.
struct Patience {
  Waiter& waiter;
  Time until;
  /// The connection that the call is made for; may be null.
  Channel* asker;

  /// Waits until a channel can be used, or `asker` hangs up.
  Waiter::Awaiter wait(Channel& channel, std::uint8_t interest) const {
    return asker == nullptr ? waiter.wait(until, channel, interest)
                            : waiter.wait(until, channel, interest, *asker, kHangUp);
  }
  /// Waits until the waiter is woken.
  Waiter::Awaiter wait() const { return asker == nullptr ? waiter.wait(until) : waiter.wait(until, *asker, kHangUp); }
  /// Returns the result of a wait.
  Wake outcome(Wake wake) const { return asker != nullptr && asker->hung_up() ? Wake::kCancelled : wake; }
};

class Connection final : public Channel {
 public:
  explicit Connection(Origin& origin) : origin_(origin), expiry_(*this) {}

  /// Returns whether it carried a request before, and may have died since.
  bool reused() const { return uses_ > 1; }

 private:
  friend class Origin;
  class Expiry final : public TimerNode {
   public:
    explicit Expiry(Connection& connection) : connection_(connection) {}
    void expired() override;

   private:
    Connection& connection_;
  };

  /// Called for events while idle: closed by the peer, or unexpected bytes; the connection is discarded in both cases.
  void unattended(std::uint8_t events) override;

  Origin& origin_;
  Expiry expiry_;
  std::uint32_t uses_ = 1;
  bool idle_ = false;
};

/// Owned by the client and by calls in progress.
class Origin : public std::enable_shared_from_this<Origin> {
 public:
  /// Shared by the origins of a client.
  struct Room {
    Loop& loop;
    Resolver& resolver;
    tls::RecordRoom& records;
    ClientOptions options;
    ClientCounts& counts;
  };
  /// Removes the addresses that calls may not go to.
  static void keep_allowed(std::vector<IpAddress>& addresses, const ClientOptions& options);
  struct Got {
    std::unique_ptr<Connection> connection;
    CallFault fault = CallFault::kNone;
    std::string detail{};
  };

  /// `security`: ignored for http; null: no certificate is trusted.
  Origin(Room& room, const Url& url, std::shared_ptr<const tls::ClientSettings> security);
  ~Origin();
  Origin(const Origin&) = delete;
  Origin& operator=(const Origin&) = delete;

  /// Returns a pooled connection, or a new one; `fresh`: always a new one.
  Task<Got> acquire(const Patience& patience, bool fresh);
  /// `keep`: the response was read to its end, and both sides keep the connection alive.
  void release(std::unique_ptr<Connection> connection, bool keep);
  void close_idle();
  /// Returns whether it has no connections and no waiting calls.
  bool unused() const { return open_ == 0 && pending_.empty(); }

 private:
  friend class Connection;

  std::unique_ptr<Connection> take_idle();
  void discard(std::unique_ptr<Connection> connection);
  void drop_idle(Connection& connection);
  void wake_next();
  Task<Got> wait_for_room(Patience patience, bool fresh);
  Task<Got> connect(Waiter& waiter, Time until);
  Got dial();
  /// These two: \returns the fault with its detail, and no connection.
  Task<Got> connect_to(Waiter& waiter, Connection& connection, IpAddress address, Time until);
  Task<Got> secure(Waiter& waiter, Connection& connection, Time until);
  bool prepare_tls();

  Room& room_;
  const Url url_;
  const std::shared_ptr<const tls::ClientSettings> security_;
  std::shared_ptr<const tls::ClientContext> tls_;
  std::shared_ptr<tls::Resumption> resumption_;
  std::string tls_fault_;
  /// Used last in, first out, so that surplus connections expire.
  std::vector<std::unique_ptr<Connection>> idle_;
  std::size_t open_ = 0;
  std::deque<Waiter*> pending_;
};

}  // namespace edge::net::client
