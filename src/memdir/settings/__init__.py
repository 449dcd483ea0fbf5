"""Settings: what can be set, by whom, and what it comes to. The only reader of settings files (S1-S5).

keys.py      what can be set, and the published JSON Schema (`settings.schema.json` beside this package)
load.py      files, environment and command line become one `Settings`
switch.py    whether memory is on here

{"layout": "claude", "features": {"extractEveryTurns": 2}}     in a file
MEMDIR_FEATURES_EXTRACT_EVERY_TURNS=2                          the same, in the environment
"""

from memdir.paths import is_remote
from memdir.settings.keys import (
    BudgetSettings,
    CompactSettings,
    DreamSettings,
    ExtractSettings,
    Features,
    InstructionSettings,
    RecallSettings,
    SessionSettings,
    Settings,
    schema,
)
from memdir.settings.load import Loaded, Source, load
from memdir.settings.switch import Switch, memory_switch

__all__ = [
    "BudgetSettings",
    "CompactSettings",
    "DreamSettings",
    "ExtractSettings",
    "Features",
    "InstructionSettings",
    "Loaded",
    "RecallSettings",
    "SessionSettings",
    "Settings",
    "Source",
    "Switch",
    "is_remote",
    "load",
    "memory_switch",
    "schema",
]
