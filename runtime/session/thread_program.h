// A program with what one thread needs to serve it.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/match/load.h"
#include "runtime/observe/access_log/request_log.h"
#include "runtime/observe/ready_attributes.h"
#include "runtime/policy/auth/authentication.h"
#include "runtime/policy/ip_access.h"
#include "runtime/policy/policies.h"
#include "runtime/session/accept/entrance.h"
#include "runtime/session/coded_reply.h"
#include "runtime/shape/cache/cache.h"
#include "runtime/tls/store.h"
#include "runtime/upstream/pool/backend_pool.h"

namespace edge::runtime {

/// A program with what was made for it, as all threads share it. Immutable.
struct SharedProgram {
  std::shared_ptr<const LoadedProgram> program;
  std::shared_ptr<const Policies> policies;
  std::shared_ptr<const IpAccesses> ip_accesses{};
  std::shared_ptr<const TlsStore> tls{};
  std::shared_ptr<const auth::Authentication> authentication{};
};

/// A program with what one thread needs to serve it, among it the thread's pools in the order of the program's
/// backends. Reference counted without atomics: it never leaves its thread.
struct ThreadProgram {
  std::shared_ptr<const LoadedProgram> program;
  std::shared_ptr<const Policies> policies;
  /// Null before the first program.
  std::shared_ptr<const IpAccesses> ip_accesses;
  std::shared_ptr<const auth::Authentication> authentication;
  std::shared_ptr<const TlsStore> tls;
  std::vector<std::shared_ptr<BackendPool>> pools;
  /// By listening slot: index of the BindRecord, kNone where this program does not listen.
  std::vector<std::uint32_t> bind_of_slot;
  /// By listening slot: how its connections begin.
  std::vector<Entrance> entrances;
  /// By bind: whether a listener on it has settings that apply before a rule is looked for: trusted proxies, a scheme
  /// redirect, client certificates, claims that rules match.
  std::vector<bool> listener_asks;
  /// By gateway; null where it has no cache.
  std::vector<std::shared_ptr<cache::Cache>> caches;
  LoggedGateways logged;
  /// Whether something is to be done for requests before a rule is looked for: an entry of the access log, or an answer
  /// to the challenge of a CA.
  bool looks_first = false;
  /// A cache that is written through const pointers to this program: it holds attributes composed from the other
  /// members.
  std::unique_ptr<ReadyAttributes> ready_attributes = std::make_unique<ReadyAttributes>();
  /// Another: bodies of answers, compressed.
  std::unique_ptr<CodedBodies> coded_bodies = std::make_unique<CodedBodies>();
  /// Whether backends are told of client connections: their addresses (PROXY protocol), or whether their certificates
  /// verify.
  bool announces = false;
  std::uint32_t pins = 0;

  /// Returns the access logs for what came in on a listening slot.
  LoggedBind logged_bind(std::uint32_t slot) const { return {*program, logged, entrances[slot].bind}; }
};

/// Keeps a ThreadProgram alive; the last pin frees it.
class ProgramPin {
 public:
  ProgramPin() = default;
  explicit ProgramPin(ThreadProgram* program) : program_(program) { ++program_->pins; }
  ProgramPin(const ProgramPin& other) : program_(other.program_) {
    if (program_ != nullptr) ++program_->pins;
  }
  ProgramPin(ProgramPin&& other) noexcept : program_(std::exchange(other.program_, nullptr)) {}
  ProgramPin& operator=(ProgramPin other) noexcept {
    std::swap(program_, other.program_);
    return *this;
  }
  ~ProgramPin() {
    if (program_ != nullptr && --program_->pins == 0) delete program_;
  }
  const ThreadProgram* operator->() const { return program_; }
  const ThreadProgram& operator*() const { return *program_; }
  explicit operator bool() const { return program_ != nullptr; }

 private:
  ThreadProgram* program_ = nullptr;
};

}  // namespace edge::runtime
