#include "runtime/observe/request_end.h"

#include <string>

#include "program/format/records.h"

namespace edge::runtime {
namespace {

std::string full_name(std::string_view name_space, std::string_view name) {
  return std::string(name_space) + "/" + std::string(name);
}

}  // namespace

TallyNames tally_names(const LoadedProgram& program, const RouteTaken& taken) {
  TallyNames names;
  if (taken.listener == nullptr) return names;
  const program::GatewayRecord& gateway = *taken.listener->gateway;
  const program::SectionView& listeners = program.listeners_section();
  names.gateway = full_name(listeners.string(gateway.name_space), listeners.string(gateway.name));
  if (taken.host == nullptr) return names;
  const program::SectionView& section = taken.host->view;
  const program::RouteRecord& route = *taken.route();
  names.route = full_name(program::name_space_of(section, route), section.string(route.name));
  if (taken.backend == nullptr) return names;
  const program::BackendRecord& backend = *taken.backend;
  const program::SectionView& backends = program.backends_section();
  names.backend = full_name(backends.string(backend.name_space), backends.string(backend.name));
  return names;
}

}  // namespace edge::runtime
