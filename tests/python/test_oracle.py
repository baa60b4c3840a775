"""The bundled example through the program and through ../shared/accept/oracle.py, an independent reading of the definitions: no figure differs."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACE = ROOT / "examples" / "gpt_training_step.generated.json.gz"
PROGRAM = pathlib.Path(os.environ.get("STEPSCOPE", ROOT / "build" / "src" / "stepscope"))
ACCEPT = ROOT.parent / "shared" / "accept"


@unittest.skipUnless(ACCEPT.is_dir(), "../shared is not here")
@unittest.skipUnless(PROGRAM.is_file(), f"{PROGRAM} is not built")
class Oracle(unittest.TestCase):
    def test_it_agrees_on_the_bundled_example(self):
        with tempfile.TemporaryDirectory() as folder:
            traces = pathlib.Path(folder)
            (traces / "expected").mkdir()
            (traces / "bundled").mkdir()
            shutil.copy(TRACE, traces / "bundled")
            expected = subprocess.run([sys.executable, ACCEPT / "oracle.py", traces / "bundled" / TRACE.name], check=True, capture_output=True, text=True)
            (traces / "expected" / "bundled.json").write_text(expected.stdout)
            told = subprocess.run([sys.executable, ACCEPT / "check_traces.py", PROGRAM, traces], capture_output=True, text=True)
            self.assertEqual(told.stdout.splitlines()[-1:], ["7 windows compared, 0 differences"], told.stdout + told.stderr)
            self.assertEqual(told.returncode, 0)


if __name__ == "__main__":
    unittest.main()
