// Draws a Program from a seed: a step of a training loop, repeated with a little noise. What differs from seed to seed: how many threads and streams, operators
// and kernels, which of the ways to wait for each other it uses, whether the device or the CPU is the slower one.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "program.h"

namespace stepscope {

struct ProgramOptions {
  std::uint32_t ranks = 1;
  std::uint32_t steps = 4;
  double latency_noise = 0.05;   // launch latency, gaps and hand-overs: up to this share up or down
  double duration_noise = 0.05;  // durations
};

class RandomProgram {
 public:
  static Program draw(std::uint64_t seed, const ProgramOptions& options) { return RandomProgram(seed, options).program(); }

 private:
  RandomProgram(std::uint64_t seed, const ProgramOptions& options)
      : random_(seed * 0x9E3779B97F4A7C15u + 1), of_operators_(seed * 0xD1B54A32D192ED03u + 7), options_(options) {}

  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  bool one_in(std::uint32_t count) { return below(count) == 0; }
  Nanoseconds between(Nanoseconds low, Nanoseconds high) { return low + static_cast<Nanoseconds>(random_() % static_cast<std::uint64_t>(high - low + 1)); }
  Nanoseconds noisy(Nanoseconds value, double share) {
    const double factor = 1 + share * (2 * std::uniform_real_distribution<double>()(random_) - 1);
    return static_cast<Nanoseconds>(std::llround(static_cast<double>(value) * factor));
  }

  // The step as a template: numbers of works, events, signals and collectives count from 0 in it.
  std::vector<std::vector<Action>> threads_;
  std::vector<DeviceWork> works_;
  std::vector<std::int64_t> streams_;  // the user's, then one that only graphs use, then that of the thread that prefetches
  std::uint32_t user_streams_ = 0;
  std::uint32_t events_ = 0, signals_ = 0, collectives_ = 0, thread_ = 0;
  std::int64_t sequences_ = 0;
  Nanoseconds launch_latency_ = 0, graph_latency_ = 0, gap_ = 0, stream_lag_ = 0, sync_lag_ = 0, thread_lag_ = 0, launch_call_ = 0;
  bool prefetch_ = false;
  double device_factor_ = 1, cpu_factor_ = 1;
  double message_alpha_ = 0;                       // ns
  static constexpr double message_beta_ = 0.0128;  // ns per byte: 78 GB/s

  void act(const Action& action) { threads_[thread_].push_back(action); }
  void busy(Nanoseconds low, Nanoseconds high) {
    act({.what = Do::work, .duration = std::max<Nanoseconds>(50, static_cast<Nanoseconds>(static_cast<double>(between(low, high)) * cpu_factor_))});
  }
  Nanoseconds device_time(Nanoseconds low, Nanoseconds high) {
    return std::max<Nanoseconds>(500, static_cast<Nanoseconds>(static_cast<double>(between(low, high)) * device_factor_));
  }

