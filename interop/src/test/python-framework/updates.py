"""Updates of tasks as the Python SDK 0.3 shows them to the frameworks that use it."""


def texts_of(kind, update):
    """The texts of an `artifact` or a `status` update. The SDK goes on to change what it has shown, so read them at once."""
    shown = getattr(update, kind, None)
    message = getattr(shown, 'message', None) if kind == 'status' else shown
    return [part.root.text for part in message.parts] if message else []
