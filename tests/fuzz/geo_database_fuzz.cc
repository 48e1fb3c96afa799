// Any bytes as a database in MaxMind's format: it is refused, or every lookup ends, with a value or a fault.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include <unistd.h>

#include "runtime/policy/geo_database.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using edge::runtime::GeoDatabase;
  static const std::string kPath = "/tmp/geo_database_fuzz-" + std::to_string(::getpid());
  std::ofstream(kPath, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  for (const GeoDatabase::Kind kind : {GeoDatabase::Kind::kCountry, GeoDatabase::Kind::kAsn}) {
    const auto database = GeoDatabase::open(kPath, kind);
    if (!database) continue;
    for (const char* address : {"10.0.0.1", "255.255.255.255", "::", "2001:db8::1", "ffff::"}) {
      const GeoDatabase::Found found = (*database)->find(*edge::parse_ip(address));
      require(found.sound || found.value == 0);
    }
  }
  std::remove(kPath.c_str());
  return 0;
}
