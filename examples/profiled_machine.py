"""A training node under torch.profiler, simulated: host threads that call operators and launch work, one GPU whose streams run it, and the rows that
Kineto would have written about both.

Everything here is integer nanoseconds and a seeded generator, so a run gives the same bytes everywhere. What the numbers are made of:
 - a host operator costs a little over a microsecond to enter and half of that to leave (with shapes, stacks and memory being recorded);
 - a launch call costs 3 to 9 us; the kernel starts when the call is done plus ~2.5 us, the stream is free plus ~1 us, and the events that it waits for
   have been recorded, whichever comes last;
 - a launch blocks while 1022 launches are pending, as the driver's queue does.
"""
import collections
import contextlib
import random

PENDING_LIMIT = 1022
TYPE_BYTES = {"c10::BFloat16": 2, "float": 4, "long int": 8, "unsigned char": 1, "bool": 1}
TYPE_CODES = {"c10::BFloat16": "15", "float": "6", "long int": "4", "unsigned char": "0", "bool": "11"}


class Tensor:
    """A shape with a type, and the memory behind it where it owns some."""

    def __init__(self, dims, type_name="c10::BFloat16", strides=None):
        self.dims, self.type_name = list(dims), type_name
        self.strides = list(strides) if strides is not None else contiguous_strides(dims)
        self.address = None

    @property
    def count(self):
        product = 1
        for size in self.dims:
            product *= size
        return product

    @property
    def bytes(self):
        return self.count * TYPE_BYTES[self.type_name]

    def view(self, dims, strides=None):
        return Tensor(dims, self.type_name, strides)


def contiguous_strides(dims):
    strides, step = [], 1
    for size in reversed(list(dims)):
        strides.insert(0, step)
        step *= size
    return strides


class Scalar(str):
    """A number, truth value or text among an operator's arguments."""


class ScalarList(str):
    """A list of numbers among an operator's arguments: "[8, 2048]"."""


class TensorList(list):
    """A list of tensors among an operator's arguments."""


def recorded_arguments(arguments):
    """The four parallel lists that record_shapes=True writes."""
    dims, strides, types, concrete = [], [], [], []
    for argument in arguments:
        if isinstance(argument, Tensor):
            row = (argument.dims, argument.strides, argument.type_name, "")
        elif isinstance(argument, TensorList):
            row = ([t.dims for t in argument], [t.strides for t in argument], "TensorList", "")
        elif isinstance(argument, ScalarList):
            row = ([], [], "ScalarList", str(argument))
        elif isinstance(argument, Scalar):
            row = ([], [], "Scalar", str(argument))
        else:
            row = ([], [], "", "")
        for column, value in zip((dims, strides, types, concrete), row):
            column.append(value)
    return {"Concrete Inputs": concrete, "Input type": types, "Input Strides": strides, "Input Dims": dims}


class Row:
    __slots__ = ("category", "name", "pid", "tid", "start", "duration", "arguments", "correlation")

    def __init__(self, category, name, pid, tid, start, duration, arguments, correlation=None):
        self.category, self.name, self.pid, self.tid = category, name, pid, tid
        self.start, self.duration, self.arguments, self.correlation = start, duration, arguments, correlation


class Stream:
    def __init__(self, number):
        self.number = number
        self.free_at = 0
        self.wait_until = 0  # recorded events that the next work on this stream waits for
        self.pending = collections.deque()  # starts of work that was launched and has perhaps not begun


class Event:
    """A CUDA event: when the work recorded before it is done, and which call recorded it."""

    def __init__(self, number, stream, done_at, correlation):
        self.number, self.stream, self.done_at, self.correlation = number, stream, done_at, correlation


