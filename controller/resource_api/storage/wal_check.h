// Whether what SQLite would take from a write-ahead log is all that was committed to it. SQLite ends at the first frame
// whose checksum is wrong, without a word: it takes that for the end of a transaction which a crash cut short. Where
// committed transactions of the same log follow, it is damage, and they are lost. The format:
// https://sqlite.org/fileformat2.html#walformat
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace edge::resource_api {

struct WalLoss {
  std::uint64_t kept = 0;  ///< transactions up to the damage
  std::uint64_t lost = 0;  ///< behind it; 0: nothing is
};

/// Of the log at `path`; no log is no loss. To be asked before SQLite opens the database: it begins the log anew.
Result<WalLoss> check_wal(const std::string& path);

}  // namespace edge::resource_api
