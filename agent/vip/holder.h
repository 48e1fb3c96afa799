// The virtual addresses that this node holds: what Assignment decides, done by the kernel. A thread of its own hears
// and tells other agents, keeps the kernel's addresses alive, and looks after the links.
//
//   Addresses (controller), listeners (this agent), links (kernel), words (other agents)
//     -> Assignment -> addresses of the kernel, gratuitous ARP, words
//
// The kernel keeps an address for two seconds without a refresh, so a process that is killed, or stands still, loses
// what it holds by itself. docs/virtual-addresses.md, decisions 113 and 114.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/vip/addresses.h"
#include "base/log.h"
#include "base/result.h"
#include "metrics/exposition.h"
#include "net/socket.h"

namespace edge::agent::vip {

struct HolderOptions {
  std::string name;           ///< of the agent
  Labels labels;              ///< that node selectors are asked with
  net::SocketAddress listen;  ///< where words of other agents come; port 0: the system chooses
  /// Where it is kept what was drained, and what a process that hands over to another held. Made where it is missing.
  std::string state_file;
  std::string bird_directory;  ///< run directory of BIRD, for addresses of mode BGP
  std::string bird = "bird";   ///< the program
  Logger log;
  /// So long connections are kept to an address that moved to another node.
  std::chrono::nanoseconds drain_timeout = std::chrono::seconds(30);
  /// The addresses of the running program. From the holder's thread.
  std::function<std::vector<ServedAddress>()> served;
  /// Addresses came or went. From the holder's thread; must not wait for it.
  std::function<void()> moved;
};

/// Every function from any thread.
class Holder {
 public:
  /// Fails where the kernel cannot be asked for its addresses at all. What else is missing is said of each address.
  static Result<std::unique_ptr<Holder>> start(HolderOptions options);
  /// Takes back every address that it added.
  ~Holder();
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  void set_addresses(Addresses addresses);
  /// The program, or its listeners, are others.
  void look_again();
  /// Version of the addresses that it works by; 0: none yet.
  std::uint64_t version() const;
  /// Ascending by namespace and name.
  std::vector<AddressState> states() const;
  std::vector<std::string> live_nodes() const;
  std::uint16_t port() const;

  /// Gives an address that this node holds to another one; `to` empty: to the one that would take it. kNotFound: there
  /// is no such address; kFailedPrecondition: this node does not hold it, or no other one serves it.
  Status move(const std::string& name_space, const std::string& name, const std::string& to);
  /// Takes no address any more, and gives away what it holds where another node serves it. Lasts over restarts.
  Status drain(bool drained);
  bool drained() const;
  /// The process ends: what others serve is given to them, which is waited for a second. The rest stays as long as
  /// this, so that connections can be drained.
  void leave();
  /// Another process of this node goes on: what is held stays for it, and this one does nothing more.
  void hand_over();

  void write_metrics(metrics::Exposition& out) const;

 private:
  struct Impl;
  explicit Holder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::agent::vip
