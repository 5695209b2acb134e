"""Settings: types, precedence, scope, old forms, warnings, changes."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from claude_mem_core.errors import SettingsError
from claude_mem_core.files import secure_dir
from claude_mem_core.paths import Paths
from claude_mem_core.settings import CORE, SettingsSource
from claude_mem_core.settings.declared import full_key, nearest
from claude_mem_core.settings.listing import masked, table, update_texts, validate_update
from claude_mem_core.settings.values import BadValue, as_text, parse
from claude_mem_core.types import Setting

BY_KEY = {setting.key: setting for setting in CORE}


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(secure_dir(tmp_path / "data"))


def write(paths: Paths, value: Any) -> None:
    paths.settings.write_text(value if isinstance(value, str) else json.dumps(value))


def source(paths: Paths, **environ: str) -> SettingsSource:
    return SettingsSource(paths, environ={f"CLAUDE_MEM_{k}": v for k, v in environ.items()})


# The declared settings --------------------------------------------------------------------


def test_every_default_is_a_value_of_its_setting() -> None:
    for setting in CORE:
        again = parse(setting, as_text(setting, setting.default))
        assert (again.value, again.note) == (setting.default, ""), setting.key


def test_every_setting_can_be_understood() -> None:
    assert len(BY_KEY) == len(CORE)
    for setting in CORE:
        assert setting.key.startswith("CLAUDE_MEM_")
        assert setting.help.endswith("."), setting.key
        assert set(setting.sources) <= {"file", "environment", "viewer"}, setting.key
        assert setting.scope in {"user", "machine"}, setting.key


@pytest.mark.parametrize(
    "area", ["redaction", "projects", "spool", "security", "plugins", "observer", "quota"]
)
def test_what_safety_hangs_on_belongs_to_the_machine(area: str) -> None:
    scopes = {setting.scope for setting in CORE if setting.area == area}
    assert scopes == {"machine"}


@pytest.mark.parametrize("key", ["WORKER_HOST", "WORKER_PORT", "DATA_DIR", "EXCLUDED_PROJECTS"])
def test_so_do_place_and_exclusion(key: str) -> None:
    assert BY_KEY[f"CLAUDE_MEM_{key}"].scope == "machine"


def test_documented_defaults() -> None:
    assert BY_KEY["CLAUDE_MEM_PROVIDER"].default == "builtin"
    assert BY_KEY["CLAUDE_MEM_QUOTA_FALLBACK_PROVIDER"].default == "builtin"
    assert BY_KEY["CLAUDE_MEM_REDACT_ENABLED"].default is True
    assert BY_KEY["CLAUDE_MEM_CONTEXT_TOKEN_BUDGET"].default == 2000
    assert BY_KEY["CLAUDE_MEM_CONTEXT_FULL_COUNT"].default == 5
    assert BY_KEY["CLAUDE_MEM_CONTEXT_SHOW_LAST_SUMMARY"].default is False
    port = BY_KEY["CLAUDE_MEM_WORKER_PORT"].default
    assert port == 37700 + os.getuid() % 100


def test_the_table_for_the_docs_names_each_once_and_no_machine() -> None:
    text = table()
    for setting in CORE:
        assert text.count(f"`{setting.key}`") == 1
    assert "37700 + user id % 100" in text


# Types ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "raw", "value"),
    [
        ("bool", "TRUE", True),
        ("bool", "off", False),
        ("bool", 1, True),
        ("int", " 7 ", 7),
        ("int", 7, 7),
        ("number", "0.5", 0.5),
        ("number", 1, 1.0),
        ("string", " a b ", "a b"),
        ("csv", "a, b,,", ("a", "b")),
        ("csv", ["a,b", " c "], ("a,b", "c")),
        ("csv", '["a,b"]', ("a,b",)),
        ("csv", "[ab]*,c", ("[ab]*", "c")),
        ("csv", "", ()),
        ("json", "[1]", [1]),
        ("json", [2], [2]),
        ("regex", "^a+$", "^a+$"),
        ("enum", "two", "TWO"),
        ("secret", " s ", "s"),
    ],
)
def test_values_are_read_from_text_and_json(kind: str, raw: Any, value: Any) -> None:
    default = [] if kind == "json" else ""
    setting = Setting(key="CLAUDE_MEM_X", type=kind, default=default, choices=("ONE", "TWO"))
    assert parse(setting, raw).value == value


@pytest.mark.parametrize(
    ("kind", "raw"),
    [
        ("bool", "maybe"),
        ("bool", 2),
        ("bool", []),
        ("int", True),
        ("int", "1e3"),
        ("int", "9" * 30),
        ("int", 10**30),
        ("int", "1_000"),
        ("int", "\u0663"),
        ("number", "nan"),
        ("number", True),
        ("number", 10**400),
        ("string", 5),
        ("string", None),
        ("string", "a\0"),
        ("string", "\ud800"),
        ("csv", ["\udfff"]),
        ("csv", [1]),
        ("csv", {"a": 1}),
        ("json", "{"),
        ("json", {}),
        ("json", "[" * 100),
        ("regex", "("),
        ("regex", "a" * 1001),
        ("enum", "three"),
        ("enum", 1),
    ],
)
def test_wrong_values_say_their_type_and_what_is_allowed(kind: str, raw: Any) -> None:
    default = [] if kind == "json" else ""
    setting = Setting(key="CLAUDE_MEM_X", type=kind, default=default, choices=("ONE", "TWO"))
    with pytest.raises(BadValue, match=r"^is .*; allowed: "):
        parse(setting, raw)


def test_a_wrong_value_that_could_be_a_secret_is_not_shown() -> None:
    secret = "sk-ant-0123456789abcdefghij"
    with pytest.raises(BadValue) as fault:
        parse(BY_KEY["CLAUDE_MEM_LOG_LEVEL"], secret)
    assert secret not in str(fault.value)


@pytest.mark.parametrize(
    ("key", "raw", "value"),
    [
        ("IDLE_EXIT_SEC", "5", 60),
        ("IDLE_EXIT_SEC", "0", 0),
        ("WORKER_HOST", "0.0.0.0", "0.0.0.0"),
        ("WORKER_HOST", "::1", "::1"),
        ("WORKER_HOST", "", "127.0.0.1"),
        ("QUOTA_FALLBACK_PROVIDER", "", "builtin"),
        ("LOG_LEVEL", "debug", "DEBUG"),
    ],
)
def test_rules_of_single_settings(key: str, raw: str, value: Any) -> None:
    assert parse(BY_KEY[f"CLAUDE_MEM_{key}"], raw).value == value


@pytest.mark.parametrize(
    ("key", "raw"),
    [
        ("WORKER_HOST", "256.1.1.1"),
        ("WORKER_HOST", "evil.test"),
        ("WORKER_PORT", "80"),
        ("PUBLIC_URL", "javascript:x"),
        ("CONTEXT_OBSERVATIONS", "201"),
    ],
)
def test_bounds_of_single_settings(key: str, raw: str) -> None:
    with pytest.raises(BadValue):
        parse(BY_KEY[f"CLAUDE_MEM_{key}"], raw)


# Precedence and scope --------------------------------------------------------------------------


def test_environment_then_file_then_default(paths: Paths) -> None:
    write(paths, {"CLAUDE_MEM_CONTEXT_OBSERVATIONS": "20", "CLAUDE_MEM_LOG_LEVEL": "warn"})
    found = source(paths, LOG_LEVEL="error")
    settings = found.current()
    keys = ("CLAUDE_MEM_LOG_LEVEL", "CLAUDE_MEM_CONTEXT_OBSERVATIONS", "CLAUDE_MEM_MODE")
    assert [settings[key] for key in keys] == ["ERROR", 20, "code"]
    assert [settings.origin(key) for key in keys] == ["environment", "file", "default"]
    told = found.explain("log-level")
    assert [value for _, value in told.candidates] == ["ERROR", "WARN", "INFO"]


def test_a_bad_value_in_the_environment_gives_way_to_the_file(paths: Paths) -> None:
    write(paths, {"CLAUDE_MEM_LOG_LEVEL": "warn"})
    settings = source(paths, LOG_LEVEL="loud").current()
    assert settings["CLAUDE_MEM_LOG_LEVEL"] == "WARN"
    assert len(settings.warnings) == 1
    assert "CLAUDE_MEM_LOG_LEVEL in the environment is text (loud)" in settings.warnings[0]


def test_a_hosts_environment_does_not_reach_the_machines_settings(paths: Paths) -> None:
    hostile = {"CLAUDE_MEM_REDACT_ENABLED": "false", "CLAUDE_MEM_WORKER_HOST": "0.0.0.0"}
    settings = SettingsSource(paths, environ=hostile).current()
    assert settings["CLAUDE_MEM_REDACT_ENABLED"] is True
    assert settings["CLAUDE_MEM_WORKER_HOST"] == "127.0.0.1"
    assert len(settings.warnings) == 2
    assert "mem config set CLAUDE_MEM_REDACT_ENABLED" in " ".join(settings.warnings)
    run_by_a_person = SettingsSource(paths, environ=hostile, machine_env=True).current()
    assert run_by_a_person["CLAUDE_MEM_REDACT_ENABLED"] is False


def test_the_environment_turns_redaction_off_even_if_the_file_is_broken(paths: Paths) -> None:
    write(paths, "{")
    off = {"CLAUDE_MEM_REDACT_ENABLED": "false"}
    settings = SettingsSource(paths, environ=off, machine_env=True).current()
    assert settings["CLAUDE_MEM_REDACT_ENABLED"] is False
    assert source(paths).current()["CLAUDE_MEM_REDACT_ENABLED"] is True


def test_only_an_undeclared_key_is_missing(paths: Paths) -> None:
    settings = source(paths).current()
    assert set(settings) == set(BY_KEY)
    with pytest.raises(KeyError):
        settings["CLAUDE_MEM_NEVER"]


def test_a_plugins_setting_is_read_like_the_cores(paths: Paths) -> None:
    more = Setting(key="CLAUDE_MEM_LAMP", type="int", default=3, low=1, high=5)
    write(paths, {"CLAUDE_MEM_LAMP": "9", "CLAUDE_MEM_MODE": "code--es"})
    settings = SettingsSource(paths, [*CORE, more], environ={}).current()
    assert (settings["CLAUDE_MEM_LAMP"], settings["CLAUDE_MEM_MODE"]) == (3, "code--es")
    assert "CLAUDE_MEM_LAMP" in settings.warnings[0]
    assert source(paths).current().unknown == ("CLAUDE_MEM_LAMP",)


# Change of the file ---------------------------------------------------------------------------


def test_a_change_of_the_file_counts_at_once(paths: Paths) -> None:
    found = source(paths)
    before = found.current()
    assert found.current() is before
    write(paths, {"CLAUDE_MEM_MODE": "email"})
    assert found.current()["CLAUDE_MEM_MODE"] == "email"
    paths.settings.unlink()
    assert found.current()["CLAUDE_MEM_MODE"] == "code"
    assert before["CLAUDE_MEM_MODE"] == "code"


def test_a_file_that_breaks_leaves_the_last_good_values_in_force(paths: Paths) -> None:
    write(paths, {"CLAUDE_MEM_EXCLUDED_PROJECTS": "~/clients/*", "CLAUDE_MEM_MODE": "email"})
    found = source(paths)
    found.current()
    write(paths, '{"CLAUDE_MEM_MODE": "chess"')
    settings = found.current()
    assert settings["CLAUDE_MEM_EXCLUDED_PROJECTS"] == ("~/clients/*",)
    assert settings["CLAUDE_MEM_MODE"] == "email"
    assert settings.broken is not None
    assert len(settings.warnings) == 1
    write(paths, {"CLAUDE_MEM_MODE": "chess"})
    assert (found.current()["CLAUDE_MEM_MODE"], found.current().broken) == ("chess", None)


# Old forms ------------------------------------------------------------------------------------


def test_the_first_schema_is_read_and_what_stands_beside_it_is_newer(paths: Paths) -> None:
    old = {"CLAUDE_MEM_MODE": "email", "CLAUDE_MEM_CONTEXT_OBSERVATIONS": "20"}
    write(paths, {"env": old, "CLAUDE_MEM_MODE": "chess"})
    settings = source(paths).current()
    assert settings["CLAUDE_MEM_MODE"] == "chess"
    assert settings["CLAUDE_MEM_CONTEXT_OBSERVATIONS"] == 20
    assert settings.warnings == ()


PROVIDER_SETTINGS = [
    Setting(key="CLAUDE_MEM_LLM_TIMEOUT_MS", type="int", default=180_000),
    Setting(key="CLAUDE_MEM_OPENROUTER_MODEL", default="cohere/north-mini-code:free"),
    Setting(key="CLAUDE_MEM_CLOUD_SYNC_HUB_URL", default=""),
    Setting(key="CLAUDE_MEM_TELEGRAM_TRIGGER_TYPES", type="csv", default=("a", "b")),
]


def test_superseded_values_give_way_until_the_user_sets_them_again(paths: Paths) -> None:
    text = json.dumps(
        {
            "CLAUDE_MEM_LLM_TIMEOUT_MS": "30000",
            "CLAUDE_MEM_OPENROUTER_MODEL": "xiaomi/mimo-v2-flash:free",
            "CLAUDE_MEM_CLOUD_SYNC_HUB_URL": "https://hub.someone.workers.dev",
            "CLAUDE_MEM_TELEGRAM_TRIGGER_TYPES": "security_alert",
        }
    )
    write(paths, text)
    found = SettingsSource(paths, [*CORE, *PROVIDER_SETTINGS], environ={})
    settings = found.current()
    assert [settings[setting.key] for setting in PROVIDER_SETTINGS] == [
        180_000,
        "cohere/north-mini-code:free",
        "https://sync.cmem.ai",
        ("a", "b"),
    ]
    assert paths.settings.read_text() == text
    found.set("llm-timeout-ms", "30000")
    assert found.current()["CLAUDE_MEM_LLM_TIMEOUT_MS"] == 30_000
    assert found.current()["CLAUDE_MEM_OPENROUTER_MODEL"] == "cohere/north-mini-code:free"


@pytest.mark.parametrize(
    ("written", "means"),
    [
        ({"CLAUDE_CODE_PATH": "/opt/cc"}, "/opt/cc"),
        ({"env": {"CLAUDE_CODE_PATH": "/opt/cc"}}, "/opt/cc"),
        ({"CLAUDE_CODE_PATH": ""}, "claude"),
        ({"CLAUDE_CODE_PATH": "/opt/cc", "CLAUDE_MEM_CLAUDE_PATH": "/own/cc"}, "/own/cc"),
    ],
)
def test_an_old_name_is_read_as_the_one_of_today(
    paths: Paths, written: dict[str, Any], means: str
) -> None:
    write(paths, written)
    here = Setting(key="CLAUDE_MEM_CLAUDE_PATH", type="path", default="claude", scope="machine")
    found = SettingsSource(paths, [*CORE, here], environ={}).current()
    assert str(found[here.key]) == means
    assert found.unknown == ()
    assert json.loads(paths.settings.read_text()) == written, "nothing is rewritten"


def test_a_provider_counts_as_chosen_once_it_was_set_here(paths: Paths) -> None:
    write(paths, {"CLAUDE_MEM_PROVIDER": "claude"})
    found = source(paths)
    assert found.current()["CLAUDE_MEM_PROVIDER"] == "claude"
    assert "CLAUDE_MEM_PROVIDER" not in found.current().explicit
    found.set("provider", "claude")
    assert "CLAUDE_MEM_PROVIDER" in found.current().explicit


def test_a_data_directory_named_in_the_file_is_told_and_not_followed(paths: Paths) -> None:
    write(paths, {"CLAUDE_MEM_DATA_DIR": str(paths.data)})
    assert source(paths).current().warnings == ()
    write(paths, {"CLAUDE_MEM_DATA_DIR": "/elsewhere"})
    assert "mem install" in source(paths).current().warnings[0]


# Setting --------------------------------------------------------------------------------------


def test_set_makes_a_private_flat_file_of_texts(paths: Paths) -> None:
    found = source(paths)
    found.set("CLAUDE_MEM_CONTEXT_OBSERVATIONS", "20")
    found.set("excluded-projects", "~/a,~/b")
    assert json.loads(paths.settings.read_text()) == {
        "CLAUDE_MEM_CONTEXT_OBSERVATIONS": "20",
        "CLAUDE_MEM_EXCLUDED_PROJECTS": "~/a,~/b",
    }
    assert stat.S_IMODE(paths.settings.stat().st_mode) == 0o600
    assert found.current()["CLAUDE_MEM_EXCLUDED_PROJECTS"] == ("~/a", "~/b")


def test_set_touches_its_own_key_alone(paths: Paths) -> None:
    text = (
        '{\r\n    // mine\r\n    "someone": {"keep": [1,2 , 3]},\r\n'
        '    "CLAUDE_MEM_MODE" : "email",\r\n    "last": 1.50,\r\n}\r\n'
    )
    paths.settings.write_bytes(text.encode())
    source(paths).set("mode", "chess")
    source(paths).set("log-level", "WARN")
    changed = text.replace('"email"', '"chess"')
    changed = changed.replace("1.50,\r\n", '1.50,\r\n    "CLAUDE_MEM_LOG_LEVEL": "WARN",\r\n')
    assert paths.settings.read_bytes() == changed.encode()


@pytest.mark.parametrize(
    ("mark", "encoding"), [(b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le")]
)
def test_set_keeps_the_encoding(paths: Paths, mark: bytes, encoding: str) -> None:
    paths.settings.write_bytes(mark + '{"ü": "x"}'.encode(encoding))
    source(paths).set("mode", "chess")
    data = paths.settings.read_bytes()
    assert data.startswith(mark)
    text = data[len(mark) :].decode(encoding)
    assert json.loads(text) == {"ü": "x", "CLAUDE_MEM_MODE": "chess"}


def test_set_of_a_doubled_key_changes_the_one_that_counts(paths: Paths) -> None:
    write(paths, '{"CLAUDE_MEM_MODE": "a", "CLAUDE_MEM_MODE": "b"}')
    source(paths).set("mode", "c")
    assert source(paths).current()["CLAUDE_MEM_MODE"] == "c"


def test_set_writes_behind_an_own_link_and_keeps_it(paths: Paths, tmp_path: Path) -> None:
    dotfiles = secure_dir(tmp_path / "dotfiles")
    (dotfiles / "settings.json").write_text('{"a": 1}')
    paths.settings.symlink_to(dotfiles / "settings.json")
    source(paths).set("mode", "chess")
    assert paths.settings.is_symlink()
    assert json.loads((dotfiles / "settings.json").read_text())["CLAUDE_MEM_MODE"] == "chess"
    (dotfiles / "settings.json").unlink()
    with pytest.raises(SettingsError, match="link"):
        source(paths).set("mode", "email")
    assert not (dotfiles / "settings.json").exists()


@pytest.mark.parametrize(
    ("key", "text", "told"),
    [
        ("CLAUDE_MEM_NEVER", "1", "no setting named"),
        ("log_levl", "INFO", "did you mean CLAUDE_MEM_LOG_LEVEL"),
        ("mode", "a\0b", "CLAUDE_MEM_MODE is text; allowed: text"),
        (
            "worker-port",
            "99",
            "CLAUDE_MEM_WORKER_PORT is 99; allowed: a whole number from 1024",
        ),
        ("disable-summary", "1", "environment alone"),
        ("mode", "x" * 1_100_000, "larger than 1,000,000 bytes"),
        ("session-init-timeout-ms", "99999", "14000 is used"),
    ],
)
def test_a_refused_set_writes_nothing(paths: Paths, key: str, text: str, told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        source(paths).set(key, text)
    assert not paths.settings.exists()


def test_several_keys_are_set_together_or_not_at_all(paths: Paths) -> None:
    found = source(paths)
    with pytest.raises(SettingsError):
        found.update({"mode": "chess", "log-level": "loud"})
    assert not paths.settings.exists()
    found.update({"mode": "chess", "log-level": "warn"})
    assert (
        found.current()["CLAUDE_MEM_MODE"],
        len(json.loads(paths.settings.read_text())),
    ) == (
        "chess",
        2,
    )


def test_create_writes_defaults_once_and_opens_no_port(paths: Paths) -> None:
    found = source(paths)
    assert found.create() is True
    first = json.loads(paths.settings.read_text())
    assert all(isinstance(text, str) for text in first.values())
    assert first["CLAUDE_MEM_CONTEXT_OBSERVATIONS"] == "50"
    assert not {"CLAUDE_MEM_WORKER_PORT", "CLAUDE_MEM_TV_TOKEN"} & set(first)
    settings = found.current()
    assert settings.warnings == ()
    assert {key: settings[key] for key in BY_KEY} == {s.key: s.default for s in CORE}
    found.set("mode", "chess")
    assert found.create() is False
    assert found.current()["CLAUDE_MEM_MODE"] == "chess"


# Names, the settings route ----------------------------------------------------------------------


def test_names_as_people_write_them() -> None:
    assert full_key("context-observations") == "CLAUDE_MEM_CONTEXT_OBSERVATIONS"
    assert full_key("claude_mem_mode") == "CLAUDE_MEM_MODE"
    assert nearest("CLAUDE_MEM_EXCLUDED_PROJECT", CORE)[0] == "CLAUDE_MEM_EXCLUDED_PROJECTS"
    assert nearest("savings", CORE)[0] == "CLAUDE_MEM_CONTEXT_SHOW_SAVINGS_AMOUNT"
    assert nearest("zzzzzz", CORE) == []


def test_secrets_are_masked_in_every_listing(paths: Paths) -> None:
    secret, short = "tv-secret-0123456789", "tiny"
    write(
        paths,
        {
            "CLAUDE_MEM_TV_TOKEN": secret,
            "CLAUDE_MEM_WORKER_INGEST_TOKEN": short,
            "CLAUDE_MEM_PUBLIC_URL": "https://me:pw@host.test/x",
        },
    )
    found = source(paths)
    shown = masked(found.current())
    assert shown["CLAUDE_MEM_TV_TOKEN"] == "****6789"
    assert shown["CLAUDE_MEM_WORKER_INGEST_TOKEN"] == "****"
    assert shown["CLAUDE_MEM_PUBLIC_URL"] == "https://****@host.test/x"
    assert shown["CLAUDE_MEM_CONTEXT_OBSERVATIONS"] == "50"
    told = repr(found.explain("tv-token"))
    assert secret not in told + repr(shown)


def test_a_change_over_the_api_is_checked_key_by_key() -> None:
    faults = validate_update(
        {
            "CLAUDE_MEM_CONTEXT_OBSERVATIONS": 20,
            "CLAUDE_MEM_CONTEXT_SESSION_COUNT": "many",
            "CLAUDE_MEM_TV_TOKEN": "x",
            "CLAUDE_MEM_MOOD": "good",
            "CLAUDE_MEM_WORKER_PORT": "2000",
        }
    )
    assert set(faults) == {
        "CLAUDE_MEM_CONTEXT_SESSION_COUNT",
        "CLAUDE_MEM_TV_TOKEN",
        "CLAUDE_MEM_MOOD",
    }
    assert "did you mean CLAUDE_MEM_MODE" in faults["CLAUDE_MEM_MOOD"]
    assert "mem config set" in faults["CLAUDE_MEM_TV_TOKEN"]


def test_a_viewer_session_can_not_change_the_machine() -> None:
    change = {"CLAUDE_MEM_WORKER_PORT": "2000"}
    assert validate_update(change) == {}
    assert "machine" in validate_update(change, machine=False)["CLAUDE_MEM_WORKER_PORT"]


def test_checked_changes_become_texts(paths: Paths) -> None:
    changes = {
        "CLAUDE_MEM_CONTEXT_OBSERVATIONS": 20,
        "CLAUDE_MEM_CONTEXT_SHOW_LAST_SUMMARY": True,
        "CLAUDE_MEM_CONTEXT_OBSERVATION_TYPES": ["a", "b"],
    }
    found = source(paths)
    found.update(update_texts(changes))
    assert (
        json.loads(paths.settings.read_text())["CLAUDE_MEM_CONTEXT_OBSERVATION_TYPES"] == "a,b"
    )
    assert found.current()["CLAUDE_MEM_CONTEXT_SHOW_LAST_SUMMARY"] is True
