// What a runtime or driver call does, by its name (cuda*, cu*, hip*). One table in one file: api_calls.cpp.
#pragma once

#include <cstdint>
#include <string_view>

namespace stepscope {

enum class ApiRole : std::uint8_t {
  other,
  launch_kernel,
  launch_graph,
  copy,
  fill,
  synchronise,  // blocks the calling thread until device work is done
  wait_event,   // makes a stream wait for an event
  record_event,
};

struct ApiCall {
  ApiRole role = ApiRole::other;
  bool blocks = false;  // the call returns only when device work has ended: synchronisations, and copies that are not asynchronous
  bool known = false;   // this row was filled (Facts::api_calls)
};

ApiCall api_call(std::string_view name);
constexpr bool launches_work(ApiRole role) {
  return role >= ApiRole::launch_kernel && role <= ApiRole::fill;
}
constexpr bool launches_kernels(ApiRole role) {
  return role == ApiRole::launch_kernel || role == ApiRole::launch_graph;
}

}  // namespace stepscope
