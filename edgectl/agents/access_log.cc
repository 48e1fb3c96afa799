#include "edgectl/agents/access_log.h"

#include <charconv>
#include <initializer_list>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "compiler/analyze/explain/typed_request.h"

namespace edge::edgectl {
namespace {

using compiler::analyze::TypedRequest;
using compiler::analyze::Witness;
using Json = nlohmann::json;

/// Values found for one request, as text of the log line.
struct Logged {
  std::string method;
  std::string host;
  std::string target;  ///< path and query, or a whole URL
  std::string source;
  std::string user_agent;
  std::string referer;
  std::uint16_t port = 0;
};

std::optional<Witness> request_of(const Logged& logged, const LogDefaults& defaults) {
  TypedRequest typed;
  std::string url = logged.target;
  if (url.starts_with('/')) {
    const std::string& host = logged.host.empty() || logged.host == "-" ? defaults.host : logged.host;
    if (host.empty()) return std::nullopt;
    url = "http://" + host + url;
  }
  if (!typed.set_method(logged.method) || !typed.set_url(url)) return std::nullopt;
  // The port in a URL or Host is the client's name for the service; what counts is where the request came in.
  typed.request.port = logged.port != 0 ? logged.port : defaults.port;
  const auto field = [&](std::string_view name, const std::string& value) {
    if (!value.empty() && value != "-") typed.request.headers.emplace_back(name, value);
  };
  field("referer", logged.referer);
  field("user-agent", logged.user_agent);
  if (const auto source = parse_ip(logged.source)) typed.request.source = *source;
  return std::move(typed.request);
}

// ---- JSON -----------------------------------------------------------------------------------------------------------

std::string text_of(const Json& object, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = object.find(name);
    if (found == object.end()) continue;
    if (found->is_string()) return found->get<std::string>();
    if (found->is_number_unsigned()) return std::to_string(found->get<std::uint64_t>());
  }
  return {};
}

/// `10.0.0.1:4711` and `[::1]:4711` without the port.
std::string without_port(const std::string& address) {
  if (parse_ip(address)) return address;
  std::string host = address.substr(0, address.rfind(':'));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return host;
}

std::optional<Logged> read_json(std::string_view line) {
  const Json object = parse_json(line);
  if (!object.is_object()) return std::nullopt;
  Logged out;
  out.method = text_of(object, {"method", "request_method", "http.method"});
  out.host = text_of(object, {"host", "authority", "http_host", "request_host"});
  out.target = text_of(object, {"path", "uri", "request_uri", "url", "target"});
  const std::string query = text_of(object, {"query", "args"});
  if (!query.empty() && out.target.find('?') == std::string::npos) out.target += "?" + query;
  out.source = without_port(text_of(object, {"source_ip", "client_ip", "client", "remote_addr", "remote_ip"}));
  out.user_agent = text_of(object, {"user_agent", "http_user_agent"});
  out.referer = text_of(object, {"referer", "http_referer"});
  const std::string port = text_of(object, {"port", "server_port", "listener_port"});
  std::from_chars(port.data(), port.data() + port.size(), out.port);
  return out;
}

// ---- Common and combined --------------------------------------------------------------------------------------------

/// Words at blanks; what stands in quotes or square brackets is one, without them. Backslashes escape inside quotes.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] == ' ') {
      ++at;
      continue;
    }
    const char close = line[at] == '"' ? '"' : line[at] == '[' ? ']' : ' ';
    if (close != ' ') ++at;
    std::string word;
    for (; at < line.size() && line[at] != close; ++at) {
      if (close == '"' && line[at] == '\\' && at + 1 < line.size()) ++at;
      word += line[at];
    }
    ++at;
    words.push_back(std::move(word));
  }
  return words;
}

std::optional<Logged> read_common(std::string_view line) {
  std::vector<std::string> words = words_of(line);
  Logged out;
  if (words.size() > 1 && !parse_ip(words[0]) && parse_ip(words[1])) {
    out.host = words[0];
    words.erase(words.begin());
  }
  // client, identity, user, time, request line, status, size, and in combined: referer, user agent.
  if (words.size() < 6) return std::nullopt;
  out.source = words[0];
  const std::string& request = words[4];
  const std::size_t first = request.find(' ');
  const std::size_t last = request.rfind(' ');
  if (first == std::string::npos || first == last) return std::nullopt;
  out.method = request.substr(0, first);
  out.target = request.substr(first + 1, last - first - 1);
  if (words.size() > 8) {
    out.referer = words[7];
    out.user_agent = words[8];
  }
  return out;
}

}  // namespace

std::optional<Witness> read_log_line(std::string_view line, const LogDefaults& defaults) {
  const auto logged = line.starts_with('{') ? read_json(line) : read_common(line);
  return logged ? request_of(*logged, defaults) : std::nullopt;
}

}  // namespace edge::edgectl
