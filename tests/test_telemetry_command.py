"""`mem telemetry` tells the truth: nothing is sent, whatever other layers say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli_run import mem


def test_it_is_off_and_the_product_decided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DO_NOT_TRACK", "0")
    (tmp_path / "telemetry.json").write_text('{"enabled": true}')
    found = mem(tmp_path, "telemetry", "status", "--json").json
    assert (found["enabled"], found["decided_by"]) == (False, "product")
    assert found["layers"]["DO_NOT_TRACK"] == "0"
    assert str(tmp_path / "telemetry.json") in found["layers"]
    said = mem(tmp_path, "telemetry").out
    assert "telemetry is off: this product sends none" in said
    assert "DO_NOT_TRACK: 0; it makes no difference here" in said
    assert mem(tmp_path, "telemetry", "disable").code == 0


def test_it_can_not_be_switched_on(tmp_path: Path) -> None:
    ran = mem(tmp_path, "telemetry", "enable")
    assert ran.code == 2
    assert "there is no telemetry" in ran.err
