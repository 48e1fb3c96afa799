// How far changes of objects have progressed to agents, for `edgectl --wait=programmed`.
//
//   object changed -> taken (compiled, published) -> programmed (every connected agent runs it)
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace edge::controller {

/// A change: the object as returned by the write, or the deletion of this one (by its uid).
struct ObjectVersion {
  std::string kind;
  std::string name_space;
  std::string name;
  std::string uid;
  std::string resource_version;
  bool gone = false;
};

struct ObjectProgress {
  enum class State : std::uint8_t {
    kWaiting,   ///< not compiled yet
    kTaken,     ///< published; agents run it with program number `program`, or a later one
    kRejected,  ///< not served in this version: `reason`
    kApart,     ///< does not reach agents by itself: `reason`
  };
  State state = State::kWaiting;
  std::uint64_t program = 0;
  std::string reason;
};

/// A connected agent.
struct AgentProgress {
  std::string name;
  std::uint64_t program = 0;  ///< number of the program it runs; 0: none of this run of the controller
  /// Version of the endpoints and secrets in use; the latest of all groups, if it has everything of its own.
  std::uint64_t values = 0;
  std::uint64_t refused = 0;  ///< number of the program that it rejects; 0: none
  std::string reason;         ///< why
  std::string group{};        ///< empty: from an older controller without groups
  std::string held_to{};      ///< program that a rollback pins for its group, hex; empty: none
};

struct Progress {
  std::string run;           ///< of the controller: numbers of different runs are not comparable
  std::uint64_t values = 0;  ///< the version last published
  std::string pinned;        ///< program that a rollback pins for the group `default`, hex
  std::vector<ObjectProgress> objects;
  std::vector<AgentProgress> agents;
};

/// A group of agents with a program pinned by a rollback.
struct PinnedGroup {
  std::string group;
  std::string program;  ///< hash, hex
};

/// The source of objects' progress. Called on server threads, concurrently.
struct ProgressSource {
  std::function<ObjectProgress(const ObjectVersion&)> object;
  std::function<std::uint64_t(const std::string& program)> number;  ///< of a program's hash, hex
  std::function<std::vector<PinnedGroup>()> pinned;
};

}  // namespace edge::controller
