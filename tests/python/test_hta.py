"""Queue lengths and launches of real traces against HTA (PyPI HolisticTraceAnalysis), where its reading is right: whole-microsecond traces with at most one
step. Skipped where HTA is not installed (benchmarks/compare_hta.sh makes an environment with it; STEPSCOPE_HTA_PYTHON names another Python)."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("STEPSCOPE", ROOT / "build" / "src" / "stepscope"))
TRACES = ROOT.parent / "shared" / "traces"

# Of HTA's series the values between events count by their time; of several events at one time only the last one's value lasts.
READ_WITH_HTA = """
import json, sys
from hta.trace_analysis import TraceAnalysis
analysis = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir="/")
streams = {}
for stream, series in analysis.get_queue_length_time_series([0])[0].groupby("stream"):
    series = series.sort_values("ts", kind="stable")
    times, lengths = series.ts.tolist(), series.queue_length.tolist()
    spans = [after - before for before, after in zip(times, times[1:])]
    lasting = [(length, span) for length, span in zip(lengths, spans) if span > 0]
    total = times[-1] - times[0]
    streams[int(stream)] = {"launches": len(times) // 2, "max": max((length for length, _ in lasting), default=0),
                            "mean": sum(length * span for length, span in lasting) / total if total else None}
launches = analysis.get_cuda_kernel_launch_stats([0], visualize=False)[0]
print("RESULT" + json.dumps({"streams": streams, "calls": len(launches), "cost_us": launches.cpu_duration.sum(), "longest_delay_us": launches.launch_delay.max()}))
"""
# The calls that HTA counts as launches.
HTA_APIS = ("cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync", "cudaMemsetAsync")


def python_with_hta():
    for python in (os.environ.get("STEPSCOPE_HTA_PYTHON"), ROOT / "build" / "hta-environment" / "bin" / "python", sys.executable):
        if python and pathlib.Path(python).is_file() and subprocess.run([python, "-c", "import hta"], capture_output=True).returncode == 0:
            return python
    return None


@unittest.skipUnless(TRACES.is_dir(), "../shared is not here")
@unittest.skipUnless(PROGRAM.is_file(), f"{PROGRAM} is not built")
class Hta(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.python = python_with_hta()
        if cls.python is None:
            raise unittest.SkipTest("HTA is not installed: pip install HolisticTraceAnalysis into build/hta-environment")

    def test_queue_and_launches(self):
        for trace in ("param_dlrm_8rank/rank000.json.gz", "param_dlrm_8rank/rank003.json.gz", "param_linear/rank000.json.gz"):
            with self.subTest(trace=trace):
                told = subprocess.run([self.python, "-c", READ_WITH_HTA, TRACES / trace], capture_output=True, text=True)
                lines = [line for line in told.stdout.splitlines() if line.startswith("RESULT")]
                self.assertEqual(len(lines), 1, told.stderr[-2000:])
                want = json.loads(lines[0].removeprefix("RESULT"))
                run = subprocess.run([PROGRAM, "analyze", TRACES / trace, "--format", "json", "--quiet"], capture_output=True, check=True)
                rank = json.loads(run.stdout)["ranks"][0]
                (device,) = rank["devices"]
                streams = {row["stream"]: row for row in device["queue"]["streams"]}
                self.assertEqual({str(stream) for stream in streams}, set(want["streams"]))
                for stream, row in streams.items():
                    expected = want["streams"][str(stream)]
                    self.assertEqual([row["launches"], row["max_length"]], [expected["launches"], expected["max"]], f"stream {stream}")
                    self.assertAlmostEqual(row["mean_length"], expected["mean"], places=9, msg=f"stream {stream}")
                rows = [row for row in rank["launches"]["by_api"] if row["api"] in HTA_APIS]
                self.assertEqual(sum(row["calls"] - row["without_record"] for row in rows), want["calls"])
                if not any(row["without_record"] for row in rows):
                    self.assertEqual(sum(row["call_total_ns"] for row in rows), round(want["cost_us"] * 1000))
                self.assertEqual(max(row["delay_max_ns"] for row in rows), round(want["longest_delay_us"] * 1000))


if __name__ == "__main__":
    unittest.main()
