// ProxyVIPs of the cluster as the virtual addresses that agents are given, apart from the compile path.
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
  /// An object that is new or another, as the compiler would read it, with its status (JSON, may be empty). A pool is
  /// as many addresses as its status says gateways have. What cannot be read leaves the addresses as they were.
  /// `name_space`: with its cluster, where it has one. \returns whether what agents are given is another.
  bool put(const std::string& name_space, const std::string& name, const std::string& document,
           const std::string& status);
  bool remove(const std::string& name_space, const std::string& name);
  /// A Secret that is new or another; `document` empty: it is gone. Passwords of peers are read from it.
  bool put_secret(const std::string& name_space, const std::string& name, const std::string& document);
  /// Ascending by namespace and name; of more than agents take the first.
  std::vector<VirtualAddress> addresses() const;

 private:
  using Name = std::pair<std::string, std::string>;
  /// Which peer has its password from where.
  struct PasswordPlace {
    std::size_t peer = 0;
    Name secret;
    std::string key;
  };
  bool fill_passwords(const Name& name, VirtualAddress& address) const;

  std::map<Name, std::vector<VirtualAddress>> addresses_;  ///< by ProxyVIP
  std::map<Name, std::vector<PasswordPlace>> passwords_;   ///< by ProxyVIP
  /// Of every Secret, those values that are short enough to be passwords; bounded as Secrets are.
  std::map<Name, std::map<std::string, std::string>> secrets_;
};

}  // namespace edge::controller
