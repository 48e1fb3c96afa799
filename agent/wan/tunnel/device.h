// One link of a tunnel: made by the kernel or by a wireguard-go, set up, watched, and made again when it is gone.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "agent/wan/tunnel/child.h"
#include "agent/wan/tunnel/plan.h"
#include "agent/wan/tunnel/rtnetlink.h"
#include "agent/wan/tunnel/wireguard.h"

namespace edge::agent::wan {

using SteadyTime = std::chrono::steady_clock::time_point;

/// Who runs WireGuard for the next link: the kernel where it has it, else a wireguard-go (decision 0471). A kernel that
/// has none, or whose module fails, is asked again after a while: links that are there stay with who runs them.
class Engine {
 public:
  static constexpr auto kAskAgain = std::chrono::minutes(1);

  bool try_kernel(SteadyTime now) const { return !ask_again_ || now >= *ask_again_; }
  void kernel_failed(SteadyTime now) { ask_again_ = now + kAskAgain; }

 private:
  std::optional<SteadyTime> ask_again_;
};

/// For one thread, which lives as long as its links.
class TunnelDevice {
 public:
  explicit TunnelDevice(PlannedDevice plan) : plan_(std::move(plan)) {}

  /// Keys, port or networks are others; the link stays.
  void change(PlannedDevice plan);
  /// Brings it closer to what is planned. `links`: those of the node now.
  void work(Rtnetlink& kernel, const std::vector<Link>& links, Engine& engine, const IpAddress& overlay,
            std::uint32_t mtu, SteadyTime now);
  /// Asks for its state, and tries the next endpoint where the peer does not answer.
  void look(std::chrono::seconds wall, SteadyTime now);
  void remove(Rtnetlink& kernel);
  /// Removes sockets of ours that a wireguard-go left when it was killed: nobody listens at them, for a minute at
  /// least.
  static void remove_dead_sockets();

  const PlannedDevice& plan() const { return plan_; }
  int link() const { return set_up_ ? link_ : 0; }
  const WireGuardState& state() const { return state_; }
  const std::string& fault() const { return fault_; }
  /// It is being started: what it waits for comes by itself within milliseconds.
  bool starting() const { return !set_up_ && fault_.empty(); }
  /// Whether a wireguard-go runs it.
  bool by_program() const { return child_.has_value(); }

 private:
  void make(Rtnetlink& kernel, Engine& engine, SteadyTime now);
  void start_program(SteadyTime now);
  void set_up(Rtnetlink& kernel, const Link& link, const IpAddress& overlay, std::uint32_t mtu, Engine& engine,
              SteadyTime now);
  int own_link(Rtnetlink& kernel) const;
  void lose(SteadyTime now, std::string why);
  std::string socket() const;

  PlannedDevice plan_;
  std::optional<Child> child_;
  std::optional<WireGuard> wireguard_;
  std::optional<WireGuardSettings> applied_;
  std::size_t endpoint_ = 0;  ///< of plan_.endpoints, the one that was set last
  SteadyTime endpoint_set_{};
  int link_ = 0;
  bool set_up_ = false;
  SteadyTime started_{};
  SteadyTime next_start_{};
  std::chrono::milliseconds pause_{};
  WireGuardState state_;
  std::string fault_;
};

}  // namespace edge::agent::wan
