#include "agent/observe/request_ages.h"

#include <string>
#include <string_view>
#include <unordered_set>

#include "program/format/records.h"

namespace edge::agent {
namespace {

std::string full_name(std::string_view name_space, std::string_view name) {
  return std::string(name_space) + "/" + std::string(name);
}

/// Names in a program: routes of gateways, and backends.
struct Named {
  std::unordered_set<std::string> routes;
  std::unordered_set<std::string> backends;

  explicit Named(const runtime::LoadedProgram& program) {
    const program::SectionView& listeners = program.listeners_section();
    for (std::uint32_t i = 0; i < program.listener_count(); ++i) {
      const runtime::LoadedListener& listener = program.listener(i);
      const std::string gateway =
          full_name(listeners.string(listener.gateway->name_space), listeners.string(listener.gateway->name));
      for (const runtime::LoadedHost& host : listener.hosts) {
        for (const program::RouteRecord& route : host.view.array(host.header->routes)) {
          routes.insert(
              key(gateway, full_name(program::name_space_of(host.view, route), host.view.string(route.name))));
        }
      }
    }
    const program::SectionView& section = program.backends_section();
    for (const program::BackendRecord& backend : program.backends()) {
      backends.insert(full_name(section.string(backend.name_space), section.string(backend.name)));
    }
  }

  static std::string key(const std::string& gateway, const std::string& route) { return gateway + '\n' + route; }
  bool has(const runtime::TallyNames& names) const {
    return routes.contains(key(names.gateway, names.route)) &&
           (names.backend.empty() || backends.contains(names.backend));
  }
};

}  // namespace

std::vector<runtime::TallyNames> RequestAges::gone(const runtime::RequestSums& sums,
                                                   const runtime::LoadedProgram* program, Clock::time_point now) {
  if (now < next_) return {};
  next_ = now + kBetween;
  std::vector<runtime::TallyNames> rested;
  for (const auto& [names, sum] : sums.rows) {
    Seen& seen = seen_[names];
    const std::uint64_t requests = sum.requests();
    if (seen.since == Clock::time_point{} || seen.requests != requests) {
      seen = {requests, now};
    } else if (now - seen.since >= kRest && names.route.find('/') != std::string::npos) {
      rested.push_back(names);
    }
  }
  if (rested.empty() || program == nullptr) return {};
  const Named named(*program);
  std::erase_if(rested, [&](const runtime::TallyNames& names) { return named.has(names); });
  for (const runtime::TallyNames& names : rested) seen_.erase(names);
  return rested;
}

}  // namespace edge::agent
