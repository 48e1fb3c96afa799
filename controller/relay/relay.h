// A relay: stands in at a site for the hub's controller. The site's agents join it, and take from it the programs that
// the hub compiled and signed; the hub sees them as its own, by the site's name. docs/clusters.md, decision 0331.
//
//   hub <-- Spoke (signs of life) --- Relay --- Distributor <-- agents of the site
//       <-- HubSession (programs,       |
//           values, agents)             +-- SectionStore, KeptGroups (disk)
//
// It has no key that programs are signed with, and no resources. While the hub is away it gives what it had last.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "controller/distribute/agent_answer.h"
#include "controller/relay/section_store.h"
#include "controller/remote/spoke.h"

namespace edge::controller {
class Distributor;
}

namespace edge::controller::relay {

struct RelayOptions {
  std::string data_dir;  ///< must exist
  std::string hub{};     ///< as remote::SpokeOptions
  std::string hub_join{};
  std::string listen = "0.0.0.0:9090";  ///< for the site's agents; DistributorOptions
  std::string listen_flag{};
  std::string group_label{};
  std::uint64_t most_section_bytes = std::uint64_t{2} << 30;  ///< on disk, but for those of programs in use
  Logger log{};
  std::function<AgentAnswer(const AgentQuestion&)> own_pages{};  ///< DistributorOptions
};

/// More are left out.
inline constexpr std::size_t kMostSiteGroups = 64;

struct RelayFigures {
  std::size_t groups = 0;      ///< that agents of the site are in
  std::size_t programs = 0;    ///< of these, those with a program
  std::size_t incomplete = 0;  ///< of these, those whose secrets are not known: the hub was not there since the start
  std::uint64_t received_bytes = 0;  ///< of sections, from the hub
  std::uint64_t programs_taken = 0;  ///< from the hub
  std::uint64_t sessions = 0;        ///< with the hub, that it has welcomed
  bool in_session = false;
  SectionStore::Figures store;
  remote::SpokeView spoke;
};

/// Thread-safe.
class Relay {
 public:
  /// Fails when there is neither a certificate nor a join file of the hub, or the port is taken; not when the hub is
  /// unreachable.
  static Result<std::unique_ptr<Relay>> start(RelayOptions options);
  /// Agents serve on.
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  const Distributor& agents() const;
  RelayFigures figures() const;
  /// Whether there is something to give to each group that agents are in.
  bool ready() const;

 private:
  struct Impl;
  explicit Relay(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::controller::relay
