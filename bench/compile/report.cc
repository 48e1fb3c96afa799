#include "bench/compile/report.h"

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace edge::bench {

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void Report::add(std::string name, double value, std::string unit, std::optional<double> goal) {
  std::printf("%-58s %10.2f %-4s", name.c_str(), value, unit.c_str());
  if (goal) std::printf("  goal %8.2f  %s", *goal, value <= *goal ? "reached" : "MISSED");
  std::printf("\n");
  std::fflush(stdout);
  figures_.push_back({std::move(name), value, std::move(unit), goal});
}

bool Report::write_json(const std::string& path) const {
  std::ofstream file(path);
  file << "{\"bench\": \"" << bench_ << "\", \"figures\": [";
  const char* separator = "\n";
  for (const Figure& figure : figures_) {
    file << separator << "  {\"name\": \"" << figure.name << "\", \"value\": " << figure.value << ", \"unit\": \""
         << figure.unit << '"';
    if (figure.goal) file << ", \"goal\": " << *figure.goal;
    file << '}';
    separator = ",\n";
  }
  file << "\n]}\n";
  return file.good();
}

}  // namespace edge::bench
