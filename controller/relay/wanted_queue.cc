#include "controller/relay/wanted_queue.h"

#include <algorithm>
#include <utility>

namespace edge::controller::relay {

void WantedQueue::add(std::vector<WantedName> names, Time now) {
  for (WantedName& name : names) {
    std::deque<Waiting>& queue = name.served ? used_ : wanted_;
    if (std::ranges::find(queue, name, &Waiting::name) != queue.end()) continue;
    if (queue.size() >= kMost) queue.pop_front();
    queue.push_back({std::move(name), now});
  }
}

std::vector<WantedName> WantedQueue::take(Time now) {
  while (!wanted_.empty() && now - wanted_.front().since >= kWorth) wanted_.pop_front();
  std::vector<WantedName> taken;
  for (std::deque<Waiting>* const queue : {&wanted_, &used_}) {
    for (; !queue->empty() && taken.size() < kMostWantedNames; queue->pop_front()) {
      taken.push_back(std::move(queue->front().name));
    }
  }
  return taken;
}

}  // namespace edge::controller::relay
