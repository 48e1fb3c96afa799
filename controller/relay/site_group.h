// One group of a site's agents: what the hub sends for it is put together, kept and published to them.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "agent/received/received_program.h"
#include "agent/received/received_values.h"
#include "base/log.h"
#include "controller/distribute/distributor.h"
#include "controller/relay/kept_groups.h"
#include "controller/relay/section_store.h"

namespace edge::controller::relay {

/// For one thread, but for what says otherwise.
class SiteGroup {
 public:
  SiteGroup(std::string name, SectionStore& sections, KeptGroups& kept, Logger log)
      : name_(std::move(name)), sections_(sections), kept_(kept), log_(std::move(log)), assembly_(&sections) {}

  const std::string& name() const { return name_; }
  /// Publishes what is on disk, if anything is.
  void restore(Distributor& to);
  /// A session with the hub begins: what was under way is begun anew.
  void begin_session();
  /// The next part of a program. \returns whether it is whole now. After an error the session is to end.
  Result<bool> take(const agent::v1::ProgramPart& part, Distributor& to);
  /// The next part of values, likewise.
  Status take(const agent::v1::ValuesPart& part, Distributor& to);
  /// Writes endpoints that are not on disk yet.
  void keep();

  /// Hash of the last program that came whole; empty bytes: none.
  std::string program_bytes() const;
  /// A transfer was broken off, and left sections.
  bool is_broken_off() const { return broken_off_; }
  // From any thread:
  bool has_program() const { return has_program_; }
  bool lacks_secrets() const { return lacks_secrets_; }
  /// A part of a later program has come, and not all of it: agents run an older one.
  bool is_behind() const { return behind_; }
  /// Bytes of sections that came from the hub.
  std::uint64_t section_bytes() const { return section_bytes_; }
  /// Of a version of values that agents acknowledge, that of the hub's; 0: unknown.
  std::uint64_t hub_version(std::uint64_t version) const;

 private:
  void publish(Distributor& to);
  void give(Distributor& to, Published published, std::uint64_t version);

  const std::string name_;
  SectionStore& sections_;
  KeptGroups& kept_;
  const Logger log_;
  agent::ProgramAssembly assembly_;
  agent::ValuesAssembly values_assembly_;
  bool broken_off_ = false;
  agent::ProgramBytes program_;                  ///< that came last
  program::Hash hash_{};                         ///< of it
  std::optional<agent::ReceivedProgram> next_;   ///< waits for its values
  std::optional<agent::ReceivedValues> values_;  ///< of this session
  std::uint64_t applied_ = 0;                    ///< version of the hub's
  std::optional<program::Hash> published_;
  program::EndpointSet endpoints_;  ///< published
  program::SecretSet secrets_;      ///< published
  bool dirty_ = false;              ///< endpoints are not on disk
  std::atomic<bool> has_program_ = false;
  std::atomic<bool> lacks_secrets_ = false;
  std::atomic<bool> behind_ = false;
  std::atomic<std::uint64_t> section_bytes_ = 0;
  mutable std::mutex mutex_;
  std::deque<std::pair<std::uint64_t, std::uint64_t>> versions_;  ///< own, the hub's; guarded by mutex_
};

}  // namespace edge::controller::relay
