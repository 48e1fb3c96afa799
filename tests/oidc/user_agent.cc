#include "tests/oidc/user_agent.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/text/ascii.h"
#include "tests/support/http2_bridge.h"
#include "tests/support/proxy.h"

namespace edge::test {
namespace {

struct Address {
  bool secure = false;
  std::string host;
  std::uint16_t port = 0;
  std::string target;
  std::string origin() const { return (secure ? "https://" : "http://") + host + ":" + std::to_string(port); }
};

Address parse(const std::string& url) {
  Address address;
  address.secure = url.starts_with("https://");
  const std::size_t begin = address.secure ? 8 : 7;
  const std::size_t slash = std::min(url.find('/', begin), url.size());
  const std::string authority = url.substr(begin, slash - begin);
  const std::size_t colon = std::min(authority.rfind(':'), authority.size());
  address.host = authority.substr(0, colon);
  address.port = static_cast<std::uint16_t>(colon < authority.size() ? std::atoi(authority.c_str() + colon + 1)
                                                                     : (address.secure ? 443 : 80));
  address.target = slash < url.size() ? url.substr(slash) : "/";
  return address;
}

std::string resolve(const std::string& base, const std::string& location) {
  if (location.starts_with("http://") || location.starts_with("https://")) return location;
  return parse(base).origin() + location;
}

/// The value of `name="..."` after `from`.
std::string attribute(const std::string& text, const std::string& name, std::size_t from = 0) {
  const std::size_t at = text.find(name + "=\"", from);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + name.size() + 2;
  return text.substr(begin, text.find('"', begin) - begin);
}

}  // namespace

std::string Page::field(std::string_view name) const {
  const auto values = head.values(name);
  return values.empty() ? std::string() : values.front();
}

Page UserAgent::send(const std::string& method, const std::string& url, const std::string& body, const Fields& fields) {
  const Address address = parse(url);
  Page page;
  page.url = url;
  const bool over_http2 = http2 && address.host != "localhost";
  const auto tls = address.secure ? test_client(address.host, over_http2 ? "h2" : "") : nullptr;
  std::unique_ptr<Http2Bridge> bridge;
  int fd = -1;
  if (over_http2) {
    auto opened = Http2Bridge::open(address.port, fd, tls.get());
    if (opened.ok()) {
      bridge = std::move(*opened);
    } else {
      page.fault = opened.error().text;
    }
  } else if (const Result<int> socket = Connection::dial(address.port); socket.ok()) {
    fd = *socket;
  } else {
    page.fault = socket.error().text;
  }
  if (fd < 0) return page;
  Connection connection(fd, {std::chrono::steady_clock::now() + std::chrono::seconds(120)});
  if (tls != nullptr && !over_http2) {
    const Status encrypted = connection.encrypt(tls->over(connection.fd()));
    if (!encrypted.ok()) page.fault = encrypted.error().text;
  }
  Fields all = {{"Host", address.host + ":" + std::to_string(address.port)}, {"Accept", "text/html,*/*;q=0.8"}};
  const std::string path = address.target.substr(0, address.target.find('?'));
  if (const std::string jar = cookies_for(address.host, path, address.secure); !jar.empty())
    all.push_back({"Cookie", jar});
  if (!body.empty()) {
    all.push_back({"Content-Type", "application/x-www-form-urlencoded"});
    all.push_back({"Content-Length", std::to_string(body.size())});
  }
  for (const auto& field : fields) {
    std::erase_if(all, [&](const auto& known) { return known.first == field.first; });
    if (!field.second.empty()) all.push_back(field);
  }
  std::string text = method + " " + address.target + " HTTP/1.1\r\n";
  for (const auto& [name, value] : all) text += name + ": " + value + "\r\n";
  if (const Status sent = connection.send(text + "\r\n" + body); !sent.ok()) page.fault = sent.error().text;
  Result<Message> head = connection.receive_head();
  if (!head.ok()) {
    page.fault = head.error().text;
    return page;
  }
  page.head = *head;
  page.status = std::atoi(page.head.start_line.c_str() + page.head.start_line.find(' '));
  page.head.bodiless = page.head.bodiless || method == "HEAD";
  if (const Result<std::string> read = connection.receive_body(page.head); read.ok()) page.body = *read;
  for (const std::string& line : page.head.values("Set-Cookie")) keep(address.host, line);
  return page;
}

Page UserAgent::browse(const std::string& url) { return follow(get(url)); }

Page UserAgent::follow(Page page) {
  for (int steps = 0; page.redirects() && steps < 20; ++steps) page = get(resolve(page.url, page.location()));
  return page;
}

Page UserAgent::log_in(const Page& page, const std::string& user) {
  return submit(page, "prompt=login&login=" + user + "&password=x");
}

Page UserAgent::submit(const Page& page, const std::string& form) {
  return follow(post(resolve(page.url, attribute(page.body, "action")), form));
}

void UserAgent::keep(const std::string& host, const std::string& line) {
  const std::string pair = line.substr(0, line.find(';'));
  const std::string name = pair.substr(0, pair.find('='));
  KeptCookie cookie;
  cookie.value = pair.substr(pair.find('=') + 1);
  bool over = false;
  for (std::size_t at = line.find(';'); at != std::string::npos; at = line.find(';', at + 1)) {
    std::string part = line.substr(at + 1, line.find(';', at + 1) - at - 1);
    part.erase(0, part.find_first_not_of(' '));
    part = ascii_lower(part);
    if (part.starts_with("path=")) cookie.path = line.substr(line.find('=', at) + 1, part.size() - 5);
    if (part == "secure") cookie.secure = true;
    if (part == "httponly") cookie.http_only = true;
    if (part.starts_with("samesite=")) cookie.same_site = part.substr(9);
    if (part == "max-age=0" || part.starts_with("expires=thu, 01 jan 1970")) over = true;
  }
  // A path tells cookies of one name apart; the provider uses that, the proxy does not.
  const auto key = std::pair(host, cookie.path == "/" || cookie.path.empty() ? name : name + " " + cookie.path);
  if (over || cookie.value.empty()) {
    cookies.erase(key);
  } else {
    cookies[key] = cookie;
  }
}

std::string UserAgent::cookies_for(const std::string& host, const std::string& path, bool secure) const {
  std::string jar;
  for (const auto& [key, cookie] : cookies) {
    if (key.first != host || (cookie.secure && !secure) || !path.starts_with(cookie.path)) continue;
    jar += (jar.empty() ? "" : "; ") + key.second.substr(0, key.second.find(' ')) + "=" + cookie.value;
  }
  if (!planted.empty()) jar += (jar.empty() ? "" : "; ") + planted;
  return jar;
}

}  // namespace edge::test
