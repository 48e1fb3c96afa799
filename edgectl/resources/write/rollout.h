// Tracks how far written objects have progressed to agents, request by request, for `--wait=programmed`.
//
// A change is programmed when all connected agents run the program that it was compiled into, or a later one, with the
// endpoints and secrets published with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/distribute/progress.h"
#include "edgectl/resources/cluster.h"

namespace edge::edgectl {

/// A written or deleted object.
struct Written {
  Type type;
  std::string name_space{}, name{}, uid{}, resource_version{};
  std::int64_t generation = 0;
  bool gone = false;

  std::string title() const { return type.singular() + "/" + name; }
};

class Rollout {
 public:
  explicit Rollout(const std::vector<Written>& all);

  /// Returns the request for the remaining objects; the answer has the same order.
  std::vector<controller::ObjectVersion> question() const;
  void take(const controller::Progress& answer);

  /// Returns whether no object remains.
  bool over() const { return left_.empty(); }
  /// Returns objects that will not be programmed, and why; once.
  std::vector<std::string> take_faults();
  /// `3 of 5 programmed; behind: edge-2, edge-7`
  std::string line() const;
  /// Returns a line per remaining object: what it waits for, with the names of agents.
  std::vector<std::string> unfinished() const;

 private:
  /// The program and values that agents have to run.
  struct Aim {
    std::uint64_t program = 0, values = 0;
  };
  struct Left {
    Written object;
    std::optional<Aim> aim;           ///< none: not compiled yet
    std::vector<std::string> behind;  ///< names of agents; empty with an aim: no agent is connected
  };

  bool is_done(Left& left, const controller::ObjectProgress& progress, const controller::Progress& answer);

  std::size_t all_ = 0;
  std::string run_;
  std::vector<Left> left_;
  std::vector<std::string> faults_;
};

}  // namespace edge::edgectl
