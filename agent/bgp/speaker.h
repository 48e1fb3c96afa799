// What a node announces by BGP: a BIRD of its own, whose configuration follows the addresses.
//
//   Announcements -> Configuration -> BIRD -> peers
//
// A thread of its own writes the configuration, looks after the process, and asks for its sessions. An address that
// comes or goes resets no session. docs/virtual-addresses.md, decision 138.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/bgp/settings.h"
#include "base/log.h"
#include "base/result.h"

namespace edge::agent::bgp {

struct SpeakerOptions {
  std::string directory;  ///< its run directory, of nobody else; made where it is missing (mode 0700)
  std::string program = "bird";
  std::string node;  ///< a name that makes a router id where the node has no IPv4 address
  Logger log;
  /// What `state` says is another. From the speaker's thread; must not wait for it.
  std::function<void()> changed;
};

struct SessionState {
  std::string peer;
  std::uint32_t peer_as = 0;
  std::string state;  ///< `Established` or `Down`: what lies between changes every second while a peer is away
  std::int64_t since_ms = 0;
  std::string last_error;
  std::string bfd;  ///< `Up`, `Down`, ...; empty: BFD does not watch it
  std::uint64_t announced = 0;
  std::vector<std::string> vips;
  bool established() const { return state == "Established"; }
  friend bool operator==(const SessionState&, const SessionState&) = default;
};

struct SpeakerState {
  bool running = false;
  std::string fault;  ///< why BIRD does not run, or does not take its configuration
  std::vector<SessionState> sessions;
  std::map<std::string, std::string> faults;  ///< by VIP: a peer that was left out, and why
  friend bool operator==(const SpeakerState&, const SpeakerState&) = default;
};

/// Every function from any thread.
class Speaker {
 public:
  /// A BIRD that another process of the agent runs there is kept alive from now on, and changed with the first
  /// announcements.
  static Result<std::unique_ptr<Speaker>> start(SpeakerOptions options);
  /// Whether a process of the agent runs a BIRD in that directory.
  static bool runs(const std::string& directory);
  /// Withdraws everything, and ends BIRD, unless it was handed over.
  ~Speaker();
  Speaker(const Speaker&) = delete;
  Speaker& operator=(const Speaker&) = delete;

  /// In the order of their names. BIRD runs as long as there is one.
  void announce(std::vector<Announcement> announcements);
  /// Waits until what was said last is BIRD's configuration, two seconds at most.
  void settle();
  SpeakerState state() const;
  /// Another process of this node goes on with BIRD: this one keeps it alive until it ends, and changes nothing more.
  void hand_over();

 private:
  struct Impl;
  explicit Speaker(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::agent::bgp
