// A small trace of two steps on one device, written as the profiler writes it.
#pragma once

#include <string>

namespace stepscope {

inline std::string small_trace() {
  std::string events;
  const auto add = [&events](const std::string& event) { events += (events.empty() ? "" : ",\n") + event; };
  const auto time = [](int microseconds) { return std::to_string(microseconds) + ".000"; };
  int correlation = 0;
  for (int step = 0; step < 2; ++step) {
    const int begin = 1000 + 1000 * step;
    add(R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#)" + std::to_string(step) + R"(","pid":10,"tid":10,"ts":)" + time(begin) + R"(,"dur":1000})");
    for (int kernel = 0; kernel < 3; ++kernel) {
      const int at = begin + 10 + 200 * kernel;
      const std::string id = std::to_string(++correlation);
      add(R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":10,"tid":10,"ts":)" + time(at) + R"(,"dur":40,"args":{"External id":)" + id + "}}");
      add(R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":10,"tid":10,"ts":)" + time(at + 10) + R"(,"dur":10,"args":{"External id":)" + id +
          R"(,"correlation":)" + id + "}}");
      add(R"({"ph":"X","cat":"kernel","name":"gemm_kernel","pid":0,"tid":7,"ts":)" + time(at + 30) + R"(,"dur":120,"args":{"External id":)" + id +
          R"(,"correlation":)" + id + R"(,"device":0,"stream":7}})");
    }
  }
  return R"({"schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA H100 80GB HBM3","totalGlobalMem":85899345920}],"traceEvents":[)" + events + "]}\n";
}

}  // namespace stepscope
