"""Rows of the tables as records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from claude_mem_core.store.text import loads_list, loads_map
from claude_mem_core.types import Observation, Prompt, Summary, Trust


def shown(column: str) -> str:
    """The name of a project as people see it now, whatever the row says."""
    return f"coalesce((SELECT shown FROM project_names WHERE said = {column}), {column})"


PROJECT = shown("project")
OBSERVATION = f"""
  id, {PROJECT}, type, title, created_at_epoch, project_id, session_db_id, subtitle,
  coalesce(narrative, text), facts, concepts, files_read, files_modified, prompt_number,
  agent_id, agent_type, generated_by_model, discovery_tokens, trust, superseded_by,
  platform_source, metadata, (SELECT reason FROM verify_marks WHERE memory_id = id)
"""
SUMMARY = f"""
  id, {PROJECT}, created_at_epoch, project_id, session_db_id, request, investigated, learned,
  completed, next_steps, notes, files_read, files_edited, prompt_number,
  generated_by_model, discovery_tokens, trust, platform_source
"""
PROMPT = f"""
  id, {PROJECT}, prompt_text, prompt_number, created_at_epoch, project_id, session_db_id,
  platform_source
"""


def observation(row: Sequence[Any]) -> Observation:
    """The observation in a row of the columns `OBSERVATION`."""
    return Observation(
        id=row[0], project=row[1], type=row[2], title=row[3] or "", created_ms=row[4],
        project_id=row[5], session_db_id=row[6] or 0, subtitle=row[7] or "",
        narrative=row[8] or "", facts=loads_list(row[9]), concepts=loads_list(row[10]),
        files_read=loads_list(row[11]), files_modified=loads_list(row[12]),
        prompt_number=row[13], agent_id=row[14], agent_type=row[15], model=row[16] or "",
        tokens=row[17], trust=Trust(row[18]), superseded_by=row[19], host=row[20],
        metadata=loads_map(row[21]), verify=row[22] or "",
    )  # fmt: skip


def summary(row: Sequence[Any]) -> Summary:
    """The summary in a row of the columns `SUMMARY`."""
    return Summary(
        id=row[0], project=row[1], created_ms=row[2], project_id=row[3],
        session_db_id=row[4] or 0, request=row[5] or "", investigated=row[6] or "",
        learned=row[7] or "", completed=row[8] or "", next_steps=row[9] or "",
        notes=row[10] or "", files_read=loads_list(row[11]), files_edited=loads_list(row[12]),
        prompt_number=row[13], model=row[14] or "", tokens=row[15], trust=Trust(row[16]),
        host=row[17],
    )  # fmt: skip


def prompt(row: Sequence[Any]) -> Prompt:
    """The prompt in a row of the columns `PROMPT`."""
    return Prompt(
        id=row[0], project=row[1], text=row[2], number=row[3], created_ms=row[4],
        project_id=row[5], session_db_id=row[6] or 0, host=row[7],
    )  # fmt: skip
