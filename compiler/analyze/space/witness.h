// Constructed requests that show a rule's effect: one that owns its strings, and the view for matching.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/field.h"
#include "base/ip.h"
#include "program/request.h"

namespace edge::compiler::analyze {

/// Printed as `GET http://host:port/path?query -H 'name: value' from 192.0.2.1`; port and source are omitted where they
/// are irrelevant.
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

/// The view for matching. Owns the fields; this object and the witness must outlive the view.
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

/// Returns whether requests can have this path: normalising does not change it.
bool is_normal_path(const std::string& path);
/// Encodes a name or value for a query, so that decoding returns `text`.
std::string query_encoded(std::string_view text);

}  // namespace edge::compiler::analyze
