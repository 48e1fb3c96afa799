// Announces a node's addresses by BGP, with a BIRD of its own whose configuration is kept up to date.
//
//   Announcements -> Configuration -> BIRD -> peers
//
// A thread of its own writes the configuration, supervises the process, and reads the state of sessions. Adding or
// removing an address resets no session. docs/virtual-addresses.md, decision 138.
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
  std::string directory;  ///< its run directory, for its exclusive use; created when missing (mode 0700)
  std::string program = "bird";
  std::string node;  ///< a name from which a router id is derived where the node has no IPv4 address
  Logger log;
  /// Called when `state` has changed. On the speaker's thread; must not wait for it.
  std::function<void()> changed;
};

struct SessionState {
  std::string peer;
  std::uint32_t peer_as = 0;
  std::string state;  ///< `Established` or `Down`: the states in between change every second while a peer is
                      ///< unreachable
  std::int64_t since_ms = 0;
  std::string last_error;
  std::string bfd;  ///< `Up`, `Down`, ...; empty: without BFD
  std::uint64_t announced = 0;
  std::vector<std::string> vips;
  bool established() const { return state == "Established"; }
  friend bool operator==(const SessionState&, const SessionState&) = default;
};

struct SpeakerState {
  bool running = false;
  std::string fault;  ///< why BIRD is not running, or rejected its configuration
  std::vector<SessionState> sessions;
  std::map<std::string, std::string> faults;  ///< by VIP: excluded peers, and why
  friend bool operator==(const SpeakerState&, const SpeakerState&) = default;
};

/// Threads: any.
class Speaker {
 public:
  /// Starts the speaker. A BIRD that another process of the agent runs there is kept alive, and reconfigured with the
  /// first announcements.
  static Result<std::unique_ptr<Speaker>> start(SpeakerOptions options);
  /// Returns whether a process of the agent runs a BIRD in that directory.
  static bool runs(const std::string& directory);
  /// Withdraws all routes and stops BIRD, unless it was handed over.
  ~Speaker();
  Speaker(const Speaker&) = delete;
  Speaker& operator=(const Speaker&) = delete;

  /// Sets the announcements, sorted by name. BIRD runs while there is one.
  void announce(std::vector<Announcement> announcements);
  /// Waits until BIRD has loaded the last configuration, two seconds at most.
  void settle();
  SpeakerState state() const;
  /// Called when another process of this node takes BIRD over: this one keeps it alive until then, and changes nothing
  /// more.
  void hand_over();

 private:
  struct Impl;
  explicit Speaker(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::agent::bgp
