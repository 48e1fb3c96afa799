// Objects of kinds whose columns the server knows better than we do (meta.k8s.io Table), as kubectl shows them.
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
  /// `order`: of the rows, in place of the server's; must outlive this object.
  ServerTable(Cluster& cluster, const Type& type, bool wide, const SortKey* order = nullptr)
      : cluster_(cluster), type_(type), wide_(wide), order_(order) {}

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
  const SortKey* order_;
  struct Row {
    std::vector<std::string> cells;
    nlohmann::json object;  ///< what it is of; its metadata alone without an order
  };
  std::vector<Row> rows_;
};

}  // namespace edge::edgectl
