// The implementation of Holder: the state of its thread. For holder.cc and holder_report.cc only.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

#include "agent/vip/announcer.h"
#include "agent/vip/holder.h"
#include "agent/vip/moved_connections.h"
#include "agent/vip/neighbours.h"
#include "agent/vip/placement.h"
#include "agent/vip/state_file.h"

namespace edge::agent::vip {

inline constexpr std::size_t kCauseCount = 8;

/// Returns the time since boot, including suspended time.
Time boot_time();

struct Holder::Impl {
  /// A kernel address added by this process.
  struct Kept {
    int link = 0;
    IpAddress address;
    std::uint8_t prefix_length = 128;
    Time since{};
    std::size_t announced = 0;
    Time next_announcement{};
  };
  struct Facts {
    Placement placement;
    Time yielded{};   ///< gave the address up to another machine, until then
    Time defended{};  ///< not announced against a claim again before
    std::uint64_t conflicts = 0;
    std::string conflict;  ///< the conflict, as a sentence; empty: none recently
    std::string cause;
    std::string from;
  };

  Impl(HolderOptions given, State kept_state, Netlink link)
      : options(std::move(given)),
        state(std::move(kept_state)),
        netlink(std::move(link)),
        connections(options.log, options.drain_timeout),
        assignment(options.name, state.instance, boot_time()),
        rights(own_rights()),
        announcer({.directory = options.bird_directory,
                   .program = options.bird,
                   .node = options.name,
                   .log = options.log,
                   .changed = [this] { wake_up(); }}) {}

  HolderOptions options;
  State state;
  Netlink netlink;
  std::optional<Neighbours> neighbours;
  net::Fd words;
  net::Fd wake;
  std::thread thread;

  mutable std::mutex mutex;  ///< guards all that follows, and everything above but the descriptors
  std::condition_variable stepped;
  MovedConnections connections;
  Assignment assignment;
  Rights rights;
  Announcer announcer;  ///< for addresses of mode BGP
  Addresses addresses;
  Labels labels;  ///< that selectors are asked with: the agent's own, and those of its Node
  std::map<std::uint64_t, Facts> facts;
  std::map<std::uint64_t, Kept> kept;
  std::map<std::string, net::SocketAddress> members;   ///< where messages are sent; never forgotten
  std::map<std::string, net::SocketAddress> heard_at;  ///< where their messages come from, which takes precedence
  std::array<std::uint64_t, kCauseCount> moves{};
  Time next_beat{};
  Time next_look{};
  std::vector<AddressWord> said;
  bool look = true;
  bool stopping = false;
  bool quiet = false;                               ///< another process has taken over
  bool leaving = false;                             ///< addresses stay, though listeners close
  std::chrono::steady_clock::time_point left_at{};  ///< when `leaving` began
  std::string reported;

  void run();
  void wait();
  void begin_to_hear(Time time);
  void hear();
  void hear_claims();
  void conflict(const VirtualAddress& address, const Claimed& claimed, Time time);
  void look_around(Time time);
  void step(Time time);
  void apply(const Move& move, Time time);
  void take_over(const Move& move, Time time);
  void give(const Move& move, Time time);
  Word word();
  bool keep(std::uint64_t id, Time time);
  void let_go(std::uint64_t id);
  void refresh(Time time);
  void announce(Time time);
  void say(Time time);
  void tell(const std::string& fault);
  const VirtualAddress* find(std::uint64_t id) const;
  void wake_up() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(wake.get(), &one, sizeof one);
  }
};

}  // namespace edge::agent::vip
