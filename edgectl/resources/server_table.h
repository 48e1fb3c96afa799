// Objects of kinds whose columns the server knows better than we do (meta.k8s.io Table), as kubectl shows them.
#pragma once

#include <string>
#include <vector>

#include "edgectl/resources/cluster.h"
#include "edgectl/resources/table.h"

namespace edge::edgectl {

class ServerTable {
 public:
  ServerTable(Cluster& cluster, const Type& type, bool wide) : cluster_(cluster), type_(type), wide_(wide) {}

  struct Failed {
    kube::Failure why;
    std::string about;
  };
  /// Those of these names, or all. Gives what could not be had.
  std::vector<Failed> fetch(const std::vector<std::string>& names, const kube::ListOptions& options);
  /// Empty where there is no row. `prefix` stands before each name.
  std::string text(const std::string& prefix, bool with_heads) const;

 private:
  kube::Failure page(const std::string& target, std::string& next);

  Cluster& cluster_;
  const Type& type_;
  bool wide_;
  std::vector<std::string> heads_;
  std::vector<std::size_t> shown_;  ///< which cells of a row
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace edge::edgectl
