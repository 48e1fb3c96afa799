// Writes settings of gateways and listeners as records. Shared by tables_listeners.cc and the other section writers.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/link/linked_config.h"
#include "program/section_builder.h"

namespace edge::compiler::emit {

inline std::uint64_t nanoseconds(std::chrono::nanoseconds duration) {
  return static_cast<std::uint64_t>(duration.count());
}

/// Stores one record; a default ArrayRef means none.
template <typename Record>
program::ArrayRef<Record> store_one(program::SectionBuilder& builder, const Record& record) {
  return builder.array(std::span<const Record>(&record, 1));
}

program::ArrayRef<program::StringRef> store_texts(program::SectionBuilder& builder,
                                                  const std::vector<std::string>& texts);
program::BackendTlsRecord backend_tls_record(program::SectionBuilder& builder, const BackendTlsSettings& tls);
program::SecretRecord secret_record(program::SectionBuilder& builder, const SecretKey& secret);
program::ArrayRef<program::SecretRecord> store_secrets(program::SectionBuilder& builder,
                                                       const std::vector<SecretKey>& secrets);

/// Sets the fields of features that are on.
void store_settings(program::SectionBuilder& builder, const LinkedGateway& gateway, program::GatewayRecord& record);
void store_settings(program::SectionBuilder& builder, const LinkedListener& listener, program::ListenerRecord& record);
void store_settings(program::SectionBuilder& builder, const LinkedBackend& backend, program::BackendRecord& record);

}  // namespace edge::compiler::emit