class Machine:
    def __init__(self, seed, start, pid, device):
        self.random = random.Random(seed)
        self.pid, self.device = pid, device
        self.recording = False
        self.rows, self.memory_rows, self.flows, self.arrows = [], [], [], []
        self.external_id = self.correlation = self.python_id = self.event_number = 0
        self.streams = {}
        self.module_numbers = {}   # path of a module -> its number among the modules of its class
        self.modules_of_class = collections.Counter()
        self.free_blocks = collections.defaultdict(list)
        self.next_address, self.allocated, self.reserved = 0x7F4A00000000, 0, 0
        self.start = start

    def jitter(self, duration, share=0.02):
        return max(1, int(duration * (1 + share * (2 * self.random.random() - 1))))

    def stream(self, number):
        return self.streams.setdefault(number, Stream(number))

    def add(self, row):
        if self.recording:
            self.rows.append(row)

    def gpu_annotation(self, name, external_id, launched):
        """What Kineto draws on the GPU for an annotation: from its first work to its last, per stream."""
        by_stream = collections.defaultdict(list)
        for row in launched:
            by_stream[row.tid].append(row)
        for stream, rows in by_stream.items():
            begin, end = min(r.start for r in rows), max(r.start + r.duration for r in rows)
            self.add(Row("gpu_user_annotation", name, self.device, stream, begin, end - begin, {"External id": external_id}))


