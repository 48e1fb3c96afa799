// Databases in MaxMind's format (MMDB 2.0) that tell the country or the autonomous system of an address.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/ip.h"
#include "base/result.h"

namespace edge::runtime {

/// Immutable; threads: any.
class GeoDatabase {
 public:
  enum class Kind : std::uint8_t {
    kCountry,  ///< type with `Country`, `City` or `Enterprise`: records with `country.iso_code`
    kAsn,      ///< type with `ASN`, `ISP` or `Enterprise`: records with `autonomous_system_number`
  };

  /// Reads a database into memory: later changes of the file do not affect it. At most 512 MiB. The Error says what is
  /// wrong with the file, without its path.
  static Result<std::shared_ptr<const GeoDatabase>> open(const std::string& path, Kind kind);
  ~GeoDatabase();
  GeoDatabase(const GeoDatabase&) = delete;
  GeoDatabase& operator=(const GeoDatabase&) = delete;

  struct Found {
    /// False: the database is corrupt where this address is.
    bool sound = false;
    /// A country (country_number), or an autonomous system; 0: the database has none for the address.
    std::uint32_t value = 0;
  };
  /// A walk through at most 128 nodes, and one record: some hundred nanoseconds.
  Found find(const IpAddress& address) const;

  /// When it was built, in seconds since 1970.
  std::uint64_t built() const;
  /// For instance `GeoLite2-Country`.
  std::string_view type() const;

 private:
  struct Handle;
  GeoDatabase(std::unique_ptr<Handle> handle, Kind kind);

  std::unique_ptr<Handle> handle_;
  Kind kind_;
};

/// A country as a number, of its code of two letters (ISO 3166-1 alpha-2); 0: it is none.
constexpr std::uint32_t country_number(std::string_view code) {
  const auto letter = [](char c) { return c >= 'A' && c <= 'Z'; };
  if (code.size() != 2 || !letter(code[0]) || !letter(code[1])) return 0;
  return static_cast<std::uint32_t>(code[0]) << 8 | static_cast<std::uint32_t>(code[1]);
}

}  // namespace edge::runtime
