"""`python -m memdir.settings`: print the JSON Schema of a settings file, as it is published."""

from __future__ import annotations

import json
import sys

from memdir.settings.keys import schema

sys.stdout.write(json.dumps(schema(), indent=2, ensure_ascii=False) + "\n")
