// A browser's part of a login: follows redirects when told to, keeps cookies as RFC 6265 has it, and shows every step.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/connection.h"

namespace edge::test {

struct Page {
  int status = 0;
  std::string url;
  Message head;
  std::string body;
  /// Why there is no answer.
  std::string fault;

  /// Of the first such field; empty when there is none.
  std::string field(std::string_view name) const;
  std::string location() const { return field("Location"); }
  bool redirects() const { return status >= 300 && status < 400; }
};

struct KeptCookie {
  std::string value;
  std::string path;
  bool secure = false;
  bool http_only = false;
  std::string same_site{};
};

/// Whole URLs of http, or of https towards kTestHost's certificate; every host is 127.0.0.1.
class UserAgent {
 public:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  /// One request, no redirect. `fields` beside what a browser sends for a page.
  Page get(const std::string& url, const Fields& fields = {}) { return send("GET", url, {}, fields); }
  Page post(const std::string& url, const std::string& form, const Fields& fields = {}) {
    return send("POST", url, form, fields);
  }
  Page send(const std::string& method, const std::string& url, const std::string& body, const Fields& fields);
  /// Follows redirects to the end of them.
  Page browse(const std::string& url);
  /// Follows those of an answer.
  Page follow(Page page);
  /// Fills in the provider's form and follows it. `page`: that form.
  Page log_in(const Page& page, const std::string& user);
  /// Posts the page's form and follows it.
  Page submit(const Page& page, const std::string& form);

  /// By host and name. Tests may change them.
  std::map<std::pair<std::string, std::string>, KeptCookie> cookies;
  /// Speaks HTTP/2 to every host but the provider's (`localhost`).
  bool http2 = false;
  /// Sent besides, as they are: what somebody else has planted.
  std::string planted;
  /// What an answer said of its cookies, line by line.
  static std::vector<std::string> set_cookies(const Page& page) { return page.head.values("Set-Cookie"); }

 private:
  void keep(const std::string& host, const std::string& line);
  std::string cookies_for(const std::string& host, const std::string& path, bool secure) const;
};

}  // namespace edge::test
