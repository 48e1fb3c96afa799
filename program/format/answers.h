// Program format (format.h): records of the policies section of which the proxy's own answers are made.
#pragma once

#include <cstdint>

#include "program/format/file.h"

namespace edge::program {

/// A body that the proxy sends.
struct PageRecord {
  StringRef content_type;
  StringRef body;
};
static_assert(sizeof(PageRecord) == 16);

struct FieldRecord {
  StringRef name;
  StringRef value;
};
static_assert(sizeof(FieldRecord) == 16);

struct MaintenanceRecord {
  std::uint64_t retry_after_s;  ///< 0: Retry-After is not sent
  PageRecord page;              ///< without a body: the proxy's own text
  ArrayRef<CidrRecord> except_addresses;
  ArrayRef<FieldRecord> except_fields;  ///< names in lower case
  std::uint32_t enabled;                ///< 0 or 1
  std::uint32_t reserved;
};
static_assert(sizeof(MaintenanceRecord) == 48);

struct FixedResponseRecord {
  std::uint32_t status;  ///< 200 to 599
  std::uint32_t reserved;
  PageRecord page;
  ArrayRef<FieldRecord> fields;
};
static_assert(sizeof(FixedResponseRecord) == 32);

struct ErrorPageRecord {
  std::uint32_t first;  ///< of the statuses that it is for, 400 to 599
  std::uint32_t last;
  PageRecord page;
  std::uint32_t backend_errors;  ///< 1: also in place of the bodies of backends' answers
  std::uint32_t reserved;
};
static_assert(sizeof(ErrorPageRecord) == 32);

struct ErrorPagesRecord {
  ArrayRef<ErrorPageRecord> pages;  ///< the first that covers a status is sent
};
static_assert(sizeof(ErrorPagesRecord) == 8);

/// The policies of a listener for requests that no rule takes.
struct NoRouteRecord {
  std::uint32_t listener;  ///< index of its ListenerRecord; entries ascend by it
  std::uint32_t denied;    ///< 1: one that protects cannot be enforced
  ArrayRef<std::uint64_t> policies;
};
static_assert(sizeof(NoRouteRecord) == 16);

}  // namespace edge::program
