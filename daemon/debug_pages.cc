#include "daemon/debug_pages.h"

#include <algorithm>
#include <charconv>

#include "base/text/ascii.h"

namespace edge::daemon {
namespace {

constexpr std::string_view kPrefix = "/debug/";

bool is_get(std::string_view method) { return method == "GET" || method == "HEAD"; }

std::string host_without_port(std::string_view host) {
  const std::size_t bracket = host.find(']');
  if (host.starts_with('[') && bracket != std::string_view::npos) return std::string(host.substr(1, bracket - 1));
  return std::string(host.substr(0, host.rfind(':')));
}

/// What is no escape stands for itself: a parameter that makes no sense is refused by who reads it.
std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size();
    const int high = escape ? hex_digit(text[i + 1]) : -1;
    const int low = escape ? hex_digit(text[i + 2]) : -1;
    if (high >= 0 && low >= 0) {
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

}  // namespace

bool is_debug_path(std::string_view path) { return path.starts_with(kPrefix) || path == "/debug"; }

std::optional<AdminReply> foreign(const AdminRequest& request) {
  const std::string_view site = request.field("sec-fetch-site");
  if (request.has("origin") || (!site.empty() && site != "none" && site != "same-origin")) {
    return text_reply(403, "not from a page in a browser\n");
  }
  const std::string host = host_without_port(request.host);
  if (host == "localhost" || parse_ip(host)) return std::nullopt;
  return text_reply(403, "name this machine by its address, or localhost\n");
}

std::optional<AdminReply> DebugPages::answer(const AdminRequest& request) const {
  if (!is_debug_path(request.path)) return std::nullopt;
  if (request.path == kPrefix || request.path == "/debug") {
    return is_get(request.method) ? index() : text_reply(405, "only GET and HEAD\n");
  }
  std::string verbs;
  for (const DebugPage& page : pages_) {
    if (page.path != request.path) continue;
    if (page.verb == request.method || (page.verb == "GET" && is_get(request.method))) return page.answer(request);
    verbs += (verbs.empty() ? "" : ", ") + (page.verb == "GET" ? "GET, HEAD" : page.verb);
  }
  if (verbs.empty()) return text_reply(404, "not found; /debug/ lists what there is\n");
  AdminReply refused = text_reply(405, "only " + verbs + "\n");
  refused.fields.emplace_back("Allow", verbs);
  return refused;
}

AdminReply DebugPages::index() const {
  std::size_t width = 0;
  for (const DebugPage& page : pages_) width = std::max(width, page.path.size());
  std::string text;
  for (const DebugPage& page : pages_) {
    text += page.verb + std::string(page.verb.size() < 5 ? 5 - page.verb.size() : 1, ' ') + page.path +
            std::string(width + 2 - page.path.size(), ' ') + page.summary + "\n";
  }
  return text_reply(200, std::move(text));
}

std::optional<std::string> parameter(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (decoded(pair.substr(0, equals)) != name) continue;
    return decoded(pair.substr(std::min(equals + 1, pair.size())));
  }
  return std::nullopt;
}

std::optional<std::uint64_t> number_parameter(std::string_view query, std::string_view name, std::uint64_t fallback,
                                              std::uint64_t most) {
  const auto text = parameter(query, name);
  if (!text) return fallback;
  std::uint64_t number = 0;
  const auto [end, fault] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (fault != std::errc() || end != text->data() + text->size() || number > most) return std::nullopt;
  return number;
}

}  // namespace edge::daemon
