"""Running the project's dbt models on a test's own warehouse."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from conftest import PROJECT


def run_dbt(warehouse: Path, *args: str, variables: dict[str, Any] | None = None) -> str:
    """Run dbt in the project on one warehouse file; what it printed. Fails where dbt does."""
    scratch = warehouse.parent / "dbt"
    command = [
        str(Path(sys.executable).with_name("dbt")),
        *args,
        *("--project-dir", str(PROJECT), "--profiles-dir", str(PROJECT)),
        *("--target-path", str(scratch / "target"), "--log-path", str(scratch / "logs")),
        *("--vars", json.dumps(variables or {})),
    ]
    # The Python models import the project's packages, installed or not.
    paths = [str(PROJECT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"ASSAY_WAREHOUSE": str(warehouse), "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
