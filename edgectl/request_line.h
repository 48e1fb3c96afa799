// A request as a person types it for `edgectl explain`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/field.h"
#include "base/ip.h"
#include "base/result.h"
#include "program/request.h"

namespace edge::edgectl {

/// Owns what its view points into. Not to be moved once `view` was taken.
class TypedRequest {
 public:
  /// `[METHOD] scheme://host[:port]/path?query`, and fields as `name: value`. The host is made canonical and the path
  /// normalised, as a session does it. kInvalidArgument says what is wrong with which part.
  static Result<TypedRequest> parse(const std::string& line, const std::vector<std::string>& fields,
                                    const std::string& source);

  program::RequestView view() const;
  /// As written, else by the scheme.
  std::uint16_t port() const { return port_; }
  bool port_written() const { return port_written_; }

 private:
  Status parse_url(std::string_view url);
  Status parse_authority(std::string_view authority);

  std::string method_ = "GET";
  std::string host_;
  std::string path_ = "/";
  std::string query_;
  std::vector<std::pair<std::string, std::string>> headers_;
  mutable std::vector<Field> fields_;
  IpAddress source_;
  std::uint16_t port_ = 80;
  bool port_written_ = false;
};

}  // namespace edge::edgectl
