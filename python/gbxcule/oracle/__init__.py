"""Oracle servers: a reference program in a child process, spoken to over stdin and stdout.

`python -m gbxcule.oracle pyboy` serves PyBoy. The lab starts it, sends frames (`framing`), and
kills it when it dies, hangs or prints rubbish. The server only answers; the lab compares.
"""
