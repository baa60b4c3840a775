"""hta_breakdown.py TRACE: what benchmarks/compare_hta.sh lets HTA do: load one rank, temporal breakdown, overlap of communication and computation."""
import sys

from hta.trace_analysis import TraceAnalysis

analysis = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir="")
print(analysis.get_temporal_breakdown(visualize=False))
print(analysis.get_comm_comp_overlap(visualize=False))
