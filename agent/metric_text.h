// The Prometheus text format, family by family.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace edge::agent {

class MetricText {
 public:
  void family(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    out_.append("# HELP ").append(name).append(" ").append(help).append("\n# TYPE ").append(name);
    out_.append(" ").append(type).append("\n");
  }
  /// `labels` as they stand between the braces: `class="2xx"`.
  void sample(std::uint64_t value, std::string_view labels = {}) {
    out_ += name_;
    if (!labels.empty()) out_.append("{").append(labels).append("}");
    out_ += " " + std::to_string(value) + "\n";
  }
  std::string take() { return std::move(out_); }

 private:
  std::string name_;
  std::string out_;
};

}  // namespace edge::agent
