// Nodes and others on one bridge, each in a network namespace of its own, which a test makes and takes away. Skipped
// where the right to make namespaces, or `ip`, is missing.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace edge::test {

/// Runs a line of the shell; what it writes goes nowhere. \returns whether it ended with 0.
bool run(const std::string& command);
/// What a line of the shell writes to its standard output.
std::string output(const std::string& command);
bool has(const std::string& text, const std::string& part);
/// Waits for what comes by itself; far longer than it takes.
bool await(const std::function<bool()>& there);

class Bridge : public testing::Test {
 protected:
  void SetUp() override;
  /// Whatever runs in the namespaces yet is ended.
  void TearDown() override;

  /// A namespace with the link `eth0` to the bridge, the addresses 192.0.2.NUMBER/24 and fd00:2::NUMBER/64.
  void attach(const std::string& name, int number);
  /// A namespace with nothing but its loopback.
  void node(const std::string& name);
  bool has_node(const std::string& name) const;

  static std::string space(const std::string& name);
  /// What a line of the shell begins with that runs in a namespace.
  static std::string inside(const std::string& name) { return "ip netns exec " + space(name) + " "; }
  /// The end of its cable that is at the bridge goes `up` or `down`.
  static bool cable(const std::string& name, const std::string& state);
  /// Runs `work` in a namespace; threads and processes that it makes are there, too.
  static void in(const std::string& name, const std::function<void()>& work);
  /// Moves the calling thread into a namespace.
  static bool enter(const std::string& name);
  static bool has_address(const std::string& name, const std::string& ip, const std::string& link = "eth0");

  std::string directory_;  ///< taken away with the namespaces
  bool has_v6_ = false;

 private:
  std::vector<std::string> names_;
};

}  // namespace edge::test
