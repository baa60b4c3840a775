"""Operators, launches, copies, synchronisations, the call tree and memory of real traces, against a plain reading of the same files.

The reading below is independent of the program: naive nesting in integer nanoseconds, written from the definitions. It knows well-formed traces only.
"""
import collections
import csv
import decimal
import gzip
import json
import os
import pathlib
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("STEPSCOPE", ROOT / "build" / "src" / "stepscope"))
TRACES = ROOT.parent / "shared" / "traces"
LARGEST = int(os.environ.get("STEPSCOPE_LARGEST_TRACE", 900_000))  # bytes of gzip: the others take minutes to read in Python

DEVICE = {"kernel", "Kernel", "gpu_memcpy", "Memcpy", "gpu_memset", "Memset"}
COPIES = {"gpu_memcpy", "Memcpy", "gpu_memset", "Memset"}
CALLS = {"cuda_runtime", "cuda_driver", "Runtime"}
TOLERANCE = 1_000  # ns by which a slice may outlast the one around it

Slice = collections.namedtuple("Slice", "name category start end thread arguments")


def ns(value):
    return int(decimal.Decimal(str(value)) * 1000)


def read(path):
    with gzip.open(path, "rb") as stream:
        document = json.loads(stream.read().decode("utf-8", "replace"), parse_float=decimal.Decimal, strict=False)
    rows = document["traceEvents"] if isinstance(document, dict) else document
    slices, memory = [], []
    for row in rows:
        if row.get("ph") == "X" and row.get("ts") is not None and row.get("cat"):
            start = ns(row["ts"])
            slices.append(Slice(str(row["name"]), row["cat"], start, start + ns(row.get("dur", 0)), (row.get("pid"), row.get("tid")), row.get("args") or {}))
        elif row.get("name") == "[memory]":
            memory.append((ns(row["ts"]), row["args"]))
    return slices, memory


