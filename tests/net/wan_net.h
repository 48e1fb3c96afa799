// Sites as network namespaces, each with uplinks of its own to an internet that routes between them, through a relay
// that delays, loses and slows what goes over each. Skipped where the right to make namespaces, or `ip`, is missing.
//
//   site a: fibre 10.77.1.2 --- relay --- 10.77.1.1 internet 10.77.2.1 --- relay --- 10.77.2.2 fibre: site b
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/net/bridge.h"
#include "tests/net/wan_relay.h"

namespace edge::test {

class WanNet : public Bridge {
 protected:
  static constexpr const char* kInternet = "internet";

  void SetUp() override;
  void TearDown() override;

  /// The interface `link` of `site`, whose namespace is made when it is new: 10.77.NUMBER.2/24 and fd77:NUMBER::2/64,
  /// the router .1 and ::1. The line `SITE/LINK` of the relay, `up` from the site. The first uplink of a site has its
  /// default route, and every one has a table, NUMBER, for what is sent from its address.
  void uplink(const std::string& site, const std::string& link, int number);
  /// After the last uplink. Again: in place of the one before.
  void start_relay(std::uint64_t seed = 1);
  WanRelay& relay() { return *relay_; }

  static std::string address(int number) { return "10.77." + std::to_string(number) + ".2"; }
  static std::string address6(int number) { return "fd77:" + std::to_string(number) + "::2"; }
  /// Of the internet.
  static std::string router(int number) { return "10.77." + std::to_string(number) + ".1"; }

 private:
  std::vector<WanLine> lines_;
  std::unique_ptr<WanRelay> relay_;
};

}  // namespace edge::test
