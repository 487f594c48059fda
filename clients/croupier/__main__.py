"""``python -m croupier`` is the command ``croupier``.

The law of this file: nothing but that.
"""

import sys

from croupier.cli import main

if __name__ == "__main__":
    sys.exit(main())
