// What conditions ask about one request, computed the plain way.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "tests/reference/request.h"

namespace edge::reference {

class Facts {
 public:
  explicit Facts(const OwnedRequest& request);

  const OwnedRequest& request() const { return request_; }
  /// Repeated headers joined with ", "; nullopt when there is none. `name` in lower case.
  std::optional<std::string_view> header(const std::string& name) const;
  /// First value of the key, percent-decoded; nullopt when the key is absent.
  std::optional<std::string_view> query(const std::string& key) const;
  bool path_is(std::string_view path) const { return request_.path == path; }
  /// Whole segments: `/api` covers `/api`, `/api/`, `/api/x`, never `/apiv2`. `/` covers every path.
  bool path_below(std::string_view prefix) const;

 private:
  const OwnedRequest& request_;
  std::map<std::string, std::string, std::less<>> headers_;
  std::map<std::string, std::string, std::less<>> query_;
};

}  // namespace edge::reference
