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
  /// `claimed`: headers, in lower case, that are claims.
  using Claimed = std::map<std::string, std::string, std::less<>>;
  explicit Facts(const OwnedRequest& request, Claimed claimed = {});

  const OwnedRequest& request() const { return request_; }
  /// Repeated headers joined with ", "; nullopt when there is none. `name` in lower case.
  std::optional<std::string_view> header(const std::string& name) const;
  /// First value of the key, percent-decoded; nullopt when the key is absent.
  std::optional<std::string_view> query(const std::string& key) const;
  /// The text of a claim of the request's verified token: its values joined by commas; nullopt: it has none.
  std::optional<std::string_view> claim(const std::string& name) const;
  bool has_item(const std::string& claim, const std::string& item) const;
  bool path_is(std::string_view path) const { return request_.path == path; }
  /// Whole segments: `/api` covers `/api`, `/api/`, `/api/x`, never `/apiv2`. `/` covers every path.
  bool path_below(std::string_view prefix) const;

 private:
  const OwnedRequest& request_;
  Claimed claimed_;
  std::map<std::string, std::string, std::less<>> headers_;
  std::map<std::string, std::string, std::less<>> query_;
  std::map<std::string, std::string, std::less<>> claims_;
};

}  // namespace edge::reference