  void launch(std::uint32_t stream, std::string name, SliceKind kind, Nanoseconds duration) {
    act({.what = Do::launch,
         .duration = launch_call_,
         .latency = launch_latency_,
         .stream = stream,
         .first_work = static_cast<std::uint32_t>(works_.size()),
         .works = 1});
    works_.push_back({.name = std::move(name), .kind = kind, .duration = duration, .gap = gap_, .stream = stream, .after = {}});
  }
  void kernel(std::uint32_t stream) {
    static constexpr const char* names[] = {"ampere_sgemm_128x64_tn", "sm80_xmma_gemm_f16f16", "vectorized_elementwise_kernel", "layer_norm_kernel",
                                            "softmax_warp_forward",   "reduce_kernel",         "fused_dropout_kernel"};
    const std::uint32_t which = below(7);
    launch(stream, names[which], SliceKind::kernel, which < 2 ? device_time(40'000, 200'000) : device_time(3'000, 40'000));
  }
  void graph(std::uint32_t stream) {
    const auto first = static_cast<std::uint32_t>(works_.size()), count = 3 + below(6);
    act({.what = Do::launch, .duration = launch_call_ * 2, .latency = graph_latency_, .stream = stream, .first_work = first, .works = count});
    const bool forks = count > 3 && one_in(3);
    for (std::uint32_t i = 0; i < count; ++i) {
      DeviceWork work{.name = i % 2 == 0 ? "graph_gemm_kernel" : "graph_pointwise_kernel",
                      .duration = device_time(4'000, 50'000),
                      .gap = i == 0 ? gap_ : gap_ / 2 + 400,
                      .stream = stream,
                      .after = {}};
      if (i > 0) work.after = {first + i - 1};
      if (forks && i == 2) work.stream = user_streams_, work.after = {first};  // beside work 1
      if (forks && i == 3) work.after = {first + 1, first + 2};                // both join
      works_.push_back(std::move(work));
    }
  }
  // What is on `from` now must be done before `to` goes on.
  void hand_over(std::uint32_t from, std::uint32_t to) {
    act({.what = Do::record, .duration = between(1'000, 2'000), .stream = from, .number = events_});
    busy(300, 1'500);
    act({.what = Do::wait, .duration = between(1'000, 2'000), .latency = stream_lag_, .stream = to, .number = events_++});
    busy(300, 1'500);
  }
  void communicate() {
    const auto comm = 1u;
    hand_over(0, comm);
    const double numbers = std::floor((static_cast<double>(device_time(20'000, 300'000)) - message_alpha_) / message_beta_ / 4);
    launch(comm, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", SliceKind::kernel,
           std::llround(message_alpha_ + 4 * numbers * message_beta_));
    works_.back().message = 4 * static_cast<std::int64_t>(numbers);
    if (options_.ranks > 1) works_.back().collective = static_cast<std::int32_t>(collectives_++);
    if (one_in(3)) {
      busy(500, 3'000);
      hand_over(comm, 0);
    }
  }
  void synchronise() {
    const auto sync = [&](Do what, std::uint32_t number = 0) {
      act({.what = what, .duration = 2'500, .back = sync_lag_, .stream = below(user_streams_), .number = number});
    };
    switch (below(5)) {
      case 0:
        // Whether a thread that works for itself has launched something by then is a race, which an edit may turn round and no graph of dependencies tells.
        sync(prefetch_ ? Do::sync_stream : Do::sync_device);
        break;
      case 1:
        sync(Do::sync_stream);
        break;
      case 2:
        act({.what = Do::record, .duration = between(1'000, 2'000), .stream = 0, .number = events_});
        busy(300, 5'000);
        sync(Do::sync_event, events_++);
        break;
      case 3:
        act({.what = Do::blocking_copy,
             .duration = launch_call_ + 2'000,
             .latency = launch_latency_,
             .back = sync_lag_,
             .stream = 0,
             .first_work = static_cast<std::uint32_t>(works_.size()),
             .works = 1});
        works_.push_back(
            {.name = "Memcpy DtoH (Device -> Pageable)", .kind = SliceKind::copy, .duration = device_time(1'500, 6'000), .gap = gap_, .after = {}});
        break;
      default:  // .item()
        launch(0, "Memcpy DtoH (Device -> Pinned)", SliceKind::copy, device_time(1'200, 3'000));
        busy(200, 800);
        act({.what = Do::sync_stream, .duration = 2'500, .back = sync_lag_, .stream = 0});
    }
  }

  void some_work() {
    const auto side = below(user_streams_);
    switch (below(12)) {
      case 0:
        return synchronise_seldom();
      case 1:
        return graph(0);
      case 2:
        return communicate();
      case 3:
        if (side == 0) return kernel(0);
        hand_over(0, side);
        for (std::uint32_t i = 1 + below(3); i > 0; --i) kernel(side), busy(500, 4'000);
        return hand_over(side, 0);
      case 4:
        return launch(side, "Memcpy HtoD (Pinned -> Device)", SliceKind::copy, device_time(5'000, 50'000));
      case 5:
        return launch(0, "Memset (Device)", SliceKind::fill, device_time(1'000, 3'000));
      default:
        return kernel(0);
    }
  }
  void synchronise_seldom() {
    if (one_in(2))
      synchronise();
    else
      kernel(0);
  }
  void some_operator(const std::string& name, std::int64_t sequence, bool backward) {
    act({.what = Do::enter, .name = name, .sequence = sequence, .backward = backward});
    busy(2'000, 20'000);
    for (std::uint32_t i = 1 + below(3); i > 0; --i) {
      const bool nested = one_in(2);
      if (nested) act({.what = Do::enter, .name = one_in(2) ? "aten::empty" : "aten::copy_"}), busy(1'000, 6'000);
      some_work();
      busy(500, 6'000);
      if (nested) act({.what = Do::leave});
    }
    act({.what = Do::leave});
  }

  // Operators whose shapes the trace tells, drawn from numbers of their own: the rest of a program does not depend on them.
  template <class Draw>
  void aside(Draw draw) {
    std::swap(random_, of_operators_);
    draw();
    std::swap(random_, of_operators_);
  }
  static std::string shapes_text(const std::string& dims, const std::string& types) {
    return "\"Input Dims\": [" + dims + "], \"Input type\": [" + types + "]";
  }
  void known_operator(std::string name, std::string shapes, std::string kernel, Nanoseconds duration, const Arithmetic& arithmetic) {
    act({.what = Do::enter, .name = std::move(name), .shapes = std::move(shapes)});
    busy(1'000, 8'000);
    launch(0, std::move(kernel), SliceKind::kernel, duration);
    works_.back().arithmetic = arithmetic;
    busy(500, 3'000);
    act({.what = Do::leave});
  }
  // [batch, m, k] · [batch, k, n]
  void product(bool batched, double element, double batch, double m, double n, double k) {
    const std::string type = element == 4 ? "\"float\"" : "\"c10::BFloat16\"", of_batch = batched ? std::to_string(std::llround(batch)) + "," : "";
    const auto dims = [&](double rows, double columns) {
      return "[" + of_batch + std::to_string(std::llround(rows)) + "," + std::to_string(std::llround(columns)) + "]";
    };
    known_operator(
        batched ? "aten::bmm" : "aten::mm", shapes_text(dims(m, k) + "," + dims(k, n), type + "," + type), "ampere_sgemm_128x64_tn",
        device_time(20'000, 150'000),
        {.flops = 2 * batch * m * n * k, .read = element * batch * (m * k + k * n), .written = element * batch * m * n, .element = element, .matrix = true});
  }
  void pointwise(double element, std::int64_t numbers) {
    const std::string type = element == 4 ? "\"float\"" : "\"c10::BFloat16\"";
    const double bytes = element * static_cast<double>(numbers);
    known_operator("aten::mul", shapes_text("[" + std::to_string(numbers) + "],[]", type + ",\"Scalar\""), "vectorized_elementwise_kernel",
                   device_time(4'000, 40'000), {.flops = static_cast<double>(numbers), .read = bytes, .written = bytes, .element = element});
  }
  void softmax(double element, std::int64_t rows, std::int64_t columns) {
    const std::string type = element == 4 ? "\"float\"" : "\"c10::BFloat16\"";
    const double numbers = static_cast<double>(rows * columns);
    known_operator("aten::_softmax", shapes_text("[" + std::to_string(rows) + "," + std::to_string(columns) + "],[],[]", type + ",\"Scalar\",\"Scalar\""),
                   "softmax_warp_forward", device_time(4'000, 40'000),
                   {.flops = 5 * numbers, .read = element * numbers, .written = element * numbers, .element = element});
  }
  void attention(double element) {
    const double heads = 8 * (1 + below(4)), sequence = 128 * (1 + below(8)), width = 64;
    act({.what = Do::enter, .name = "aten::scaled_dot_product_attention"});
    busy(1'000, 4'000);
    product(true, element, heads, sequence, sequence, width);
    softmax(element, static_cast<std::int64_t>(heads * sequence), static_cast<std::int64_t>(sequence));
    product(true, element, heads, sequence, width, sequence);
    busy(500, 2'000);
    act({.what = Do::leave});
  }
  void operators_of_known_shapes(bool forward) {
    const double element = one_in(2) ? 4 : 2;
    switch (below(forward ? 5 : 4)) {
      case 0:
      case 1:
        return product(false, element, 1, 64 * (1 + below(32)), 64 * (1 + below(32)), 64 * (1 + below(32)));
      case 2: {
        const std::int64_t numbers = 1'000'000 * (1 + below(20));
        for (std::uint32_t i = 1 + below(4); i > 0; --i) pointwise(element, numbers), busy(300, 3'000);
        return;
      }
      case 3:
        return softmax(element, 1024 * (1 + below(16)), 128 * (1 + below(8)));
      default:
        return attention(element);
    }
  }
  void load_data() {
    act({.what = Do::enter, .name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", .annotation = true});
    static constexpr Nanoseconds longest[] = {100'000, 1'500'000, 20'000'000};
    busy(10'000, longest[below(3)]);
    if (one_in(2)) {
      act({.what = Do::enter, .name = "aten::stack"});
      busy(5'000, 50'000);
      act({.what = Do::leave});
      busy(1'000, 10'000);
    }
    act({.what = Do::leave});
    busy(500, 3'000);
  }
  // Adam as PyTorch's loop over parameters runs it.
  void optimizer_of_known_shapes() {
    act({.what = Do::enter, .name = "Optimizer.step#AdamW.step", .annotation = true});
    busy(2'000, 10'000);
    for (std::uint32_t i = 1 + below(3); i > 0; --i) {
      const std::int64_t numbers = 500'000 * (1 + below(20));
      const double bytes = 4 * static_cast<double>(numbers);
      const std::string one = "[" + std::to_string(numbers) + "]";
      const auto update = [&](const char* name, int tensors) {
        std::string dims = one, types = "\"float\"";
        for (int other = 1; other < tensors; ++other) dims += "," + one, types += ",\"float\"";
        known_operator(name, shapes_text(dims + ",[]", types + ",\"Scalar\""), "vectorized_elementwise_kernel", device_time(30'000, 90'000),
                       {.flops = static_cast<double>(numbers) * (tensors == 1 ? 1 : 3), .read = tensors * bytes, .written = bytes});
      };
      update("aten::mul_", 1), busy(500, 3'000);
      update("aten::addcmul_", 3), busy(500, 3'000);
      update("aten::addcdiv_", 3), busy(500, 3'000);
    }
    act({.what = Do::leave});
  }

  void draw_step() {
    static constexpr const char* operators[] = {"aten::linear", "aten::conv2d", "aten::layer_norm", "aten::softmax", "aten::add"};
    const bool autograd = !one_in(4);
    prefetch_ = one_in(4);
    threads_.resize(1 + (autograd ? 1 : 0) + (prefetch_ ? 1 : 0));
    act({.what = Do::begin_step});
    busy(2'000, 30'000);
    bool loads = false, known_optimizer = false;
    aside([&] {
      loads = !one_in(3), known_optimizer = !one_in(3);
      if (loads) load_data();
    });
    if (one_in(2)) launch(0, "Memcpy HtoD (Pinned -> Device)", SliceKind::copy, device_time(5'000, 50'000));
    std::vector<std::string> forward;
    for (std::uint32_t i = 8 + below(12); i > 0; --i) {
      forward.emplace_back(operators[below(5)]);
      some_operator(forward.back(), sequences_++, false);
      aside([&] {
        if (one_in(2)) operators_of_known_shapes(true);
      });
      if (one_in(2)) busy(1'000, 25'000);
    }
    const std::uint32_t begin = signals_++, end = signals_++;
    if (autograd) {
      act({.what = Do::enter, .name = "aten::ones_like"});  // of the loss, as torch.autograd.backward does first
      busy(2'000, 6'000);
      act({.what = Do::leave});
      busy(300, 1'000);
      act({.what = Do::signal, .number = begin});
      thread_ = 1;
      act({.what = Do::await, .back = thread_lag_, .number = begin});
    }
    for (std::size_t i = forward.size(); i-- > 0;) {
      const std::string name = "autograd::engine::evaluate_function: " + forward[i].substr(6) + "Backward0";
      some_operator(name, static_cast<std::int64_t>(i), true);
      aside([&] {
        if (!one_in(3)) return;
        act({.what = Do::enter, .name = name});
        busy(1'000, 3'000);
        operators_of_known_shapes(false);
        busy(500, 2'000);
        act({.what = Do::leave});
      });
      busy(500, 3'000);
    }
    if (autograd) {
      act({.what = Do::signal, .number = end});
      thread_ = 0;
      act({.what = Do::await, .back = thread_lag_, .number = end});
    }
    busy(1'000, 20'000);
    some_operator("Optimizer.step#AdamW.step", -1, false);
    aside([&] {
      if (known_optimizer) busy(1'000, 5'000), optimizer_of_known_shapes();
    });
    if (one_in(2)) busy(500, 2'000), synchronise();
    busy(1'000, 10'000);
    act({.what = Do::end_step});
    if (prefetch_) {  // works for itself, on a stream of its own
      thread_ = static_cast<std::uint32_t>(threads_.size() - 1);
      streams_.push_back(36);
      const auto own = static_cast<std::uint32_t>(streams_.size() - 1);
      for (std::uint32_t i = 1 + below(3); i > 0; --i) {
        act({.what = Do::enter, .name = "aten::pin_memory"});  // a thread's first record: what it did before, no trace tells
        busy(20'000, 300'000);
        launch(own, "Memcpy HtoD (Pinned -> Device)", SliceKind::copy, device_time(10'000, 90'000));
        busy(500, 2'000);
        act({.what = Do::leave});
        if (one_in(2)) act({.what = Do::sync_stream, .duration = 2'500, .back = sync_lag_, .stream = own});
      }
      busy(1'000, 5'000);
    }
  }

  // The template once more, with its own numbers and noise.
  void repeat(RankProgram& rank, std::uint32_t step) {
    const auto first_work = static_cast<std::uint32_t>(rank.works.size());
    for (std::size_t thread = 0; thread < threads_.size(); ++thread)
      for (Action action : threads_[thread]) {
        action.duration = action.what == Do::work ? noisy(action.duration, options_.duration_noise) : noisy(action.duration, options_.latency_noise);
        action.latency = noisy(action.latency, options_.latency_noise);
        action.back = noisy(action.back, options_.latency_noise);
        if (action.what == Do::record || action.what == Do::wait || action.what == Do::sync_event) action.number += step * events_;
        if (action.what == Do::signal || action.what == Do::await) action.number += step * signals_;
        if (action.what == Do::begin_step || action.what == Do::end_step) action.number = step;
        if (action.sequence >= 0) action.sequence += static_cast<std::int64_t>(step) * sequences_;
        action.first_work += first_work;
        rank.threads[thread].push_back(std::move(action));
      }
    for (DeviceWork work : works_) {
      if (work.message == 0) work.duration = noisy(work.duration, options_.duration_noise);
      work.gap = noisy(work.gap, options_.latency_noise);
      for (std::uint32_t& other : work.after) other += first_work;
      if (work.collective >= 0) work.collective += static_cast<std::int32_t>(step * collectives_);
      rank.works.push_back(std::move(work));
    }
  }

  Program program() {
    static constexpr std::int64_t numbers[] = {7, 20, 24, 28};
    streams_.assign(numbers, numbers + 2 + below(3));
    user_streams_ = static_cast<std::uint32_t>(streams_.size());
    streams_.push_back(60);
    launch_latency_ = between(6'000, 14'000), graph_latency_ = between(9'000, 20'000), launch_call_ = between(3'000, 7'000);
    gap_ = between(900, 2'000), stream_lag_ = between(1'200, 3'000), sync_lag_ = between(3'000, 9'000), thread_lag_ = between(5'000, 15'000);
    device_factor_ = std::exp2(static_cast<double>(below(5)) - 3), cpu_factor_ = std::exp2(static_cast<double>(below(3)) - 1);
    message_alpha_ = std::round(5'000 * device_factor_);
    threads_.resize(1);
    draw_step();
    Program program;
    program.collectives = collectives_ * options_.steps;
    program.message_alpha = message_alpha_, program.message_beta = message_beta_;
    for (std::uint32_t r = 0; r < options_.ranks; ++r) {
      RankProgram rank{.streams = streams_, .threads = std::vector<std::vector<Action>>(threads_.size()), .works = {}};
      for (std::uint32_t step = 0; step < options_.steps; ++step) repeat(rank, step);
      // Ranks differ a little in speed, and a collective lasts the same for all of its members.
      if (options_.ranks > 1) {
        const double slower = 1 + 0.001 * below(100);
        for (std::size_t w = 0; w < rank.works.size(); ++w) {
          DeviceWork& work = rank.works[w];
          if (work.message == 0) work.duration = static_cast<Nanoseconds>(std::llround(static_cast<double>(work.duration) * slower));
        }
      }
      // As the profiler does when it stops.
      rank.threads[0].push_back({.what = Do::work, .duration = between(20'000, 200'000)});
      rank.threads[0].push_back({.what = Do::sync_device, .duration = 2'500, .back = sync_lag_});
      program.ranks.push_back(std::move(rank));
    }
    return program;
  }

  std::mt19937_64 random_, of_operators_;
  ProgramOptions options_;
};

}  // namespace stepscope
