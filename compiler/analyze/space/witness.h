// Requests that are made up, to show what a rule does: one that owns its strings, and the view that matching takes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/field.h"
#include "base/ip.h"
#include "program/request.h"

namespace edge::compiler::analyze {

/// Printed as `GET http://host:port/path?query -H 'name: value' from 192.0.2.1`; port and source are left out where
/// they say nothing.
struct Witness {
  std::string method = "GET";
  std::string host;
  std::uint16_t port = 80;
  std::string path = "/";
  std::string query;
  std::vector<std::pair<std::string, std::string>> headers;
  IpAddress source;
};
std::string witness_text(const Witness& witness);

/// The view that matching takes. Holds the fields; keep it and the witness alive while the view is in use.
class WitnessView {
 public:
  explicit WitnessView(const Witness& witness);
  WitnessView(const WitnessView&) = delete;
  WitnessView& operator=(const WitnessView&) = delete;
  const program::RequestView& view() const { return view_; }

 private:
  std::vector<Field> fields_;
  program::RequestView view_;
};

/// Whether requests can have this path: normalising leaves it as it is.
bool is_normal_path(const std::string& path);
/// As one name or value of a query, so that decoding gives `text` again.
std::string query_encoded(std::string_view text);

}  // namespace edge::compiler::analyze
