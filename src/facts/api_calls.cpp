#include "facts/api_calls.h"

namespace stepscope {

namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

ApiCall api_call(std::string_view name) {
  const auto call = [](ApiRole role, bool blocks = false) { return ApiCall{role, blocks, true}; };
  // cudaGraphLaunch, cuGraphLaunch, hipGraphLaunch; other calls on graphs build them and launch nothing.
  if (has(name, "GraphLaunch")) return call(ApiRole::launch_graph);
  if (has(name, "Graph")) return call(ApiRole::other);
  // cudaLaunchKernel(ExC), cuLaunchKernel(Ex), cudaLaunchCooperativeKernel(MultiDevice), hip(Ext)(Module)LaunchKernel; a host function is not device work.
  if (has(name, "Launch") && !has(name, "HostFunc") && (has(name, "Kernel") || has(name, "Cooperative") || has(name, "cuLaunchGrid")))
    return call(ApiRole::launch_kernel);
  // hipMemcpyWithStream waits for its copy, as cudaMemcpy and the other forms without "Async" do.
  if (has(name, "Memcpy")) return call(ApiRole::copy, !has(name, "Async"));
  if (has(name, "Memset")) return call(ApiRole::fill);
  if (has(name, "Synchronize")) return call(ApiRole::synchronise, true);
  if (has(name, "StreamWaitEvent") || has(name, "StreamWaitValue")) return call(ApiRole::wait_event);
  if (has(name, "EventRecord")) return call(ApiRole::record_event);
  return call(ApiRole::other);
}

}  // namespace stepscope
