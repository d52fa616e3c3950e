"""What to raise where a release of the SDK has no way to ask for something."""


class NotOffered(Exception):
    pass