class HostThread:
    """A thread with its own clock. Scopes nest; everything that is launched belongs to the innermost operator."""

    def __init__(self, machine, tid, forward_thread):
        self.machine, self.tid, self.forward_thread = machine, tid, forward_thread
        self.now = machine.start
        self.operators, self.pythons = [], []
        self.annotations = []  # (name, external id, launched rows) of the open annotations
        self.sequence = 0
        self.gradients = True
        self.inside_node = False  # below autograd: operators that a node-making operator calls carry no sequence number
        self.last_of_sequence = {}  # sequence number -> the row that started last with it: where Kineto's fwdbwd arrows begin

    def spend(self, nanoseconds, share=0.15):
        self.now += self.machine.jitter(nanoseconds, share)

    # --- scopes ---------------------------------------------------------------------------------------------------------------------------------------
    @contextlib.contextmanager
    def operator(self, name, arguments=(), node=False, extra=None, backward_of=None, cost=1300):
        """An operator's row. node: it creates a node of the autograd graph. backward_of: the (sequence number, thread) of the node that it runs."""
        machine = self.machine
        machine.external_id += 1
        facts = {"External id": machine.external_id, "Record function id": 0}
        facts.update(extra or {})
        if arguments:
            facts.update(recorded_arguments(arguments))
        if backward_of is not None:
            facts.update({"Sequence number": backward_of[0], "Fwd thread id": backward_of[1]})
        elif self.gradients and not self.inside_node:
            facts.update({"Sequence number": self.sequence, "Fwd thread id": 0})
        row = Row("cpu_op", name, machine.pid, self.tid, self.now, 0, facts)
        machine.add(row)
        if backward_of is None and self.gradients and not self.inside_node:
            self.last_of_sequence[self.sequence] = row
        self.operators.append(machine.external_id)
        self.spend(cost)
        was_inside, self.inside_node = self.inside_node, self.inside_node or node
        yield row
        self.inside_node = was_inside
        if node:
            self.sequence += 1
        self.spend(500)
        self.operators.pop()
        row.duration = self.now - row.start
        self.now += 1

    @contextlib.contextmanager
    def annotation(self, name, arguments=()):
        machine = self.machine
        machine.external_id += 1
        facts = {"External id": machine.external_id, "Record function id": 0}
        if arguments:
            facts.update(recorded_arguments(arguments))
        row = Row("user_annotation", name, machine.pid, self.tid, self.now, 0, facts)
        machine.add(row)
        launched = []
        self.annotations.append((name, machine.external_id, launched))
        self.operators.append(machine.external_id)
        self.spend(1200)
        yield row
        self.spend(400)
        self.operators.pop()
        self.annotations.pop()
        machine.gpu_annotation(name, facts["External id"], launched)
        row.duration = self.now - row.start
        self.now += 1

    @contextlib.contextmanager
    def python(self, name, module_number=None):
        machine = self.machine
        machine.python_id += 1
        facts = {"Python parent id": self.pythons[-1] if self.pythons else None, "Python id": machine.python_id}
        if module_number is not None:
            facts["Python module id"] = module_number
        row = Row("python_function", name, machine.pid, self.tid, self.now, 0, facts)
        machine.add(row)
        self.pythons.append(machine.python_id)
        self.spend(700)
        yield row
        self.spend(250)
        self.pythons.pop()
        row.duration = self.now - row.start
        self.now += 1

    @contextlib.contextmanager
    def module(self, class_name, path, source):
        """A call of an nn.Module: its own row, and the Python frames that torch puts between the call and forward()."""
        machine = self.machine
        if path not in machine.module_numbers:
            machine.module_numbers[path] = machine.modules_of_class[class_name]
            machine.modules_of_class[class_name] += 1
        number = machine.module_numbers[path]
        with self.python(f"nn.Module: {class_name}_{number}", number):
            with self.python("torch/nn/modules/module.py(1779): _call_impl"):
                with self.python(source):
                    yield

    # --- device work ----------------------------------------------------------------------------------------------------------------------------------
    def call(self, name, duration, category="cuda_runtime", cbid=0, correlated=True):
        """A runtime or driver call's row; returns (start, correlation id)."""
        machine = self.machine
        machine.correlation += 1
        facts = {"cbid": cbid, "correlation": machine.correlation}
        if self.operators and category == "cuda_runtime":
            facts = {"External id": self.operators[-1], **facts}
        row = Row(category, name, machine.pid, self.tid, self.now, 0, facts, machine.correlation if correlated else None)
        machine.add(row)
        self.spend(duration)
        row.duration = self.now - row.start
        self.now += machine.jitter(150, 0.5)
        return row, machine.correlation

    def _enqueue(self, call, correlation, stream, duration, category, name, facts):
        machine = self.machine
        while stream.pending and stream.pending[0] <= self.now:
            stream.pending.popleft()
        if len(stream.pending) >= PENDING_LIMIT:
            freed = stream.pending[len(stream.pending) - PENDING_LIMIT]
            call.duration += max(0, freed - self.now)
            self.now = max(self.now, freed) + 400
        begun = max(call.start + call.duration + machine.jitter(2500, 0.2), stream.free_at + machine.jitter(1000, 0.25), stream.wait_until)
        stream.free_at, stream.wait_until = begun + duration, 0
        stream.pending.append(begun)
        facts = {"External id": self.operators[-1] if self.operators else 0, **facts, "device": machine.device, "context": 1, "stream": stream.number,
                 "correlation": correlation}
        row = Row(category, name, machine.device, stream.number, begun, duration, facts, correlation)
        machine.add(row)
        if machine.recording:
            machine.flows.append((correlation, call, row))
        for _, _, launched in self.annotations:
            launched.append(row)
        return row

    def launch(self, name, duration, stream=7, api="cudaLaunchKernel", blocks=1056, threads=256, registers=32, shared=0, extra=None):
        """Launches a kernel of so many nanoseconds."""
        machine = self.machine
        category, cbid, cost = {"cudaLaunchKernel": ("cuda_runtime", 211, 4100), "cuLaunchKernelEx": ("cuda_driver", 652, 4400),
                                "cuLaunchKernel": ("cuda_driver", 307, 3900), "cudaLaunchKernelExC": ("cuda_runtime", 430, 8200)}[api]
        call, correlation = self.call(api, cost, category, cbid)
        per_multiprocessor = blocks / 132
        facts = {"queued": 0, "registers per thread": registers, "shared memory": shared, "blocks per SM": round(per_multiprocessor, 6),
                 "warps per SM": round(per_multiprocessor * threads / 32, 6), "grid": [blocks, 1, 1], "block": [threads, 1, 1],
                 "est. achieved occupancy %": min(100, int(per_multiprocessor * threads / 32 / 64 * 100)), **(extra or {})}
        return self._enqueue(call, correlation, machine.stream(stream), machine.jitter(duration), "kernel", name, facts)

    def copy(self, kind, size, gigabytes_per_second, stream=7):
        """An asynchronous copy; kind as Kineto names it: "HtoD (Pinned -> Device)"."""
        call, correlation = self.call("cudaMemcpyAsync", 5200 if "Pageable" not in kind else 9000, "cuda_runtime", 41)
        duration = self.machine.jitter(1200 + int(size / gigabytes_per_second))
        if "Pageable -> Device" in kind:  # the driver stages pageable memory: the call lasts as long as the copy
            call.duration += duration
            self.now += duration
        facts = {"bytes": size, "memory bandwidth (GB/s)": round(size / duration, 6)}
        return self._enqueue(call, correlation, self.machine.stream(stream), duration, "gpu_memcpy", "Memcpy " + kind, facts)

    def fill(self, size, stream=7):
        call, correlation = self.call("cudaMemsetAsync", 3800, "cuda_runtime", 51)
        duration = self.machine.jitter(900 + int(size / 2400))
        facts = {"bytes": size, "memory bandwidth (GB/s)": round(size / duration, 6)}
        return self._enqueue(call, correlation, self.machine.stream(stream), duration, "gpu_memset", "Memset (Device)", facts)

    def record_event(self, stream, api="cudaEventRecord"):
        _, correlation = self.call(api, 1500, "cuda_runtime", 135 if api == "cudaEventRecord" else 370, correlated=False)
        self.machine.event_number += 1
        return Event(self.machine.event_number, stream, self.machine.stream(stream).free_at, correlation)

    def wait_event(self, stream, event):
        call, correlation = self.call("cudaStreamWaitEvent", 1500, "cuda_runtime", 147, correlated=False)
        target = self.machine.stream(stream)
        target.wait_until = max(target.wait_until, event.done_at + 900)
        self._sync_row("Stream Wait Event", call, correlation, stream, {"wait_on_stream": event.stream, "wait_on_cuda_event_record_corr_id": event.correlation,
                                                                        "wait_on_cuda_event_id": event.number})

    def synchronize(self, stream):
        call, correlation = self.call("cudaStreamSynchronize", 2200, "cuda_runtime", 131, correlated=False)
        done = max(self.now, self.machine.stream(stream).free_at + self.machine.jitter(1800, 0.2))
        call.duration += done - self.now
        self.now = done
        self._sync_row("Stream Sync", call, correlation, stream, {})

    def _sync_row(self, kind, call, correlation, stream, facts):
        start, end = call.start + 300, call.start + call.duration - 200
        self.machine.add(Row("cuda_sync", kind, self.machine.device, stream, start, max(1, end - start),
                             {"External id": self.operators[-1] if self.operators else 0, "cuda_sync_kind": kind, **facts, "stream": stream,
                              "correlation": correlation, "device": self.machine.device, "context": 1}))

    # --- memory ---------------------------------------------------------------------------------------------------------------------------------------
    def allocate(self, tensor, operator="aten::empty"):
        """The operator that makes room for a tensor, and the allocator's record of it."""
        arguments = [ScalarList(str(tensor.dims)), Scalar(TYPE_CODES[tensor.type_name]), Scalar("0"), Scalar("0"), Scalar("False"), None]
        with self.operator(operator, arguments, cost=1500):
            machine, size = self.machine, (tensor.bytes + 511) // 512 * 512
            if machine.free_blocks[size]:
                tensor.address = machine.free_blocks[size].pop()
            else:
                tensor.address, machine.next_address = machine.next_address, machine.next_address + size
                machine.reserved = -(-(machine.next_address - 0x7F4A00000000) // (20 << 20)) * (20 << 20)
            machine.allocated += size
            self._memory_row(tensor.address, size)
        return tensor

    def free(self, *tensors):
        for tensor in tensors:
            if tensor.address is None:
                continue
            size = (tensor.bytes + 511) // 512 * 512
            self.machine.free_blocks[size].append(tensor.address)
            self.machine.allocated -= size
            self._memory_row(tensor.address, -size)
            tensor.address = None

    def _memory_row(self, address, size):
        machine = self.machine
        if machine.recording:
            machine.memory_rows.append((self.tid, self.now, {"Total Reserved": machine.reserved, "Total Allocated": machine.allocated, "Bytes": size,
                                                             "Addr": address, "Device Id": machine.device, "Device Type": 1}))
        self.now += 60
