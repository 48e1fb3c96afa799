// Measures the links and tunnels of a site, answers the probes of other sites, and chooses the tunnels of every policy:
//
//   Measured (controller, tunnels of the kernel) -> probes -> PathMeter, Fitness -> Choice -> MeasuredState
//
// One thread does all of it. docs/sdwan.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/wan/choice.h"
#include "agent/wan/probe_path.h"
#include "agent/wan/reflector.h"
#include "agent/wan/stamp.h"
#include "base/log.h"
#include "base/result.h"

namespace edge::agent::wan {

struct MeasuredLink {
  std::string id;  ///< `namespace/name`
  bool enabled = true;
  bool metered = false;
  bool backup = false;
  std::uint32_t up_mbps = 0;  ///< weight of LoadBalance; 0: not known
  std::string interface{};
  ProbeKind kind = ProbeKind::kStamp;
  std::vector<IpAddress> targets{};  ///< of kIcmp and kTcp
  std::uint16_t target_port = 0;
  ProbeSettings probe{};
  Limits limits{};
};

struct MeasuredTunnel {
  std::string link;  ///< of `links`
  std::string peer_site;
  std::string peer_link;
  std::string interface{};  ///< that carries it; empty: none is there now
  IpAddress peer_overlay{};
  std::optional<IpAddress>
      outside{};  ///< of the peer's link; nullopt: not known, nothing is measured beside the tunnel
  std::uint16_t query_session = 0;
  std::string query_key{};
  std::uint16_t answer_session = 0;
  std::string answer_key{};
};

struct MeasuredPolicy {
  std::string id;  ///< empty: what no policy is for
  ChoiceSettings settings{};
  Limits limits{};
  std::vector<std::string> links{};  ///< the preferred first
};

struct Measured {
  std::vector<MeasuredLink> links{};
  std::vector<MeasuredTunnel> tunnels{};
  std::vector<MeasuredPolicy> policies{};
  std::optional<IpAddress> overlay{};  ///< that probes within tunnels come from; nullopt: the kernel chooses
  std::uint16_t reflector_port = kStampPort;
};

/// Numbers of sessions beside tunnels are larger by this than those within.
inline constexpr std::uint16_t kOutsideSession = 32'768;

struct PathReport {
  bool measured = false;
  bool alive = false;
  Fault fault = Fault::kNone;  ///< of the link's own limits
  std::int64_t since_ms = 0;   ///< since 1970: when the fault began, or the last one ended; 0: not known
  Quality quality{};
  std::int64_t last_answer_ms = 0;
  std::string cannot{};  ///< why nothing can be sent; empty: it can
};

struct PolicyReport {
  std::string policy;
  std::string peer_site;
  std::vector<std::size_t> tunnels{};    ///< chosen, of Measured::tunnels
  std::vector<std::uint32_t> weights{};  ///< one for each
  bool best_effort = false;
  bool dropped = false;
  std::int64_t since_ms = 0;  ///< of the last move
  Cause cause = Cause::kStart;
  Fault fault = Fault::kNone;
  std::vector<std::size_t> before{};
  std::uint64_t moves = 0;
  friend bool operator==(const PolicyReport&, const PolicyReport&) = default;
};

struct MeasuredState {
  std::uint64_t version = 0;  ///< another one once a tunnel lives or not, or a choice is another
  std::vector<PathReport> links{};
  std::vector<PathReport> tunnels{};
  std::vector<PolicyReport> policies{};
  ReflectorFigures reflector{};
  std::string fault{};  ///< of the reflector; empty: none
};

struct MeasurerOptions {
  Logger log;
  /// Called on the measuring thread when MeasuredState::version is another; must not wait for it. May be null.
  std::function<void()> changed;
};

/// Threads: any.
class Measurer {
 public:
  /// Starts the thread, in the network namespace of the caller.
  static Result<std::unique_ptr<Measurer>> start(MeasurerOptions options);
  ~Measurer();
  Measurer(const Measurer&) = delete;
  Measurer& operator=(const Measurer&) = delete;

  /// What is measured from now on; what stays keeps its measurements and choices. Returns once it is so; not to be
  /// called by MeasurerOptions::changed.
  void set(Measured measured);
  MeasuredState state() const;

 private:
  struct Impl;
  explicit Measurer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::agent::wan
