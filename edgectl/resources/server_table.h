// Objects of kinds whose columns the server provides (meta.k8s.io Table), as in kubectl.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "edgectl/resources/cluster.h"
#include "edgectl/resources/sort_key.h"
#include "edgectl/resources/table.h"

namespace edge::edgectl {

class ServerTable {
 public:
  /// `order`: sorts the rows; must outlive this object.
  ServerTable(Cluster& cluster, const Type& type, bool wide, const SortKey* order = nullptr)
      : cluster_(cluster), type_(type), wide_(wide), order_(order) {}

  struct Failed {
    kube::Failure why;
    std::string about;
  };
  /// Fetches the named objects, or all. Returns those that failed.
  std::vector<Failed> fetch(const std::vector<std::string>& names, const kube::ListOptions& options);
  /// Empty where there is no row. `prefix` precedes each name.
  std::string text(const std::string& prefix, bool with_heads) const;

 private:
  kube::Failure page(const std::string& target, std::string& next);

  Cluster& cluster_;
  const Type& type_;
  bool wide_;
  std::vector<std::string> heads_;
  std::vector<std::size_t> shown_;  ///< indices of the cells shown
  const SortKey* order_;
  struct Row {
    std::vector<std::string> cells;
    nlohmann::json object;  ///< the object; without an order only its metadata
  };
  std::vector<Row> rows_;
};

}  // namespace edge::edgectl
