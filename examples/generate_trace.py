#!/usr/bin/env python3
"""generate_trace.py [OUT.json.gz]: writes the bundled example, a GENERATED Kineto trace (no GPU took part in it).

Six profiled steps of a 0.8-billion-parameter GPT on one of sixteen H100s, as torch.profiler would have recorded them with shapes, stacks and memory.
Without an argument it writes gpt_training_step.generated.json.gz beside this file. Python 3 standard library only; the same bytes on every run.
"""
import gzip
import io
import json
import pathlib
import sys

from gpt_training_step import WORLD, Trainer
from profiled_machine import HostThread, Machine

SEED = 20260601
FIRST_STEP, STEPS, SLOW_STEP = 10, 6, 13
STALL = 84_000_000                       # ns that the data loader is late in the slow step
PID, MAIN, AUTOGRAD, DEVICE = 48213, 48213, 48957, 0
BASE = 1_780_272_000_000_000_000         # baseTimeNanoseconds: 2026-06-01 00:00 UTC
START = 41_337_512_908_417               # the recording began so long after it
HERE = pathlib.Path(__file__).resolve().parent


def simulate():
    machine = Machine(SEED, START, PID, DEVICE)
    main, autograd = HostThread(machine, MAIN, 1), HostThread(machine, AUTOGRAD, 2)
    trainer = Trainer(machine, main, autograd)
    machine.allocated = 4 * sum(p.bytes for p in trainer.parameters)  # parameters, gradients, two moments
    trainer.load_batch()
    trainer.step(FIRST_STEP - 1)          # warm-up: fills the allocator's cache and leaves work on the GPU, as a real profiler finds them
    machine.next_address += machine.allocated
    machine.reserved = (machine.next_address - 0x7F4A00000000 + (20 << 20) - 1) // (20 << 20) * (20 << 20)
    machine.recording = True
    begun = main.now - 40_000
    with main.python("train_gpt.py(203): <module>"), main.python("train_gpt.py(131): main"):
        for number in range(FIRST_STEP, FIRST_STEP + STEPS):
            trainer.step(number, STALL if number == SLOW_STEP else 0)
            with main.python("torch/profiler/profiler.py(849): step"):
                main.spend(45_000)
        call, _ = main.call("cudaDeviceSynchronize", 2000, cbid=165, correlated=False)
        done = max(main.now, max(s.free_at for s in machine.streams.values()) + 2000)
        call.duration += done - main.now
        main.now = done
    return machine, begun, main.now + 60_000


def microseconds(nanoseconds):
    return f"{nanoseconds // 1000}.{nanoseconds % 1000:03d}"


def text(value):
    return json.dumps(value, ensure_ascii=True)


def complete(row):
    arguments = text(row.arguments)[1:-1]
    return (f'  {{\n    "ph": "X", "cat": "{row.category}", "name": {text(row.name)}, "pid": {row.pid}, "tid": {row.tid},\n'
            f'    "ts": {microseconds(row.start)}, "dur": {microseconds(row.duration)},\n    "args": {{\n      {arguments}\n    }}\n  }}')


def flow(phase, identity, pid, tid, start, kind):
    bind = ', "bp": "e"' if phase == "f" else ""
    return f'  {{\n    "ph": "{phase}", "id": {identity}, "pid": {pid}, "tid": {tid}, "ts": {microseconds(start)},\n    "cat": "{kind}", "name": "{kind}"{bind}\n  }}'


def metadata(name, pid, tid, start, key, value):
    return f'  {{\n    "name": "{name}", "ph": "M", "ts": {microseconds(start)}, "pid": {pid}, "tid": {tid},\n    "args": {{\n      "{key}": {text(value)}\n    }}\n  }}'


