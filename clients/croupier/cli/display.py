"""How games are shown: flags that several commands have.

The law of this file: each flag is declared once.
"""

from __future__ import annotations

from typing import Annotated

import typer

AsciiFlag = Annotated[bool, typer.Option("--ascii", help="Write suits as letters: C D H S.")]
FourColourFlag = Annotated[bool, typer.Option("--four-colour", help="A colour for each suit.")]
