// Checks whether SQLite would recover everything that was committed to a write-ahead log. SQLite silently stops at the
// first frame with a wrong checksum, taking it for a transaction cut short by a crash. Where committed transactions of
// the same log follow, the log is damaged, and they would be lost. The format:
// https://sqlite.org/fileformat2.html#walformat
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace edge::resource_api {

struct WalLoss {
  std::uint64_t kept = 0;  ///< transactions up to the damage
  std::uint64_t lost = 0;  ///< after the damage; 0: none
};

/// Checks the log at `path`; a missing log is no loss. To be called before SQLite opens the database: that restarts the
/// log.
Result<WalLoss> check_wal(const std::string& path);

}  // namespace edge::resource_api
