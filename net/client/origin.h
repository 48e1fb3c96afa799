// The connections of one thread to one origin: made, lent, kept for a while, bounded.
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
  /// Whoever it is made for; may be null.
  Channel* asker;

  /// Until a channel can be used, or nobody is there any more to use it for.
  Waiter::Awaiter wait(Channel& channel, std::uint8_t interest) const {
    return asker == nullptr ? waiter.wait(until, channel, interest)
                            : waiter.wait(until, channel, interest, *asker, kHangUp);
  }
  /// Until somebody wakes the waiter.
  Waiter::Awaiter wait() const { return asker == nullptr ? waiter.wait(until) : waiter.wait(until, *asker, kHangUp); }
  /// What a wait has come to.
  Wake outcome(Wake wake) const { return asker != nullptr && asker->hung_up() ? Wake::kCancelled : wake; }
};

class Connection final : public Channel {
 public:
  explicit Connection(Origin& origin) : origin_(origin), expiry_(*this) {}

  /// It carried a request before, and may have died since.
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

  /// Closed by the peer while idle, or bytes that nobody asked for: either way it is of no use.
  void unattended(std::uint8_t events) override;

  Origin& origin_;
  Expiry expiry_;
  std::uint32_t uses_ = 1;
  bool idle_ = false;
};

/// Owned by the client and by the calls that are under way.
class Origin : public std::enable_shared_from_this<Origin> {
 public:
  /// What the origins of a client share.
  struct Room {
    Loop& loop;
    Resolver& resolver;
    tls::RecordRoom& records;
    ClientOptions options;
    ClientCounts& counts;
  };
  /// Leaves the addresses that a call may go to.
  static void keep_allowed(std::vector<IpAddress>& addresses, const ClientOptions& options);
  struct Got {
    std::unique_ptr<Connection> connection;
    CallFault fault = CallFault::kNone;
    std::string detail{};
  };

  /// `security`: not looked at for http; null: nobody is believed.
  Origin(Room& room, const Url& url, std::shared_ptr<const tls::ClientSettings> security);
  ~Origin();
  Origin(const Origin&) = delete;
  Origin& operator=(const Origin&) = delete;

  /// A kept connection, or a new one; `fresh`: never a kept one.
  Task<Got> acquire(const Patience& patience, bool fresh);
  /// `keep`: the answer was read to its end, and both sides let the connection live.
  void release(std::unique_ptr<Connection> connection, bool keep);
  void close_idle();
  /// Nobody uses it and nothing is kept.
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
  Task<CallFault> connect_to(Waiter& waiter, Connection& connection, IpAddress address, Time until);
  Task<CallFault> secure(Waiter& waiter, Connection& connection, Time until);
  bool prepare_tls();

  Room& room_;
  const Url url_;
  const std::shared_ptr<const tls::ClientSettings> security_;
  std::shared_ptr<const tls::ClientContext> tls_;
  std::shared_ptr<tls::Resumption> resumption_;
  std::string tls_fault_;
  /// The last to come is the first to go: the others get old.
  std::vector<std::unique_ptr<Connection>> idle_;
  std::size_t open_ = 0;
  std::deque<Waiter*> pending_;
};

}  // namespace edge::net::client
