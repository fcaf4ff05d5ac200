"""Who works tells who listens, in this thread and from others, and nobody else."""

import threading

from deciban.errors import heard_by, teller


def test_only_who_listens_hears():
    heard = []
    before = teller(3, "rows")
    with heard_by(lambda *said: heard.append(said)):
        inside = teller(10, "bytes")
        inside(4)
        with heard_by(lambda *said: heard.append(("inner", *said))):
            teller(5, "rows")(5)
        thread = threading.Thread(target=inside, args=(7,))
        thread.start()
        thread.join()
    before(3)
    teller(1, "rows")(1)
    assert heard == [(4, 10, "bytes"), ("inner", 5, 5, "rows"), (7, 10, "bytes")]
