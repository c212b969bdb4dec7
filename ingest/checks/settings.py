"""``assay.toml``: a project's own severities and limits.

    [severity]
    unknown_document = "error"      # any name of `ingest.checks.rules`
    cut_prompt = "note"

    [quarantine]
    lines = 3                       # more unreadable lines of a file than this,
    share = 0.05                    # and than this share of them, refuse the load

Read from ``ASSAY_SETTINGS``, else from the current folder; absent, everything is as it comes.
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ingest.checks.rules import RULES, SEVERITIES
from ingest.errors import BadInput, shown

#: More quarantined lines of a file than both of these refuse the load.
QUARANTINE_LINES = 3
QUARANTINE_SHARE = 0.05


@dataclass(frozen=True)
class Settings:
    """What a project says of its checks."""

    severities: dict[str, str] = field(default_factory=dict)
    quarantine_lines: int = QUARANTINE_LINES
    quarantine_share: float = QUARANTINE_SHARE

    def severity(self, check: str) -> str:
        """error, warning or note."""
        return self.severities.get(check, RULES[check].severity)


def settings_path() -> Path:
    """Where the settings stand, whether they are there or not."""
    return Path(os.environ.get("ASSAY_SETTINGS") or "assay.toml")


def read_settings(path: Path | None = None) -> Settings:
    """The project's settings. Raises BadInput for a name or a value that can't be meant."""
    path = path or settings_path()
    if not path.exists():
        if os.environ.get("ASSAY_SETTINGS"):
            raise BadInput(
                f"{path}: there is no such file, and ASSAY_SETTINGS names it. Write it, or unset that."
            )
        return Settings()
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise BadInput(f"{path}: it can't be read as TOML: {error}. Put that right.") from None
    severities = _table(path, given, "severity")
    for name, severity in severities.items():
        if name not in RULES:
            raise BadInput(f"{path}: {shown(name)} in [severity] is no check. They are {', '.join(RULES)}.")
        if severity not in SEVERITIES:
            raise BadInput(f"{path}: {name} must be error, warning or note, not {shown(severity)}.")
    limits = _table(path, given, "quarantine")
    unknown = [f"[{k}]" for k in given if k not in ("severity", "quarantine")]
    unknown += [k for k in limits if k not in ("lines", "share")]
    if unknown:
        raise BadInput(
            f"{path}: {unknown[0]} is no setting. There are [severity], and lines and share in [quarantine]."
        )
    lines, share = limits.get("lines", QUARANTINE_LINES), limits.get("share", QUARANTINE_SHARE)
    if isinstance(lines, bool) or not isinstance(lines, int) or lines < 0:
        raise BadInput(
            f"{path}: lines in [quarantine] must be a whole number, 0 or higher, not {shown(lines)}."
        )
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1:
        raise BadInput(f"{path}: share in [quarantine] must be a number from 0 to 1, not {shown(share)}.")
    return Settings({str(k): str(v) for k, v in severities.items()}, lines, float(share))


def _table(path: Path, given: dict[str, Any], name: str) -> dict[str, Any]:
    table = given.get(name, {})
    if not isinstance(table, dict):
        raise BadInput(f"{path}: [{name}] must be a table, not {shown(table)}.")
    return table
