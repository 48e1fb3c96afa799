#include "agent/observe/request_ages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/format/records.h"
#include "runtime/session/test_program.h"

namespace edge::agent {
namespace {

using runtime::TallyNames;
using std::chrono::minutes;
using testing::ElementsAre;
using testing::IsEmpty;

class RequestAgesTest : public testing::Test {
 protected:
  /// As the program names its one route.
  TallyNames kept() const {
    const auto full = [](std::string_view name_space, std::string_view name) {
      return std::string(name_space) + "/" + std::string(name);
    };
    const runtime::LoadedListener& listener = program_->listener(0);
    const program::SectionView& section = program_->listeners_section();
    const runtime::LoadedHost& host = listener.hosts[0];
    const program::RouteRecord& route = host.view.array(host.header->routes)[0];
    return {full(section.string(listener.gateway->name_space), section.string(listener.gateway->name)),
            full(program::name_space_of(host.view, route), host.view.string(route.name)), ""};
  }
  std::vector<TallyNames> look(minutes at) {
    return ages_.gone(sums_, program_.get(), RequestAges::Clock::time_point(minutes(1000) + at));
  }

  std::shared_ptr<const runtime::LoadedProgram> program_ = runtime::testing::TestProgram{}.load();
  TallyNames gone_{"test/gw", "test/gone", ""};
  TallyNames nowhere_{};
  runtime::RequestSums sums_;
  RequestAges ages_;
};

TEST_F(RequestAgesTest, GivesUpWhatTheProgramNamesNoMore) {
  sums_.rows[kept()].by_class[2] = 1;
  sums_.rows[gone_].by_class[2] = 1;
  sums_.rows[nowhere_].by_class[4] = 1;
  sums_.rows[{"", runtime::RequestTally::kOther, ""}].by_class[2] = 1;
  EXPECT_THAT(look(minutes(0)), IsEmpty());
  EXPECT_THAT(look(minutes(14)), IsEmpty());
  EXPECT_THAT(look(minutes(16)), ElementsAre(gone_));
}

TEST_F(RequestAgesTest, WaitsWhileRequestsEnd) {
  sums_.rows[gone_].by_class[2] = 1;
  look(minutes(0));
  sums_.rows[gone_].by_class[2] = 2;
  look(minutes(10));
  EXPECT_THAT(look(minutes(16)), IsEmpty());
  EXPECT_THAT(look(minutes(26)), ElementsAre(gone_));
}

TEST_F(RequestAgesTest, GivesUpABackendThatIsGone) {
  TallyNames other = kept();
  other.backend = "test/gone";
  sums_.rows[other].by_class[2] = 1;
  look(minutes(0));
  EXPECT_THAT(look(minutes(16)), ElementsAre(other));
}

}  // namespace
}  // namespace edge::agent