def nearest_rank(values, percent):
    return sorted(values)[max(0, -(-len(values) * percent // 100) - 1)]


class Reading:
    def __init__(self, path):
        self.slices, self.memory = read(path)
        self.device = [i for i, s in enumerate(self.slices) if s.category in DEVICE]
        self.parent = self.nest()
        self.operation = [self.operator_around(i) for i in range(len(self.slices))]
        self.launch = self.link()

    def nest(self):
        """Of each slice on a thread the one around it."""
        parent, threads = [None] * len(self.slices), collections.defaultdict(list)
        for i, s in enumerate(self.slices):
            if s.category not in DEVICE and s.category not in ("gpu_user_annotation", "cuda_sync", "Trace"):
                threads[s.thread].append(i)
        for members in threads.values():
            members.sort(key=lambda i: (self.slices[i].start, -self.slices[i].end, i))
            around = []
            for i in members:
                s = self.slices[i]
                while around and (self.slices[around[-1]].end <= s.start or s.end > self.slices[around[-1]].end + TOLERANCE):
                    around.pop()
                parent[i] = around[-1] if around else None
                around.append(i)
        return parent

    def operator_around(self, i):
        i = self.parent[i]
        while i is not None and self.slices[i].category not in ("cpu_op", "Operator"):
            i = self.parent[i]
        return i

    def link(self):
        calls = {}
        for i, s in enumerate(self.slices):
            if s.category in CALLS and "correlation" in s.arguments:
                known = calls.get(s.arguments["correlation"])
                if known is None or s.start < self.slices[known].start:
                    calls[s.arguments["correlation"]] = i
        return {i: calls.get(self.slices[i].arguments.get("correlation")) for i in self.device}

    def by_external_id(self):
        operators = collections.defaultdict(list)
        for i, s in enumerate(self.slices):
            if s.category in ("cpu_op", "Operator") and "External id" in s.arguments:
                operators[s.arguments["External id"]].append(i)
        return operators

    def operators(self):
        """name -> [calls, own CPU, own device, total device]; None -> unattributed"""
        sums = collections.defaultdict(lambda: [0, 0, 0, 0])
        own_device, inner = collections.defaultdict(int), collections.defaultdict(list)
        external = self.by_external_id()
        for i in self.device:
            s, launch = self.slices[i], self.launch[i]
            cause = None if launch is None else self.operation[launch]
            if cause is None:
                identity = s.arguments.get("External id")
                named = external.get(identity, []) if identity not in (None, 0, s.arguments.get("correlation")) else []
                cause = named[0] if len(named) == 1 else None
            name = None if cause is None else self.slices[cause].name
            sums[name][2] += s.end - s.start
            seen = set()
            while cause is not None:
                if self.slices[cause].name not in seen:
                    seen.add(self.slices[cause].name)
                    sums[self.slices[cause].name][3] += s.end - s.start
                cause = self.operation[cause]
        for i, s in enumerate(self.slices):
            if s.category in ("cpu_op", "Operator"):
                sums[s.name][0] += 1
                sums[s.name][1] += s.end - s.start
                if self.operation[i] is not None:
                    inner[self.operation[i]].append((s.start, s.end))
        for i, intervals in inner.items():  # less the union of the operators inside
            reached = self.slices[i].start
            for start, end in sorted(intervals):
                end = min(end, self.slices[i].end)
                sums[self.slices[i].name][1] -= max(0, end - max(start, reached))
                reached = max(reached, end)
        return sums

    def launches(self):
        """API name -> [costs, delays] of the calls whose work was recorded"""
        first, sums = {}, collections.defaultdict(lambda: ([], []))
        for i in self.device:
            if self.launch[i] is not None:
                first[self.launch[i]] = min(first.get(self.launch[i], self.slices[i].start), self.slices[i].start)
        for call, start in first.items():
            s = self.slices[call]
            sums[s.name][0].append(s.end - s.start)
            sums[s.name][1].append(max(0, start - s.end))
        return sums

    def copies(self):
        """(copy or fill, direction, memories) -> [count, time, bytes]"""
        sums = collections.defaultdict(lambda: [0, 0, 0])
        for i in self.device:
            s = self.slices[i]
            if s.category in COPIES:
                sums[s.name][0] += 1
                sums[s.name][1] += s.end - s.start
                sums[s.name][2] += int(s.arguments.get("bytes", 0))
        return sums

    def synchronisations(self):
        sums = collections.Counter()
        for i, s in enumerate(self.slices):
            if s.category in CALLS and "Synchronize" in s.name and not (self.parent[i] is not None and "Synchronize" in self.slices[self.parent[i]].name):
                sums[s.name] += s.end - s.start
        return sums


def name_of_copy(row):
    if row["operation"] == "fill":
        return f"Memset ({row['to']})"
    return f"Memcpy {row['direction']} ({row['from']} -> {row['to']})"


@unittest.skipUnless(TRACES.is_dir(), "../shared is not here")
@unittest.skipUnless(PROGRAM.is_file(), f"{PROGRAM} is not built")
class Questions(unittest.TestCase):
    def test_real_traces(self):
        read_traces = 0
        for path in sorted(TRACES.glob("*/rank*.json.gz")):
            if path.stat().st_size > LARGEST:
                continue
            with self.subTest(trace=f"{path.parent.name}/{path.name}"):
                run = subprocess.run([PROGRAM, "analyze", path, "--format", "json", "--quiet"], capture_output=True, check=True)
                self.compare(Reading(path), json.loads(run.stdout)["ranks"][0])
                read_traces += 1
        self.assertGreater(read_traces, 20)

    def compare(self, reading, rank):
        self.check_operators(reading, rank)
        self.check_call_tree(reading, rank)
        want = reading.launches()
        got = {row["api"]: row for row in rank.get("launches", {}).get("by_api", []) if row["launched"]}
        self.assertEqual(set(got), set(want))
        for name, (costs, delays) in want.items():
            with self.subTest(api=name):
                row = got[name]
                self.assertEqual(row["calls"] - row["without_record"], len(costs))
                if not row["without_record"]:
                    self.assertEqual([row["call_total_ns"], row["call_median_ns"], row["call_max_ns"]], [sum(costs), nearest_rank(costs, 50), max(costs)])
                self.assertEqual([row["delay_median_ns"], row["delay_p90_ns"], row["delay_max_ns"]], [nearest_rank(delays, 50), nearest_rank(delays, 90), max(delays)])
        copies = collections.defaultdict(lambda: [0, 0, 0])
        for device in rank["devices"]:
            for row in device.get("copies", {}).get("by_kind", []):
                for place, figure in enumerate([row["count"], row["total_ns"], row["bytes"] or 0]):
                    copies[name_of_copy(row)][place] += figure
        self.assertEqual(dict(copies), dict(reading.copies()))
        got = {row["call"]: row["blocked_ns"] for row in rank.get("synchronisations", {}).get("by_call", []) if "Synchronize" in row["call"]}
        self.assertEqual(got, dict(reading.synchronisations()))
        self.check_memory(reading, rank)

    def check_operators(self, reading, rank):
        total = sum(reading.slices[i].end - reading.slices[i].start for i in reading.device)
        want = reading.operators()
        if not want:
            return
        operators = rank["operators"]
        got = {None if row["name"] == "(unattributed)" else row["name"]: row for row in operators["by_name"]}
        self.assertEqual(set(got), set(want))
        for name, (calls, own_cpu, own_device, total_device) in want.items():
            row = got[name]
            self.assertEqual([row["device_own_ns"]], [own_device], name)
            if name is not None:
                self.assertEqual([row["calls"], row["cpu_own_ns"], row["device_total_ns"]], [calls, own_cpu, total_device], name)
                parts = sum(value for key, value in row.items() if key.startswith("device_") and key not in ("device_own_ns", "device_total_ns"))
                self.assertEqual(parts, own_device, name)
            self.assertLessEqual(row["device_own_ns"], row["device_total_ns"])
        self.assertEqual(operators["device_total_ns"], total)
        for table, column in (("by_name", "device_own_ns"), ("categories", "device_ns"), ("phases", "device_ns")):
            self.assertEqual(sum(row[column] for row in operators[table]), total, table)
        for table in ("by_name", "categories", "phases"):
            self.assertEqual(sum(row["cpu_own_ns"] for row in operators[table]), operators["cpu_ns"], table)
        if "modules" in rank:
            self.assertEqual(sum(row["device_own_ns"] for row in rank["modules"]), total)

    def check_call_tree(self, reading, rank):
        rows = rank.get("call_tree", [])
        if not rows:
            return
        total = sum(reading.slices[i].end - reading.slices[i].start for i in reading.device)
        self.assertEqual(sum(row["device_own_ns"] for row in rows), total)
        inner_cpu, inner_device = collections.Counter(), collections.Counter()
        for row in rows:
            self.assertGreaterEqual(row["cpu_own_ns"], 0)
            if row["parent"] is not None:
                self.assertEqual(row["depth"], rows[row["parent"]]["depth"] + 1)
                inner_cpu[row["parent"]] += row["cpu_total_ns"]
                inner_device[row["parent"]] += row["device_total_ns"]
        for i, row in enumerate(rows):
            self.assertEqual(row["cpu_own_ns"] + inner_cpu[i], row["cpu_total_ns"], row["name"])
            self.assertEqual(row["device_own_ns"] + inner_device[i], row["device_total_ns"], row["name"])

    def check_memory(self, reading, rank):
        peaks = collections.Counter()
        for _, arguments in reading.memory:
            key = (arguments["Device Type"], arguments["Device Id"])
            peaks[key] = max(peaks[key], arguments["Total Allocated"], arguments["Total Allocated"] - arguments["Bytes"])
        got = sorted(row["peak_allocated_bytes"] for row in rank.get("memory", {}).get("devices", []))
        self.assertEqual(len(got), len(peaks))
        # Records need not be in order of time: the level before the first one is one the reading above may add.
        self.assertEqual(got, sorted(peaks.values()))

    def test_collectives_agree_with_tracelens(self):
        """TraceLens's table of the linked collectives of one rank: the same calls, bytes and durations in ours."""
        table = TRACES.parent / "tracelens" / "tl_mi300_resnet_act_ckpt" / "coll_analysis.csv"
        run = subprocess.run([PROGRAM, "analyze", TRACES / "tl_mi300_resnet_act_ckpt", "--format", "json", "--quiet"], capture_output=True, check=True)
        (device,) = json.loads(run.stdout)["ranks"][0]["devices"]
        ours = sorted((row["count"], row["bytes"], row["total_ns"], row["min_ns"], row["max_ns"], row["group_size"], row["group_ranks"])
                      for row in device["collectives"]["by_kind"] if row["function"] != "unknown")
        sizes = {"BFloat16": 2, "Long": 8}
        theirs = []
        with open(table, newline="") as stream:
            for row in csv.DictReader(stream):
                count = int(row["operation_count"])
                us = lambda column: ns(row[column])
                # Sums of their doubles carry the rounding of the last binary digit.
                theirs.append((count, count * int(float(row["In msg nelems"])) * sizes[row["dtype"]], round(float(row["dur_sum"]) * 1000), us("dur_min"), us("dur_max"),
                               int(float(row["Group size"])), row["Process Group Ranks"]))
        self.assertEqual(ours, sorted(theirs))


if __name__ == "__main__":
    unittest.main()
