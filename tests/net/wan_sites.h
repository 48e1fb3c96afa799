// Two sites with two uplinks each and the tunnels between them: what tests of tunnels and steering begin with.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/wan/steer/steerer.h"
#include "agent/wan/tunnel/tunnels.h"
#include "tests/net/wan_net.h"

namespace edge::test {

/// `a` has the network 10.20.0.0/16, `b` 10.30.0.0/16; each node has the first address of its own on `lo`.
class WanSites : public WanNet {
 protected:
  static constexpr const char* kLinks[] = {"fibre", "mobile"};

  void SetUp() override;
  void TearDown() override;

  /// Of a process of its own, as the interfaces of two test programs must not have one name.
  static std::string id(const std::string& site);
  static std::string lan(const std::string& site) { return site == "a" ? "10.20.0.1" : "10.30.0.1"; }
  static std::string overlay(const std::string& site) { return site == "a" ? "100.64.0.1" : "100.64.0.2"; }
  static agent::wan::WireGuardKey private_key(const std::string& site, std::uint32_t epoch);
  /// The assignment of a site, with keys of these epochs of both.
  static agent::wan::WantedTunnels wanted(const std::string& site, const std::vector<std::uint32_t>& own,
                                          const std::vector<std::uint32_t>& peer);
  agent::wan::WantedTunnels wanted(const std::string& site) const { return wanted(site, {1}, {1}); }

  void start(const std::string& site);
  agent::wan::Tunnels& tunnels(const std::string& site) { return *tunnels_.at(site); }
  agent::wan::TunnelState tunnel(const std::string& site, const std::string& link, const std::string& peer_link) const;
  /// Waits until all tunnels of both sites have sessions.
  bool all_up() const;
  /// A web server at all addresses of a site, port 8000; its answer is the site's name.
  void serve_web(const std::string& site);

  std::uint32_t slot(const std::string& site, const std::string& link, const std::string& peer_link) const {
    return tunnel(site, link, peer_link).slot;
  }
  /// Equal shares of these tunnels; none: what is new is dropped.
  static agent::wan::SteerChoice choose(const std::vector<std::uint32_t>& slots);
  /// All traffic of a site to the other one goes as `choice` says.
  void steer(const std::string& site, const agent::wan::SteerChoice& choice,
             const std::vector<std::uint32_t>& dead = {});
  agent::wan::Steerer& steerer(const std::string& site) { return steerers_[site]; }

  std::map<std::string, std::unique_ptr<agent::wan::Tunnels>> tunnels_;
  std::map<std::string, agent::wan::Steerer> steerers_;
};

}  // namespace edge::test
