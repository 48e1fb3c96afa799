#include "controller/status/served_objects.h"

#include <gtest/gtest.h>

namespace edge::controller {
namespace {

using State = ObjectProgress::State;

const ResourceId kRoute{"ProxyRoute", "shop", "a"};

TakenObject taken(const std::string& uid, const std::string& version, std::int64_t generation) {
  return {kRoute, uid, version, generation};
}

DesiredStatus desired(std::int64_t generation, const std::string& rejection = {}, const std::string& status = "{}") {
  DesiredStatus made;
  made.key = kRoute;
  made.status = status;
  made.generation = generation;
  made.rejection = rejection;
  return made;
}

ObjectVersion version(const std::string& uid, const std::string& resource_version, bool gone = false) {
  return {"ProxyRoute", "shop", "a", uid, resource_version, gone};
}

TEST(ServedObjects, TellTheProgramThatAVersionIsIn) {
  ServedObjects served;
  EXPECT_EQ(served.progress(version("u", "7")).state, State::kWaiting);
  EXPECT_EQ(served.progress(version("u", "7", true)).state, State::kWaiting) << "nothing is known of the cluster yet";
  served.take({taken("u", "7", 1)}, 3);
  EXPECT_EQ(served.progress(version("u", "7")).state, State::kWaiting) << "nobody has judged it";
  served.set_desired({desired(1)}, 3);
  EXPECT_EQ(served.progress(version("u", "7")).state, State::kTaken);
  EXPECT_EQ(served.progress(version("u", "7")).program, 3u);
  EXPECT_EQ(served.progress(version("u", "12")).state, State::kWaiting) << "12 is later than 7";
  // A status that was written is a later version, and no later program.
  served.take({taken("u", "12", 1)}, 9);
  EXPECT_EQ(served.progress(version("u", "12")).program, 3u);
  served.take({taken("u", "13", 2)}, 10);
  EXPECT_EQ(served.progress(version("u", "13")).state, State::kWaiting) << "the verdict is of generation 1";
  served.set_desired({desired(2)}, 10);
  EXPECT_EQ(served.progress(version("u", "13")).program, 10u);
}

TEST(ServedObjects, TellWhatWillNotBeServed) {
  ServedObjects served;
  served.take({taken("u", "7", 1)}, 1);
  served.set_desired({desired(1, "Invalid: bad")}, 1);
  EXPECT_EQ(served.progress(version("u", "7")).state, State::kRejected);
  EXPECT_EQ(served.progress(version("u", "7")).reason, "Invalid: bad");
  served.set_desired({desired(1, {}, "")}, 1);
  EXPECT_EQ(served.progress(version("u", "7")).state, State::kRejected) << "another controller's";
  EXPECT_EQ(served.progress({"Secret", "shop", "a", "u", "7", false}).state, State::kApart);
}

TEST(ServedObjects, TellARemovalByTheUid) {
  ServedObjects served;
  served.take({taken("u", "7", 1)}, 1);
  served.set_desired({desired(1)}, 1);
  EXPECT_EQ(served.progress(version("u", "7", true)).state, State::kWaiting);
  EXPECT_EQ(served.progress(version("", "7", true)).state, State::kWaiting) << "no server said which";
  // Another under its name: the one that was asked of is gone, and nothing is known of what the new one comes to.
  served.take({taken("other", "8", 1)}, 2);
  EXPECT_EQ(served.progress(version("u", "7", true)).state, State::kTaken);
  EXPECT_EQ(served.progress(version("u", "7", true)).program, 2u);
  EXPECT_EQ(served.progress(version("other", "8")).state, State::kWaiting);
  served.take({{kRoute, {}, {}, 0, /*gone=*/true}}, 5);
  EXPECT_EQ(served.progress(version("other", "8", true)).program, 5u);
}

}  // namespace
}  // namespace edge::controller
