// What a benchmark found, as a table for people and JSON for machines, each figure beside its goal.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace edge::bench {

/// Of one value or more.
double median(std::vector<double> values);

struct Figure {
  std::string name;
  double value = 0;
  std::string unit;
  std::optional<double> goal;  ///< at most
};

class Report {
 public:
  explicit Report(std::string bench) : bench_(std::move(bench)) {}

  /// Prints the figure at once.
  void add(std::string name, double value, std::string unit, std::optional<double> goal = std::nullopt);
  /// False when the file cannot be written.
  bool write_json(const std::string& path) const;

 private:
  std::string bench_;
  std::vector<Figure> figures_;
};

}  // namespace edge::bench
