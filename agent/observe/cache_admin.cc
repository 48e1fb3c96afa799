#include "agent/observe/cache_admin.h"

#include <optional>
#include <string>

namespace edge::agent {
namespace {

using daemon::AdminReply;
using runtime::cache::Purge;

std::optional<Purge> parse_purge(std::string_view query) {
  static constexpr std::string_view kHostname = "hostname=";
  static constexpr std::string_view kRoute = "route=";
  Purge purge;
  if (query == "all") {
    purge.all = true;
  } else if (query.starts_with(kHostname)) {
    const auto pattern = HostPattern::parse(query.substr(kHostname.size()));
    if (!pattern || pattern->any()) return std::nullopt;
    purge.host = *pattern;
  } else if (query.starts_with(kRoute) && query.size() > kRoute.size()) {
    purge.route = query.substr(kRoute.size());
  } else {
    return std::nullopt;
  }
  return purge;
}

}  // namespace

AdminReply cache_stats(const runtime::Server& server) {
  const runtime::cache::Totals totals = server.stats().cache;
  AdminReply reply = daemon::text_reply(200, {});
  const auto line = [&reply](std::string_view name, std::uint64_t value) {
    reply.body.append(name).append(" ").append(std::to_string(value)).append("\n");
  };
  line("entries", totals.entries);
  line("bytes", totals.bytes);
#define EDGE_CACHE_COUNT(name, help) line(#name, totals.name);
#include "runtime/shape/cache/counts.def"
#undef EDGE_CACHE_COUNT
  line("evictions", totals.evictions);
  return reply;
}

AdminReply purge_cache(runtime::Server& server, std::string_view query) {
  const auto purge = parse_purge(query);
  if (!purge) {
    return daemon::text_reply(400, "say what: ?all, ?hostname=PATTERN or ?route=[NAMESPACE/]NAME\n");
  }
  return daemon::text_reply(200, "purged " + std::to_string(server.purge_cache(*purge)) + "\n");
}

}  // namespace edge::agent
