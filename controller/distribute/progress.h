// How far changes of objects have come on their way to agents: what `edgectl --wait=programmed` asks.
//
//   object changed -> taken (compiled, published) -> programmed (every connected agent runs it)
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace edge::controller {

/// A change: the object as the API answered the write, or that this one (by its uid) is no more.
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
    kRejected,  ///< will not be served as it stands: `reason`
    kApart,     ///< nothing of it reaches agents by itself: `reason`
  };
  State state = State::kWaiting;
  std::uint64_t program = 0;
  std::string reason;
};

/// A connected agent.
struct AgentProgress {
  std::string name;
  std::uint64_t program = 0;  ///< number of what it runs; 0: none of this run of the controller
  /// Version of the endpoints and secrets at work; the last of all, where it has all that its group was given.
  std::uint64_t values = 0;
  std::uint64_t refused = 0;  ///< number of the program that it refuses; 0: none
  std::string reason;         ///< why
  std::string group{};        ///< empty: of an older controller, which has none
  std::string held_to{};      ///< program that a rollback holds its group to, hex; empty: none does
};

struct Progress {
  std::string run;           ///< of the controller: numbers of another run say nothing
  std::uint64_t values = 0;  ///< version that was published last
  std::string pinned;        ///< program that a rollback holds agents of `default` to, hex
  std::vector<ObjectProgress> objects;
  std::vector<AgentProgress> agents;
};

/// A group of agents that a rollback holds to a program.
struct PinnedGroup {
  std::string group;
  std::string program;  ///< hash, hex
};

/// Who knows what became of objects. Called on threads of the server, several at once.
struct ProgressSource {
  std::function<ObjectProgress(const ObjectVersion&)> object;
  std::function<std::uint64_t(const std::string& program)> number;  ///< of a program's hash, hex
  std::function<std::vector<PinnedGroup>()> pinned;
};

}  // namespace edge::controller
