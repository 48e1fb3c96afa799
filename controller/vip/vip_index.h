// The cluster's ProxyVIPs as virtual addresses for agents, outside of the compile path.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "controller/distribute/virtual_addresses.h"

namespace edge::controller {

/// Not thread-safe.
class VipIndex {
 public:
  /// Adds or replaces an object in the compiler's form, with its status (JSON, may be empty). An invalid object leaves
  /// the address unchanged. `name_space`: with its cluster, if it has one. \returns whether the addresses for agents
  /// changed.
  bool put(const std::string& name_space, const std::string& name, const std::string& document,
           const std::string& status);
  bool remove(const std::string& name_space, const std::string& name);
  /// Adds or replaces a Secret; `document` empty: it was deleted. Passwords of peers are read from it.
  bool put_secret(const std::string& name_space, const std::string& name, const std::string& document);
  /// Ascending by namespace and name; the first ones up to the limit of agents.
  std::vector<VirtualAddress> addresses() const;

 private:
  using Name = std::pair<std::string, std::string>;
  /// Which peer's password is in which Secret.
  struct PasswordPlace {
    std::size_t peer = 0;
    Name secret;
    std::string key;
  };
  bool fill_passwords(const Name& name, VirtualAddress& address) const;

  std::map<Name, VirtualAddress> addresses_;
  std::map<Name, std::vector<PasswordPlace>> passwords_;  ///< by address
  /// The values of every Secret that are short enough for passwords; bounded like Secrets.
  std::map<Name, std::map<std::string, std::string>> secrets_;
};

}  // namespace edge::controller
