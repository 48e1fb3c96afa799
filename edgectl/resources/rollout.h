// How far what was written has come on its way to agents, question by question: what `--wait=programmed` tells.
//
// A change is programmed when every connected agent runs the program that it was compiled into, or a later one, with
// the endpoints and secrets that were published with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/distribute/progress.h"
#include "edgectl/resources/cluster.h"

namespace edge::edgectl {

/// An object as it was written, or one that was removed.
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

  /// Of what is left, in an order that the answer keeps.
  std::vector<controller::ObjectVersion> question() const;
  void take(const controller::Progress& answer);

  /// Nothing is left to be asked.
  bool over() const { return left_.empty(); }
  /// What will not be programmed, and why; once.
  std::vector<std::string> take_faults();
  /// `3 of 5 programmed; behind: edge-2, edge-7`
  std::string line() const;
  /// A line for each that is left: what it waits for, with the names of agents.
  std::vector<std::string> unfinished() const;

 private:
  /// What agents have to run.
  struct Aim {
    std::uint64_t program = 0, values = 0;
  };
  struct Left {
    Written object;
    std::optional<Aim> aim;           ///< none: not compiled yet
    std::vector<std::string> behind;  ///< names of agents; with an aim and none: no agent is connected
  };

  bool is_done(Left& left, const controller::ObjectProgress& progress, const controller::Progress& answer);

  std::size_t all_ = 0;
  std::string run_;
  std::vector<Left> left_;
  std::vector<std::string> faults_;
};

}  // namespace edge::edgectl
