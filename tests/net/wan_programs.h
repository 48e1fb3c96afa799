// A controller and the agents of sites as users start them, each in a network namespace, with two uplinks a site and
// the relay between them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/cli/process.h"
#include "tests/net/wan_net.h"

namespace edge::test {

/// The site number N (from 0) has the network 10.(20 + 10 N).0.0/16, of which its node has the first address on `lo`
/// and serves HTTP there at port 8000: `/` is its name. Its links `SITE-fibre` and `SITE-mobile` are the uplinks 2N + 1
/// and 2N + 2. The controller is in the internet.
class WanPrograms : public WanNet {
 protected:
  static constexpr const char* kLinks[] = {"fibre", "mobile"};

  void SetUp() override;
  void TearDown() override;

  virtual std::vector<std::string> sites() const { return {"a", "b"}; }
  virtual std::string role(const std::string& /*site*/) const { return "hub"; }
  /// Fields of a WANLink beside its interface.
  virtual std::string link_fields(const std::string& site, const std::string& link) const;
  /// Policies, and what else there is, as documents that end with `---`.
  virtual std::string resources() const = 0;
  /// A gateway of port 8080 whose requests go to the web server of `b`.
  static std::string web();
  /// Makes the namespace of a site with its links.
  virtual void connect(const std::string& site);

  static std::string version() { return "apiVersion: edgeproxy.io/v1alpha1\n"; }
  /// Of the resource. It has the number of this process: interfaces are named after it.
  static std::string resource_name(const std::string& site);
  std::size_t number_of(const std::string& site) const;
  /// Of the uplink.
  int number_of(const std::string& site, const std::string& link) const;
  std::string lan(const std::string& site) const;

  static std::unique_ptr<Process> start(const std::string& node, std::vector<std::string> command);
  std::unique_ptr<Process> agent(const std::string& site) const {
    return agent(site, site, router(number_of(site, kLinks[1])));
  }
  /// At a namespace, which may be a further one of the site. It asks the controller at that address.
  std::unique_ptr<Process> agent(const std::string& site, const std::string& at, const std::string& controller) const;
  /// A web server at the site's address, in a namespace.
  void serve_web(const std::string& site, const std::string& at);

  /// Octets that the relay forwarded towards a site over one of its links.
  std::uint64_t arrived_by(const std::string& link, const std::string& site = "a") {
    return relay().figures(site + "/" + link, Way::kDown).bytes;
  }
  /// What the web server of a site answers to a node.
  std::string fetch(const std::string& from, const std::string& to, int seconds = 5) const;
  /// From `a` itself to `b`, and by its proxy.
  std::string direct(int seconds = 5) const { return fetch("a", "b", seconds); }
  std::string proxied(int seconds = 5) const;
  /// A sample of an agent's metrics: what follows the name and labels that the line begins with; 0 without such a line.
  unsigned long sample(const std::string& site, const std::string& begins_with) const;
  std::string edgectl(const std::string& words) const;
  std::string trouble() const;

  TempDir files_;
  std::unique_ptr<Process> control_;
  std::map<std::string, std::unique_ptr<Process>> agents_;
  std::vector<std::unique_ptr<Process>> web_;

 private:
  void write_resources() const;
};

}  // namespace edge::test
