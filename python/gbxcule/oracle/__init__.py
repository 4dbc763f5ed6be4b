"""Oracle servers: each runs a reference program in a child process, and answers over stdin and stdout.

`python -m gbxcule.oracle pyboy` serves PyBoy. The lab starts it, sends frames (`framing`), and
kills it when it dies, hangs or prints rubbish. The server only answers; the lab compares.
"""
