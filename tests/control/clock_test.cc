// edge-standalone under a wall clock that is set: what its parts know each other by must not end with it.
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "tests/control/world.h"

namespace edge::test {
namespace {

using testing::StartsWith;

constexpr int kDay = 24 * 3600;

class ShiftedClock : public Control {
 protected:
  void set_ahead(int seconds) const { dir_.put("ahead", std::to_string(seconds) + "\n"); }
  std::unique_ptr<ProxyProcess> start() {
    ::setenv("LD_PRELOAD", (bin_dir() / "libshifted_clock.so").c_str(), 1);
    ::setenv("EDGE_SHIFTED_CLOCK", (dir_ / "ahead").c_str(), 1);
    auto proxy = standalone({"--config", dir_ / "config"});
    ::unsetenv("LD_PRELOAD");
    ::unsetenv("EDGE_SHIFTED_CLOCK");
    EXPECT_NE(proxy->wait_ready(), "") << proxy->process.err_text();
    return proxy;
  }
};

TEST_F(ShiftedClock, ThatRanAheadAndWasSetRightLeavesNothingToMend) {
  for (const int ahead : {600, 25 * kDay}) {
    dir_.put("config/base.yaml", base_config(backend_.port));
    dir_.put("config/a.yaml", route_config("a", "/a"));
    set_ahead(ahead);
    {
      auto proxy = start();
      EXPECT_THAT(curl(proxy->port, "/a"), StartsWith("200")) << proxy->process.err_text();
      proxy->process.send_signal(SIGTERM);
      EXPECT_EQ(proxy->process.wait_exit(), 0);
    }
    set_ahead(0);
    auto proxy = start();
    dir_.put("config/a.yaml", route_config("a", "/b"));
    EXPECT_TRUE(answers(proxy->port, "/b", "200")) << ahead << proxy->process.err_text();
    proxy.reset();
    std::filesystem::remove_all(dir_ / "data");
  }
}

}  // namespace
}  // namespace edge::test