def event_texts(machine, begun, ended):
    host = sorted((r for r in machine.rows if r.category in ("cpu_op", "user_annotation", "python_function")), key=lambda r: (r.category == "python_function", r.start))
    for number, row in enumerate(host):
        row.arguments["Ev Idx"] = number
        yield complete(row)
    for number, (forward, backward) in enumerate(machine.arrows, 1):
        yield flow("s", number, PID, forward.tid, forward.start, "fwdbwd")
        yield flow("f", number, PID, backward.tid, backward.start, "fwdbwd")
    for number, (tid, when, arguments) in enumerate(machine.memory_rows, len(host)):
        arguments["Ev Idx"] = number
        yield (f'  {{\n    "ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]",\n    "pid": {PID}, "tid": {tid},\n    "ts": {microseconds(when)},\n'
               f'    "args": {{\n      {text(arguments)[1:-1]}\n    }}\n  }}')
    flows = {call: (identity, work) for identity, call, work in machine.flows}
    works = {work: identity for identity, _, work in machine.flows}
    for row in machine.rows:
        if row.category in ("cpu_op", "user_annotation", "python_function"):
            continue
        yield complete(row)
        if row in flows:
            yield flow("s", flows[row][0], PID, row.tid, row.start, "ac2g")
        elif row in works:
            yield flow("f", works[row], DEVICE, row.tid, row.start, "ac2g")
    for pid, name, label, order in ((PID, "python3", "CPU", PID), (DEVICE, "python3", "GPU 0", 5000000)):
        yield metadata("process_name", pid, 0, begun, "name", name)
        yield metadata("process_labels", pid, 0, begun, "labels", label)
        yield metadata("process_sort_index", pid, 0, begun, "sort_index", order)
    for stream in sorted(machine.streams):
        yield metadata("thread_name", DEVICE, stream, begun, "name", f"stream {stream} ")
        yield metadata("thread_sort_index", DEVICE, stream, begun, "sort_index", stream)
    for tid, name in ((MAIN, "python3"), (AUTOGRAD, "pt_autograd_0")):
        yield metadata("thread_name", PID, tid, begun, "name", f"thread {tid} ({name})")
        yield metadata("thread_sort_index", PID, tid, begun, "sort_index", tid)
    yield (f'  {{\n    "ph": "X", "cat": "Trace", "ts": {microseconds(begun)}, "dur": {microseconds(ended - begun)},\n    "pid": "Spans", "tid": "PyTorch Profiler",\n'
           f'    "name": "PyTorch Profiler (0)",\n    "args": {{\n      "Op count": 0\n    }}\n  }}')
    yield f'  {{\n    "name": "Iteration Start: PyTorch Profiler", "ph": "i", "s": "g",\n    "pid": "Traces", "tid": "Trace PyTorch Profiler", "ts": {microseconds(begun)}\n  }}'
    yield f'  {{\n    "name": "Record Window End", "ph": "i", "s": "g",\n    "pid": "", "tid": "", "ts": {microseconds(ended)}\n  }}'


def trace_text():
    machine, begun, ended = simulate()
    device = {"id": DEVICE, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85017493504, "computeMajor": 9, "computeMinor": 0, "maxThreadsPerBlock": 1024,
              "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 32, "sharedMemPerBlock": 49152, "numSms": 132, "regsPerMultiprocessor": 65536,
              "sharedMemPerBlockOptin": 232448, "sharedMemPerMultiprocessor": 233472}
    group = {"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl", "pg_size": WORLD, "ranks": list(range(WORLD))}
    distributed = {"backend": "nccl", "rank": 0, "world_size": WORLD, "pg_count": 1, "pg_config": [group], "nccl_version": "2.27.3"}
    head = {"schemaVersion": 1, "deviceProperties": [device], "cuda_driver_version": 12090, "cuda_runtime_version": 12080, "cupti_version": 26,
            "generated_by": "stepscope examples/generate_trace.py: GENERATED by a simulation, not recorded on a GPU",
            "distributedInfo": distributed, "record_shapes": 1, "profile_memory": 1, "with_stack": 1, "with_modules": 1, "with_flops": 0,
            "trace_id": "47454E4552415445445F5354455053", "displayTimeUnit": "ms", "baseTimeNanoseconds": BASE}
    out = io.StringIO()
    out.write("{\n" + "".join(f"  {text(k)}: {text(v)},\n" for k, v in head.items()) + '  "traceEvents": [\n')
    out.write(",\n".join(event_texts(machine, begun, ended)))
    out.write('\n  ],\n  "traceName": "gpt_training_step.generated.json"\n}\n')
    return out.getvalue()


def main():
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "gpt_training_step.generated.json.gz"
    target.write_bytes(gzip.compress(trace_text().encode("ascii"), 9, mtime=0))


if __name__ == "__main__":
    main()
