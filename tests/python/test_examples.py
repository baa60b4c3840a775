"""The bundled example: the same bytes on every run, and a trace that keeps the rules which a real one keeps."""
import collections
import decimal
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACE = ROOT / "examples" / "gpt_training_step.generated.json.gz"


def nanoseconds(value):
    return int(decimal.Decimal(str(value)) * 1000)


class BundledTrace(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.document = json.loads(gzip.decompress(TRACE.read_bytes()), parse_float=decimal.Decimal)
        cls.rows = [e for e in cls.document["traceEvents"] if e["ph"] == "X" and e["cat"] != "Trace"]

    def test_generating_again_gives_the_same_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            again = pathlib.Path(folder) / "again.json.gz"
            subprocess.run([sys.executable, ROOT / "examples" / "generate_trace.py", again], check=True)
            self.assertEqual(gzip.decompress(again.read_bytes()), gzip.decompress(TRACE.read_bytes()))
            if zlib.ZLIB_RUNTIME_VERSION == "1.2.13":  # another zlib may compress the same text to other bytes
                self.assertEqual(again.read_bytes(), TRACE.read_bytes())

    def test_it_says_that_it_was_generated(self):
        self.assertIn("GENERATED", self.document["generated_by"])
        self.assertIn("generated", self.document["traceName"])

    def test_host_rows_nest(self):
        threads = collections.defaultdict(list)
        for row in self.rows:
            if row["cat"] in ("cpu_op", "user_annotation", "python_function", "cuda_runtime", "cuda_driver"):
                start = nanoseconds(row["ts"])
                threads[row["tid"]].append((start, -nanoseconds(row["dur"]), row["name"]))
        self.assertEqual(len(threads), 2)
        for rows in threads.values():
            open_ends = []
            for start, negative_duration, name in sorted(rows):
                end = start - negative_duration
                while open_ends and open_ends[-1] <= start:
                    open_ends.pop()
                self.assertTrue(not open_ends or end <= open_ends[-1], f"{name} at {start} ends after the row around it")
                open_ends.append(end)

    def test_a_stream_runs_one_thing_at_a_time_and_after_its_launch(self):
        calls = {r["args"]["correlation"]: nanoseconds(r["ts"]) for r in self.rows if r["cat"] in ("cuda_runtime", "cuda_driver")}
        streams = collections.defaultdict(list)
        for row in self.rows:
            if row["cat"] in ("kernel", "gpu_memcpy", "gpu_memset"):
                start = nanoseconds(row["ts"])
                self.assertGreater(nanoseconds(row["dur"]), 0)
                self.assertLess(calls[row["args"]["correlation"]], start)
                streams[row["tid"]].append((start, start + nanoseconds(row["dur"])))
        self.assertEqual(sorted(streams), [7, 20, 24])
        for work in streams.values():
            work.sort()
            for (_, end), (start, _) in zip(work, work[1:]):
                self.assertLessEqual(end, start)

    def test_allocated_memory_adds_up(self):
        previous = None
        for event in self.document["traceEvents"]:
            if event["name"] == "[memory]":
                args = event["args"]
                self.assertLessEqual(args["Total Allocated"], args["Total Reserved"])
                if previous is not None:
                    self.assertEqual(args["Total Allocated"], previous + args["Bytes"])
                previous = args["Total Allocated"]
        self.assertIsNotNone(previous)


if __name__ == "__main__":
    unittest.main()
