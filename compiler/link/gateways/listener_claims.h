// Listeners of all gateways contend for ports and names; the older gateway's claim holds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/diagnostics.h"
#include "compiler/link/linked_config.h"
#include "compiler/model/gateway.h"

namespace edge::compiler::link {

/// One listener that asks for its port and names.
struct Claim {
  std::uint32_t gateway = 0;
  std::uint32_t listener = 0;
};

/// Why a claim is not granted.
struct ClaimRefusal {
  std::string_view reason{};  ///< as conditions.h words it; empty: it is granted
  std::string message{};      ///< what is held and by whom
};

std::string listener_field(const model::Listener& listener, std::string_view field = {});
/// As it stands in programs: no two listeners of a gateway have one name. Of a ListenerSet `namespace/set/listener`.
std::string listener_name(const model::ProxyGateway& gateway, const model::Listener& listener);

/// Grants ports and names in the order of the calls: whoever comes later and does not fit is refused and told so.
class Claims {
 public:
  /// Gateways of different groups of agents are in no program together, and contend for nothing.
  enum class Between { kGatewaysOfOneGroup, kAllGateways };

  /// `linked` are the gateways' linked forms, for their addresses and groups.
  Claims(const std::vector<model::ProxyGateway>& gateways, const std::vector<LinkedGateway>& linked, Between between,
         Diagnostics& diagnostics)
      : gateways_(gateways), linked_(linked), between_(between), diagnostics_(diagnostics) {}

  ClaimRefusal grant(Claim claim);

  /// Why the listener cannot be told apart from another of its own gateway, if it cannot. Of such Gateway API lets
  /// neither be served, so this comes before any grant. Listeners of ListenerSets are not looked at: the first of them
  /// holds.
  ClaimRefusal indistinct(Claim claim);

 private:
  using Groups = std::vector<std::string>;  ///< of agents; none: all agents
  /// Who holds one thing on one address, of each group.
  struct ByGroup {
    std::optional<Claim> first;
    std::optional<Claim> of_all;
    std::map<std::string, Claim> of_group;

    std::optional<Claim> holder(const Groups& groups) const;
    void hold(const Groups& groups, Claim claim);
  };
  /// Who holds one thing, by address.
  struct Holders {
    ByGroup anywhere;
    ByGroup everywhere;  ///< of gateways that bind every address
    std::map<IpAddress, ByGroup> by_address;
  };

  const Groups& groups_of(Claim claim) const;

  const model::Listener& listener(Claim claim) const { return gateways_[claim.gateway].listeners[claim.listener]; }
  /// Whoever holds `key` on an address of the claim's.
  std::optional<Claim> holder_of(const std::string& key, Claim claim) const;
  void hold(const std::string& key, Claim claim);
  /// \returns what the listener's status says.
  std::string refuse(Claim claim, Claim holder, Span span, std::string_view field, std::string message,
                     std::string note = {});
  std::string holder_text(Claim claim, Claim holder) const;

  const std::vector<model::ProxyGateway>& gateways_;
  const std::vector<LinkedGateway>& linked_;
  const Between between_;
  Diagnostics& diagnostics_;
  std::unordered_map<std::string, Holders> holders_;
};

}  // namespace edge::compiler::link
