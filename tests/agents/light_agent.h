// An agent without a data plane: it takes programs, says that it runs them, and counts. Many fit into one test.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "agent/sync/agent_store.h"
#include "base/result.h"

namespace edge::test {

struct LightAgentOptions {
  std::string controller;  ///< `127.0.0.1:PORT`
  std::string name;
  std::map<std::string, std::string> labels{};
  std::string instance = "1";  ///< of two the one that came later counts
  std::uint32_t protocol = 1;
  std::uint32_t oldest_protocol = 1;
  bool unknown_words = false;  ///< says things that no controller knows
  bool deaf = false;           ///< reads the welcome, and then nothing
  bool takes_values = false;  ///< of the deaf: reads the first part of the values before it is, and then nothing either
};

class LightAgent {
 public:
  /// Joins by the controller's file.
  static agent::Identity join(const std::string& controller, const std::string& join_file, const std::string& name);

  LightAgent(const LightAgentOptions& options, const agent::Identity& identity);
  /// Breaks the stream off and waits for its end.
  ~LightAgent();
  LightAgent(const LightAgent&) = delete;
  LightAgent& operator=(const LightAgent&) = delete;

  /// Whether `condition` came to hold in time: of the hash of the program, hex, and the protocol that was agreed on.
  bool reaches(const std::function<bool(const std::string& program, std::uint32_t protocol)>& condition);
  /// Bytes of messages that came, and of sections in them.
  std::size_t received_bytes() const;
  /// Reports that clients ask for `host` at the listener of a secret in the namespace `shop`, on a stream of its own.
  /// \returns whether the controller has read it.
  bool want(const std::string& secret, const std::string& host);
  /// How the stream ended; waits for it.
  Error end();

 private:
  class Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace edge::test
