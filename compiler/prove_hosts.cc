#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "compiler/analyze/prove/prove.h"
#include "compiler/analyze/prove/prove_report.h"
#include "compiler/host_shards.h"

namespace edge::compiler {

Result<bool> prove_hosts(const LinkedConfig& config, const std::vector<HostWork>& works, CompiledHosts& hosts,
                         HostShards& shards, RegexSets& regexes) {
  std::optional<Error> fault;
  analyze::Engines engines;
  engines.native = [&](std::uint64_t host_id) -> const program::NativeHost* {
    auto native = shards.code_of(host_id);
    if (native) return *native;
    fault = native.error();
    return nullptr;
  };
  engines.regex = [&](std::uint64_t set_id, std::size_t patterns, std::string_view subject) {
    return regexes.scan(set_id, patterns, subject);
  };

  engines.lacks_database = [&](std::uint64_t set_id) { return regexes.lacks_database(set_id); };

  bool proved = true;
  for (const HostWork& work : works) {
    Diagnostics found;
    std::vector<analyze::Shadowing> shadowed;
    analyze::prove_host(config, work.host, program::SectionView(hosts.at(work.host.id).section->bytes), engines, found,
                        &shadowed);
    proved &= found.ok();
    hosts.set_proof(work.host.id, found.all(), analyze::shadow_statuses(config, shadowed));
  }
  regexes.close_scanners();
  if (fault) return *fault;
  return proved;
}

}  // namespace edge::compiler
