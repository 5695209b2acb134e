"""The settings in force: read again when the file changed, the same for every caller."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from claude_mem_core.errors import SettingsError
from claude_mem_core.paths import Paths
from claude_mem_core.settings import writing
from claude_mem_core.settings.collecting import Collector, out_of_reach, refusal, shown
from claude_mem_core.settings.declared import CORE, full_key, nearest
from claude_mem_core.settings.legacy import current_form, remembers
from claude_mem_core.settings.model import Explanation, Settings
from claude_mem_core.settings.reading import Reading, read
from claude_mem_core.settings.values import as_text, masked_text
from claude_mem_core.types import Setting

DATA_DIR = "CLAUDE_MEM_DATA_DIR"
Stamp = tuple[int, ...] | None


class SettingsSource:
    """Reads and changes the settings of one data directory.

    Args:
        paths: the data directory.
        declared: the settings that are known: the core's, and those of plugins.
        environ: the environment; the process's own when None.
        machine_env: whether it may also hold settings of scope `machine`: only for a
            worker that a person started with `mem worker run`, never for what a host
            or a repository can set.
        late: settings of plugins that load only when the settings in force ask for them.
    """

    def __init__(
        self,
        paths: Paths,
        declared: Sequence[Setting] = CORE,
        environ: Mapping[str, str] | None = None,
        *,
        machine_env: bool = False,
        late: Callable[[Settings], Iterable[Setting]] | None = None,
    ) -> None:
        self.paths = paths
        self._late = late
        self._declare(declared)
        self._environ = dict(os.environ if environ is None else environ)
        self._machine_env = machine_env
        self._watched = (str(paths.settings), str(writing.noted_file(paths)))
        self._seen: list[Stamp] = []
        self._settings = Settings({}, {})
        self._last_good: dict[str, Any] | None = None

    def _declare(self, declared: Iterable[Setting]) -> None:
        self.declared = tuple(declared)
        self._by_key = {setting.key: setting for setting in self.declared}

    def learn(self, more: Iterable[Setting]) -> None:
        """Know these settings too, from the next `current` on; known ones stay."""
        fresh = [setting for setting in more if setting.key not in self._by_key]
        if fresh:
            self._declare([*self.declared, *fresh])
            self._seen = []

    # Reading ------------------------------------------------------------------------

    def current(self) -> Settings:
        """The settings now; costs two `stat` calls unless a file changed."""
        seen = [_stamp(path) for path in self._watched]
        if seen != self._seen:
            self._settings = self._whole()
            self._seen = seen
        return self._settings

    def _whole(self) -> Settings:
        """What the files say, with the settings of plugins that they ask for."""
        settings = self._read()
        more = [
            s for s in (self._late(settings) if self._late else ()) if s.key not in self._by_key
        ]
        if not more:
            return settings
        self._declare([*self.declared, *more])
        return self._read()

    def _read(self) -> Settings:
        reading = read(self.paths.settings)
        explicit = writing.explicit_keys(self.paths)
        written = self._written(reading, explicit)
        collector = Collector([*self._file_warnings(reading), *self._moved(written)])
        for setting in self.declared:
            collector.take(setting, self._candidates(setting, written, collector))
        return Settings(
            collector.values,
            collector.origins,
            tuple(collector.warnings),
            reading.broken,
            explicit,
            self._unknown(reading, written),
        )

    def _written(self, reading: Reading, explicit: frozenset[str]) -> dict[str, Any]:
        """The file's values; of a broken one the last that were good, else what is whole."""
        if reading.broken and self._last_good is not None:
            return self._last_good
        written = current_form(reading.values, explicit)
        if not reading.broken:
            self._last_good = written
        return written

    def _unknown(self, reading: Reading, written: Mapping[str, Any]) -> tuple[str, ...]:
        if reading.broken:
            return ()
        return tuple(key for key in written if key not in self._by_key)

    def _file_warnings(self, reading: Reading) -> list[str]:
        if not reading.broken:
            return list(reading.problems)
        used = "the values it had before" if self._last_good else "those values that are whole"
        return [f"{reading.broken}; {used} are used until it is mended"]

    def _moved(self, written: Mapping[str, Any]) -> list[str]:
        """A data directory named in the file would be found too late to be followed."""
        named = written.get(DATA_DIR)
        here = os.path.realpath(self.paths.data)
        if not isinstance(named, str) or not named.strip():
            return []
        if os.path.realpath(os.path.expanduser(named.strip())) == here:
            return []
        told = f"{DATA_DIR} in {self.paths.settings} is not followed"
        return [f"{told}; export {DATA_DIR}={shlex.quote(named)} and run: mem install"]

    def _candidates(
        self, setting: Setting, written: Mapping[str, Any], collector: Collector
    ) -> list[tuple[str, str, Any]]:
        """(origin, where in words, raw value), in order of precedence."""
        found: list[tuple[str, str, Any]] = []
        if setting.key in self._environ and "environment" in setting.sources:
            if self._from_environment(setting):
                text = self._environ[setting.key]
                found.append(("environment", "in the environment", text))
            else:
                collector.warnings.append(out_of_reach(setting))
        if setting.key in written and "file" in setting.sources:
            found.append(("file", f"in {self.paths.settings}", written[setting.key]))
        return found

    def _from_environment(self, setting: Setting) -> bool:
        return setting.scope != "machine" or self._machine_env or "file" not in setting.sources

    def explain(self, name: str) -> Explanation:
        """How a setting came to its value.

        Raises:
            SettingsError: there is no such setting; the text names the nearest.
        """
        setting = self.known(name)
        settings = self.current()
        written = self._written(read(self.paths.settings), settings.explicit)
        silent = Collector([])
        candidates = [
            (where, shown(setting, raw))
            for _, where, raw in self._candidates(setting, written, silent)
        ]
        notes = tuple(note for note in settings.warnings if setting.key in note)
        default = ("by default", masked_text(setting, setting.default))
        value = masked_text(setting, settings[setting.key])
        origin = settings.origin(setting.key)
        return Explanation(setting, value, origin, (*candidates, default), notes)

    def known(self, name: str) -> Setting:
        """The setting that `name` means, with or without its prefix, in any case.

        Raises:
            SettingsError: there is none; the text names the nearest.
        """
        found = self._by_key.get(name) or self._by_key.get(full_key(name))
        if found is None:
            close = nearest(name, self.declared)
            hint = f"did you mean {' or '.join(close)}?" if close else "see: mem config list"
            raise SettingsError(f"no setting named {name!r}; {hint}")
        return found

    # Changing -----------------------------------------------------------------------

    def set(self, name: str, text: str) -> None:
        """Write one setting into the file.

        Raises:
            SettingsError: no such setting, not allowed, or the file can't be edited.
            StoreError: the file can't be written.
        """
        self.update({name: text})

    def update(self, changes: Mapping[str, str]) -> None:
        """Write several settings at once, all of them or none.

        Raises:
            SettingsError, StoreError: as for `set`.
        """
        written = {}
        for name, text in changes.items():
            setting = self.known(name)
            written[setting.key] = self._storable(setting, text)
        if written:
            writing.put(self.paths, written, [key for key in written if remembers(key)])

    def _storable(self, setting: Setting, text: str) -> str:
        fault = refusal(setting, text)
        if fault:
            raise SettingsError(f"{setting.key} {fault}")
        return text.strip()

    def create(self) -> bool:
        """Write a first file with the defaults that people change, if there is none.

        What belongs to the machine stays out of it: a port in the file opens one.
        """
        chosen = {
            setting.key: as_text(setting, setting.default)
            for setting in self.declared
            if setting.scope == "user"
            and "file" in setting.sources
            and setting.type != "secret"
        }
        return writing.create(self.paths, chosen)


def _stamp(path: str) -> Stamp:
    try:
        state = os.stat(path)
    except OSError as error:
        return (error.errno or 0,)
    return (state.st_mtime_ns, state.st_ctime_ns, state.st_size, state.st_ino)
